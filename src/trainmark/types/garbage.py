"""Python's search for garbage, put off while many objects are made."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collection_paused"]


@contextmanager
def collection_paused() -> Iterator[None]:
    """No search for cycles of garbage meanwhile.

    Each search looks at every object there is. Reading a log makes very many that stay, and no
    cycles: the searches cost a fifth of a check and find nothing.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
