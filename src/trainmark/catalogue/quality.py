"""How much of a catalogue is known, and what an import settled or left open."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainmark.catalogue.naming.names import accelerator_named
from trainmark.types import Result, printable

__all__ = ["KNOWN_FIELDS", "KindCount", "KnownField", "Quality", "lines", "quality"]

_EXAMPLES = 3
_OWN = "own"  # the round of results that belong to none


def _accelerator_known(result: Result) -> bool:
    """A name that says which one it is, or none and no accelerators."""
    if not result.accelerator:
        return result.accelerators == 0
    named = accelerator_named(result.accelerator)
    return named is not None and named.certain


# What may be known of a result, in the order in which it is shown.
KNOWN_FIELDS: Mapping[str, Callable[[Result], bool]] = {
    "accelerator": _accelerator_known,
    "accelerators": lambda result: result.accelerators is not None,
    "hosts": lambda result: result.hosts is not None,
    "host processor": lambda result: bool(result.host_processor),
    "category": lambda result: result.category in ("available", "preview", "research"),
    "division": lambda result: result.division in ("closed", "open"),
    "framework": lambda result: bool(result.framework_name),
    "framework's version": lambda result: bool(result.framework_version),
    "batch size": lambda result: result.global_batch_size is not None,
    "samples": lambda result: result.samples_to_target is not None,
    "score": lambda result: result.minutes is not None,
}

# What only a submission's system file says: own results say it otherwise, and are not asked.
_OF_SUBMISSIONS = frozenset(
    {"hosts", "host processor", "category", "framework", "framework's version"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownField:
    """One field, and of how many results it is known.

    Attributes:
        name: The field, a key of ``KNOWN_FIELDS``.
        known: Results of which it is known.
        results: All results that may have it.
        by_round: The same two numbers by round.
    """

    name: str
    known: int
    results: int
    by_round: Mapping[str, tuple[int, int]]

    @property
    def share(self) -> float:
        """The share of results of which it is known, 1 without results."""
        return self.known / self.results if self.results else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class KindCount:
    """One kind of doubt.

    Attributes:
        kind: The kind.
        resolved: Whether a stated rule settled it.
        by_round: How many results of each round have it.
        results: The results' ids.
        examples: The first few, each an id and the doubt's sentence.
    """

    kind: str
    resolved: bool
    by_round: Mapping[str, int]
    results: tuple[str, ...]
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """The quality of some results.

    Attributes:
        results: How many there are.
        clean: Results without any doubt.
        settled: Results whose doubts were all settled by a rule.
        open: Results with a question that is left open.
        kinds: Every kind of doubt, what is left open first, then by the number of results.
        known: Every field of ``KNOWN_FIELDS``.
    """

    results: int
    clean: int
    settled: int
    open: int
    kinds: tuple[KindCount, ...]
    known: tuple[KnownField, ...]

    def to_dict(self) -> dict[str, Any]:
        """The quality as plain data for ``--json``."""
        return {
            "results": self.results,
            "clean": self.clean,
            "settled": self.settled,
            "open": self.open,
            "known": [
                {
                    "field": field.name,
                    "known": field.known,
                    "results": field.results,
                    "share": field.share,
                    "rounds": {
                        name: {"known": known, "results": results}
                        for name, (known, results) in field.by_round.items()
                    },
                }
                for field in self.known
            ],
            "doubts": [
                {
                    "kind": kind.kind,
                    "resolved": kind.resolved,
                    "results": len(kind.results),
                    "rounds": dict(kind.by_round),
                    "examples": [{"id": name, "text": text} for name, text in kind.examples],
                    "ids": list(kind.results),
                }
                for kind in self.kinds
            ],
        }


def quality(results: Iterable[Result]) -> Quality:
    """What is known of results, and what is doubtful about them.

    Args:
        results: Any results.
    """
    everything = sorted(results, key=lambda result: (_round_key(result.round), result.id))
    open_questions = sum(any(not d.resolved for d in result.doubts) for result in everything)
    clean = sum(not result.doubts for result in everything)
    return Quality(
        results=len(everything),
        clean=clean,
        settled=len(everything) - clean - open_questions,
        open=open_questions,
        kinds=_kinds(everything),
        known=tuple(_known(name, test, everything) for name, test in KNOWN_FIELDS.items()),
    )


def _round_key(round_name: str | None) -> tuple[int, ...]:
    if round_name is None:
        return (1 << 30,)
    parts = round_name.split(".")
    return tuple(int(part) if part.isascii() and part.isdigit() else 0 for part in parts)


def _kinds(results: Sequence[Result]) -> tuple[KindCount, ...]:
    found: dict[tuple[bool, str], dict[str, tuple[str, str]]] = defaultdict(dict)
    for result in results:
        for doubt in result.doubts:
            # A result counts once for a kind, with its first sentence.
            place = found[doubt.resolved, doubt.kind]
            place.setdefault(result.id, (result.round or _OWN, doubt.text))
    kinds = [
        KindCount(
            kind=kind,
            resolved=resolved,
            by_round=dict(Counter(round_name for round_name, _ in having.values())),
            results=tuple(having),
            examples=tuple((name, text) for name, (_, text) in list(having.items())[:_EXAMPLES]),
        )
        for (resolved, kind), having in found.items()
    ]
    return tuple(sorted(kinds, key=lambda kind: (kind.resolved, -len(kind.results), kind.kind)))


def _known(name: str, test: Callable[[Result], bool], results: Sequence[Result]) -> KnownField:
    by_round: dict[str, tuple[int, int]] = {}
    for result in results:
        if result.origin == "own" and name in _OF_SUBMISSIONS:
            continue
        known, total = by_round.get(result.round or _OWN, (0, 0))
        by_round[result.round or _OWN] = (known + test(result), total + 1)
    return KnownField(
        name=name,
        known=sum(known for known, _ in by_round.values()),
        results=sum(total for _, total in by_round.values()),
        by_round=by_round,
    )


def lines(found: Quality, width: int | None = None) -> list[str]:
    """The quality as text.

    Args:
        found: The quality.
        width: Columns of the screen: longer lines are cut, never broken. Without it none is cut.
    """
    text = [
        f"{found.results} results: {found.clean} without a doubt, {found.settled} with doubts that "
        f"a rule settled, {found.open} with an open question",
        "",
        "Known of them",
        *(_known_line(field) for field in found.known),
    ]
    for title, resolved in (("Left open", False), ("Settled by a rule", True)):
        kinds = [kind for kind in found.kinds if kind.resolved is resolved]
        if kinds:
            text += ["", f"{title} (results)"]
        for kind in kinds:
            text += _kind_lines(kind)
    return [_cut(printable(line), width) for line in text]


def _known_line(field: KnownField) -> str:
    less = [
        f"{name} {_percent(known, total)}"
        for name, (known, total) in field.by_round.items()
        if known < total
    ]
    shown = f"  {field.name:<20} {field.known:>6} {_percent(field.known, field.results):>7}"
    return f"{shown}   {', '.join(less)}".rstrip()


def _percent(known: int, results: int) -> str:
    """A share that is 100 % only when it is all, and 0 % only when it is nothing."""
    if not results or known == results:
        return "100 %"
    share = 100 * known / results
    return f"{min(max(share, 0.1), 99.9):.1f} %" if known else "0 %"


def _kind_lines(kind: KindCount) -> list[str]:
    rounds = ", ".join(f"{name}: {number}" for name, number in kind.by_round.items())
    return [
        f"  {len(kind.results):>6}  {kind.kind}   ({rounds})",
        *(f"          {name}: {text}" for name, text in kind.examples),
    ]


def _cut(line: str, width: int | None) -> str:
    return line if width is None or len(line) <= width else line[: max(width - 3, 0)] + "..."
