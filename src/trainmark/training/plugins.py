"""Workloads, frameworks and observers, found by entry point; built-ins register the same way."""

from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from trainmark.training.extras import MissingPackageError, missing_package
from trainmark.types import UsageError, unknown_name

__all__ = [
    "GROUPS",
    "MissingPackageError",
    "Plugin",
    "framework",
    "missing_package",
    "observers",
    "plugins",
    "workload",
    "workload_names",
]

GROUPS = {
    "workload": "trainmark.workloads",
    "framework": "trainmark.frameworks",
    "observer": "trainmark.observers",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """One registered plug-in.

    Attributes:
        kind: "workload", "framework" or "observer".
        name: Its name.
        target: The object it names, ``module:attribute``.
        package: The package that registers it.
        loaded: The object, None when it is broken.
        problem: Why it cannot be used, "" when it can.
        missing: The package that it needs and that is not installed, "" otherwise: such a one is
            not broken.
    """

    kind: str
    name: str
    target: str
    package: str
    loaded: Any
    problem: str
    missing: str = ""


def plugins() -> list[Plugin]:
    """Every registered plug-in, loaded if it can be. A broken one breaks nothing else."""
    found = []
    for kind, group in GROUPS.items():
        for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
            loaded, problem, missing = None, "", ""
            try:
                loaded = _load(entry, kind)
            except UsageError as error:
                problem = error.message
                missing = error.package if isinstance(error, MissingPackageError) else ""
            found.append(
                Plugin(
                    kind=kind,
                    name=entry.name,
                    target=entry.value,
                    package=entry.dist.name if entry.dist else "",
                    loaded=loaded,
                    problem=problem,
                    missing=missing,
                )
            )
    return found


def workload_names() -> list[str]:
    """The names of all registered workloads; none is imported."""
    return sorted({entry.name for entry in entry_points(group=GROUPS["workload"])})


def workload(name: str) -> Any:
    """The workload of that name.

    Raises:
        UsageError: There is none (lists the valid names), or it cannot be imported.
    """
    return _named("workload", name)


def framework(name: str, workload: str = "") -> Any:
    """The framework of that name.

    Args:
        name: Its name.
        workload: The workload that needs it: its extra brings all that it needs, not only this.

    Raises:
        UsageError: There is none (lists the valid names), or it cannot be imported.
    """
    return _named("framework", name, workload)


def observers() -> list[Any]:
    """Every registered observer that can be loaded; each is a ``loop.Observer``."""
    return [p.loaded for p in plugins() if p.kind == "observer" and not p.problem]


def _named(kind: str, name: str, extra: str = "") -> Any:
    entries = {entry.name: entry for entry in entry_points(group=GROUPS[kind])}
    if name not in entries:
        raise unknown_name(kind, name, entries)
    return _load(entries[name], kind, extra)


def _load(entry: EntryPoint, kind: str, extra: str = "") -> Any:
    """Import what an entry point names; a stranger's code may fail in any way at import."""
    try:
        return entry.load()
    except ModuleNotFoundError as error:
        raise missing_package(f"{kind} {entry.name!r}", error, extra or entry.name) from error
    except Exception as error:
        raise UsageError(
            f"{kind} {entry.name!r} ({entry.value}) cannot be imported: "
            f"{type(error).__name__}: {error}",
            hint="trainmark plugins lists every plug-in and its state.",
        ) from error
