import base64
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.report.pages import Element, parse
from tests.report.results import published, result
from tests.report.sessions import SYSTEM, session_json, write_session
from trainmark import catalogue
from trainmark.report import SessionReport, load, render_html, write_html
from trainmark.report.published import comparable
from trainmark.types import TrainmarkError, UsageError

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[2J'\" {{ 7*7 }}"
SHOWN = HOSTILE.replace("\x1b", "\ufffd")


def table(page: Element, caption: str) -> list[list[str]]:
    """The rows of the table whose caption starts so, headings first."""
    (found,) = [one for one in page.all("table") if one.one("caption").text.startswith(caption)]
    return [[cell.text for cell in [*row.all("th"), *row.all("td")]] for row in found.all("tr")]


def figures(page: Element) -> dict[str, dict[str, list[object]]]:
    data: dict[str, dict[str, list[object]]] = json.loads(page.one("script", id="figures").text)
    return data


@pytest.fixture
def full(session_folder: Path) -> SessionReport:
    """A session with earlier results on the same machine."""
    catalogue.record(result(id="own/1", recorded="2026-11-01T10:00:00+00:00"), [])
    catalogue.record(result(id="own/2", recorded="2026-11-20T10:00:00+00:00"), [])
    return load(session_folder)


def test_the_page_says_what_was_measured(full: SessionReport) -> None:
    page = parse(render_html(full))
    assert page.one("html").attributes["lang"] == "en"
    assert page.one("title").text == (
        "ResNet-50 (desk): 1.100 minutes on Testbench CPU, 2 cores, 8 GB \N{EN DASH} trainmark"
    )
    assert page.one("h1").text == "ResNet-50 (desk)"
    assert page.one("p", cls="machine").text == "Testbench CPU, 2 cores, 8 GB"
    assert page.one("p", cls="score").text == (
        "1.100 minutes unverified; MLPerf procedure, own target"
    )
    assert page.one("p", cls="setup").text == (
        "Trained in bf16 with batch size 64, 2 threads and PyTorch 2.13.0 on 2026-11-30 13:00 UTC."
    )
    basis = [one.text for one in page.all("p", cls="basis")]
    told = full.entries[0].score.basis
    assert basis[0].startswith(f"{told[0].upper()}{told[1:]}. The official formula")
    assert page.one("p", cls="verdict pass").text.startswith("Checker. Passes: all 3 logs")
    assert [one.text for one in page.all("dt")][:2] == ["samples to target", "throughput"]
    rows = table(page, "What each run")
    assert [[*row[:4], row[-1]] for row in rows] == [
        ["Run", "Minutes", "Status", "Accuracy", "Seed"],
        ["0", "1.000", "success", "97.55 %", "1"],
        ["1", "1.100", "success", "97.55 %", "2"],
        ["2", "1.300", "success", "97.55 %", "3"],
    ]
    assert page.one("pre").text == "trainmark run resnet50 --runs 3 --seed 1"
    assert "MLPerf is a trademark" in page.one("footer").text
    assert "unverified" in page.one("footer").text


def test_sections_come_in_the_order_of_what_matters(full: SessionReport) -> None:
    headings = [one.text for one in parse(render_html(full)).all("h2")]
    assert headings == [
        "Quality over time",
        "Runs",
        "Findings of the checker",
        "Earlier runs on this machine",
        "Apart from this, not comparable: published full-scale ResNet-50 results",
        "System",
        "Settings",
        "How to repeat it",
    ]


def test_earlier_runs_are_newest_first_with_the_change(full: SessionReport) -> None:
    rows = table(parse(render_html(full)), "Earlier results")
    assert [row[0] for row in rows[1:]] == ["2026-11-20 10:00 UTC", "2026-11-01 10:00 UTC"]
    assert rows[1][rows[0].index("Time now")] == "-8.3 %"


def test_published_results_stand_in_a_section_of_their_own(full: SessionReport) -> None:
    page = parse(render_html(full))
    apart = page.one("section", cls="apart")
    assert apart.one("p", cls="caution").text.startswith("Not comparable:")
    everything = table(apart, "Every published result")
    assert len(everything) - 1 == len(comparable(catalogue.published(benchmark="resnet")))
    picked = table(apart, "Of each round")
    assert all(row in [full_row[:-1] for full_row in everything] for row in picked[1:])
    outside = [one for one in page.all("table") if one not in apart.all("table")]
    assert not any("NVIDIA" in one.text for one in outside)


def test_every_chart_has_a_caption_a_label_and_its_numbers_as_a_table(full: SessionReport) -> None:
    page = parse(render_html(full))
    charts = page.all("div", cls="chart")
    assert {one.attributes["id"] for one in charts} == set(figures(page))
    assert set(figures(page)) == {
        "result-1-curve",
        "result-1-samples",
        "result-1-history",
        "published-1-chart",
    }
    assert len(page.all("figure")) == len(page.all("figcaption")) == 4
    for chart in charts:
        assert chart.attributes["role"] == "img"
        assert chart.attributes["aria-label"]
    assert len(table(page, "Quality at every evaluation")) == 1 + 10 + 11 + 13


def test_every_table_has_a_caption_headings_and_a_box_that_the_keyboard_scrolls(
    full: SessionReport,
) -> None:
    page = parse(render_html(full))
    for box in page.all("div", cls="scroll"):
        assert box.attributes["tabindex"] == "0"
        assert box.attributes["aria-label"] == box.one("caption").text
        assert all(one.attributes["scope"] == "col" for one in box.all("th"))
    assert len(page.all("div", cls="scroll")) == len(page.all("table"))
    for sortable in page.all("table", cls="sortable"):
        assert all(len(one.all("button")) == 1 for one in sortable.all("th"))


def test_ids_are_unique(full: SessionReport) -> None:
    ids = [one.attributes["id"] for one in parse(render_html(full)).all() if "id" in one.attributes]
    assert len(ids) == len(set(ids))


def test_the_page_loads_nothing(full: SessionReport) -> None:
    page = parse(render_html(full))
    for element in page.all():
        assert element.tag not in ("link", "iframe", "object", "embed", "img", "base", "form")
        assert "src" not in element.attributes
        assert element.attributes.get("href", "#").startswith("#")
        assert "url(" not in element.attributes.get("style", "")
    assert not re.search(r"@import|url\(", page.one("style").text)


def test_the_policy_allows_the_two_scripts_and_no_request(full: SessionReport) -> None:
    text = render_html(full)
    page = parse(text)
    policy = page.one("meta", **{"http-equiv": "Content-Security-Policy"}).attributes["content"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    hashes = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts
    ]
    assert rules["script-src"] == " ".join(f"'sha256-{one}'" for one in hashes)
    assert len(scripts) == 2


def test_the_page_stays_under_six_megabytes(full: SessionReport) -> None:
    assert len(render_html(full).encode()) < 6_000_000


def test_text_from_outside_is_text(tmp_path: Path) -> None:
    folder = write_session(
        tmp_path / "s",
        system="<b>desk<",
        info=session_json(title=HOSTILE, machine_title=HOSTILE, command=HOSTILE, label=HOSTILE),
        description=SYSTEM | {"system_name": HOSTILE, "other_software_stack": {HOSTILE: HOSTILE}},
        organisation=HOSTILE,
    )
    session = load(folder)
    (entry,) = session.entries
    hostile_result = published("1.0", HOSTILE, 8, 20.0, accelerator=HOSTILE)
    session = replace(session, entries=(replace(entry, published=(hostile_result,)),))
    text = render_html(session)
    page = parse(text)
    assert len(page.all("script")) == 3
    assert page.all("img") == []
    assert "\x1b" not in text
    shown = " ".join(SHOWN.split())
    assert page.one("h1").text == shown
    assert page.one("pre").text == shown
    assert page.one("p", cls="machine").text == shown
    assert ["system name", shown] in table(page, "System description")
    assert [shown, shown] in table(page, "Software")
    (tooltip,) = figures(page)["published-1-chart"]["data"][0]["text"]  # type: ignore[index]
    assert "<script>" not in tooltip
    assert "&lt;script&gt;" in tooltip


def test_a_folder_of_several_results_has_an_overview(session_folder: Path) -> None:
    write_session(session_folder / "more", epochs=(4, 5, 6), submitter="Other", system="rack")
    page = parse(render_html(load(session_folder)))
    assert page.one("h1").text == "2 results"
    rows = table(page, "Results in this folder")
    assert [row[:2] for row in rows[1:]] == [["Test House", "desk"], ["Other", "rack"]]
    assert [one.attributes["id"] for one in page.all("article")] == ["result-1", "result-2"]
    assert [one.attributes["href"] for one in page.one("nav").all("a")] == [
        "#result-1",
        "#result-2",
    ]
    assert len(page.all("section", cls="apart")) == 1


def test_what_is_missing_is_not_shown(session_folder: Path) -> None:
    (session_folder / "session.json").unlink()
    session = load(session_folder)
    bare = replace(session.entries[0], published=(), system_description={})
    page = parse(render_html(replace(session, entries=(bare,))))
    headings = [one.text for one in page.all("h2")]
    assert headings == [
        "Quality over time",
        "Runs",
        "Findings of the checker",
        "System",
        "Settings",
    ]
    assert all(one.all("td") for one in page.all("table"))


def test_broken_files_beside_the_logs_are_shown(session_folder: Path) -> None:
    (session_folder / "session.json").write_text("{")
    page = parse(render_html(load(session_folder)))
    assert "Beside the logs" in [one.text for one in page.all("h2")]
    assert "session.json is not valid JSON" in page.one("main").text


def test_the_page_is_written_whole_or_not(session_folder: Path, tmp_path: Path) -> None:
    session = load(session_folder)
    write_html(session, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == render_html(session)
    with pytest.raises(UsageError, match="cannot create"):
        write_html(session, tmp_path / "nowhere/page.html")
    with pytest.raises(UsageError, match="is a folder"):
        write_html(session, session_folder)


def test_a_full_disk_is_an_error_with_a_way_out(session_folder: Path, tmp_path: Path) -> None:
    import resource

    session = load(session_folder)
    page = tmp_path / "page.html"
    page.write_text("before")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(TrainmarkError, match="cannot write"):
            write_html(session, page)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert page.read_text() == "before"
