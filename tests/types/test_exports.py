"""What the central types export is an agreement with every other layer, and with strangers."""

import trainmark.types
from trainmark.types import InterruptedRunError, TrainmarkError, UsageError, unknown_name

EXPORTED = [
    "DataFile",
    "DataSet",
    "Direction",
    "Doubt",
    "Evaluation",
    "Event",
    "Finding",
    "InterruptedRunError",
    "Needs",
    "Result",
    "Run",
    "RunLog",
    "Severity",
    "System",
    "Target",
    "TrainmarkError",
    "UsageError",
    "WorkloadSpec",
    "atomic_write",
    "printable",
    "unknown_name",
]


def test_the_exported_names_are_these() -> None:
    assert trainmark.types.__all__ == EXPORTED
    assert all(hasattr(trainmark.types, name) for name in EXPORTED)


def test_every_error_has_its_exit_status() -> None:
    assert TrainmarkError("x").exit_code == 1
    assert UsageError("x").exit_code == 2
    assert InterruptedRunError("x", signal_number=2).exit_code == 130
    assert issubclass(UsageError, ValueError)


def test_a_misspelt_name_gets_the_nearest_and_all_valid_ones() -> None:
    error = unknown_name("round", "2,0", ["2.0", "1.0"])
    assert error.message == "there is no round '2,0'"
    assert error.hint == "Did you mean '2.0'? Valid: 1.0, 2.0."
    assert unknown_name("round", "x", []).hint == "Valid: none."
