import math
from dataclasses import replace
from pathlib import Path

import plotly.graph_objects as go
import pytest

from tests.report.results import published, result
from tests.report.sessions import ERROR_TARGET, write_session
from trainmark.report import charts, load
from trainmark.report.compare import compare


def test_curve_has_a_line_for_each_run_and_the_target(session_folder: Path) -> None:
    figure = charts.curve(load(session_folder).entries[0])
    assert figure is not None
    go.Figure(figure)  # raises on a property that Plotly does not know
    assert [trace["name"] for trace in figure["data"]] == [
        "run 0",
        "run 1",
        "run 2",
    ]
    assert "run 1, seed 2" in figure["data"][1]["hovertemplate"]
    assert len({trace["line"]["color"] for trace in figure["data"]}) == 3
    first = figure["data"][0]
    assert first["x"][-1] == pytest.approx(1.0)
    assert first["y"][-1] == pytest.approx(0.9755)
    assert first["text"][-1] == "97.55 % at 1.000 min, 40,000 samples"
    assert figure["layout"]["shapes"][0]["y0"] == 0.975
    assert figure["layout"]["shapes"][1]["x0"] == pytest.approx(1.1)
    words = [one["text"] for one in figure["layout"]["annotations"]]
    assert words == ["target 97.5 %", "score 1.100 min"]
    assert figure["layout"]["yaxis"]["title"]["text"] == "accuracy"
    sizes = first["marker"]["size"]
    assert sizes[-1] > sizes[0] == sizes[-2]  # where each run ended


def test_curve_over_samples(session_folder: Path) -> None:
    figure = charts.curve(load(session_folder).entries[0], "samples")
    assert figure is not None
    go.Figure(figure)
    assert figure["data"][0]["x"][-1] == 40_000
    assert figure["layout"]["xaxis"]["title"]["text"] == "samples trained"
    (target,) = figure["layout"]["annotations"]  # the score is in minutes
    assert target["text"] == "target 97.5 %"


def test_an_error_falls_to_its_target_on_a_logarithmic_axis(tmp_path: Path) -> None:
    folder = write_session(tmp_path / "s", target=ERROR_TARGET)
    figure = charts.curve(load(folder).entries[0])
    assert figure is not None
    go.Figure(figure)
    axis = figure["layout"]["yaxis"]
    assert (axis["type"], axis["title"]["text"]) == ("log", "mean absolute error")
    assert axis["ticksuffix"] == " eV"
    line, label = figure["layout"]["shapes"][0], figure["layout"]["annotations"][0]
    assert (line["y0"], label["y"]) == (0.24, pytest.approx(math.log10(0.24)))
    # The runs come from above: there is the room.
    assert (label["text"], label["yanchor"]) == ("target 0.24 eV", "bottom")


def test_a_curve_without_a_score_has_no_line_for_it(tmp_path: Path) -> None:
    (entry,) = load(write_session(tmp_path / "failed", status="aborted")).entries
    figure = charts.curve(entry)
    assert figure is not None
    assert len(figure["layout"]["shapes"]) == len(figure["layout"]["annotations"]) == 1


def test_curve_without_an_evaluation_is_none(session_folder: Path) -> None:
    (entry,) = load(session_folder).entries
    assert charts.curve(replace(entry, runs=())) is None


def test_many_runs_stay_apart(tmp_path: Path) -> None:
    figure = charts.curve(load(write_session(tmp_path / "s", epochs=(2,) * 20)).entries[0])
    assert figure is not None
    looks = {(trace["line"]["color"], trace["line"]["dash"]) for trace in figure["data"]}
    assert len(looks) == 20


def test_history_ends_with_now(session_folder: Path) -> None:
    (entry,) = load(session_folder).entries
    assert charts.history(entry) is None
    then = result()
    entry = replace(entry, comparisons=(compare(1.1, entry.score.run_minutes, None, then),))
    figure = charts.history(entry)
    assert figure is not None
    go.Figure(figure)
    dots, line = figure["data"]
    assert (
        line["text"] == figure["layout"]["xaxis"]["ticktext"][::-1] == ["2026-11-01 10:00", "now"]
    )
    assert dots["x"] == [0, 0, 0, 1, 1, 1]
    assert line["y"] == pytest.approx([1.2, 1.1])
    assert dots["y"] == pytest.approx([1.15, 1.2, 1.25, 1.0, 1.1, 1.3])


def test_history_of_many_sessions_shows_few_dates_and_now(session_folder: Path) -> None:
    (entry,) = load(session_folder).entries
    days = (f"2026-10-{day:02}T10:00:00+00:00" for day in range(1, 31))
    many = tuple(compare(1.1, (1.0, 1.2), None, result(recorded=day)) for day in days)
    figure = charts.history(replace(entry, comparisons=many))
    assert figure is not None
    shown = figure["layout"]["xaxis"]["ticktext"]
    assert shown[0] == "now"
    assert 4 <= len(shown) <= 6
    assert len(figure["data"][1]["x"]) == 31


def test_published_scatter_has_log_axes_and_a_trace_a_round() -> None:
    figure = charts.published_scatter(
        [
            published("2.0", "b", 64, 5.0),
            published("1.0", "a", 8, 28.7),
            published("1.0", "uncounted", None, 3.0),
            published("1.0", "unscored", 8, None),
        ]
    )
    assert figure is not None
    go.Figure(figure)
    assert figure["layout"]["xaxis"]["type"] == figure["layout"]["yaxis"]["type"] == "log"
    assert [(trace["name"], trace["x"]) for trace in figure["data"]] == [
        ("v1.0", [8]),
        ("v2.0", [64]),
    ]
    assert charts.published_scatter([]) is None


def test_names_that_look_like_markup_are_escaped_for_plotly() -> None:
    figure = charts.published_scatter([published("1.0", "<a href='x'>s</a>\x1b", 8, 1.0)])
    assert figure is not None
    (shown,) = figure["data"][0]["text"]
    assert "&lt;a href=&#x27;x&#x27;&gt;s&lt;/a&gt;\ufffd" in shown


@pytest.mark.parametrize("colour", charts.COLOURS)
@pytest.mark.parametrize("ground", ["#ffffff", "#12151b"])
def test_line_colours_can_be_told_from_either_background(colour: str, ground: str) -> None:
    lighter, darker = sorted((_luminance(colour), _luminance(ground)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 3  # WCAG 2.1, 1.4.11


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
