"""Software versions, without importing what they belong to."""

import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from trainmark import __version__
from trainmark.machine.reading import fields, text

__all__ = ["FRAMEWORKS", "installed", "read_framework", "read_operating_system", "read_software"]


@dataclass(frozen=True, slots=True)
class _Framework:
    """A training framework: its package, and its name for people."""

    package: str
    title: str


FRAMEWORKS = (
    _Framework("torch", "PyTorch"),
    _Framework("jax", "JAX"),
    _Framework("paddlepaddle", "PaddlePaddle"),
    _Framework("paddlepaddle-gpu", "PaddlePaddle"),
    _Framework("tensorflow", "TensorFlow"),
    _Framework("mindspore", "MindSpore"),
)
_LIBRARIES = (
    "triton",
    "jaxlib",
    "flax",
    "numpy",
    "transformers",
    "torch-geometric",
    "deepspeed",
    "torch-xla",
    "poptorch",
    "habana-torch-plugin",
    "mlperf-logging",
    "nvidia-cudnn-cu12",
    "nvidia-cudnn-cu13",
    "nvidia-nccl-cu12",
    "nvidia-nccl-cu13",
)


def installed(packages: Iterable[str]) -> Mapping[str, str]:
    """The versions of those packages that are installed in this Python."""
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def read_framework() -> str:
    """The installed frameworks with their versions, for example "PyTorch 2.6.0"."""
    versions = installed(framework.package for framework in FRAMEWORKS)
    return ", ".join(
        f"{framework.title} {versions[framework.package]}"
        for framework in FRAMEWORKS
        if framework.package in versions
    )


def read_software(root: Path) -> dict[str, str]:
    """Kernel, Python, trainmark and the installed libraries, by name.

    Args:
        root: Where the file system of the machine starts.
    """
    kernel = text(root / "proc/sys/kernel/osrelease")
    return {
        **({"kernel": kernel} if kernel else {}),
        "python": platform.python_version(),
        "trainmark": __version__,
        **installed([framework.package for framework in FRAMEWORKS]),
        **installed(_LIBRARIES),
    }


def read_operating_system(root: Path) -> str:
    """The distribution's own name for itself, for example "Debian GNU/Linux 12 (bookworm)"."""
    release = text(root / "etc/os-release") or text(root / "usr/lib/os-release") or ""
    return dict(fields(release, "=")).get("PRETTY_NAME", "").strip("\"'")
