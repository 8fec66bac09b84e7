"""The charts of a page, as plain Plotly figures: data in, dictionaries out.

Plotly draws text that looks like markup as markup, so every name from outside is escaped here.
Colours of text, grid and background come from the page's style sheet, which knows dark, light
and print; the line colours are legible on both.
"""

import html
import math
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, Literal

from trainmark.report import format as text
from trainmark.report import wording
from trainmark.report.session import Entry
from trainmark.types import Direction, Evaluation, Result, Run, Target, printable

__all__ = [
    "AXIS_TITLES",
    "COLOURS",
    "DASHES",
    "MARKERS",
    "Axis",
    "curve",
    "curve_points",
    "frame",
    "history",
    "published_scatter",
    "run_name",
    "spans_magnitudes",
]

# Contrast at least 3:1 on white and on the dark background; told apart by the colour-blind, and
# by dash or marker shape besides.
COLOURS = ("#2f7ed8", "#c9641a", "#2a9263", "#a65bc9", "#c2455f", "#7a7f1f", "#1c93a8", "#8a6d5a")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
MARKERS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "pentagon")

_FEW_LINES = 5
_MOST_DATES = 6
# Between the powers of ten of a log axis.
_MINOR_TICKS = {"dtick": "D1", "ticks": "outside", "ticklen": 3, "tickcolor": "#8a93a0"}

_MAGNITUDES = 10  # an error that falls by more than this is drawn on a logarithmic axis

Figure = dict[str, Any]
Axis = Literal["minutes", "samples"]
AXIS_TITLES: dict[Axis, str] = {
    "minutes": "minutes since the clock started",
    "samples": "samples trained",
}


def curve(entry: Entry, over: Axis = "minutes") -> Figure | None:
    """Quality over minutes or samples, one line a run, with the target; None without a point.

    Args:
        entry: The runs.
        over: What the horizontal axis shows.
    """
    places = [curve_points(run, over) for run in entry.runs]
    traces = [
        _run_trace(run, i, entry, points)
        for i, (run, points) in enumerate(zip(entry.runs, places, strict=True))
        if points
    ]
    if not traces:
        return None
    layout = frame(AXIS_TITLES[over], wording.quality_name(entry))
    layout["xaxis"]["rangemode"] = "tozero"
    layout["shapes"], layout["annotations"] = [], []
    logarithmic = spans_magnitudes(entry)
    layout["yaxis"]["type"] = "log" if logarithmic else "linear"
    target = entry.target
    if target is not None:
        layout["yaxis"]["tickformat"] = ".1~%" if text.is_share(target) else ""
        layout["yaxis"]["ticksuffix"] = html.escape(f" {target.unit}") if target.unit else ""
        _draw_target(layout, target, logarithmic=logarithmic)
    if entry.score.minutes is not None and over == "minutes":
        _draw_score(layout, entry.score.minutes)
    return {"data": traces, "layout": layout}


def curve_points(run: Run, over: Axis) -> list[tuple[float, Evaluation]]:
    """The evaluations of a run that have a place on that axis, each with it."""
    found = [(one.minutes if over == "minutes" else one.samples, one) for one in run.evaluations]
    return [(place, one) for place, one in found if place is not None and math.isfinite(place)]


def spans_magnitudes(entry: Entry) -> bool:
    """Whether an error falls so far that only a logarithmic axis shows its end."""
    target = entry.target
    values = [one.quality for run in entry.runs for one in run.evaluations]
    if target is None or target.direction is not Direction.LOWER or not values:
        return False
    ends = (target.value, *values)
    return min(ends) > 0 and max(ends) / min(ends) > _MAGNITUDES


def _draw_target(layout: Figure, target: Target, *, logarithmic: bool) -> None:
    line = {"color": "#c2455f", "width": 2, "dash": "dash"}
    place = {"xref": "paper", "y0": target.value, "y1": target.value, "x0": 0, "x1": 1}
    layout["shapes"].append({"type": "line", "line": line, "layer": "between"} | place)
    # On the side that the runs come from, where there is room, and at the left, where none has
    # been evaluated yet.
    rising = target.direction is Direction.HIGHER
    place = {
        "xref": "paper",
        "x": 0,
        "xanchor": "left",
        # Plotly wants the exponent here, and the value itself for the line above.
        "y": math.log10(target.value) if logarithmic else target.value,
        "yanchor": "top" if rising else "bottom",
    }
    words = f"target {html.escape(text.goal(target))}"
    layout["annotations"].append({"text": words, "showarrow": False} | place)


def _draw_score(layout: Figure, score: float) -> None:
    line = {"color": "#8a93a0", "width": 2, "dash": "dot"}
    place = {"yref": "paper", "x0": score, "x1": score, "y0": 0, "y1": 1}
    layout["shapes"].append({"type": "line", "line": line, "layer": "between"} | place)
    words = f"score {text.minutes(score)} min"
    place = {"yref": "paper", "x": score, "xanchor": "right", "y": 0, "yanchor": "bottom"}
    layout["annotations"].append({"text": words, "showarrow": False} | place)


def history(entry: Entry) -> Figure | None:
    """Score and runs of each session on this machine by date; None without earlier ones."""
    dated = [one.then for one in entry.comparisons if one.then.recorded]
    if not dated or entry.score.minutes is None:
        return None
    labels = [*(text.moment(result.recorded).removesuffix(" UTC") for result in dated), "now"]
    scores = [*(result.minutes for result in dated), entry.score.minutes]
    runs = [*(result.run_minutes for result in dated), entry.score.run_minutes]
    dots = [(place, one) for place, each in enumerate(runs) for one in each]
    # The last session and every so many before it have room for their date.
    ticks = range(len(labels) - 1, -1, -math.ceil(len(labels) / _MOST_DATES))
    layout = frame("session (UTC)", "minutes to target")
    layout["xaxis"] |= {
        "tickvals": list(ticks),
        "ticktext": [html.escape(labels[place]) for place in ticks],
    }
    layout["yaxis"]["rangemode"] = "tozero"
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "markers",
                "name": "run",
                "x": [place for place, _ in dots],
                "y": [value for _, value in dots],
                "marker": {
                    "color": COLOURS[1],
                    "size": 8,
                    "symbol": "circle-open",
                    "line": {"width": 2},
                },
                "hovertemplate": "run: %{y:.3f} min<extra></extra>",
            },
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": "score",
                "x": list(range(len(labels))),
                "text": [html.escape(label) for label in labels],
                "y": scores,
                "line": {"color": COLOURS[0], "width": 2},
                "marker": {"size": 9},
                "hovertemplate": "%{text}<br>score: %{y:.3f} min<extra></extra>",
            },
        ],
        "layout": layout,
    }


def published_scatter(results: Sequence[Result]) -> Figure | None:
    """Minutes against accelerators, both on log axes, one colour and shape a round.

    Args:
        results: Published results of one benchmark; those without a number of accelerators or
            a score are left out.
    """
    rounds: dict[str, list[Result]] = {}
    for result in results:
        if result.accelerators and result.minutes and result.round:
            rounds.setdefault(result.round, []).append(result)
    if not rounds:
        return None
    layout = frame("accelerators", "minutes to target")
    for axis in ("xaxis", "yaxis"):
        layout[axis] |= {"type": "log", "dtick": 1, "minor": _MINOR_TICKS, "tickformat": ","}
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": f"v{html.escape(printable(name))}",
            "x": [result.accelerators for result in rounds[name]],
            "y": [result.minutes for result in rounds[name]],
            "text": [_result_text(result) for result in rounds[name]],
            "marker": {
                "color": COLOURS[i % len(COLOURS)],
                # Where colours come round again, shapes do not.
                "symbol": MARKERS[(i + i // len(COLOURS)) % len(MARKERS)],
                "size": 8,
                "opacity": 0.85,
            },
            "hovertemplate": "%{text}<br>%{x:,} accelerators, %{y:,.3f} min<extra></extra>",
        }
        for i, name in enumerate(sorted(rounds))
    ]
    return {"data": traces, "layout": layout}


def run_name(run: Run) -> str:
    """A run in a legend: ``run 0``."""
    return printable(f"run {PurePath(run.source).stem.removeprefix('result_')}")


def _run_trace(
    run: Run, number: int, entry: Entry, points: list[tuple[float, Evaluation]]
) -> Figure:
    name = run_name(run)
    hovered = name if run.seed is None else f"{name}, seed {run.seed}"
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": html.escape(name),
        "x": [place for place, _ in points],
        "y": [one.quality for _, one in points],
        "text": [html.escape(_evaluation_text(one, entry)) for _, one in points],
        "line": {
            "color": COLOURS[number % len(COLOURS)],
            "dash": DASHES[number // len(COLOURS) % len(DASHES)],
            "width": 2 if len(entry.runs) <= _FEW_LINES else 1.5,
        },
        "marker": {
            # The evaluation that ended the run stands out of the bundle near the target.
            "size": [5] * (len(points) - 1) + [11],
            "opacity": 1,
            "symbol": MARKERS[number % len(MARKERS)],
        },
        "hovertemplate": f"%{{text}}<extra>{html.escape(hovered)}</extra>",
    }


def _evaluation_text(one: Evaluation, entry: Entry) -> str:
    """``98.77 % at 1.000 min, 40,000 samples``."""
    at = [f"{text.minutes(one.minutes)} min"] if math.isfinite(one.minutes) else []
    at += [] if one.samples is None else [f"{text.count(one.samples)} samples"]
    shown = text.quality(one.quality, entry.target)
    return f"{shown} at {', '.join(at)}" if at else shown


def _result_text(result: Result) -> str:
    """A published result in a tooltip, as text that Plotly shows as it stands."""
    words = (result.submitter, result.system, result.accelerator)
    return "<br>".join(html.escape(printable(word)) for word in words if word)


def frame(x_title: str, y_title: str) -> Figure:
    """What all charts share; the style sheet gives the colours.

    Args:
        x_title: What the horizontal axis shows, with its unit.
        y_title: The same for the vertical one.
    """
    axis = {
        "automargin": True,
        "ticks": "outside",
        "ticklen": 6,
        "tickcolor": "rgba(0,0,0,0)",
        "zeroline": False,
        "fixedrange": True,
    }
    return {
        "xaxis": axis | {"title": {"text": x_title, "standoff": 10}},
        "yaxis": axis | {"title": {"text": y_title, "standoff": 14}},
        "font": {"family": "system-ui, sans-serif", "size": 13},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "hoverlabel": {"bgcolor": "#1b1f27", "font": {"color": "#ffffff"}, "align": "left"},
        "dragmode": False,
        "hovermode": "closest",
    }
