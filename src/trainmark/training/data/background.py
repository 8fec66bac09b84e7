"""What an iterator gives, made ahead by a process in the background.

An exception that leaves a loader's process has the stack of that process as its text and has lost
its hint. So a user's mistake is an item on its way (``caught``, ``caught_in``), and raised where it
arrives (``Loaded``).
"""

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from torch.utils.data import DataLoader, IterableDataset

from trainmark.types import TrainmarkError

__all__ = ["Loaded", "caught", "caught_in", "in_background"]

_AHEAD = 8  # items that wait to be taken

_T = TypeVar("_T")


def caught(function: Callable[..., _T], *arguments: Any) -> _T | TrainmarkError:
    """What the function gives, or the error that it raises."""
    try:
        return function(*arguments)
    except TrainmarkError as error:
        return error


def caught_in(items: Iterator[_T]) -> Iterator[_T | TrainmarkError]:
    """The items, and as the last one the error that ended them."""
    try:
        yield from items
    except TrainmarkError as error:
        yield error


class Loaded(Generic[_T]):
    """The items of a loader, anew in each pass.

    Args:
        loader: May give errors as items.

    Raises:
        TrainmarkError: An item is one.
    """

    def __init__(self, loader: "DataLoader[Any]") -> None:
        self._loader = loader

    def __iter__(self) -> Iterator[_T]:
        for item in self._loader:
            if isinstance(item, TrainmarkError):
                raise item
            yield item


class _Stream(IterableDataset[Any]):
    """The iterator as the loader's process runs it."""

    def __init__(self, make: Callable[[], Iterator[Any]], change: Callable[[Any], Any]) -> None:
        self._make, self._change = make, change

    def __iter__(self) -> Iterator[Any]:
        return caught_in(self._items())

    def _items(self) -> Iterator[Any]:
        yield from map(self._change, self._make())


def in_background(
    make: Callable[[], Iterator[Any]], change: Callable[[Any], _T], *, pin: bool
) -> Iterator[_T]:
    """The items in their order, some of them always ready.

    Args:
        make: Makes the iterator, in the process of its own.
        change: Makes tensors of an item, there as well.
        pin: Whether to use page-locked memory, for a copy to a GPU.

    Raises:
        TrainmarkError: ``make`` or its iterator raised it.
    """
    loader: DataLoader[Any] = DataLoader(
        _Stream(make, change),
        batch_size=None,
        num_workers=1,
        collate_fn=_as_it_is,
        pin_memory=pin,
        prefetch_factor=_AHEAD,
    )
    yield from Loaded[_T](loader)


def _as_it_is(item: Any) -> Any:
    return item
