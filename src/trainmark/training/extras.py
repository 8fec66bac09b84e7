"""Which optional group of dependencies (``pip install 'trainmark[bert]'``) brings a package."""

import re
from collections import defaultdict
from importlib.metadata import PackageNotFoundError, requires

from trainmark.types import UsageError

__all__ = ["MissingPackageError", "extra_of", "missing_package"]

# Where a package is imported by another name than it is installed by.
_DISTRIBUTIONS = {"PIL": "pillow", "sklearn": "scikit-learn"}
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+).*extra\s*==\s*['\"]([^'\"]+)['\"]")
_NO_MODULE = re.compile(r"No module named '([^']+)'")
_NOT_FOR_USERS = ("dev",)


class MissingPackageError(UsageError):
    """Something needs a package that is not installed."""

    def __init__(self, message: str, *, package: str, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.package = package


def missing_package(who: str, error: ModuleNotFoundError, wanted: str = "") -> MissingPackageError:
    """What a user reads where a package is not installed: which, and how to install it.

    Args:
        who: What needs it, for example "workload 'bert'".
        error: What Python says.
        wanted: The extra to name if it brings the package; a workload's is called as it is.
    """
    # A loader's process tells its parent the text alone.
    told = _NO_MODULE.search(str(error))
    package = error.name or (told[1] if told else "")
    extra = extra_of(package, wanted)
    return MissingPackageError(
        f"{who} needs the package {package!r}, which is not installed",
        package=package,
        hint=f"Install it: pip install 'trainmark[{extra}]'"
        if extra
        else f"Install {package!r} in this environment.",
    )


def extra_of(package: str, wanted: str = "") -> str:
    """The extra that brings a package, "" if none does.

    Args:
        package: As it is imported, ``tokenizers`` or ``PIL.Image``.
        wanted: The extra to name if it is one of several; else the smallest.
    """
    top = package.partition(".")[0]
    distribution = _normalised(_DISTRIBUTIONS.get(top, top))
    brought = defaultdict(set)
    for name, extra in _requirements():
        brought[extra].add(name)
    found = [extra for extra, names in brought.items() if distribution in names]
    return wanted if wanted in found else min(found, key=lambda x: len(brought[x]), default="")


def _requirements() -> list[tuple[str, str]]:
    """Every optional dependency of this package with its extra."""
    try:
        lines = requires("trainmark") or ()
    except PackageNotFoundError:  # run from a source tree that was never installed
        return []
    matches = [match for line in lines if (match := _REQUIREMENT.match(line))]
    return [(_normalised(one[1]), one[2]) for one in matches if one[2] not in _NOT_FOR_USERS]


def _normalised(name: str) -> str:
    """A name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()
