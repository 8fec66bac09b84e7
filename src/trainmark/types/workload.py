"""What is trained, to which quality, on how much data."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

__all__ = ["Direction", "Target", "WorkloadSpec"]


class Direction(StrEnum):
    """Whether a quality gets better upwards (accuracy) or downwards (error rate)."""

    HIGHER = "higher"
    LOWER = "lower"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The quality at which the clock stops.

    Attributes:
        metric: The log key that carries the quality, "eval_accuracy" or "eval_error".
        value: The quality to be reached, in the metric's own unit (accuracy as a share of 1).
        direction: Which way the quality improves.
        name: What the quality is called, for example "word error rate"; "" where the metric's
            name is all that is known.
        unit: Its unit, for example "eV"; "" for a share of 1.
    """

    metric: str
    value: float
    direction: Direction = Direction.HIGHER
    name: str = ""
    unit: str = ""

    def __post_init__(self) -> None:
        assert math.isfinite(self.value), self.value

    def reached(self, quality: float) -> bool:
        """Whether that quality meets the target. NaN never does."""
        if self.direction is Direction.HIGHER:
            return quality >= self.value
        return quality <= self.value

    def to_dict(self) -> dict[str, Any]:
        """The target as plain data, as the result log carries it."""
        said = {"name": self.name, "unit": self.unit}
        return {
            "metric": self.metric,
            "value": self.value,
            "direction": str(self.direction),
            **{key: text for key, text in said.items() if text},
        }

    @classmethod
    def from_dict(cls, data: Any) -> "Target | None":
        """The target that ``to_dict`` wrote; None when the data is none."""
        if not isinstance(data, dict):
            return None
        value, metric, direction = data.get("value"), data.get("metric"), data.get("direction")
        name, unit = data.get("name", ""), data.get("unit", "")
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not math.isfinite(value)
            or not isinstance(metric, str)
            or direction not in tuple(Direction)
            or not isinstance(name, str)
            or not isinstance(unit, str)
        ):
            return None
        return cls(
            metric=metric,
            value=float(value),
            direction=Direction(direction),
            name=name,
            unit=unit,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadSpec:
    """One benchmark: a model, its data, its target, its schedule.

    Attributes:
        name: The name on the command line, for example "resnet50".
        scale: "desk" (minutes on two CPU cores) or "full" (the published configuration).
        title: The name for people.
        task: What is learnt, for example "image classification".
        dataset: What it learns from.
        target: The quality at which the clock stops.
        train_samples: Samples in the training set: one epoch.
        eval_samples: Samples in the held-out set.
        evaluate_every_samples: Samples trained between two evaluations.
        max_samples: Samples after which a run that has not met its target gives up.
        mlperf_name: The official benchmark name if this is exactly that benchmark, else None:
            "MLPerf procedure, own target".
        parameters: Number of trainable parameters of the model.
        variant: Another data set or model under the same name, "" for the usual one.
        ruleset: The round whose rules its logs follow, or "own".
        typical_samples: Median samples to target where it was measured, 0 where it was not;
            used for the time left that the progress line shows before a first run has ended.
        chance: The quality that guessing reaches, None where it is not known: a run that is no
            better after half of its sample limit is given up.
    """

    name: str
    scale: str
    title: str
    task: str
    dataset: str
    target: Target
    train_samples: int
    eval_samples: int
    evaluate_every_samples: int
    max_samples: int
    mlperf_name: str | None
    parameters: int
    variant: str = ""
    ruleset: str = "own"
    typical_samples: int = 0
    chance: float | None = None

    def __post_init__(self) -> None:
        assert self.train_samples > 0, self.train_samples
        assert self.eval_samples > 0, self.eval_samples
        assert 0 < self.evaluate_every_samples <= self.max_samples, self.evaluate_every_samples

    @property
    def benchmark(self) -> str:
        """The name in logs and folders: the official one, or ``<name>_<scale>[_<variant>]``."""
        own = "_".join(part for part in (self.name, self.scale, self.variant) if part)
        return self.mlperf_name or own

    @property
    def label(self) -> str:
        """What a result of it may be called, as the messaging rules ask."""
        return "unverified" if self.mlperf_name else "unverified; MLPerf procedure, own target"

    def to_dict(self) -> dict[str, Any]:
        """The spec as plain data; ``from_dict`` reads it."""
        return asdict(self) | {"target": self.target.to_dict()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "WorkloadSpec":
        """The spec that ``to_dict`` wrote."""
        target = Target.from_dict(data["target"])
        assert target is not None, data["target"]
        return cls(**{**data, "target": target})
