"""Good logs to start from, one of each form that the reader knows."""

from collections.abc import Sequence
from pathlib import Path

from tests.logs import RunShape, Text, write_desk, write_resnet
from tests.rules.lora import lora_log

__all__ = ["corpus"]

_SHAPE = RunShape(qualities=(0.3, 0.7, 0.98))
_ROUND_0_6 = (
    b":::MLL 1563477912.345 submission_benchmark: "
    b'{"value": "resnet", "metadata": {"file": "a.py", "lineno": 1}}',
    b':::MLL 1563477913.5 init_start: {"value": null, "metadata": {"file": "a.py", "lineno": 2}}',
    b':::MLL 1563477914.5 init_stop: {"value": null, "metadata": {"file": "a.py", "lineno": 3}}',
    b':::MLL 1563477915.5 run_start: {"value": null, "metadata": {"file": "a.py", "lineno": 4}}',
    b":::MLL 1563478915.5 eval_accuracy: "
    b'{"value": 0.76, "metadata": {"file": "a.py", "lineno": 5, "epoch_num": 61}}',
    b":::MLL 1563478916.5 run_stop: "
    b'{"value": null, "metadata": {"file": "a.py", "lineno": 6, "status": "success"}}',
)
_ROUND_0_5 = (
    b":::MLPv0.5.0 resnet 1541712353.123456 (main.py:1) run_start",
    b":::MLPv0.5.0 resnet 1541713353.123456 (main.py:2) eval_accuracy: 0.75",
    b":::MLPv0.5.0 resnet 1541713354.123456 (main.py:3) run_stop",
)


def corpus(folder: Path) -> list[Sequence[bytes]]:
    """The lines of several good logs.

    Args:
        folder: Where they may be written; empty.
    """
    logs = (
        Text.read(write_desk(folder / "desk.txt", _SHAPE)),
        Text.read(write_resnet(folder / "resnet.txt", _SHAPE)),
        lora_log(folder / "lora.txt"),
    )
    written = [[line.encode() for line in log.lines()] for log in logs]
    return [*written, _ROUND_0_6, _ROUND_0_5]
