r"""Read a few keys of a result log at the speed of a search through its bytes.

Only lines that can hold a record of a wanted key are looked at; they are read by the same exact
readers as ever, so what comes out is what ``read_bytes`` gives for those keys (and more: round 0.5,
and records of round 0.6 in single quotes). In JSON the name
"key" and the key after it stand as they are, with spaces around the colon at most, or with
``\u00`` escapes: every record that has such an escape is read.

What is wrong with other lines is not seen here. ``trainmark.mllog.reader`` reads everything.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache, partial
from types import MappingProxyType
from typing import BinaryIO

from trainmark.mllog.batch import Batch, RecordReader
from trainmark.mllog.exact import TOKEN
from trainmark.mllog.forms import Readers, gather
from trainmark.mllog.old_forms import read_0_5_block, read_0_6_block
from trainmark.types import RunLog

__all__ = ["scan"]

# A search is fast where a pattern begins with plain text: the machine looks for that first.
_RECORD = rb'"key"[ \t]*:[ \t]*"(?:%b)"'
_RECORD_0_6 = rb":::MLL [\d.]+ (?:%b) ?:"
_RECORD_0_5 = rb"\) +(?:%b)(?![A-Za-z0-9_])"
_NAME = re.compile(r"[A-Za-z0-9_]+")
_ESCAPE = b"\\u00"  # of a letter, a digit or _
_NO_NAME = b"(?!)"
_RETURN = ord("\r")
# Of a key that is sampled, so many records of a block are read, or one of so many if that is more.
_SAMPLE, _EVERY = 24, 8
_GOLDEN = (5**0.5 - 1) / 2


def scan(
    stream: BinaryIO,
    source: str,
    wanted: Collection[str],
    *,
    sampled: Mapping[str, str] = MappingProxyType({}),
) -> RunLog:
    """Read the records of some keys, and no others.

    Args:
        stream: The log, opened in binary.
        source: The name that findings carry.
        wanted: The keys, each of letters, digits and underscores.
        sampled: Further keys that may come by the thousand, each with a name that the value of
            a record of use has: of many such records in a MiB the first and an even share of the
            others are read, an eighth at least. With "" for the name, the first record of a MiB
            is. ``dropped`` has the key when there may be more, with a number that is no count.
            It holds from round 0.7 on; in older logs all are read.

    Returns:
        The log with the events of those keys. ``token_lines`` counts the lines looked at, and
        ``findings`` are about these and about what cannot be read at all.

    Raises:
        ValueError: A key has other characters.
    """
    names = frozenset(wanted) | frozenset(sampled)
    if odd := [name for name in names if not _NAME.fullmatch(name)]:
        raise ValueError(f"cannot search for the key {odd[0]!r}: letters, digits and _ alone")
    read_0_6 = partial(read_0_6_block, any_quotes=True)
    readers = Readers(
        mllog=partial(_scan, _pattern(_RECORD, names.difference(sampled)), sampled, names),
        mll=partial(_scan_old, _pattern(_RECORD_0_6, names), read_0_6, names),
        mlp=partial(_scan_old, _pattern(_RECORD_0_5, names), read_0_5_block, names),
        returns=True,
    )
    return gather(stream, source, readers)


@lru_cache(maxsize=16)
def _pattern(form: bytes, names: frozenset[str]) -> re.Pattern[bytes]:
    """The pattern with an alternative for each name."""
    return re.compile(form % (b"|".join(map(str.encode, sorted(names))) or _NO_NAME))


def _begins(data: bytes, pattern: re.Pattern[bytes]) -> list[int]:
    """Where the lines begin on which a pattern is found."""
    begins, after = [], 0
    for match in pattern.finditer(data):
        place = match.start()
        if place >= after:  # not once more on the same line
            begins.append(data.rfind(b"\n", after, place) + 1 or after)
            after = data.find(b"\n", place) + 1
    return begins


def _some(data: bytes, key: bytes, word: bytes) -> tuple[list[int], bool]:
    """Where some of the lines begin that have a key and a word, spread evenly over these.

    Returns:
        The beginnings, and whether there are more such lines. Without a word that of the first,
        and nobody looks for more.
    """
    places, sought = [], b'"%b"' % (word or key)
    place = data.find(sought)
    if not word:
        return ([data.rfind(b"\n", 0, place) + 1], True) if place >= 0 else ([], False)
    while place >= 0:
        places.append(place)
        place = data.find(sought, place + len(sought))
    some = _share(places)
    if not all(_has(data, place, key) for place in some):
        # The word stands in other lines too.
        places = [place for place in places if _has(data, place, key)]
        some = _share(places)
    return [data.rfind(b"\n", 0, place) + 1 for place in some], len(some) < len(places)


def _share(places: Sequence[int]) -> list[int]:
    """Some of many places, the first and others spread evenly."""
    if len(places) <= _SAMPLE:
        return list(places)
    share = max(1 / _EVERY, _SAMPLE / len(places))
    # Multiples of the golden ratio are spread evenly, and in step with no pattern in the log.
    return [place for n, place in enumerate(places) if n * _GOLDEN % 1 < share]


def _has(data: bytes, place: int, text: bytes) -> bool:
    """Whether the line of a place has a text."""
    return data.find(text, data.rfind(b"\n", 0, place) + 1, data.find(b"\n", place)) >= 0


def _escaped(data: bytes) -> list[int]:
    """Where the records begin in which a key may hide behind an escape."""
    begins, place = [], data.find(_ESCAPE)
    while place >= 0:
        end = data.find(b"\n", place)
        begin = data.rfind(b"\n", 0, place) + 1
        if data.find(TOKEN, begin, end) >= 0:
            begins.append(begin)
        place = data.find(_ESCAPE, end)
    return begins


def _lines(
    data: bytes, begins: Collection[int], line_no: int
) -> tuple[list[tuple[int, int, int]], int]:
    """Lines with their ends and numbers, and the number of all lines.

    Args:
        data: All lines.
        begins: Where those of interest begin, ascending.
        line_no: The number of the first line.
    """
    lines, first, after = [], line_no, 0
    for begin in begins:
        line_no += data.count(b"\n", after, begin)
        end = data.find(b"\n", begin)
        lines.append((begin, end, line_no))
        line_no, after = line_no + 1, end + 1
    return lines, line_no + data.count(b"\n", after) - first


def _scan(
    pattern: re.Pattern[bytes],
    sampled: Mapping[str, str],
    wanted: frozenset[str],
    data: bytes,
    line_no: int,
    source: str,
) -> Batch:
    """The wanted records of some lines in the form of round 0.7 and later."""
    returns = b"\r" in data
    reader = RecordReader(source, wanted, returns=returns)
    batch, read, begins = reader.batch, reader.read_record, _begins(data, pattern)
    if b"\\" in data:
        begins += _escaped(data)
    for key, word in sampled.items():
        some, more = _some(data, key.encode(), word.encode())
        begins += some
        if more:
            batch.dropped[key] += 1
    lines, batch.lines = _lines(data, sorted(set(begins)), line_no)
    for begin, end, number in lines:
        token = data.find(TOKEN, begin, end)
        if token >= 0:
            batch.token_lines += 1
            last = end - 1 if returns and data[end - 1] == _RETURN else end
            read(data[token + len(TOKEN) : last], number)
    return batch


def _scan_old(
    pattern: re.Pattern[bytes],
    read: Callable[[bytes, int, str, Collection[str]], Batch],
    wanted: Collection[str],
    data: bytes,
    line_no: int,
    source: str,
) -> Batch:
    """The wanted records of some lines in one of the older forms."""
    lines, count = _lines(data, _begins(data, pattern), line_no)
    batch = Batch(lines=count)
    for begin, end, number in lines:
        one = read(data[begin : end + 1], number, source, wanted)
        batch.events += one.events
        batch.findings += one.findings
        batch.dropped += one.dropped
        batch.token_lines += one.token_lines
        batch.text_bytes += one.text_bytes
    return batch
