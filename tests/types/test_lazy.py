import subprocess
import sys

import pytest

import trainmark.rules
import trainmark.rules.convergence
from trainmark.types.lazy import lazily


@pytest.mark.parametrize("package", [trainmark.rules, trainmark.rules.convergence])
def test_every_exported_name_is_there(package: object) -> None:
    names = package.__all__  # type: ignore[attr-defined]
    assert all(getattr(package, name) is not None for name in names)


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        lazily("trainmark.rules", {"options": ("CheckOptions",)})("nothing")


def test_a_single_log_needs_no_more_than_its_rules() -> None:
    """What the check of one log loads, so that a start stays short."""
    program = (
        "import sys; from trainmark.rules import check_paths;"
        "print(*sorted(name for name in sys.modules if name.startswith('trainmark.rules.'))"
        ", *(set(sys.modules) & {'yaml', 'multiprocessing', 'statistics', 'tempfile', 'scipy'}))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "trainmark.rules.verdict" in loaded
    for heavy in ("trees", "scores", "folders", "convergence.check", "submission.power"):
        assert f"trainmark.rules.{heavy}" not in loaded
    assert all(name.startswith("trainmark.") for name in loaded)
