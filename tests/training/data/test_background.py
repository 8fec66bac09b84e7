from collections.abc import Iterator
from functools import partial
from itertools import islice

import pytest
import torch

from trainmark.training.data.background import in_background
from trainmark.types import UsageError


def numbers(last: int | None) -> Iterator[int]:
    place = 0
    while last is None or place < last:
        yield place
        place += 1
    raise UsageError("it broke", hint="Mend it.")


def test_items_come_in_their_order_as_tensors() -> None:
    found = in_background(partial(numbers, None), torch.tensor, pin=False)
    first = list(islice(found, 30))
    assert all(isinstance(item, torch.Tensor) for item in first)
    assert [int(item) for item in first] == list(range(30))


def test_a_users_mistake_comes_through_as_it_was() -> None:
    found = in_background(partial(numbers, 2), torch.tensor, pin=False)
    assert [int(next(found)), int(next(found))] == [0, 1]
    with pytest.raises(UsageError) as caught:
        next(found)
    assert (caught.value.message, caught.value.hint) == ("it broke", "Mend it.")
