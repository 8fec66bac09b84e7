from pathlib import Path

import pytest

from tests.catalogue.repositories import own_result
from trainmark.catalogue import Filters, opening, query, record
from trainmark.catalogue.schema import RESULT_COLUMNS, RUN_COLUMNS, result_to_row, run_to_row
from trainmark.catalogue.search import runs_of
from trainmark.catalogue.store import write_table
from trainmark.types import Finding, Result, Run, TrainmarkError

_PACKAGED = "v2.0/Graphcore/ipu-pod16-TF1-closed/resnet"


def _imported(folder: Path, name: str, *results: Result, minutes: float = 7.0) -> Path:
    """An import of these results, each with one run."""
    place = folder / "imported" / name
    place.mkdir(parents=True)
    write_table(place / "results.parquet", RESULT_COLUMNS, list(map(result_to_row, results)))
    run = Run(source=f"{name}/result_0.txt", minutes=minutes)
    runs = [run_to_row(result.id, 0, run) for result in results]
    write_table(place / "runs.parquet", RUN_COLUMNS, runs)
    return place


def _result(name: str, **changes: object) -> Result:
    fields: dict[str, object] = {"origin": "imported", "round": "2.0", "label": "unverified"}
    return own_result(id=name, **fields | changes)


def _ids(folder: Path, **asked: object) -> list[str]:
    return [r.id for r in query(Filters(**asked), where=folder)]  # type: ignore[arg-type]


def test_imported_results_are_there_beside_the_others(tmp_path: Path) -> None:
    _imported(tmp_path, "mine", _result("v2.0/Me/box/resnet"), _result("v2.0/Me/box/bert"))
    record(own_result(), (), tmp_path)
    assert _ids(tmp_path, origin="imported") == ["v2.0/Me/box/bert", "v2.0/Me/box/resnet"]
    assert _ids(tmp_path, origin="own") == ["own/1"]
    assert len(_ids(tmp_path)) == len(_ids(tmp_path / "none")) + 3


def test_an_imported_result_takes_the_place_of_the_packaged_one(tmp_path: Path) -> None:
    _imported(tmp_path, "again", _result(_PACKAGED, minutes=5.0, submitter="Graphcore"))
    (found,) = query(Filters(ids=(_PACKAGED,)), where=tmp_path)
    assert (found.origin, found.minutes) == ("imported", 5.0)
    assert [run.source for run in runs_of(found, where=tmp_path)] == ["again/result_0.txt"]
    others = query(Filters(submitter="graphcore", rounds=("2.0",)), where=tmp_path)
    assert len(others) == len(query(Filters(submitter="graphcore", rounds=("2.0",))))
    other = next(result for result in others if result.id != _PACKAGED)
    assert runs_of(other, where=tmp_path) == runs_of(other)


def test_of_two_imports_with_one_id_the_first_by_name_counts_with_its_runs(tmp_path: Path) -> None:
    _imported(tmp_path, "b", _result("v2.0/Me/box/bert", minutes=2.0), minutes=2.0)
    _imported(tmp_path, "a", _result("v2.0/Me/box/bert", minutes=1.0), minutes=1.0)
    (found,) = query(Filters(origin="imported"), where=tmp_path)
    assert found.minutes == 1.0
    assert [run.minutes for run in runs_of(found, where=tmp_path)] == [1.0]


def test_a_damaged_import_is_a_finding_and_the_packaged_result_is_back(tmp_path: Path) -> None:
    place = _imported(tmp_path, "bad", _result(_PACKAGED, minutes=5.0))
    (place / "results.parquet").write_bytes(b"damaged")
    findings: list[Finding] = []
    (found,) = query(Filters(ids=(_PACKAGED,)), where=tmp_path, on_finding=findings.append)
    assert found.origin == "published"
    assert [finding.path for finding in findings] == [str(place / "results.parquet")]
    assert "trainmark import" in findings[0].fix
    assert len(runs_of(found, where=tmp_path, on_finding=lambda _: None)) == 5


@pytest.mark.parametrize("damage", ["missing", "bytes"])
def test_damaged_runs_of_an_import_are_none(tmp_path: Path, damage: str) -> None:
    place = _imported(tmp_path, "bad", _result(_PACKAGED, minutes=5.0))
    runs = place / "runs.parquet"
    if damage == "missing":
        runs.unlink()
    else:
        runs.write_bytes(b"PAR1")
    (found,) = query(Filters(ids=(_PACKAGED,)), where=tmp_path)
    findings: list[Finding] = []
    assert runs_of(found, where=tmp_path, on_finding=findings.append) == []
    assert [finding.path for finding in findings] == [str(runs)]


def test_a_file_with_a_column_of_the_name_filename_is_a_finding(tmp_path: Path) -> None:
    from trainmark.catalogue.store import connect

    (tmp_path / "results").mkdir()
    with connect() as database:
        database.execute(
            f"COPY (SELECT 'x' AS filename, 'own/2' AS id) TO '{tmp_path}/results/a.parquet' "
            "(FORMAT parquet)"
        )
    record(own_result(), (), tmp_path)
    findings: list[Finding] = []
    found = query(Filters(origin="own"), where=tmp_path, on_finding=findings.append)
    assert [result.id for result in found] == ["own/1"]
    assert [finding.path for finding in findings] == [str(tmp_path / "results" / "a.parquet")]


def test_a_damaged_package_says_to_install_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "published_results.parquet").write_bytes(b"PAR1 damaged PAR1")
    monkeypatch.setattr(opening, "_DATA", tmp_path)
    with pytest.raises(
        TrainmarkError, match=r"the packaged catalogue in .* cannot be read"
    ) as error:
        query()
    assert "pip install" in error.value.hint


def test_a_package_in_a_folder_with_odd_letters_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "it's [a] *"
    folder.mkdir()
    for file in opening.packaged_files():
        (folder / file.name).write_bytes(file.read_bytes())
    expected = query(Filters(ids=(_PACKAGED,)))
    runs = runs_of(expected[0])
    monkeypatch.setattr(opening, "_DATA", folder)
    assert query(Filters(ids=(_PACKAGED,))) == expected
    assert runs_of(expected[0]) == runs
