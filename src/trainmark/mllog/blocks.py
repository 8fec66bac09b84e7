"""Cut an open log into blocks of whole lines, in bounded memory.

A line without a token may be of any length and is never held whole; one with a token is held up
to ``MAX_RECORD_BYTES``, and otherwise left out and said so.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

__all__ = ["MAX_RECORD_BYTES", "Block", "blocks"]

MAX_RECORD_BYTES = 16 << 20
_PIECE_BYTES = 1 << 20
_ANY_TOKEN = re.compile(rb":::ML(?:L|Pv0\.5)")
_LONGEST_TOKEN = len(b":::MLPv0.5")


class Block(NamedTuple):
    """Some whole lines of a file.

    Attributes:
        data: The lines, each with a line feed at its end; a carriage return before a line feed is
            left out. None for a line whose record is too long to be read; the next block starts
            with the end of that line.
        restarts: Whether lines are counted from 1 again from here on.
    """

    data: bytes | None
    restarts: bool = False


def blocks(stream: BinaryIO, start: bytes = b"") -> Iterator[Block]:
    """The lines of a log, as many at once as a piece of the file has.

    A line ends at a line feed; in a file that has shown none so far, at a carriage return.

    Args:
        stream: The log, opened in binary.
        start: What was read of it already.
    """
    carry, newline, too_long = start, b"", False
    while True:
        piece = stream.read(_PIECE_BYTES)
        data = carry + piece if carry else piece
        restarts = False
        if newline != b"\n" and (b"\n" in data or b"\r" in data):
            # A file of carriage returns alone (old editors) has no line feed at all.
            lone_returns = b"\n" not in data
            restarts = newline == b"\r" and not lone_returns
            newline = b"\r" if lone_returns else b"\n"
        end = len(data)
        if piece:
            end = data.rfind(newline) + 1 if newline else 0
        if end:
            newline = newline or b"\n"
            block = data[:end] if piece else data + newline
            if too_long:  # the end of its line belongs to what was said
                block, too_long = block[block.find(newline) :], False
            yield Block(_plain(block, newline), restarts)
        elif restarts:
            yield Block(b"", restarts)
        if not piece:
            return
        carry = data[end:]
        token = None if too_long else _ANY_TOKEN.search(carry)
        if token is None:
            carry = carry[1 - _LONGEST_TOKEN :]
        elif len(carry) - token.start() > MAX_RECORD_BYTES:
            yield Block(None)
            too_long, carry = True, b""


def _plain(block: bytes, newline: bytes) -> bytes:
    """The lines with a line feed alone at their ends."""
    if b"\r" not in block:
        return block
    return block.replace(b"\r\n" if newline == b"\n" else b"\r", b"\n")
