"""What a comparison is, as data: sides, A against each of the others, and what must be said.

A speed above 1 says that A is faster: the other's minutes divided by A's.
"""

from dataclasses import asdict, dataclass
from typing import Any

from trainmark.analysis.cost import Derivations, Derived
from trainmark.analysis.statistics import Estimate, Ratio
from trainmark.types import Result

__all__ = [
    "Against",
    "Comparison",
    "Difference",
    "Measure",
    "Refused",
    "Side",
    "Split",
    "Versus",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One result of a comparison.

    Attributes:
        letter: "A", "B", ...
        asked: What the user wrote for it.
        result: The result.
        estimate: Its score with an interval; None without a score, or where the score does not
            follow from the runs.
        derived: What was derived from it, by name.
    """

    letter: str
    asked: str
    result: Result
    estimate: Estimate | None
    derived: Derivations

    def to_dict(self) -> dict[str, Any]:
        """The side as plain data for ``--json``."""
        return {
            "letter": self.letter,
            "asked": self.asked,
            "result": self.result.to_dict(),
            "estimate": None if self.estimate is None else self.estimate.to_dict(),
            "derived": {name: one.to_dict() for name, one in self.derived.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A's performance per something against another side's.

    Attributes:
        name: The derived amount, a name of ``analysis.cost``.
        per: What performance is counted per, in words.
        against: The other's amount divided by A's, with formula, basis, sources and marks; or why
            there is none.
        low: Lower end of the interval, None without: prices and sizes are taken as exact, so it
            is that of the speed.
        high: Upper end, None without.
    """

    name: str
    per: str
    against: Derived
    low: float | None = None
    high: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The measure as plain data for ``--json``."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Why A is faster or slower: speed = fewer samples x more samples a second x scaling.

    Attributes:
        samples: The other's samples to the target divided by A's: above 1, A needs fewer.
        rate: A's samples a second divided by the other's, over the whole timed run, evaluations
            and all: above 1, A is quicker.
        scaling: The other's factor of reference convergence divided by A's; 1 without any.
    """

    samples: float
    rate: float
    scaling: float

    def to_dict(self) -> dict[str, Any]:
        """The split as plain data for ``--json``."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """A held against another side.

    Attributes:
        letter: The other side.
        time: A's time over the other's, with the interval; None without two scores.
        speed: The other's minutes over A's: above 1, A is faster. None without two scores.
        speed_low: Lower end of its interval, None without.
        speed_high: Upper end, None without.
        less_time: Share of the other's time that A saves, ``1 - A / other``; negative when A
            takes longer. None without two scores.
        split: Samples and rate; None where the samples to the target are not known.
        measures: Per accelerator, dollar, rack unit, watt, joule.
    """

    letter: str
    time: Ratio | None
    speed: float | None
    speed_low: float | None
    speed_high: float | None
    less_time: float | None
    split: Split | None
    measures: tuple[Measure, ...]

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain data for ``--json``."""
        parts: dict[str, Any] = {
            "time": None if self.time is None else self.time.to_dict(),
            "split": None if self.split is None else self.split.to_dict(),
            "measures": [measure.to_dict() for measure in self.measures],
        }
        plain = ("letter", "speed", "speed_low", "speed_high", "less_time")
        return {name: getattr(self, name) for name in plain} | parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Something else in which the sides differ.

    Attributes:
        name: What, in a word or two.
        values: As text, one for each side; "" where it is not known.
    """

    name: str
    values: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The difference as plain data for ``--json``."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Versus:
    """The comparison on one task.

    Attributes:
        task: What is trained.
        target: The group of rounds with its target, "" where it is not known.
        sides: The sides; the first is A.
        against: A against each of the others, in their order.
        differences: In what else they differ.
        marks: What has to be said beside it.
        forced: Why the results do not compare, where that was asked for anyway; else ().
    """

    task: str
    target: str
    sides: tuple[Side, ...]
    against: tuple[Against, ...]
    differences: tuple[Difference, ...]
    marks: tuple[str, ...]
    forced: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain data for ``--json``."""
        return {
            "task": self.task,
            "target": self.target,
            "sides": [side.to_dict() for side in self.sides],
            "against": [one.to_dict() for one in self.against],
            "differences": [one.to_dict() for one in self.differences],
            "marks": list(self.marks),
            "forced": list(self.forced),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A task whose results do not compare.

    Attributes:
        task: What is trained.
        ids: The results.
        reasons: Why not.
    """

    task: str
    ids: tuple[str, ...]
    reasons: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The refusal as plain data for ``--json``."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Everything that was compared.

    Attributes:
        versus: One for each task.
        refused: Tasks whose results do not compare; ``--anyway`` would.
    """

    versus: tuple[Versus, ...]
    refused: tuple[Refused, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain data for ``--json``."""
        return {
            "versus": [one.to_dict() for one in self.versus],
            "refused": [one.to_dict() for one in self.refused],
        }
