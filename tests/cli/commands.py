"""The command as a user starts it: a process of its own."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

COMMAND = (sys.executable, "-m", "trainmark")


def trainmark(*arguments: str | Path, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Run the command to its end."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **options,
    )


def start(*arguments: str | Path) -> "subprocess.Popen[str]":
    """Start the command and go on."""
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def without(folder: Path, *packages: str) -> dict[str, str]:
    """The environment of a machine that lacks those packages."""
    for package in packages:
        (folder / f"{package}.py").write_text(
            f"raise ModuleNotFoundError('No module named {package}', name={package!r})\n"
        )
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH", ""))))
    return {**os.environ, "PYTHONPATH": path}
