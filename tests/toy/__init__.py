"""A plug-in package as a stranger would install it."""

import os
import shutil
import sys
from pathlib import Path

import pytest

_ENTRY_POINTS = """\
[trainmark.workloads]
toy = toy_workload:WORKLOAD
broken = toy_workload:ABSENT

[trainmark.frameworks]
plain = toy_workload:FRAMEWORK
"""


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the toy into a folder and put that on the path, here and in child processes."""
    shutil.copy(Path(__file__).with_name("toy_workload.py"), folder)
    info = folder / "toy-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(_ENTRY_POINTS)
    inherited = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(folder), inherited))))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "toy_workload", raising=False)
