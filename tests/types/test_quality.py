from dataclasses import replace

import pytest

from trainmark.types import Direction, Target
from trainmark.types.quality import goal, quality

ACCURACY = Target(metric="eval_accuracy", value=0.975)
WORDS = Target(metric="eval_error", value=0.091, direction=Direction.LOWER, name="word error rate")
ENERGY = Target(
    metric="eval_error",
    value=0.24,
    direction=Direction.LOWER,
    name="mean absolute error",
    unit="eV",
)


@pytest.mark.parametrize(
    ("value", "target", "shown"),
    [
        (0.98765, ACCURACY, "98.77 %"),
        (24.0, replace(ACCURACY, value=24.0), "24.00"),  # what an older log calls accuracy
        (0.058, None, "0.0580"),
        (0.0907, WORDS, "9.07 %"),
        (1.3, WORDS, "130.00 %"),  # more errors than words
        (0.24013, ENERGY, "0.2401 eV"),
        (12.0, ENERGY, "12.00 eV"),
        (1234.6, ENERGY, "1235 eV"),
    ],
)
def test_a_quality_is_shown_in_the_unit_of_its_target(
    value: float, target: Target | None, shown: str
) -> None:
    assert quality(value, target) == shown


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        (ACCURACY, "97.5 %"),
        (replace(ACCURACY, value=24.0), "24"),
        (WORDS, "9.1 %"),
        (ENERGY, "0.24 eV"),
        (replace(WORDS, value=0.058), "5.8 %"),
    ],
)
def test_a_target_has_the_digits_that_it_was_set_with(target: Target, shown: str) -> None:
    assert goal(target) == shown


def test_a_unit_from_a_log_is_harmless() -> None:
    assert goal(replace(ENERGY, unit="e\x1bV")) == "0.24 e\ufffdV"
