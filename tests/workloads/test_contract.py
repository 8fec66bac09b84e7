"""What every registered workload keeps; a new one is found by itself."""

import dataclasses
from pathlib import Path

import pytest
import yaml

import trainmark.rules
from trainmark.training import plugins
from trainmark.training.settings import PRECISIONS, change
from trainmark.training.task import TaskRequest, Workload
from trainmark.types import WorkloadSpec

NAMES = plugins.workload_names()


@pytest.fixture(params=NAMES)
def workload(request: pytest.FixtureRequest) -> Workload:
    found: Workload = plugins.workload(request.param)
    return found


def test_its_name_is_that_of_its_entry_point(workload: Workload) -> None:
    assert workload.name in NAMES


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


def test_one_step_on_synthetic_data_at_desk_scale(workload: Workload) -> None:
    framework = plugins.framework(workload.framework)
    settings = dataclasses.replace(
        workload.scales["desk"](), precision=PRECISIONS[0], memory_format="contiguous"
    )
    framework.prepare(settings, seed=1)
    spec: WorkloadSpec = workload.spec("desk", settings, None)
    task = workload.task(TaskRequest(scale="desk", spec=spec, settings=settings, seed=1, data=None))
    task.build()
    task.warm_up()
    task.forward_backward(task.synthetic_batch(settings.micro_batch))
    task.update(0)
    assert task.flop_per_sample() > 0
    assert task.hyperparameters["global_batch_size"] == settings.global_batch_size
    assert list(task.data_files())
    task.close()
