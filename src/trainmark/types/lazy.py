"""Packages whose names are loaded when they are first used."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["lazily"]


def lazily(package: str, names: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package that loads a module when one of its names is used.

    Args:
        package: The package's ``__name__``.
        names: For each module of the package the names that the package has from it.
    """
    where = {name: module for module, own in names.items() for name in own}

    def load(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{package}.{where[name]}"), name)

    return load
