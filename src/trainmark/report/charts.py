"""The charts of a page, as plain Plotly figures: data in, dictionaries out.

Plotly draws text that looks like markup as markup, so every name from outside is escaped here.
Colours of text, grid and background come from the page's style sheet, which knows dark, light
and print; the line colours are legible on both.
"""

import html
import math
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from trainmark.mllog import keys
from trainmark.report import format as text
from trainmark.report import wording
from trainmark.report.session import Entry
from trainmark.types import Result, Run, printable

__all__ = ["COLOURS", "DASHES", "MARKERS", "curve", "frame", "history", "published_scatter"]

# Contrast at least 3:1 on white and on the dark background; told apart by the colour-blind, and
# by dash or marker shape besides.
COLOURS = ("#2f7ed8", "#c9641a", "#2a9263", "#a65bc9", "#c2455f", "#7a7f1f", "#1c93a8", "#8a6d5a")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
MARKERS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "pentagon")

_FEW_LINES = 5
_MOST_DATES = 6
# Between the powers of ten of a log axis.
_MINOR_TICKS = {"dtick": "D1", "ticks": "outside", "ticklen": 3, "tickcolor": "#8a93a0"}

Figure = dict[str, Any]


def curve(entry: Entry) -> Figure | None:
    """Quality over minutes, one line a run, with the target; None without an evaluation."""
    traces = [
        trace
        for i, run in enumerate(entry.runs)
        if (trace := _run_trace(run, i, entry)) is not None
    ]
    if not traces:
        return None
    target = entry.target
    percent = _is_share(entry)
    layout = frame("minutes since the clock started", wording.quality_name(entry))
    layout["yaxis"]["tickformat"] = ".0%" if percent else ""
    layout["xaxis"]["rangemode"] = "tozero"
    layout["shapes"], layout["annotations"] = [], []
    if target is not None:
        line = {"color": "#c2455f", "width": 2, "dash": "dash"}
        place = {"xref": "paper", "y0": target.value, "y1": target.value, "x0": 0, "x1": 1}
        layout["shapes"].append({"type": "line", "line": line, "layer": "between"} | place)
        # At the left, where no run has been evaluated yet; below, clear of the uppermost grid line.
        words = f"target {text.quality(target.value, target.metric)}"
        place = {"xref": "paper", "x": 0, "xanchor": "left", "y": target.value, "yanchor": "top"}
        layout["annotations"].append({"text": words, "showarrow": False} | place)
    if entry.score.minutes is not None:
        score = entry.score.minutes
        line = {"color": "#8a93a0", "width": 2, "dash": "dot"}
        place = {"yref": "paper", "x0": score, "x1": score, "y0": 0, "y1": 1}
        layout["shapes"].append({"type": "line", "line": line, "layer": "between"} | place)
        words = f"score {text.minutes(score)} min"
        place = {"yref": "paper", "x": score, "xanchor": "right", "y": 0, "yanchor": "bottom"}
        layout["annotations"].append({"text": words, "showarrow": False} | place)
    return {"data": traces, "layout": layout}


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


def _run_trace(run: Run, number: int, entry: Entry) -> Figure | None:
    points = [one for one in run.evaluations if math.isfinite(one.minutes)]
    if not points:
        return None
    name = f"run {PurePath(run.source).stem.removeprefix('result_')}"
    hovered = name if run.seed is None else f"{name}, seed {run.seed}"
    shown = "%{y:.2%}" if _is_share(entry) else "%{y:.4f}"
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": html.escape(printable(name)),
        "x": [one.minutes for one in points],
        "y": [one.quality for one in points],
        "text": [
            "" if one.samples is None else f"{text.count(one.samples)} samples" for one in points
        ],
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
        "hovertemplate": f"{shown} at %{{x:.3f}} min<br>%{{text}}"
        f"<extra>{html.escape(printable(hovered))}</extra>",
    }


def _is_share(entry: Entry) -> bool:
    """Whether the tables show the quality as per cent, and so the axis does."""
    target = entry.target
    values = [one.quality for run in entry.runs for one in run.evaluations]
    return (
        target is not None
        and target.metric == keys.EVAL_ACCURACY
        and all(0 <= value <= 1 for value in (target.value, *values))
    )


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
