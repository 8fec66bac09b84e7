"""The live progress line of a session: rate, quality against target, time left.

On a terminal one line is redrawn in place; elsewhere nothing is written but one plain line when
a run ends.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from trainmark.training.session import Order
from trainmark.types import Target, WorkloadSpec
from trainmark.types.quality import goal, quality

__all__ = ["ProgressLine"]

_REDRAWS_A_SECOND = 4
_RATE_WINDOW_SECONDS = 5.0


@dataclass(slots=True)
class _State:
    """One run as its messages tell it."""

    samples: int = 0
    seconds: float = 0.0
    quality: float | None = None
    recent: list[tuple[float, int]] = field(default_factory=list)

    def rate(self) -> float | None:
        """Samples per second over the last seconds, evaluation included."""
        if len(self.recent) < 2:
            return None
        (start, first), (end, last) = self.recent[0], self.recent[-1]
        return (last - first) / (end - start) if end > start else None


class ProgressLine:
    """A ``session.Listener`` that draws on a console.

    Args:
        console: Where to; usually standard error, so that standard output stays data.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None
        self._spec: WorkloadSpec | None = None
        self._runs = 0
        self._state = _State()
        self._typical = 0.0
        self._finished: list[int] = []

    def __enter__(self) -> "ProgressLine":
        if self._console.is_terminal:
            self._live = Live(
                console=self._console, refresh_per_second=_REDRAWS_A_SECOND, transient=True
            )
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def probing(self, order: Order) -> None:
        """The settings are being decided."""
        self._runs = order.runs
        self._show(
            f"{order.workload} ({order.scale}): measuring which precision, layout and number of "
            "threads are fastest on this machine"
        )

    def preparing(self, text: str, share: float) -> None:
        """Data is being made."""
        self._show(f"{text}: {share:.0%}")

    def probed(self, spec: WorkloadSpec, answer: Mapping[str, Any]) -> None:
        """They are decided."""
        self._spec, self._typical = spec, float(spec.typical_samples)
        chosen, target = answer["settings"], spec.target
        self._say(
            f"{spec.title} on {spec.dataset}; "
            f"target {_quality_name(target)} {goal(target)}; "
            f"{chosen['precision']}, {chosen['memory_format']}, "
            f"global batch size {chosen['global_batch_size']}, "
            f"{_threads(answer['environment'].get('threads', '?'))} "
            f"on {answer['environment'].get('device', '?')}"
        )

    def message(self, run: int, message: Mapping[str, Any]) -> None:
        """Take in one message of a worker and redraw."""
        kind = message["kind"]
        if kind == "started":
            self._state = _State()
        if "samples" in message:
            self._advance(message)
        if kind == "stopped":
            self._end(run, message)
        else:
            self._show(self._line(run))

    def _advance(self, message: Mapping[str, Any]) -> None:
        state = self._state
        state.samples, state.seconds = message["samples"], message["seconds"]
        state.quality = message.get("quality", state.quality)
        state.recent.append((state.seconds, state.samples))
        while state.seconds - state.recent[0][0] > _RATE_WINDOW_SECONDS:
            state.recent.pop(0)

    def _line(self, run: int) -> str:
        assert self._spec is not None
        state, target = self._state, self._spec.target
        rate = state.rate()
        reached = "-" if state.quality is None else quality(state.quality, target)
        parts = [
            f"run {run + 1} of {self._runs}",
            f"{state.samples:,} samples",
            "- samples/s" if rate is None else f"{rate:,.0f} samples/s",
            f"{_quality_name(target)} {reached} of {goal(target)}",
            f"{_duration(state.seconds)} gone",
            self._time_left(rate),
        ]
        return "  ".join(part for part in parts if part)

    def _time_left(self, rate: float | None) -> str:
        """From the samples that earlier runs took, or those that are typical."""
        state, usual = self._state, self._typical
        if self._finished:
            usual = sum(self._finished) / len(self._finished)
        if not usual or not rate:
            return ""
        left = (usual - state.samples) / rate
        return f"about {_duration(left)} left" if left > 0 else "beyond the usual samples"

    def _end(self, run: int, message: Mapping[str, Any]) -> None:
        assert self._spec is not None
        state, target = self._state, self._spec.target
        if message["status"] == "success":
            self._finished.append(state.samples)
        reached = "no evaluation"
        if state.quality is not None:
            reached = f"{_quality_name(target)} {quality(state.quality, target)}"
        reason = f" ({message['reason']})" if message["reason"] else ""
        self._say(
            f"run {run + 1} of {self._runs}: {message['status']}{reason}, {reached} after "
            f"{state.samples:,} samples in {_duration(state.seconds)}"
        )
        if message.get("hint"):
            self._say(f"  {message['hint']}")

    def _show(self, text: str) -> None:
        if self._live is not None:
            self._live.update(Text(text, overflow="ellipsis", no_wrap=True))

    def _say(self, text: str) -> None:
        self._console.print(Text(text), soft_wrap=True)


def _quality_name(target: Target) -> str:
    return target.name or target.metric


def _threads(number: Any) -> str:
    return f"{number} thread" if number == 1 else f"{number} threads"


def _duration(seconds: float) -> str:
    whole = max(0, round(seconds))
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d}"
    return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
