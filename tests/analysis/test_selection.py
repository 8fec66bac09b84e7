from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.catalogue.repositories import own_result
from tests.logs import RunShape, desk_folder, write_folder, write_resnet
from trainmark.analysis import asking
from trainmark.analysis.selection import candidates, select, sides, task_of
from trainmark.catalogue import Filters, record
from trainmark.catalogue.search import queries
from trainmark.types import Result, UsageError

_POD16 = "v2.0/Graphcore/ipu-pod16-TF1-closed/resnet"


def _ids(text: str, where: Path | None = None) -> list[str]:
    return [result.id for result in select(text, where=where).results]


@pytest.mark.parametrize(
    "text",
    [
        _POD16,
        _POD16.removeprefix("v"),
        _POD16.upper(),
        f"  {_POD16}/ ",
        "v2.0/Graphcore/ipu-pod16-TF1-closed",
        "round=2.0 submitter=graphcore system=pod16 benchmark=resnet",
        "benchmark=resnet50 chips=16 accelerator=bow round=v2.0",
        "Graphcore pod16 v2.0 resnet",
        "v2.0/Graphcore pod16 framework=tensorflow",
        "'bow-pod16' benchmark=resnet division=closed origin=published",
    ],
)
def test_one_result_is_meant_in_many_ways(text: str) -> None:
    assert _ids(text) == [_POD16]


def test_one_system_may_have_a_result_for_each_benchmark() -> None:
    found = _ids("round=1.0 submitter=graphcore system=pod16 division=closed")
    assert sorted(name.rsplit("/", 1)[1] for name in found) == ["bert", "resnet"]


def test_a_system_that_is_spelt_in_two_ways_is_one() -> None:
    found = select("round=2.0 submitter=graphcore system=pod16 framework=sdk").results
    assert sorted(map(task_of, found)) == ["bert", "resnet"]


def test_several_systems_are_listed_and_none_is_picked() -> None:
    with pytest.raises(UsageError) as caught:
        select("graphcore resnet")
    lines = caught.value.message.splitlines()
    assert lines[0] == "'graphcore resnet' means 10 systems:"
    assert lines[1].startswith("    v2.0/Graphcore/ipu-pod256-TF1-closed/resnet  Bow")
    assert lines[1].endswith("Pod256, 2.672 minutes, closed")
    assert caught.value.hint == (
        "Say which: round=1.0 or 1.1 or 2.0; chips=16 or 64 or 128 or 256; "
        "accelerator=Bow-IPU or GC200-IPU. Or give the id itself."
    )


def test_at_most_ten_are_listed() -> None:
    with pytest.raises(UsageError) as caught:
        select("accelerator=a100")
    lines = caught.value.message.splitlines()
    assert len(lines) == 12
    assert lines[-1].startswith("    and ")
    assert lines[-1].endswith(" more")


def test_two_results_of_one_benchmark_are_not_chosen_between() -> None:
    with pytest.raises(UsageError) as caught:
        select("round=1.0 submitter=graphcore system=pod16 benchmark=bert")
    assert "2 results of one system, several of the same benchmark" in caught.value.message
    assert "division=closed or open" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("pod17", "nothing in the catalogue is 'pod17'", "Near: pod16"),
        (_POD16.replace("pod16", "pod17"), "nothing in the catalogue is", f"Near: {_POD16}"),
        ("O'Brien", 'nothing in the catalogue is "O\'Brien"', "No id, system"),
        ("gc200 v2.0/graphcore", "nothing in the catalogue", "Each word alone is found"),
        ("submitter=graphcoer", "nothing in the catalogue", "There are "),
        ("sytem=x", "there is no key 'sytem'", "Did you mean 'system'?"),
        ("round=9.9", "there is no round '9.9'", "Valid: "),
        ("benchmark=berd", "there is no benchmark 'berd'", "Did you mean 'bert'?"),
        ("chips=many", "chips=many is no number", "chips=16-64"),
        ("division=x", "there is no division 'x'", "closed"),
        ("own:last", "there is no own result 'own:last'", "trainmark run resnet50"),
        ("", "a side of the comparison is empty", "own:last"),
        ("./missing", "there is no ", "result_*.txt"),
        ("x" * 5000, f"nothing in the catalogue is '{'x' * 100}'...", "No id, system"),
        ("\x00", "nothing in the catalogue is '\\x00'", "No id, system"),
        ("\udcff/x", "nothing in the catalogue is", "No id, system"),
    ],
)
def test_what_is_not_found_says_why_and_what_could_be(text: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        select(text)
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert len(caught.value.message) < 300


def test_own_results_by_time_and_by_id(tmp_path: Path) -> None:
    early = own_result(id="own/m/bench/1", recorded="2026-11-01T10:00:00+00:00")
    late = own_result(id="own/m/bench/2", recorded="2026-11-02T10:00:00+00:00")
    for one in (late, early):
        record(one, (), tmp_path)
    assert _ids("own:last", tmp_path) == [late.id]
    assert _ids("own:bench/1", tmp_path) == [early.id]
    assert _ids(early.id, tmp_path) == [early.id]
    with pytest.raises(UsageError, match="several of the same benchmark"):
        select("own:bench", where=tmp_path)
    with pytest.raises(UsageError) as caught:
        select("own:other", where=tmp_path)
    assert "trainmark results --origin own" in caught.value.hint


def test_candidates_may_be_of_several_systems_and_of_one_benchmark() -> None:
    found = candidates("graphcore v2.0", benchmark="bert")
    assert len(found.results) > 1
    assert {result.benchmark for result in found.results} == {"bert"}
    assert found.of_task(["resnet"]).results == ()


def test_several_sides_are_looked_up_with_one_opening(monkeypatch: pytest.MonkeyPatch) -> None:
    openings: list[int] = []

    def counted(asked: Sequence[Filters], **options: Any) -> list[list[Result]]:
        openings.append(len(asked))
        return queries(asked, **options)

    monkeypatch.setattr(asking, "queries", counted)
    texts = [_POD16, "graphcore pod16 v1.1 resnet", _POD16]
    found = sides(texts)
    assert [side.label for side in found] == texts
    assert [result.round for side in found for result in side.results] == ["2.0", "1.1", "2.0"]
    assert openings == [2]


def test_two_different_benchmarks_at_once_are_a_mistake() -> None:
    with pytest.raises(UsageError, match="benchmark=bert is asked for beside --benchmark resnet"):
        candidates("graphcore benchmark=bert", benchmark="resnet")
    found = candidates("graphcore benchmark=bert v2.0 chips=64", benchmark="bert")
    assert {result.accelerators for result in found.results} == {64}


def test_a_folder_of_runs(tmp_path: Path) -> None:
    folder = desk_folder(tmp_path)
    shapes = [RunShape(minutes=m, seed=n) for n, m in enumerate((1.0, 1.5, 1.2), start=1)]
    write_folder(folder, shapes)
    for place in (folder, tmp_path):
        (found,) = select(str(place)).results
        assert found.origin == "own"
        assert found.minutes == pytest.approx(1.2, abs=0.05)
        assert len(found.run_minutes) == 3
        assert found.benchmark == "resnet50_desk"
        assert (found.submitter, found.system) == ("tester", "testbox")
        assert found.label == "unverified; MLPerf procedure, own target"
        assert found.samples_to_target
        assert found.global_batch_size == 64


def test_a_folder_of_an_official_benchmark_reads_its_system_file(tmp_path: Path) -> None:
    folder = tmp_path / "v4.0" / "acme" / "results" / "box" / "resnet"
    write_folder(folder, [RunShape(minutes=30, seed=n) for n in range(1, 6)], write_resnet)
    systems = tmp_path / "v4.0" / "acme" / "systems"
    systems.mkdir()
    (systems / "box.json").write_text(
        '{"system_name": "Big Box", "number_of_nodes": "2", "accelerators_per_node": 8,'
        '"accelerator_model_name": "NVIDIA A100-SXM4-80GB", "status": "Available on-premise",'
        '"framework": "PyTorch"}'
    )
    (found,) = select(str(tmp_path)).results
    assert (found.submitter, found.system) == ("acme", "Big Box")
    assert (found.accelerator, found.accelerators, found.nodes) == ("A100-SXM-80GB", 16, 2)
    assert (found.category, found.label) == ("available", "unverified")
    assert found.raw["rules"] == "4.0"
    for broken in ("{", "[]", '{"number_of_nodes": []}', "\udcff"):
        (systems / "box.json").write_bytes(broken.encode("utf-8", "surrogateescape"))
        (found,) = select(str(tmp_path)).results
        assert (found.accelerators, found.accelerator) == (None, "")


def test_a_benchmark_narrows_a_folder_of_runs(tmp_path: Path) -> None:
    write_folder(tmp_path / "v4.0" / "resnet", [RunShape(seed=1)], write_resnet)
    write_folder(tmp_path / "desk", [RunShape(seed=1)])
    for name in ("resnet", "resnet50"):
        (found,) = candidates(str(tmp_path), benchmark=name).results
        assert found.benchmark == "resnet"
    with pytest.raises(UsageError) as caught:
        candidates(str(tmp_path), benchmark="bert")
    assert caught.value.hint == "It has runs of resnet, resnet50_desk."


def test_a_failed_run_counts_as_failed(tmp_path: Path) -> None:
    shapes = [RunShape(minutes=30 + n, seed=n) for n in range(1, 5)]
    folder = tmp_path / "v4.0" / "resnet"
    write_folder(folder, [*shapes, RunShape(seed=9, status="aborted")], write_resnet)
    (found,) = select(str(folder)).results
    assert len(found.run_minutes) == 4
    assert found.minutes == pytest.approx((32 + 33 + 34) / 3, abs=0.1)


def test_logs_that_no_rules_are_known_for_are_scored_unchecked(tmp_path: Path) -> None:
    folder = write_folder(
        tmp_path / "mine", [RunShape(minutes=m, seed=1) for m in (1.0, 1.2, 1.4)], write_resnet
    )
    for place in (folder, tmp_path):
        (found,) = select(str(place)).results
        assert found.minutes == pytest.approx(1.2, abs=0.05)
        assert found.label == "unverified and not checked"
        assert found.benchmark == "resnet"


def test_several_benchmark_folders_of_one_benchmark_are_ambiguous(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_folder(tmp_path / name, [RunShape(seed=1)])
    with pytest.raises(UsageError) as caught:
        select(str(tmp_path))
    assert caught.value.hint == "Give one benchmark folder, or one system's."


def test_samples_of_published_logs_are_counted_as_in_the_catalogue(shared_logs: Path) -> None:
    for folder in ("ipu-pod16-TF1-closed/resnet", "ipu-pod16-POPART-closed/bert"):
        (found,) = select(str(shared_logs / "v2.0" / "Graphcore" / "results" / folder)).results
        (published,) = select(f"v2.0/Graphcore/{folder}").results
        assert found.samples_to_target == pytest.approx(published.samples_to_target)
        assert found.minutes == pytest.approx(published.minutes)
        assert found.accelerators == published.accelerators
        assert found.host_processor == published.host_processor
