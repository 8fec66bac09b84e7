import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from trainmark.training.data.rand_augment import GEOMETRY, TRANSFORMS, RandAugment

SIDE = 38


class Always:
    """Draws the first choice and one sign."""

    def __init__(self, *, positive: bool) -> None:
        self._number = 0.0 if positive else 0.9

    def random(self) -> float:
        return self._number

    def choice(self, seq: Sequence[Any]) -> Any:
        return seq[0]


def ramp() -> Image.Image:
    """Grey values 0 to 252, every one a multiple of 7, brighter to the right."""
    row = np.arange(SIDE, dtype=np.uint8) % 37 * 7
    return Image.fromarray(np.broadcast_to(row, (SIDE, SIDE)).copy())


def changed(name: str, magnitude: float, *, positive: bool = True, fill: int = 128) -> np.ndarray:
    policy = RandAugment(count=1, magnitude=magnitude, names=(name,), fill=fill)
    return np.asarray(policy(ramp(), Always(positive=positive)))


def test_there_are_the_fourteen_of_the_paper() -> None:
    assert len(TRANSFORMS) == 14
    assert set(GEOMETRY) <= set(TRANSFORMS)


@given(
    mode=st.sampled_from(["L", "RGB"]),
    count=st.integers(0, 3),
    magnitude=st.floats(0, 30),
    seed=st.integers(0, 1000),
)
def test_any_policy_gives_a_picture_of_the_same_form(
    mode: str, count: int, magnitude: float, seed: int
) -> None:
    picture = ramp().convert(mode)
    policy = RandAugment(count=count, magnitude=magnitude)
    made = policy(picture, random.Random(seed))
    assert (made.size, made.mode) == (picture.size, mode)
    again = policy(picture, random.Random(seed))
    assert made.tobytes() == again.tobytes()
    assert picture.tobytes() == ramp().convert(mode).tobytes()


def test_every_transformation_is_drawn_as_often(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: Counter[str] = Counter()

    def counting(name: str) -> Any:
        def transform(_: RandAugment, picture: Image.Image, __: float) -> Image.Image:
            drawn[name] += 1
            return picture

        return transform

    names = tuple(TRANSFORMS)
    monkeypatch.setattr(
        "trainmark.training.data.rand_augment.TRANSFORMS", {name: counting(name) for name in names}
    )
    policy, generator = RandAugment(count=2), random.Random(0)
    for _ in range(7_000):
        policy(ramp(), generator)
    assert set(drawn) == set(names)
    assert all(900 < number < 1_100 for number in drawn.values())  # 1,000, deviation 30


def test_the_signs_are_even() -> None:
    policy = RandAugment(count=1, magnitude=10, names=("translate_x",), fill=255)
    generator = random.Random(1)
    right = sum(np.asarray(policy(ramp(), generator))[0, 0] == 255 for _ in range(400))
    assert 160 < right < 240


@pytest.mark.parametrize(("magnitude", "pixels"), [(10, 10), (5, 5), (20, 20)])
def test_a_move_is_a_share_of_the_side(magnitude: float, pixels: int) -> None:
    """100 pixels of 380 at magnitude 10."""
    left = changed("translate_x", magnitude, fill=9)
    assert np.array_equal(left[:, : SIDE - pixels], np.asarray(ramp())[:, pixels:])
    assert (left[:, SIDE - pixels :] == 9).all()
    right = changed("translate_x", magnitude, positive=False, fill=9)
    assert np.array_equal(right[:, pixels:], np.asarray(ramp())[:, : SIDE - pixels])
    up = changed("translate_y", magnitude, fill=9)
    assert np.array_equal(up[: SIDE - pixels], np.asarray(ramp())[pixels:])
    assert (up[SIDE - pixels :] == 9).all()


@pytest.mark.parametrize(("name", "axis"), [("shear_x", 1), ("shear_y", 0)])
def test_a_shear_moves_by_0_3_of_the_distance(name: str, axis: int) -> None:
    line = np.zeros((SIDE, SIDE), dtype=np.uint8)
    line[(slice(None), 30) if axis else (30, slice(None))] = 255
    policy = RandAugment(count=1, magnitude=10, names=(name,), fill=0)
    made = np.asarray(policy(Image.fromarray(line), Always(positive=True)))
    along = made if axis else made.T
    places = {row: int(along[row].argmax()) for row in range(0, SIDE, 5)}
    assert all(abs(place - (30 - 0.3 * row)) <= 1 for row, place in places.items())


def test_a_rotation_is_of_30_degrees_at_magnitude_10() -> None:
    expected = ramp().rotate(30, fillcolor=128)
    assert np.array_equal(changed("rotate", 10), np.asarray(expected))
    assert np.array_equal(
        changed("rotate", 5, positive=False), np.asarray(ramp().rotate(-15, fillcolor=128))
    )


@pytest.mark.parametrize("positive", [True, False])
def test_grey_values_change_by_the_published_ranges(positive: bool) -> None:
    """Enhancement factors of 0.1 to 1.9, a threshold of 256, 4 bits at magnitude 10."""
    plain = np.asarray(ramp()).astype(int)
    assert np.array_equal(changed("solarize", 10, positive=positive), plain)
    half = changed("solarize", 5, positive=positive)
    assert np.array_equal(half, np.where(plain < 128, plain, 255 - plain))
    assert np.array_equal(changed("posterize", 10, positive=positive), plain & 0xF0)
    assert np.array_equal(changed("posterize", 5, positive=positive), plain & 0xC0)
    assert not changed("posterize", 0, positive=positive).any()
    dark = changed("brightness", 0, positive=positive)
    assert np.abs(dark - 0.1 * plain).max() <= 1
    bright = changed("brightness", 10, positive=positive)
    assert np.abs(bright - np.minimum(1.9 * plain, 255)).max() <= 1
    same = changed("contrast", 5, positive=positive)  # a factor of one
    assert np.abs(same - plain).max() <= 1


def test_colour_of_magnitude_0_is_nearly_grey() -> None:
    picture = Image.new("RGB", (4, 4), (200, 40, 40))
    policy = RandAugment(count=1, magnitude=0, names=("color",))
    red, green, _ = np.asarray(policy(picture, Always(positive=True)))[0, 0].tolist()
    assert abs((red - green) - 0.1 * 160) <= 2


def test_what_needs_no_strength_stays_the_same_at_any() -> None:
    for name in ("identity", "auto_contrast", "equalize"):
        assert np.array_equal(changed(name, 0), changed(name, 30, positive=False))
    assert np.array_equal(changed("identity", 10), np.asarray(ramp()))
