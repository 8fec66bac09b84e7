from copy import deepcopy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import RunShape, Text, write_desk, write_resnet
from tests.rules.lora import lora_log
from trainmark.mllog import read
from trainmark.rules import check_log
from trainmark.rules.schedule import Plan, plan_of
from trainmark.types import Finding, Severity


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "result_0.txt"


def _off(text: Text, ruleset: str = "4.0") -> list[Finding]:
    findings = check_log(read(text.write()), ruleset=ruleset).findings
    return [one for one in findings if one.rule == "run.eval_schedule"]


def _at(text: Text, epochs: list[float]) -> Text:
    """The log evaluated at those epochs."""
    last = text.find("eval_accuracy", -1)
    before = [one for one in text.records if one["key"] != "eval_accuracy"]
    place = text.records.index(last) - (len(text.all("eval_accuracy")) - 1)
    new = []
    for epoch in epochs:
        record = deepcopy(last)
        record["metadata"]["epoch_num"] = epoch
        new.append(record)
    text.records = [*before[:place], *new, *before[place:]]
    return text


@pytest.mark.parametrize(
    "epochs",
    [
        [4, 8, 12],
        [3, 7, 11],
        [1, 5],
        [2, 6, 10],
        [0, 4, 8],
        [0, 1, 5, 9],
        [4.0, 8.0],
        [8, 4, 12],
        [4],
    ],
)
def test_resnet_every_four_epochs_with_any_offset(epochs: list[float], path: Path) -> None:
    assert _off(_at(Text.read(write_resnet(path)), epochs)) == []


@pytest.mark.parametrize(
    ("epochs", "off", "found"),
    [
        ([4, 8, 9, 10], 2, "at 9 epochs, 1 epoch after the one before"),
        ([4, 12], 1, "at 12 epochs, 8 epochs after the one before"),
        ([5, 9], 1, "at 5 epochs first"),
    ],
)
def test_resnet_at_other_places(epochs: list[float], off: int, found: str, path: Path) -> None:
    text = _at(Text.read(write_resnet(path)), epochs)
    (finding,) = _off(text)
    assert finding.severity is Severity.WARNING
    assert finding.found == found
    assert "every 4 epochs" in finding.expected
    assert f"({off} of {len(epochs)} are off)" in finding.message
    first = next(number for number, one in enumerate(epochs) if f"at {one} " in found)
    assert finding.line_no == text.line_of("eval_accuracy", first)


def test_only_closed_logs_of_official_rounds_are_bound(path: Path) -> None:
    text = _at(Text.read(write_resnet(path, RunShape(division="open"))), [1, 2, 3])
    assert _off(text) == []
    text.find("submission_division")["value"] = "closed"
    assert _off(text)
    text.path.unlink()
    own = _at(Text.read(write_desk(path)), [1, 5, 6])
    assert _off(own, "own") == []


def test_a_late_skip_of_the_language_model(path: Path) -> None:
    text = lora_log(path)
    assert _off(text, "5.1") == []
    text.find("eval_accuracy")["metadata"]["samples_count"] = 384
    (finding,) = _off(text, "5.1")
    assert finding.expected == "first at 1,536 samples, then every 384 samples"
    assert finding.found == "at 384 samples first"
    assert "batch size 8" in finding.message


def test_epochs_in_place_of_samples_say_nothing(path: Path) -> None:
    text = _at(Text.read(write_resnet(path)), [1, 1, 1])
    text.find("submission_benchmark")["value"] = "bert"
    for record in text.all("eval_accuracy"):
        del record["metadata"]["samples_count"]
    assert _off(text) == []


@pytest.mark.parametrize("batch", [0, -1, 0.5, 1e-310, 1e308, float("nan"), "1", None])
def test_batch_sizes_that_are_none_are_left_to_others(batch: object, path: Path) -> None:
    text = _at(Text.read(write_resnet(path)), [1, 2, 3])
    text.find("global_batch_size")["value"] = batch
    assert _off(text) == []


@pytest.mark.parametrize("metadata", [{}, {"epoch_num": "4"}, {"epoch_num": True}, None])
def test_places_that_are_no_numbers_are_left_to_others(metadata: object, path: Path) -> None:
    text = Text.read(write_resnet(path))
    for record in text.all("eval_accuracy"):
        record["metadata"] = metadata
    assert _off(text) == []


@pytest.mark.parametrize(
    ("benchmark", "round_", "batch", "places"),
    [
        # As published logs have them; the batch sizes are theirs.
        ("bert", (2, 0), 448, [150_080, 300_160, 450_240]),
        ("bert", (2, 0), 448, [154_048, 304_960, 455_872]),
        ("bert", (1, 0), 3_072, [178_039, 350_255, 525_054]),
        ("bert", (2, 0), 14_336, [292_356, 591_996, 891_001]),
        ("rnnt", (3, 0), 2_048, [1, 2, 3]),
        ("maskrcnn", (2, 0), 96, [1, 2, 3]),
        ("ssd", (1, 0), 2_048, [5, 10, 15]),
        ("retinanet", (5, 0), 256, [1, 2, 3]),
        ("unet3d", (1, 0), 80, [700, 714, 728]),
        ("unet3d", (3, 0), 56, [1_000, 1_020]),
        ("unet3d", (4, 0), 56, [168_000, 171_360]),
        ("dlrm", (2, 0), 55_296, [1.0499947, 1.0999895]),
        ("dlrm_dcnv2", (5, 0), 135_168, [0.04994039372, 0.09991300706]),
        ("gpt3", (3, 0), 1_536, [50_331_648, 100_663_296]),
        ("gpt3", (4, 0), 2_904, [53_526_528, 107_053_056]),
        ("gpt3", (4, 0), 1_536, [24_576, 49_152]),
        ("stable_diffusion", (4, 1), 1_024, [1_024_000, 2_048_000, 3_072_000]),
        ("stable_diffusion", (5, 0), 576, [1_022_976, 1_534_464]),
        ("llama2_70b_lora", (4, 1), 8, [1_536, 1_920]),
        ("llama2_70b_lora", (4, 1), 128, [7_296, 7_680]),
        ("gnn", (4, 0), 16_384, [0.05, 0.1, 0.15]),
        ("llama31_405b", (5, 0), 896, [46_592, 93_184]),
        # As the rules of later rounds say; no logs at hand.
        ("llama31_405b", (5, 1), 1_152, [276_480, 294_912]),
        ("llama31_8b", (5, 1), 1_024, [12_288, 24_576]),
        ("flux1", (6, 0), 1_000, [263_000, 526_000]),
        ("gpt_oss_20b", (6, 1), 4_096, [12_288, 24_576]),
    ],
)
def test_what_was_published_keeps_to_the_plan(
    benchmark: str, round_: tuple[int, int], batch: int, places: list[float]
) -> None:
    plan = plan_of(benchmark, round_, batch=batch, first=places[0])
    assert plan is not None
    assert not any(map(plan.off, places, [None, *places]))
    half = [places[0], (places[0] + places[-1]) / 2.3]
    assert any(map(plan.off, half, [None, *half]))


@pytest.mark.parametrize(
    ("benchmark", "round_", "batch", "places"),
    [
        # Published with another schedule than the rules': what the warning is for.
        ("bert", (3, 0), 1_536, [175_104, 350_208]),
        ("bert", (4, 1), 6_912, [200_237, 400_493]),
        ("llama2_70b_lora", (4, 1), 64, [1_920, 2_304]),
        ("llama2_70b_lora", (4, 0), 64, [8_448, 9_216]),
        ("stable_diffusion", (5, 0), 256, [1_024_000, 1_152_000]),
        ("unet3d", (3, 0), 32, [1_000, 1_020]),
        ("rgat", (5, 0), 32_768, [0.02, 0.04]),
    ],
)
def test_what_was_published_otherwise(
    benchmark: str, round_: tuple[int, int], batch: int, places: list[float]
) -> None:
    plan = plan_of(benchmark, round_, batch=batch, first=places[0])
    assert plan is not None
    assert any(map(plan.off, places, [None, *places]))


@pytest.mark.parametrize(
    ("benchmark", "round_"),
    [("minigo", (1, 0)), ("resnet", (4, 1)), ("bert", (0, 7)), ("cosmoflow", (1, 0)), ("", ())],
)
def test_no_schedule_is_no_plan(benchmark: str, round_: tuple[int, ...]) -> None:
    assert plan_of(benchmark, round_, batch=1) is None


_BENCHMARKS = st.sampled_from(
    [
        ("bert", (2, 0)),
        ("llama2_70b_lora", (5, 0)),
        ("llama31_405b", (6, 0)),
        ("gpt3", (4, 0)),
        ("unet3d", (3, 0)),
        ("dlrm_dcnv2", (5, 0)),
        ("resnet", (4, 0)),
        ("flux1", (6, 0)),
    ]
)


@given(row=_BENCHMARKS, batch=st.floats(1, 1e12), first=st.floats(1e-3, 1e15))
def test_any_batch_size_has_a_plan_that_can_be_kept(
    row: tuple[str, tuple[int, int]], batch: float, first: float
) -> None:
    plan = plan_of(row[0], row[1], batch=batch, first=first)
    assert isinstance(plan, Plan)
    assert 0 < plan.gap[0] <= plan.gap[1]
    assert plan.first[0] <= plan.start <= plan.first[1]
    assert not plan.off(plan.first[1], None)
    assert plan.off(plan.first[1] * 2 + 1, None)
