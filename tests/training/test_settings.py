import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmark.training.settings import Settings, change, describe
from trainmark.types import UsageError


def test_a_setting_is_changed_by_name() -> None:
    changed = change(Settings(), ["global_batch_size=128", "compile=yes", "precision=bf16"])
    assert (changed.global_batch_size, changed.compile, changed.precision) == (128, True, "bf16")


def test_dashes_are_underscores() -> None:
    assert change(Settings(), ["global-batch-size=8"]).global_batch_size == 8


def test_a_misspelt_name_lists_the_valid_ones_and_the_nearest() -> None:
    with pytest.raises(UsageError, match="no setting 'globl_batch_size'") as caught:
        change(Settings(), ["globl_batch_size=8"])
    assert "Did you mean 'global_batch_size'?" in caught.value.hint
    assert "precision" in caught.value.hint


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("global_batch_size", "not of the form name=value"),
        ("global_batch_size=many", "is not a whole number"),
        ("global_batch_size=1.5", "is not a whole number"),
        ("global_batch_size=0", "is not allowed"),
        ("compile=perhaps", "is not true or false"),
        ("precision=fp8", "is not allowed"),
        ("threads=-1", "is not allowed"),
        ("micro_batch_size=48", "not a multiple"),
    ],
)
def test_a_wrong_value_says_what_is_allowed(assignment: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        change(Settings(), [assignment])
    assert caught.value.hint


@given(st.integers(1, 64), st.integers(1, 64))
def test_accumulation_covers_the_global_batch(micro: int, steps: int) -> None:
    settings = Settings(global_batch_size=micro * steps, micro_batch_size=micro)
    settings.validate()
    assert settings.micro_batch * settings.gradient_accumulation_steps == micro * steps


def test_every_setting_is_described() -> None:
    rows = describe(Settings)
    assert [row["name"] for row in rows] == [f.name for f in dataclasses.fields(Settings)]
    assert all(row["help"] and row["allowed"] for row in rows)
