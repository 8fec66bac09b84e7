from pathlib import Path

from tests.report.results import published
from tests.report.sessions import ERROR_TARGET, write_session
from trainmark.mllog import keys
from trainmark.report import load
from trainmark.report.session import Entry
from trainmark.report.tables import (
    Column,
    Table,
    build,
    evaluation_table,
    probe_table,
    published_table,
    run_table,
    settings_table,
    software_table,
    system_table,
)


def texts(table: Table) -> list[tuple[str, ...]]:
    return [tuple(cell.text for cell in row) for row in table.rows]


def pairs(table: Table) -> dict[str, str]:
    return {row[0].text: row[1].text for row in table.rows}


def entry_of(folder: Path) -> Entry:
    return load(folder).entries[0]


def test_a_column_that_no_row_fills_is_left_out() -> None:
    columns: tuple[Column[dict[str, float | None]], ...] = (
        Column("A", lambda row: row["a"], str),
        Column("B", lambda row: row["b"], str),
        Column("C", lambda row: row["c"], str, rank=1),
    )
    rows = [
        {"a": 1.0, "b": None, "c": 3.0},
        {"a": None, "b": float("nan"), "c": 4.0},
    ]
    table = build("caption", columns, rows)
    assert table.headings == ("A", "C")
    assert texts(table) == [("1.0", "3.0"), ("\N{EN DASH}", "4.0")]
    assert [cell.sort for cell in table.rows[1]] == ["", 4.0]
    assert table.ranks == (0, 1)


def test_a_table_without_rows_is_empty() -> None:
    columns: tuple[Column[int], ...] = (Column("A", lambda row: row, str),)
    assert build("caption", columns, []).rows == ()


def test_run_table(session_folder: Path) -> None:
    table = run_table(entry_of(session_folder))
    row = dict(zip(table.headings, texts(table)[1], strict=True))
    assert row == {
        "Run": "1",
        "Seed": "2",
        "Minutes": "1.100",
        "Status": "success",
        "Accuracy": "97.55 %",
        "Samples to target": "44,000",
        "Samples/s": "1,002",
        "FLOP/s": "50.0 GFLOP/s",
        "Of measured peak": "12.5 %",
        "Waiting for data": "2.0 %",
        "Preparation (min)": "0.050",
    }


def test_a_quality_has_its_own_name_and_unit_and_the_log_may_hold_more(tmp_path: Path) -> None:
    statistics = {keys.TRAIN_LOSS: 0.51234, "padding_share": 0.04}
    entry = entry_of(write_session(tmp_path / "s", target=ERROR_TARGET, statistics=statistics))
    runs, evaluations = run_table(entry), evaluation_table(entry)
    row = dict(zip(runs.headings, texts(runs)[0], strict=True))
    assert (row["Mean absolute error"], row["Padding"]) == ("0.2388 eV", "3.0 %")
    last = [line for line in texts(evaluations) if line[0] == "0"][-1]
    assert evaluations.headings[3:] == ("Mean absolute error", "Training loss")
    assert last[3:] == ("0.2388 eV", "0.5123")


def test_an_unfinished_run_says_so(session_folder: Path) -> None:
    log = session_folder / "Test House/results/desk/resnet50_desk/result_2.txt"
    kept = [line for line in log.read_text().splitlines() if "run_stop" not in line]
    log.write_text("\n".join(kept) + "\n")
    table = run_table(entry_of(session_folder))
    row = dict(zip(table.headings, texts(table)[2], strict=True))
    assert row["Status"] == "not finished"
    assert row["Minutes"] == "\N{EN DASH}"


def test_every_evaluation_is_a_row(session_folder: Path) -> None:
    table = evaluation_table(entry_of(session_folder))
    assert len(table.rows) == 10 + 11 + 13
    assert texts(table)[9] == ("0", "1.000", "40,000", "97.55 %")


def test_settings_that_differ_between_runs_show_every_value(session_folder: Path) -> None:
    rows = pairs(settings_table(entry_of(session_folder)))
    assert rows == {"learning_rate": "0.4", "precision": "bf16", "seed": "1 / 2 / 3"}


def test_system_software_and_probe(session_folder: Path) -> None:
    entry = entry_of(session_folder)
    system = pairs(system_table(entry))
    assert system["host processor model name"] == "Testbench CPU"
    assert system["accelerators per node"] == "0"
    assert "framework" not in system
    software = pairs(software_table(entry))
    assert software == {
        "framework": "PyTorch 2.13.0",
        "operating system": "Debian 12",
        "python": "3.11.7",
        "torch": "2.13.0",
        "threads": "2",
    }
    assert texts(probe_table(entry)) == [
        ("fp32, contiguous", "600 samples/s"),
        ("bf16, channels_last, 2 threads", "1,100 samples/s"),
        ("bf16, channels_last, 1 thread", "700 samples/s"),
        ("fp16: not used", "no instructions for it"),
        ("peak of matrix multiplication, fp32", "190 GFLOP/s"),
        ("peak of matrix multiplication, bf16", "410 GFLOP/s"),
    ]


def test_a_system_file_with_values_of_any_type_is_shown(tmp_path: Path) -> None:
    odd = {
        "system_name": ["a", {"b": None}],
        "other_software_stack": "all of it",
        "hw_notes": "",
        "number_of_nodes": "two\x1b[2J",
    }
    entry = entry_of(write_session(tmp_path / "s", description=odd))
    assert pairs(system_table(entry)) == {
        "system name": "a, b none",
        "number of nodes": "two\ufffd[2J",
    }
    assert ("other software", "all of it") in texts(software_table(entry))
    assert entry.machine_title == "Testbench CPU, 2 cores, 8 GB"


def test_published_rows_keep_their_order() -> None:
    table = published_table(
        [published("2.0", "b", 8, 2.5), published("1.0", "a", None, 1.0)], "some"
    )
    assert table.caption == "some"
    assert [row[2] for row in texts(table)] == ["b", "a"]
    assert texts(table)[1][4] == "\N{EN DASH}"
