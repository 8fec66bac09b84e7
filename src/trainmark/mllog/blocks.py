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
            left out unless it was asked for. None for a line whose record is too long to be read;
            the next block starts with the end of that line.
        restarts: Whether lines are counted from 1 again from here on.
    """

    data: bytes | None
    restarts: bool = False


def blocks(stream: BinaryIO, start: bytes = b"", *, returns: bool = False) -> Iterator[Block]:
    """The lines of a log, as many at once as a piece of the file has.

    A line ends at a line feed; in a file that has shown none so far, or none but after all its
    records, at a carriage return too.

    Args:
        stream: The log, opened in binary.
        start: What was read of it already.
        returns: Whether carriage returns before line feeds may stay where they are.
    """
    carry, ends, too_long, records = start, b"", False, False
    while True:
        piece = stream.read(_PIECE_BYTES)
        data = carry + piece if carry else piece
        restarts = False
        if ends != b"\n" and (b"\n" in data or b"\r" in data):
            # A file of carriage returns alone (old editors) has no line feed at all.
            by_returns = b"\n" not in data or records or _is_by_returns(data)
            restarts = ends == b"\r" and not by_returns
            ends = b"\r" if by_returns else b"\n"
        end = _end(data, ends) if piece else len(data)
        if end:
            block = data[:end] if piece else data + b"\n"
            if not returns or ends == b"\r":
                block = _plain(block, ends)
            if too_long:  # the end of its line belongs to what was said
                block, too_long = block[block.find(b"\n") :], False
            records = ends == b"\r" and (records or _ANY_TOKEN.search(block) is not None)
            yield Block(block, restarts)
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


def _is_by_returns(data: bytes) -> bool:
    """Whether the first line holds all records, apart by carriage returns."""
    end = data.find(b"\n")
    if _ANY_TOKEN.search(data, end) is not None:
        return False
    token = _ANY_TOKEN.search(data, 0, end)
    after = data.find(b"\r", token.end(), end) if token else -1
    return after >= 0 and _ANY_TOKEN.search(data, after, end) is not None


def _end(data: bytes, ends: bytes) -> int:
    """How far whole lines go; a line feed may follow on a carriage return at the end."""
    feed = data.rfind(b"\n") + 1
    return feed if ends == b"\n" else max(feed, data.rfind(b"\r", 0, -1) + 1)


def _plain(block: bytes, ends: bytes) -> bytes:
    """The lines with a line feed alone at their ends."""
    if b"\r" not in block:
        return block
    if b"\r\n" in block:
        block = block.replace(b"\r\n", b"\n")
    return block if ends != b"\r" else block.replace(b"\r", b"\n")
