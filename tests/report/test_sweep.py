import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.report.pages import parse
from tests.report.sessions import write_session
from trainmark.report import load
from trainmark.report.session import Entry
from trainmark.report.sweep import (
    Point,
    SweepReport,
    sweep_table,
    sweep_to_dict,
    write_sweep_page,
)

HOSTILE = "</script><b onclick=x>"


@pytest.fixture
def entry(tmp_path: Path) -> Entry:
    return load(write_session(tmp_path / "session", epochs=(10, 11, 13))).entries[0]


def missed(entry: Entry) -> Entry:
    runs = [replace(run, status="aborted", samples_to_target=None) for run in entry.runs]
    return replace(entry, runs=tuple(runs))


def sweep_of(*points: Point, **changes: Any) -> SweepReport:
    fields: dict[str, Any] = {
        "title": "ResNet-50",
        "workload": "resnet50",
        "scale": "desk",
        "setting": "global_batch_size",
        "help": "samples in one optimizer step",
        "machine_title": "a box",
        "command": "trainmark run resnet50 --sweep global_batch_size=50,100,200",
        "started": "2026-11-30T13:00:00+00:00",
    }
    return SweepReport(points=points, **{**fields, **changes})


def cells(sweep: SweepReport) -> list[dict[str, str]]:
    table = sweep_table(sweep)
    return [{h: c.text for h, c in zip(table.headings, row, strict=True)} for row in table.rows]


def test_the_table_has_a_line_for_each_value_and_says_what_missed(entry: Entry) -> None:
    sweep = sweep_of(
        Point(value=50, folder="a", entry=entry),
        Point(value=100, folder="b", entry=missed(entry)),
        Point(value=200, folder="c", entry=None, error="out of memory"),
    )
    first, second, third = cells(sweep)
    assert first["Reached"] == "3 of 3"
    assert first["Minutes to target"] == "1.100"
    assert first["Samples to target"] == "44,000"
    assert second["Reached"] == "0 of 3, target not met"
    assert second["Minutes to target"] == second["Samples to target"] == "\N{EN DASH}"
    assert second["Samples/s"] == "1,002"
    assert third["Reached"] == "failed: out of memory"
    assert sweep.unmet == (100, 200)
    assert not sweep.ok
    assert sweep_of(Point(value=50, folder="a", entry=entry)).ok


def test_the_data_are_plain_and_whole(entry: Entry) -> None:
    sweep = sweep_of(Point(value=50, folder="a", entry=entry, error="the disk is full"))
    found = json.loads(orjson.dumps(sweep_to_dict(sweep)))
    assert (found["setting"], found["ok"]) == ("global_batch_size", False)
    (point,) = found["values"]
    assert (point["value"], point["folder"], point["error"]) == (50, "a", "the disk is full")
    assert point["medians"]["minutes"] == pytest.approx(1.1)
    assert [run["seed"] for run in point["runs"]] == [1, 2, 3]


def figures(page: Path) -> dict[str, Any]:
    text = page.read_text()
    start = text.index('id="figures">') + len('id="figures">')
    found: dict[str, Any] = json.loads(text[start : text.index("</script>", start)])
    return found


def test_the_page_draws_throughput_time_and_samples_against_the_setting(
    tmp_path: Path, entry: Entry
) -> None:
    sweep = sweep_of(
        Point(value=50, folder="a", entry=entry),
        Point(value=200, folder="b", entry=missed(entry)),
        Point(value=400, folder="c", entry=entry),
    )
    page = tmp_path / "sweep.html"
    write_sweep_page(sweep, page)
    drawn = figures(page)
    assert list(drawn) == ["rate", "minutes", "samples"]
    runs, median = drawn["minutes"]["data"]
    assert runs["x"] == [50] * 3 + [400] * 3
    assert median["x"] == [50, 200, 400]
    assert median["y"] == [pytest.approx(1.1), None, pytest.approx(1.1)]  # a gap, no invention
    assert drawn["rate"]["data"][1]["y"] == [1002.0] * 3
    assert drawn["rate"]["layout"]["xaxis"]["type"] == "log"
    assert "No run reached the target at global_batch_size 200" in parse(page.read_text()).text


def test_words_stand_side_by_side_and_nothing_from_outside_is_markup(
    tmp_path: Path, entry: Entry
) -> None:
    sweep = sweep_of(
        Point(value=HOSTILE, folder="a", entry=entry),
        Point(value="lars", folder="b", entry=None, error=HOSTILE),
        setting="optimizer",
        machine_title=HOSTILE,
        command=HOSTILE,
    )
    page = tmp_path / "sweep.html"
    write_sweep_page(sweep, page)
    axis = figures(page)["rate"]["layout"]["xaxis"]
    assert axis["tickvals"] == [0, 1]
    assert axis["ticktext"][0] == "&lt;/script&gt;&lt;b onclick=x&gt;"
    assert "type" not in axis
    assert HOSTILE not in page.read_text()


def test_without_a_single_run_there_is_a_page_without_charts(tmp_path: Path) -> None:
    page = tmp_path / "sweep.html"
    write_sweep_page(sweep_of(Point(value=1, folder="", entry=None, error="no data")), page)
    assert figures(page) == {}
    assert "failed: no data" in page.read_text()
