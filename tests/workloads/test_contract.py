"""What every registered workload keeps; a new one is found by itself."""

import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import trainmark.rules
from tests.workloads.sizes import SMALL
from trainmark.training import plugins
from trainmark.training.prepared import quiet
from trainmark.training.settings import PRECISIONS, change
from trainmark.training.task import Task, TaskRequest, Workload
from trainmark.types import WorkloadSpec

NAMES = plugins.workload_names()
# What is imported by the process that trains, and by nothing that only wants to know.
HEAVY = [
    *("torch", "transformers", "tokenizers", "pytorch_optimizer", "pythonbible", "sentencepiece"),
    *("soundfile", "webdataset", "espeakng_loader", "jiwer", "torch_geometric", "chemicals"),
    *("rdkit", "tblite", "mlxtend", "PIL"),
]


@pytest.fixture(params=NAMES)
def workload(request: pytest.FixtureRequest) -> Workload:
    found: Workload = plugins.workload(request.param)
    return found


def test_its_name_is_that_of_its_entry_point(workload: Workload) -> None:
    assert workload.name in NAMES


def test_it_is_shown_and_its_data_checked_without_its_framework(
    workload: Workload, tmp_path: Path
) -> None:
    program = (
        "import sys; from pathlib import Path; from trainmark.training import plugins;"
        "from trainmark.cli.workload_facts import facts_of;"
        f"workload = plugins.workload({workload.name!r}); facts_of(workload);"
        f"found = [list(workload.check_data(scale, Path({str(tmp_path)!r})))"
        " for scale in workload.scales];"
        f"print(*(name for name in {HEAVY!r} if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout.strip(), done.returncode) == ("", 0), done.stderr


def test_it_says_where_its_numbers_come_from(workload: Workload) -> None:
    module = __import__(type(workload).__module__, fromlist=["__doc__"])
    assert "arXiv" in (module.__doc__ or "")
    assert "target" in (module.__doc__ or "").lower()


def test_every_scale_has_valid_defaults(workload: Workload) -> None:
    assert "desk" in workload.scales
    for settings in workload.scales.values():
        change(settings(), [])


def test_its_desk_scale_needs_no_data_and_has_an_own_target(workload: Workload) -> None:
    spec = workload.spec("desk", workload.scales["desk"](), None)
    assert (spec.name, spec.scale, spec.mlperf_name) == (workload.name, "desk", None)
    assert spec.ruleset == "own"
    assert not spec.target.reached(float("nan"))


def test_its_packaged_rules_ask_for_the_same_target(workload: Workload) -> None:
    spec = workload.spec("desk", workload.scales["desk"](), None)
    folder = Path(trainmark.rules.__file__).parent / "own"
    table = folder / f"{spec.benchmark}.yaml"
    assert table.is_file(), f"{table} is missing: the checker would trust the log's own target"
    checks = str(yaml.load(table.read_text(), Loader=yaml.BaseLoader))
    assert f"{spec.target.value:g}" in checks


def test_its_full_scale_is_known_before_the_data_is_fetched(workload: Workload) -> None:
    if "full" not in workload.scales:
        pytest.skip("it has no full scale")
    spec = workload.published["full"]
    assert (spec.name, spec.scale) == (workload.name, "full")
    assert spec.target.name
    data = workload.needs["full"].data
    assert data.url.startswith(("https://", "http://"))
    assert data.size_bytes > 0


def test_it_says_what_each_scale_needs(workload: Workload) -> None:
    assert set(workload.needs) == set(workload.scales)
    for needs in workload.needs.values():
        assert needs.memory_bytes > 0
        assert needs.time
        assert needs.data.licence
        assert needs.data.layout


@pytest.fixture
def task(
    workload: Workload, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Task]:
    """Its desk task, built; data that has to be prepared is small."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    assignments = (f"precision={PRECISIONS[0]}", "memory_format=contiguous", "threads=1")
    settings = change(workload.scales["desk"](), [*assignments, *SMALL.get(workload.name, ())])
    plugins.framework(workload.framework).prepare(settings, seed=1)
    workload.prepare("desk", settings, None, quiet)
    spec: WorkloadSpec = workload.spec("desk", settings, None)
    made = workload.task(TaskRequest(scale="desk", spec=spec, settings=settings, seed=1, data=None))
    made.build()
    yield made
    made.close()


def test_it_warms_up_on_synthetic_data(task: Task) -> None:
    task.warm_up()
    batch = task.hyperparameters["global_batch_size"]
    micro_batch = batch // task.hyperparameters["gradient_accumulation_steps"]
    assert math.isfinite(float(task.forward_backward(task.synthetic_batch(micro_batch))))
    task.update(0)
    assert task.flop_per_sample() > 0


def test_its_data_files_are_there(task: Task) -> None:
    files = list(task.data_files())
    assert files
    assert all(file.is_file() for file in files)


def test_it_trains_on_its_own_data_and_evaluates(task: Task) -> None:
    batches = task.batches()
    batch = task.hyperparameters["global_batch_size"]
    for step in range(2):
        for _ in range(task.hyperparameters["gradient_accumulation_steps"]):
            assert math.isfinite(float(task.forward_backward(next(batches))))
        task.update(step * batch)
    assert math.isfinite(task.evaluate())
    assert all(math.isfinite(number) for number in task.statistics().values())
