"""What a sweep found: one setting against throughput, time to target and samples to target."""

import html
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from markupsafe import Markup

from trainmark import __version__
from trainmark.report import charts, page, wording
from trainmark.report import format as text
from trainmark.report.medians import Medians, medians_of
from trainmark.report.session import Entry
from trainmark.report.tables import Column, Table, build
from trainmark.types import Run, Target, printable

__all__ = ["Point", "SweepReport", "sweep_table", "sweep_to_dict", "write_sweep_page"]

# A numeric axis is drawn logarithmic where its largest value is so many times the smallest.
_LOG_FROM = 4.0
_OPEN = {"size": 8, "symbol": "circle-open", "line": {"width": 2}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One value of the setting.

    Attributes:
        value: The value.
        folder: The session's folder, "" where none was made.
        entry: Its runs, None where there are none.
        error: Why there are none, or not as many as asked for; "" otherwise.
    """

    value: Any
    folder: str
    entry: Entry | None
    error: str = ""

    @property
    def medians(self) -> Medians | None:
        """The runs in one line."""
        return None if self.entry is None else medians_of(self.entry)

    @property
    def fine(self) -> bool:
        """Whether every run reached its target and the checker is content."""
        medians = self.medians
        return not self.error and medians is not None and medians.fine

    @property
    def outcome(self) -> str:
        """How many runs reached the target, in words."""
        medians = self.medians
        if self.error and (medians is None or not medians.runs):
            return f"failed: {self.error}"
        assert medians is not None, "no runs and no error"
        reached = f"{medians.reached} of {medians.runs}"
        missed = "" if medians.reached else ", target not met"
        return f"{reached}{missed}{f'; {self.error}' if self.error else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepReport:
    """A whole sweep.

    Attributes:
        title: The workload's name for people.
        workload: Its name on the command line.
        scale: "desk" or "full".
        setting: The setting that was varied.
        help: What it is.
        machine_title: The machine in one line.
        command: The command that repeats it.
        started: ISO date and time.
        points: One for each value, in the order asked for.
    """

    title: str
    workload: str
    scale: str
    setting: str
    help: str
    machine_title: str
    command: str
    started: str
    points: tuple[Point, ...] = field(default=())

    @property
    def target(self) -> Target | None:
        """What was to be reached, as the runs declare it."""
        entries = (point.entry for point in self.points if point.entry is not None)
        return next((entry.target for entry in entries if entry.target is not None), None)

    @property
    def label(self) -> str:
        """What the results may be called."""
        entries = (point.entry for point in self.points if point.entry is not None)
        return next((entry.label for entry in entries), "unverified")

    @property
    def ok(self) -> bool:
        """Whether every run of every value reached its target and the checker is content."""
        return all(point.fine for point in self.points)

    @property
    def unmet(self) -> tuple[Any, ...]:
        """The values at which no run reached the target."""
        return tuple(
            point.value
            for point in self.points
            if point.medians is None or not point.medians.reached
        )


def sweep_to_dict(sweep: SweepReport) -> dict[str, Any]:
    """The sweep as plain data, for sweep.json and ``--json``."""
    return {
        "version": __version__,
        "command": sweep.command,
        "started": sweep.started,
        "machine_title": sweep.machine_title,
        "workload": sweep.workload,
        "title": sweep.title,
        "scale": sweep.scale,
        "label": sweep.label,
        "target": None if sweep.target is None else sweep.target.to_dict(),
        "setting": sweep.setting,
        "ok": sweep.ok,
        "values": [
            {
                "value": point.value,
                "folder": point.folder,
                "error": point.error,
                "medians": None if point.medians is None else point.medians.to_dict(),
                "runs": [] if point.entry is None else [run.to_dict() for run in point.entry.runs],
            }
            for point in sweep.points
        ],
    }


def sweep_table(sweep: SweepReport) -> Table:
    """One line for each value."""

    def of(value_of: Callable[[Medians], float | None]) -> Callable[[Point], float | None]:
        return lambda point: None if point.medians is None else value_of(point.medians)

    columns: tuple[Column[Point], ...] = (
        Column(sweep.setting, lambda point: text.value_text(point.value)),
        Column("Reached", lambda point: point.outcome),
        Column("Minutes to target", of(lambda one: one.minutes), text.minutes),
        Column("Samples to target", of(lambda one: one.samples), text.count),
        Column("Samples/s", of(lambda one: one.samples_per_second), text.rate),
        Column("Quality", of(lambda one: one.quality), lambda one: text.quality(one, sweep.target)),
        Column("Padding", of(lambda one: one.padding_share), text.share, rank=2),
    )
    return build(
        f"{sweep.title} by {sweep.setting}: medians of the runs", columns, list(sweep.points)
    )


def write_sweep_page(sweep: SweepReport, path: str | Path) -> None:
    """Write the page; the file is whole or not there.

    Args:
        sweep: The sweep.
        path: The file to make or replace.

    Raises:
        UsageError: It is a folder, or its folder is missing or may not be written to.
        TrainmarkError: The disk is full.
    """
    library, script = page.chart_library(), page.template_text("report.js")
    figures = _figures(sweep)
    rendered = (
        page.environment()
        .get_template("sweep.html.j2")
        .render(
            sweep=sweep,
            table=sweep_table(sweep),
            target=_target_words(sweep.target),
            unmet=text.join(text.value_text(value) for value in sweep.unmet),
            charts=[(name, title) for name, title, _ in _AXES if name in figures],
            figures=figures,
            figures_json=page.inert_json(orjson.dumps(figures)),
            policy=page.policy(library, script),
            library=Markup(library),  # noqa: S704 - the installed package's own script
            script=Markup(script),  # noqa: S704 - ours
            style=Markup(page.template_text("report.css")),  # noqa: S704 - ours
            notice=wording.NOTICE,
            version=__version__,
            started=text.moment(sweep.started),
        )
    )
    page.write_page(path, rendered)


def _target_words(target: Target | None) -> str:
    if target is None:
        return ""
    return f"{target.name or target.metric} {text.goal(target)}"


# Name of the chart, its title, and the number of a run that it shows; None for one that has none.
_AXES: tuple[tuple[str, str, Callable[[Run], float | None]], ...] = (
    ("rate", "samples per second", lambda run: run.samples_per_second),
    ("minutes", "minutes to target", lambda run: run.minutes if run.succeeded else None),
    ("samples", "samples to target", lambda run: run.samples_to_target),
)


def _figures(sweep: SweepReport) -> dict[str, charts.Figure]:
    """A chart for each of throughput, time and samples; one without a single point is left out."""
    drawn = ((name, _figure(sweep, title, number)) for name, title, number in _AXES)
    return {name: figure for name, figure in drawn if figure is not None}


def _figure(
    sweep: SweepReport, title: str, number: Callable[[Run], float | None]
) -> charts.Figure | None:
    values = [(point, _numbers(point, number)) for point in sweep.points]
    if not any(numbers for _, numbers in values):
        return None
    at, axis = _places([point.value for point in sweep.points])
    layout = charts.frame(html.escape(printable(sweep.setting)), title)
    layout["xaxis"] |= axis
    layout["yaxis"]["rangemode"] = "tozero"
    dots = [(at[i], one) for i, (_, numbers) in enumerate(values) for one in numbers]
    middles = [_middle(numbers) for _, numbers in values]
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "markers",
                "name": "run",
                "x": [place for place, _ in dots],
                "y": [one for _, one in dots],
                "marker": {"color": charts.COLOURS[1]} | _OPEN,
                "hovertemplate": "run: %{y:,.4~g}<extra></extra>",
            },
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": "median",
                "x": at,
                "y": middles,  # a gap where no run reached the target
                "connectgaps": False,
                "line": {"color": charts.COLOURS[0], "width": 2},
                "marker": {"size": 9},
                "hovertemplate": "median: %{y:,.4~g}<extra></extra>",
            },
        ],
        "layout": layout,
    }


def _numbers(point: Point, number: Callable[[Run], float | None]) -> list[float]:
    runs: Sequence[Run] = () if point.entry is None else point.entry.runs
    return [one for run in runs if (one := number(run)) is not None and math.isfinite(one)]


def _middle(numbers: Sequence[float]) -> float | None:
    return statistics.median(numbers) if numbers else None


def _places(values: Sequence[Any]) -> tuple[list[Any], Mapping[str, Any]]:
    """Where the values stand on the axis: numbers by size, words side by side."""
    names = [html.escape(text.value_text(value)) for value in values]
    numeric = all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)
    if not numeric:
        places = list(range(len(values)))
        return places, {"tickvals": places, "ticktext": names}
    logarithmic = min(values) > 0 and max(values) >= _LOG_FROM * min(values)
    axis = {"tickvals": list(values), "ticktext": names}
    return list(values), axis | ({"type": "log"} if logarithmic else {})
