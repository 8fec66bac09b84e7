import io
from pathlib import Path

import pytest
from rich.console import Console

from tests.report.results import result
from tests.report.sessions import SYSTEM, session_json, write_session
from trainmark import catalogue
from trainmark.report import SessionReport, load, print_session
from trainmark.report.format import minutes
from trainmark.report.published import pick

HOSTILE = "[bold red]name[/] \x1b[2J\x07 [link=file:///etc]x[/link] :smile:"


def printed(session: SessionReport, *, width: int = 100, terminal: bool = False) -> str:
    stream = io.StringIO()
    print_session(session, Console(file=stream, width=width, force_terminal=terminal))
    return stream.getvalue()


def words(text: str) -> str:
    return " ".join(text.split())


def test_a_session_is_told_in_full(session_folder: Path) -> None:
    catalogue.record(result(), [])
    session = load(session_folder)
    out = words(printed(session, width=140))
    for expected in (
        "ResNet-50 (desk) on Testbench CPU, 2 cores, 8 GB",
        "1 1.100 success 97.55 % 44,000 1,002 50.0 GFLOP/s 12.5 % 2.0 % 0.050 2",
        "score 1.100 minutes (unverified; MLPerf procedure, own target)",
        "The official formula leaves out the fastest and the slowest run",
        "Trained in bf16 with batch size 64, 2 threads and PyTorch 2.13.0 on 2026-11-30 13:00 UTC",
        "repeat it with trainmark run resnet50 --runs 3 --seed 1",
        "spread 3 runs from 1.000 to 1.300 minutes",
        "checker Passes: all 3 logs follow trainmark's own rules",
        "samples to target 44,000 (40,000 to 52,000)",
        "throughput 1,002 samples/s (1,001 to 1,003)",
        "compute achieved 50.0 GFLOP/s",
        "share of measured peak 12.5 %",
        "time waiting for data 2.0 %",
        "preparation, not timed 0.050 minutes",
        "Now: 8.3 % less time than 2026-11-01 10:00 UTC (1.200 minutes), within noise",
        "Apart from this, not comparable: published full-scale ResNet-50 results",
        "Not comparable: these systems train ResNet-50 v1.5",
        "MLPerf is a trademark",
    ):
        assert expected in out


def test_published_results_come_last_and_after_the_caution(session_folder: Path) -> None:
    out = printed(load(session_folder))
    assert out.index("score") < out.index("Not comparable") < out.index("Of each round")
    assert "NVIDIA" not in out[: out.index("Not comparable")]


def test_a_first_session_says_that_there_is_nothing_earlier(session_folder: Path) -> None:
    assert "No earlier result of this benchmark" in words(printed(load(session_folder)))


def test_plain_text_when_it_is_no_terminal(session_folder: Path) -> None:
    session = load(session_folder)
    assert "\x1b" not in printed(session)
    assert "\x1b[" in printed(session, terminal=True)


@pytest.mark.parametrize("terminal", [False, True])
def test_text_from_outside_is_shown_as_it_is_written(tmp_path: Path, terminal: bool) -> None:
    folder = write_session(
        tmp_path / "s",
        info=session_json(title=HOSTILE, machine_title=HOSTILE),
        description=SYSTEM | {"system_name": HOSTILE},
    )
    out = printed(load(folder), width=400, terminal=terminal)
    assert HOSTILE.replace("\x1b", "\ufffd").replace("\x07", "\ufffd") in out
    assert "\x1b[2J" not in out
    assert "\x07" not in out
    assert "\x1b]8" not in out  # no link


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_no_line_is_wider_than_the_terminal_and_nothing_is_cut(
    session_folder: Path, width: int
) -> None:
    catalogue.record(result(id="own/1"), [])
    catalogue.record(result(id="own/2", recorded="2026-11-02T10:00:00+00:00"), [])
    session = load(session_folder)
    fastest = minutes(pick(session.entries[0].published)[0].minutes or 0.0)
    out = printed(session, width=width)
    assert all(len(line) <= width for line in out.splitlines())
    assert "\N{HORIZONTAL ELLIPSIS}" not in out
    for whole in ("success", "97.55 %", "44,000", "1,002", "-8.3 %", fastest, "within noise"):
        assert whole in out


def test_a_table_that_is_too_wide_goes_without_columns_and_says_which(session_folder: Path) -> None:
    session = load(session_folder)
    assert "No room here for: FLOP/s, Waiting for data, Preparation (min)." in printed(
        session, width=80
    )
    assert "No room here" not in printed(session, width=140)


def test_findings_are_grouped_with_places_and_a_count(session_folder: Path) -> None:
    place = session_folder / "Test House/results/desk/resnet50_desk"
    for log in place.iterdir():
        with log.open("a") as stream:
            stream.writelines(f":::MLLOG {{torn {i}\n" for i in range(3))
    out = words(printed(load(session_folder)))
    assert "Does not pass: 3 of 3 logs break trainmark's own rules" in out
    assert "error log.json: not valid JSON after the token" in out
    assert "and 6 more" in out


def test_many_entries_are_a_table(session_folder: Path) -> None:
    for i in range(3):
        write_session(session_folder / f"{i}", epochs=(4, 5, 6), submitter=f"Other {i}")
    out = words(printed(load(session_folder)))
    assert "Results in this folder" in out
    assert "Other 2 desk resnet50_desk 3 0.500 passes" in out
    assert "samples to target" not in out
