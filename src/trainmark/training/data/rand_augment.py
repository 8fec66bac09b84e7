"""RandAugment: a few random changes of a picture, all of one magnitude.

Cubuk, Zoph, Shlens, Le 2019, "RandAugment: Practical automated data augmentation with a reduced
search space" (arXiv:1909.13719): ``count`` transformations are drawn evenly, with replacement, from
the paper's fourteen, and each is applied at the same magnitude. What a magnitude means for each of
them, on the scale where 10 is strong, is that of the authors' implementation
(github.com/tensorflow/tpu, models/official/efficientnet/autoaugment.py); there, too, a higher
magnitude makes solarising and posterising weaker. Moves are a share of the picture's side, the
authors' 100 pixels at the 380 of EfficientNet-B4, so that they mean the same at every size.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from PIL import Image, ImageEnhance, ImageOps

__all__ = ["GEOMETRY", "TRANSFORMS", "Draws", "RandAugment"]

STRONG = 10.0
_DEGREES, _SHEAR, _MOVE = 30.0, 0.3, 100 / 380
_WEAKEST_ENHANCEMENT, _ENHANCEMENT_RANGE = 0.1, 1.8
_SOLARIZE_RANGE, _POSTERIZE_RANGE, _BITS = 256, 4, 8

_Choice = TypeVar("_Choice")


class Draws(Protocol):
    """Where choices come from: a ``random.Random``, or the module ``random`` itself."""

    def random(self) -> float:
        """A number from 0 to 1, 1 excluded."""

    def choice(self, seq: Sequence[_Choice]) -> _Choice:
        """One of them."""


_Transform = Callable[["RandAugment", Image.Image, float], Image.Image]


@dataclass(frozen=True, slots=True, kw_only=True)
class RandAugment:
    """The policy: call it with a picture and a generator.

    Attributes:
        count: Transformations of each picture; the paper's N.
        magnitude: Their strength, 0 to 30; the paper's M.
        names: Those of ``TRANSFORMS`` to draw from; none named: all.
        fill: Grey value of what comes in from outside the picture, 0 to 255.
    """

    count: int = 2
    magnitude: float = STRONG
    names: tuple[str, ...] = ()
    fill: int = 128

    def __call__(self, picture: Image.Image, generator: Draws) -> Image.Image:
        """A changed copy of ``picture`` (8 bits, grey or colour).

        Args:
            picture: The picture.
            generator: Where every choice comes from.
        """
        names = self.names or tuple(TRANSFORMS)
        for _ in range(self.count):
            transform = TRANSFORMS[generator.choice(names)]
            strength = self.magnitude / STRONG
            # The sign is drawn always: whether it is used must not move what is drawn after it.
            picture = transform(self, picture, strength if generator.random() < 0.5 else -strength)
        return picture

    def affine(self, picture: Image.Image, rows: tuple[float, ...]) -> Image.Image:
        """Map each place (x, y) of the result to (a x + b y + c, d x + e y + f) of the picture."""
        return picture.transform(
            picture.size,
            Image.Transform.AFFINE,
            rows,
            resample=Image.Resampling.NEAREST,
            fillcolor=_grey(picture, self.fill),
        )


def _grey(picture: Image.Image, value: int) -> int | tuple[int, ...]:
    bands = len(picture.getbands())
    return value if bands == 1 else (value,) * bands


def _rotate(policy: RandAugment, picture: Image.Image, strength: float) -> Image.Image:
    return picture.rotate(
        _DEGREES * strength,
        resample=Image.Resampling.NEAREST,
        fillcolor=_grey(picture, policy.fill),
    )


def _shear_x(policy: RandAugment, picture: Image.Image, strength: float) -> Image.Image:
    return policy.affine(picture, (1, _SHEAR * strength, 0, 0, 1, 0))


def _shear_y(policy: RandAugment, picture: Image.Image, strength: float) -> Image.Image:
    return policy.affine(picture, (1, 0, 0, _SHEAR * strength, 1, 0))


def _translate_x(policy: RandAugment, picture: Image.Image, strength: float) -> Image.Image:
    return policy.affine(picture, (1, 0, _MOVE * strength * picture.width, 0, 1, 0))


def _translate_y(policy: RandAugment, picture: Image.Image, strength: float) -> Image.Image:
    return policy.affine(picture, (1, 0, 0, 0, 1, _MOVE * strength * picture.height))


def _solarize(_: RandAugment, picture: Image.Image, strength: float) -> Image.Image:
    return ImageOps.solarize(picture, int(_SOLARIZE_RANGE * abs(strength)))


def _posterize(_: RandAugment, picture: Image.Image, strength: float) -> Image.Image:
    bits = min(int(_POSTERIZE_RANGE * abs(strength)), _BITS)
    # Pillow keeps at least one bit; none, as published for a magnitude below 2.5, is black.
    if bits == 0:
        return picture.point(lambda _value: 0)
    return ImageOps.posterize(picture, bits)


def _enhanced(enhancement: Callable[[Image.Image], Any]) -> _Transform:
    def enhance(_: RandAugment, picture: Image.Image, strength: float) -> Image.Image:
        factor = _WEAKEST_ENHANCEMENT + _ENHANCEMENT_RANGE * abs(strength)
        enhanced: Image.Image = enhancement(picture).enhance(factor)
        return enhanced

    return enhance


TRANSFORMS: Mapping[str, _Transform] = {
    "identity": lambda _, picture, __: picture,
    "auto_contrast": lambda _, picture, __: ImageOps.autocontrast(picture),
    "equalize": lambda _, picture, __: ImageOps.equalize(picture),
    "rotate": _rotate,
    "solarize": _solarize,
    "color": _enhanced(ImageEnhance.Color),
    "posterize": _posterize,
    "contrast": _enhanced(ImageEnhance.Contrast),
    "brightness": _enhanced(ImageEnhance.Brightness),
    "sharpness": _enhanced(ImageEnhance.Sharpness),
    "shear_x": _shear_x,
    "shear_y": _shear_y,
    "translate_x": _translate_x,
    "translate_y": _translate_y,
}
GEOMETRY = ("identity", "rotate", "shear_x", "shear_y", "translate_x", "translate_y")
"""Those that move the picture and leave its values: for pictures that are black or white."""
