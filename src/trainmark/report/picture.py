"""The quality curves of a session as one picture for a document, drawn by matplotlib.

The same runs give the same bytes: no date, no random names, letters as outlines. The ground is
white, so that the picture is legible in a dark document as well.
"""

import io
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainmark.report import format as text
from trainmark.report import wording
from trainmark.report.charts import (
    AXIS_TITLES,
    COLOURS,
    DASHES,
    Axis,
    curve_points,
    spans_magnitudes,
)
from trainmark.report.page import refuse_folder
from trainmark.report.session import Entry
from trainmark.training.extras import missing_package
from trainmark.types import TrainmarkError, UsageError, atomic_write, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FORMATS", "write_curves"]

FORMATS = (".svg", ".png")

_STYLE: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],  # comes with matplotlib: the same everywhere
    "font.size": 9,
    "text.parse_math": False,  # dollars in a name are dollars
    "svg.fonttype": "path",
    "svg.hashsalt": "trainmark",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#d7dce3",
    "grid.linewidth": 0.6,
}
# What says when or by which version a picture was made would change with every writing.
_METADATA = {".svg": {"Date": None, "Creator": None}, ".png": {"Software": None}}
_INCHES = (9.0, 3.8)
_TARGET = "#c2455f"
_BASELINES = ((":", "#5b6470"), ("-.", "#5b6470"), (":", "#9a7b2f"), ("-.", "#9a7b2f"))
_LEGEND_COLUMNS = 4
_MOST_TICKS = 7
_DASHES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-.", "longdash": (0, (8, 3))}


def write_curves(entry: Entry, path: Path, baselines: Mapping[str, float] | None = None) -> None:
    """Draw quality against minutes and against samples, one line a run, with the target.

    Args:
        entry: The runs.
        path: The picture, ``.svg`` or ``.png``; whole or not there.
        baselines: What simple methods reach, by name, in the target's metric: 0.9 for 90 %.

    Raises:
        UsageError: matplotlib is not installed, the file has another ending, or no run was
            evaluated.
    """
    if path.suffix not in FORMATS:
        raise UsageError(
            f"{path} is neither {' nor '.join(FORMATS)}",
            hint=f"Name the picture so, for example {path.with_suffix('.svg').name}.",
        )
    refuse_folder(path)
    if not any(curve_points(run, "minutes") for run in entry.runs):
        raise TrainmarkError(
            f"no run in {entry.folder} was evaluated: there is no curve to draw",
            hint="trainmark check says what the logs lack.",
        )
    atomic_write(path, _drawn(entry, path.suffix, dict(baselines or {})))


def _drawn(entry: Entry, suffix: str, baselines: Mapping[str, float]) -> bytes:
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise missing_package("a picture", error, "pictures") from error
    target = io.BytesIO()
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=_INCHES, layout="constrained")
        axes = figure.subplots(1, 2, sharey=True)
        heading = printable(_heading(entry))
        # Broken into lines where the figure ends; matplotlib would measure dollars as mathematics.
        figure.suptitle(heading, x=0.01, ha="left", fontsize=9, wrap="$" not in heading)
        for one, over in zip(axes, AXIS_TITLES, strict=True):
            _draw(one, entry, over, baselines)
        axes[0].set_ylabel(printable(_quality_axis(entry)))
        if entry.target is not None or baselines:
            figure.legend(
                *axes[0].get_legend_handles_labels(),
                loc="outside lower center",
                ncols=_LEGEND_COLUMNS,
                frameon=False,
            )
        options: dict[str, Any] = {"metadata": _METADATA[suffix], "dpi": 150}
        figure.savefig(target, format=suffix.removeprefix("."), **options)
    return target.getvalue()


def _draw(axes: "Axes", entry: Entry, over: Axis, baselines: Mapping[str, float]) -> None:
    """One panel: every run over minutes or samples."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    for i, run in enumerate(entry.runs):
        points = curve_points(run, over)
        if not points:
            continue
        places = [place for place, _ in points]
        values = [_shown(entry, one.quality) for _, one in points]
        colour = COLOURS[i % len(COLOURS)]
        dash = _DASHES[DASHES[i // len(COLOURS) % len(DASHES)]]
        axes.plot(places, values, color=colour, linestyle=dash, linewidth=1.1)
        # Where a run ended: full where it reached the target, a cross where it did not.
        marker = {"marker": "o", "markersize": 4.5} if run.succeeded else {"marker": "x"}
        axes.plot(places[-1:], values[-1:], color=colour, linestyle="none", **marker)
    axes.set_xlabel(AXIS_TITLES[over])
    if spans_magnitudes(entry):
        axes.set_yscale("log", subs=[])
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(MaxNLocator(_MOST_TICKS))
    axes.xaxis.set_major_formatter("{x:,g}" if over == "minutes" else "{x:,.0f}")
    for name, value, colour, style in _levels(entry, baselines):
        label = printable(name)
        axes.axhline(value, color=colour, linestyle=style, linewidth=1.3, zorder=1, label=label)


def _levels(entry: Entry, baselines: Mapping[str, float]) -> Iterator[tuple[str, float, str, str]]:
    """The lines across, each with its words, its colour and its dashes."""
    if entry.target is not None:
        words = f"target {text.goal(entry.target)}"
        yield words, _shown(entry, entry.target.value), _TARGET, "--"
    for (name, value), (dash, colour) in zip(baselines.items(), cycle(_BASELINES), strict=False):
        shown = (
            f"{value:g}" if entry.target is None else text.goal(replace(entry.target, value=value))
        )
        yield f"{name} {shown}", _shown(entry, value), colour, dash


def _heading(entry: Entry) -> str:
    runs = "1 run" if len(entry.runs) == 1 else f"{len(entry.runs)} runs"
    return f"{entry.title}: {runs} on {entry.machine_title} ({entry.label})"


def _quality_axis(entry: Entry) -> str:
    """The name of the quality with its unit: ``word error rate (%)``."""
    target, name = entry.target, wording.quality_name(entry)
    if target is None:
        return name
    unit = "%" if text.is_share(target) else target.unit
    return f"{name} ({unit})" if unit else name


def _shown(entry: Entry, value: float) -> float:
    """A quality as the axis shows it: a share of 1 as per cent."""
    return value * 100 if entry.target is not None and text.is_share(entry.target) else value
