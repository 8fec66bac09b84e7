"""What an iterator gives, made ahead by a process in the background."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from torch.utils.data import DataLoader, IterableDataset

from trainmark.types import TrainmarkError

__all__ = ["in_background"]

_AHEAD = 8  # items that wait to be taken

_T = TypeVar("_T")


class _Stream(IterableDataset[Any]):
    """The iterator as the loader's process runs it. A user's mistake is an item, told by name."""

    def __init__(self, make: Callable[[], Iterator[Any]], change: Callable[[Any], Any]) -> None:
        self._make, self._change = make, change

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from map(self._change, self._make())
        except TrainmarkError as error:
            yield error


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
    for item in loader:
        if isinstance(item, TrainmarkError):
            raise item
        yield item


def _as_it_is(item: Any) -> Any:
    return item
