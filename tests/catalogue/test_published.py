"""The packaged data: official figures, counts, provenance."""

from collections import Counter
from io import BytesIO
from pathlib import Path

import pytest

from trainmark.catalogue import names, published, runs_of
from trainmark.catalogue.samples import summarize_as
from trainmark.catalogue.search import PUBLISHED_RUNS
from trainmark.catalogue.store import connect, rows
from trainmark.mllog import iter_log
from trainmark.types import Event, Result, RunLog

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


def test_counts_by_round_and_benchmark(results: dict[str, Result]) -> None:
    found = Counter((r.round, r.benchmark) for r in results.values())
    assert found == {
        ("1.0", "bert"): 25,
        ("1.0", "resnet"): 37,
        ("1.1", "bert"): 36,
        ("1.1", "resnet"): 42,
        ("2.0", "bert"): 53,
        ("2.0", "resnet"): 56,
    }
    scored = Counter(r.round for r in results.values() if r.minutes is not None)
    assert scored == {"1.0": 56, "1.1": 76, "2.0": 109}
    opened = Counter((r.round, r.benchmark) for r in results.values() if r.division == "open")
    assert opened == {
        ("1.0", "bert"): 2,
        ("1.0", "resnet"): 1,
        ("1.1", "bert"): 6,
        ("2.0", "bert"): 2,
        ("2.0", "resnet"): 2,
    }


def test_the_runs_belong_to_the_results(results: dict[str, Result]) -> None:
    with connect() as database:
        found = {
            row["id"]: row["n"]
            for row in rows(
                database,
                "SELECT result_id AS id, count(*) AS n FROM read_parquet(?) GROUP BY ALL",
                [str(PUBLISHED_RUNS)],
            )
        }
    assert found.keys() == results.keys()
    assert Counter((results[name].benchmark, number) for name, number in found.items()) == {
        ("bert", 10): 114,
        ("resnet", 5): 135,
    }


def test_a_score_is_the_trimmed_mean_of_the_runs(results: dict[str, Result]) -> None:
    result = results["v1.0/Graphcore/ipu-pod16-TF1/resnet"]
    runs = runs_of(result)
    times = sorted(run.minutes for run in runs if run.minutes is not None)
    assert result.minutes == pytest.approx(sum(times[1:-1]) / 3)
    assert result.run_minutes == tuple(run.minutes for run in runs)
    assert all(run.source.startswith("Graphcore/results/") for run in runs)
    assert all(run.quality is not None and run.quality >= 0.759 for run in runs)


def test_without_a_score_the_reason_is_told(results: dict[str, Result]) -> None:
    reasons = Counter(r.score_basis.split(":")[0] for r in results.values() if r.minutes is None)
    assert reasons == {"no score": 8}


def test_every_scored_result_has_samples_batch_and_provenance(results: dict[str, Result]) -> None:
    for result in results.values():
        assert result.repository == f"mlcommons/training_results_v{result.round}"
        assert len(result.commit) == 40
        assert result.path.startswith(result.id.split("/")[1] + "/results/")
        assert result.label == "verified by MLCommons"
        if result.minutes is not None:
            assert result.samples_to_target is not None, result.id
            assert result.global_batch_size is not None, result.id


def test_samples_are_samples_in_every_log(results: dict[str, Result]) -> None:
    """Neither epochs nor steps: closed BERT takes 2 to 6.4 million, ResNet-50 35 to 86 epochs."""
    span = {"bert": (1.9e6, 6.4e6), "resnet": (35 * 1_277_952, 86.1 * 1_281_167)}
    for result in results.values():
        if result.samples_to_target is not None and result.division == "closed":
            least, most = span[result.benchmark]
            assert least <= result.samples_to_target <= most, result.id


def test_names_are_normalised_and_the_raw_ones_kept(results: dict[str, Result]) -> None:
    for result in results.values():
        assert result.division in ("closed", "open")
        assert result.category in ("available", "preview", "research")
        raw = result.raw.get("accelerator", "")
        known = names.accelerator(raw, f"{result.system} {result.path}")
        assert (result.accelerator, known.known) == (known.name, True)
        assert result.accelerators is not None
        assert (result.accelerators > 0) == (result.accelerator != "")


def test_the_system_file_names_the_system(results: dict[str, Result]) -> None:
    assert results["v2.0/Graphcore/ipu-pod16-TF1-closed/resnet"].system == "Bow-Pod16"


def test_only_bert_under_resnet_is_carried_over(results: dict[str, Result]) -> None:
    carried = [r for r in results.values() if r.carried_over]
    assert [(r.id, r.notes) for r in carried] == [
        (
            "v1.0/Habana/SYS-420GH-TNGR/resnet/bert",
            ("the same logs as v1.0/Habana/SYS-420GH-TNGR/bert",),
        )
    ]


def test_the_packaged_runs_are_what_the_logs_say(
    shared_logs: Path, results: dict[str, Result]
) -> None:
    """One log of each published folder in the sample, read again."""
    compared = 0
    for result in results.values():
        folder = shared_logs / f"v{result.round}" / result.path
        logs = sorted(folder.glob("result_*.txt"))
        if not logs:
            continue
        packaged = next(run for run in runs_of(result) if run.source.endswith(f"/{logs[0].name}"))
        data = logs[0].read_bytes()
        items = iter_log(BytesIO(data), packaged.source)
        log = RunLog(events=tuple(i for i in items if isinstance(i, Event)), source="")
        again = summarize_as(log, result.benchmark)
        assert again.minutes == packaged.minutes, packaged.source
        assert again.samples_to_target == packaged.samples_to_target, packaged.source
        assert again.quality == packaged.quality, packaged.source
        compared += 1
    assert compared > 30
