"""The packaged data: official figures, counts, checksums, provenance, the sample of logs."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from trainmark.catalogue import published, runs_of
from trainmark.catalogue.importing.build import facts_by_round
from trainmark.catalogue.importing.imports import import_places
from trainmark.catalogue.importing.place import find_place
from trainmark.catalogue.naming import names
from trainmark.catalogue.opening import packaged_files
from trainmark.catalogue.search import runs_by_result
from trainmark.types import Result

# Official minutes as MLCommons' tables and the submitters' own pages gave them. The system is
# the folder in the results repository.
OFFICIAL = [
    ("1.0", "Graphcore/ipu-pod16-TF1/resnet", 37.115),
    ("1.0", "Graphcore/ipu-pod64-TF1/resnet", 14.485),
    ("1.0", "NVIDIA/dgxa100_ngc21.05_mxnet/resnet", 28.771),
    ("1.0", "Graphcore/ipu-pod16-POPART-closed/bert", 34.489),
    ("1.0", "Graphcore/ipu-pod64-POPART-closed/bert", 11.076),
    ("1.0", "NVIDIA/dgxa100_ngc21.05_pytorch/bert", 21.693),
    ("1.0", "Graphcore/ipu-pod16-POPART-open/bert", 27.75),
    ("1.0", "Graphcore/ipu-pod64-POPART-open/bert", 9.392),
    ("1.1", "Graphcore/ipu-pod16-TF1/resnet", 28.335),
    ("1.1", "Graphcore/ipu-pod64-TF1/resnet", 8.50),
    ("1.1", "Graphcore/ipu-pod128-TF1/resnet", 5.672),
    ("1.1", "Graphcore/ipu-pod256-TF1/resnet", 3.795),
    ("1.1", "Graphcore/ipu-pod16-POPART-closed/bert", 32.70),
    ("1.1", "Graphcore/ipu-pod64-POPART-closed/bert", 10.56),
    ("1.1", "Graphcore/ipu-pod16-POPART-open/bert", 26.05),
    ("1.1", "Graphcore/ipu-pod64-POPART-open/bert", 8.25),
    ("1.1", "Graphcore/ipu-pod128-POPART-open/bert", 5.879),
    ("2.0", "Graphcore/ipu-pod16-TF1-closed/resnet", 19.635),
    ("2.0", "Graphcore/ipu-pod64-TF1-closed/resnet", 6.30),
    ("2.0", "Graphcore/ipu-pod256-TF1-closed/resnet", 2.67),
    ("2.0", "NVIDIA/dgxa100_ngc22.04_mxnet/resnet", 28.685),
    ("2.0", "Graphcore/ipu-pod16-POPART-closed/bert", 20.654),
    ("2.0", "Graphcore/ipu-pod64-POPART-closed/bert", 6.703),
    ("2.0", "Graphcore/ipu-pod256-POPART-closed/bert", 3.19),
    ("2.0", "NVIDIA/dgxa100_ngc22.04_pytorch/bert", 18.44),
    ("2.0", "Baidu/IPU_POD16_PaddlePaddle/bert", 20.810),
    ("2.0", "Baidu/IPU_POD64_PaddlePaddle/bert", 6.740),
]


# Of each round: logs listed, logs absent from the public snapshots, results, of these scored, in
# the open division, with a factor in scaling.json, filed before.
COUNTS = {
    "0.5": (695, 95, 47, None, 0, 0, 0),
    "0.6": (450, 20, 63, 59, 1, 0, 0),
    "0.7": (975, 60, 138, None, 5, 0, 0),
    "1.0": (1359, 70, 150, 139, 5, 0, 6),
    "1.1": (1830, 20, 186, 183, 6, 0, 0),
    "2.0": (2760, 0, 262, 262, 5, 1, 0),
    "2.1": (1910, 0, 199, 199, 5, 35, 71),
    "3.0": (2771, 0, 260, 260, 1, 43, 43),
    "3.1": (2208, 0, 209, 209, 2, 77, 31),
    "4.0": (2448, 30, 205, 202, 0, 109, 31),
    "4.1": (1319, 10, 154, 153, 0, 48, 20),
    "5.0": (1717, 0, 201, 201, 0, 101, 8),
    "5.1": (1679, 10, 185, 184, 0, 83, 18),
}
PACKAGED = json.loads(packaged_files()[0].with_name("published.json").read_text())


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    return {result.id: result for result in published()}


@pytest.mark.parametrize(("round_name", "place", "minutes"), OFFICIAL)
def test_official_minutes(
    results: dict[str, Result], round_name: str, place: str, minutes: float
) -> None:
    decimals = len(f"{minutes}".split(".")[1])
    tolerance = 0.001 if decimals >= 3 else 0.006  # as many decimals as were published
    assert results[f"v{round_name}/{place}"].minutes == pytest.approx(minutes, abs=tolerance)


@pytest.mark.parametrize("round_name", COUNTS)
def test_counts_by_round(results: dict[str, Result], round_name: str) -> None:
    logs, absent, number, scored, opened, scaled, carried = COUNTS[round_name]
    facts = PACKAGED[round_name]
    assert (facts["runs"], facts["absent"], facts["results"]) == (logs, absent, number)
    assert (facts["open"], facts["scaled"], facts["carried_over"]) == (opened, scaled, carried)
    found = [result for result in results.values() if result.round == round_name]
    assert len(found) == number
    assert sum(result.minutes is not None for result in found) == facts["scored"]
    assert sum(result.carried_over for result in found) == carried
    if scored is not None:
        assert facts["scored"] == scored


def test_all_rounds_are_there() -> None:
    assert PACKAGED.keys() == COUNTS.keys()


def test_the_files_hold_the_facts_of_the_checksums(results: dict[str, Result]) -> None:
    facts = facts_by_round(results.values(), packaged_files()[1])
    assert {name: one.to_dict() for name, one in facts.items()} == PACKAGED


def test_the_files_are_a_few_megabytes() -> None:
    assert sum(file.stat().st_size for file in packaged_files()) < 7_000_000


def test_a_score_is_the_trimmed_mean_of_the_runs(results: dict[str, Result]) -> None:
    result = results["v1.0/Graphcore/ipu-pod16-TF1/resnet"]
    runs = runs_of(result)
    times = sorted(run.minutes for run in runs if run.minutes is not None)
    assert result.minutes == pytest.approx(sum(times[1:-1]) / 3)
    assert result.run_minutes == tuple(run.minutes for run in runs)
    assert all(run.source.startswith("Graphcore/results/") for run in runs)
    assert all(run.quality is not None and run.quality >= 0.759 for run in runs)


def test_without_a_score_the_reason_is_told(results: dict[str, Result]) -> None:
    for result in results.values():
        if result.minutes is None:
            assert result.score_basis.startswith(("no score: ", "not an official score: "))


def test_every_result_has_provenance_and_a_task(results: dict[str, Result]) -> None:
    for result in results.values():
        assert result.repository == f"mlcommons/training_results_v{result.round}"
        assert len(result.commit) == 40
        assert "/results/" in result.path
        assert result.label == "verified by MLCommons"
        assert result.task == names.task(result.benchmark, result.round)
        assert result.division in ("closed", "open"), result.id
        assert result.category in ("available", "preview", "research"), result.id


def test_samples_are_samples_in_every_log(results: dict[str, Result]) -> None:
    """Neither epochs nor steps: closed BERT takes 2 to 6.4 million, ResNet-50 35 to 91 epochs."""
    span = {"bert": (1.8e6, 6.7e6), "resnet": (34 * 1_277_952, 91.1 * 1_281_167)}
    rounds = ("1.0", "1.1", "2.0", "2.1", "3.0", "3.1", "4.0")
    seen = 0
    for result in results.values():
        if result.benchmark in span and result.division == "closed" and result.round in rounds:
            least, most = span[result.benchmark]
            if result.samples_to_target is not None:
                assert least <= result.samples_to_target <= most, result.id
                seen += 1
    assert seen > 350


def test_the_system_file_names_the_system(results: dict[str, Result]) -> None:
    assert results["v2.0/Graphcore/ipu-pod16-TF1-closed/resnet"].system == "Bow-Pod16"


def test_what_was_filed_before(results: dict[str, Result]) -> None:
    again = results["v1.0/Habana/SYS-420GH-TNGR/resnet/bert"]
    assert again.carried_over
    assert "the same logs as v1.0/Habana/SYS-420GH-TNGR/bert" in again.notes
    thrice = [
        results[f"v4.0/{submitter}/64xSMC-H100-SXM-80GB/gpt3"].carried_over
        for submitter in ("smc-ac-power", "smc-dc-power", "smc")
    ]
    assert thrice == [False, True, True]


def test_measured_energy(results: dict[str, Result]) -> None:
    """Only three rounds have power logs; 100 to 2,000 W for each accelerator."""
    measured = [result for result in results.values() if result.energy_joules is not None]
    assert Counter(result.round for result in measured) == {"4.0": 24, "5.0": 4}
    for result in measured:
        assert result.energy_joules is not None
        assert result.minutes is not None
        assert result.accelerators is not None
        watts = result.energy_joules / result.minutes / 60 / result.accelerators
        assert 100 < watts < 2000, (result.id, watts)


def test_the_sample_of_logs_gives_the_packaged_facts(
    shared_logs: Path, results: dict[str, Result], tmp_path: Path
) -> None:
    """Every folder of the sample that has all its logs; of others each run that is there."""
    rounds = [folder for folder in sorted(shared_logs.glob("v*")) if folder.name[1:] in COUNTS]
    places = [find_place(f"mlcommons/training_results_{folder.name}={folder}") for folder in rounds]
    imported = import_places(places, where=tmp_path)
    found = imported.results()
    runs_before = runs_by_result([results[name] for name in found])
    runs_now = runs_by_result(list(found.values()), where=tmp_path)
    whole = compared = 0
    for name, again in found.items():
        packaged = results[name]
        before = {run.source: run for run in runs_before[name]}
        now = {run.source: run for run in runs_now[name]}
        for source, run in now.items():
            # The sample has no power logs.
            assert run == replace(before[source], energy_joules=None), source
            compared += 1
        if now.keys() == before.keys():
            assert _comparable(again) == _comparable(packaged), name
            whole += 1
    assert whole > 20
    assert compared > 400


def _comparable(result: Result) -> Result:
    """Without what only the whole repository tells."""
    return replace(result, commit="", doubts=(), carried_over=False, energy_joules=None)


def test_the_page_says_what_is_packaged() -> None:
    page = Path(__file__).parents[2].joinpath("docs/catalogue.md").read_text(encoding="utf-8")
    for name, facts in PACKAGED.items():
        cells = (
            facts[key]
            for key in ("absent", "results", "scored", "open", "scaled", "carried_over", "energy")
        )
        row = " | ".join([name, f"{facts['runs']:,}", *map(str, cells)])
        assert f"| {row} |" in page
