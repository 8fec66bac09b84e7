import subprocess
import sys
from pathlib import Path

import pytest

from tests.machine.machines import plant
from trainmark import __version__
from trainmark.machine import software


def test_versions_are_read_without_importing() -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from trainmark.machine import describe\n"
        "describe()\n"
        "print(sorted({'torch', 'jax', 'numpy', 'paddle'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_installed_leaves_out_what_is_not() -> None:
    assert set(software.installed(["click", "no-such-package-here"])) == {"click"}


def test_software_names_kernel_python_and_trainmark(tmp_path: Path) -> None:
    found = software.read_software(plant(tmp_path, {"proc/sys/kernel/osrelease": "6.8.0\n"}))
    assert found["kernel"] == "6.8.0"
    assert found["python"].startswith(f"{sys.version_info.major}.{sys.version_info.minor}.")
    assert found["trainmark"] == __version__
    assert "kernel" not in software.read_software(tmp_path / "absent")


def test_the_framework_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(software, "installed", lambda names: {"torch": "2.6.0", "jax": "0.5"})
    assert software.read_framework() == "PyTorch 2.6.0, JAX 0.5"


def test_the_operating_system(tmp_path: Path) -> None:
    assert software.read_operating_system(tmp_path) == ""
    plant(tmp_path, {"usr/lib/os-release": "PRETTY_NAME='Some Linux 1'\n"})
    assert software.read_operating_system(tmp_path) == "Some Linux 1"
    plant(tmp_path, {"etc/os-release": 'ID=x\nPRETTY_NAME="Other = Linux"\n'})
    assert software.read_operating_system(tmp_path) == "Other = Linux"
