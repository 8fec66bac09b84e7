import os
import resource
from dataclasses import MISSING, Field, fields
from pathlib import Path

import pytest

from tests.catalogue.repositories import own_result
from trainmark.catalogue.schema import RESULT_COLUMNS, result_to_row
from trainmark.catalogue.store import connect, load, rows, write_table
from trainmark.types import Finding, Result, TrainmarkError, UsageError


def _write(path: Path, **changes: object) -> Path:
    write_table(path, RESULT_COLUMNS, [result_to_row(own_result(**changes))])
    return path


def _make(sql: str, path: Path) -> None:
    with connect() as database:
        database.execute(f"COPY ({sql}) TO '{path}' (FORMAT parquet)")


def _load(*files: Path) -> tuple[list[str], list[Finding]]:
    with connect() as database:
        findings = load(database, "results", RESULT_COLUMNS, files)
        return [row["id"] for row in rows(database, "FROM results ORDER BY id")], findings


def test_files_are_read_together(tmp_path: Path) -> None:
    first, second = _write(tmp_path / "a.parquet"), _write(tmp_path / "b.parquet", id="own/2")
    assert _load(first, second) == (["own/1", "own/2"], [])


def test_no_files_make_an_empty_table() -> None:
    assert _load() == ([], [])


def test_an_empty_table_can_be_written(tmp_path: Path) -> None:
    write_table(tmp_path / "a.parquet", RESULT_COLUMNS, [])
    assert _load(tmp_path / "a.parquet") == ([], [])


def test_wildcards_in_a_folder_name_are_letters(tmp_path: Path) -> None:
    folder = tmp_path / "a[b]*c?"
    folder.mkdir()
    assert _load(_write(folder / "x.parquet")) == (["own/1"], [])


def test_an_older_file_without_a_column_is_read(tmp_path: Path) -> None:
    old = tmp_path / "old.parquet"
    write_table(old, RESULT_COLUMNS[:-3], [result_to_row(own_result(id="own/0"))[:-3]])
    assert _load(old) == (["own/0"], [])
    assert _load(old, _write(tmp_path / "new.parquet")) == (["own/0", "own/1"], [])


def test_a_newer_file_with_a_further_column_is_read(tmp_path: Path) -> None:
    new = tmp_path / "new.parquet"
    old = _write(tmp_path / "old.parquet", id="own/9")
    _make(f"SELECT *, 1.5 AS price_usd FROM '{old}'", new)
    assert _load(new) == (["own/9"], [])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "too small"),
        (b"no parquet at all, only words", "magic bytes"),
        (None, "magic bytes"),
        ("SELECT 1 AS other", "it has no column 'id'"),
        ("SELECT 'own/3' AS id, 'soon' AS minutes", "its column 'minutes' holds VARCHAR"),
    ],
)
def test_a_damaged_file_is_a_finding_and_the_rest_is_read(
    tmp_path: Path, content: bytes | str | None, reason: str
) -> None:
    good, bad = _write(tmp_path / "good.parquet"), tmp_path / "bad.parquet"
    if isinstance(content, str):
        _make(content, bad)
    else:
        bad.write_bytes(good.read_bytes()[:-40] if content is None else content)
    found, findings = _load(good, bad)
    assert found == ["own/1"]
    (finding,) = findings
    assert (finding.rule, finding.path, finding.is_error) == ("catalogue.damaged", str(bad), False)
    assert reason in finding.message


def test_a_file_that_vanished_is_a_finding(tmp_path: Path) -> None:
    found, findings = _load(_write(tmp_path / "a.parquet"), tmp_path / "gone.parquet")
    assert (found, len(findings)) == (["own/1"], 1)


def test_a_missing_folder_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot create"):
        _write(tmp_path / "absent" / "a.parquet")


@pytest.mark.parametrize("kind", ["pipe", "folder", "link to nothing", "link to a device"])
def test_what_is_no_file_is_a_finding(kind: str, tmp_path: Path) -> None:
    good, bad = _write(tmp_path / "a.parquet"), tmp_path / "b.parquet"
    match kind:
        case "pipe":
            os.mkfifo(bad)
        case "folder":
            bad.mkdir()
        case "link to nothing":
            bad.symlink_to("absent")
        case _:
            bad.symlink_to("/dev/zero")
    ids, findings = _load(good, bad)
    assert ids == [own_result().id]
    assert [finding.path for finding in findings] == [str(bad)]
    assert "no file" in findings[0].message


def test_a_file_that_cannot_be_reached_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = _write(tmp_path / "a.parquet"), _write(tmp_path / "b.parquet", id="own/2")
    is_file = Path.is_file

    def refuse(path: Path) -> bool:
        if path == bad:
            raise PermissionError
        return is_file(path)

    monkeypatch.setattr(Path, "is_file", refuse)
    ids, findings = _load(good, bad)
    assert (ids, [finding.path for finding in findings]) == ([own_result().id], [str(bad)])


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *((column.name, "NULL") for column in RESULT_COLUMNS if column.needed),
        ("raw", "'{'"),
        ("raw", "'[1]'"),
        ("raw", "'null'"),
        ("minutes", "'nan'::DOUBLE"),
        ("global_batch_size", "'inf'::DOUBLE"),
    ],
)
def test_a_value_that_cannot_be_read_back_is_a_finding(
    column: str, value: str, tmp_path: Path
) -> None:
    good, bad = _write(tmp_path / "a.parquet"), tmp_path / "b.parquet"
    kind = next(one.sql for one in RESULT_COLUMNS if one.name == column)
    _make(f"SELECT * REPLACE (({value})::{kind} AS {column}) FROM '{good}'", bad)
    ids, findings = _load(good, bad)
    assert (ids, [finding.path for finding in findings]) == ([own_result().id], [str(bad)])
    assert column in findings[0].message


def test_half_a_surrogate_pair_in_raw_text_is_read_back(tmp_path: Path) -> None:
    file = _write(tmp_path / "a.parquet", raw={"submitter": "a\ud800"})
    ids, findings = _load(file)
    assert (ids, findings) == ([own_result().id], [])
    with connect() as database:
        load(database, "results", RESULT_COLUMNS, [file])
        assert rows(database, "SELECT raw->>'submitter' AS name FROM results") == [{"name": "a?"}]


def test_what_a_row_needs_is_what_has_no_default() -> None:
    nullable = {"round", "accelerators", "nodes", "minutes"}
    nullable |= {"global_batch_size", "samples_to_target"}
    without = {field.name for field in fields(Result) if _has_no_default(field)}
    assert {column.name for column in RESULT_COLUMNS if column.needed} == without - nullable


def _has_no_default(field: Field[object]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def test_a_full_disk_is_a_text_and_the_old_file_stays(tmp_path: Path) -> None:
    file = _write(tmp_path / "a.parquet")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
    try:
        with pytest.raises(TrainmarkError, match=r"cannot write Parquet in .*: File too large"):
            _write(file, id="own/2")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert _load(file) == (["own/1"], [])
