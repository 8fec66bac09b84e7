r"""Read a few keys of a result log at the speed of a search through its bytes.

Only lines that can hold a record of a wanted key are looked at; they are read by the same exact
readers as ever, so what comes out is what ``read_bytes`` gives for those keys (and more: round 0.5,
and records of round 0.6 in single quotes). In JSON the name
"key" and the key after it stand as they are, with spaces around the colon at most, or with
``\u`` escapes: a block of lines that has any such escape is read line by line.

What is wrong with other lines is not seen here. ``trainmark.mllog.reader`` reads everything.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from types import MappingProxyType
from typing import BinaryIO, NamedTuple

from trainmark.mllog.batch import Batch, RecordReader, read_block
from trainmark.mllog.exact import TOKEN
from trainmark.mllog.forms import Readers, gather
from trainmark.mllog.old_forms import read_0_5_block, read_0_6_block
from trainmark.types import RunLog

__all__ = ["scan"]

# A search is fast where a pattern begins with plain text: the machine looks for that first.
_RECORD = rb'"key"[ \t]*:[ \t]*"(?:(%b)|%b)"'
_RECORD_0_6 = rb":::MLL [\d.]+ (?:%b) ?:"
_RECORD_0_5 = rb"\) +(?:%b)(?![A-Za-z0-9_])"
_NAME = re.compile(r"[A-Za-z0-9_]+")
_RETURN = ord("\r")
_NO_NAME = b"(?!)"
_SAMPLE = 16  # of a key that is sampled, so many to twice as many records are kept
_LONGEST_SAMPLED = 4096  # bytes of a record; a longer one is read as others are


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
        sampled: Further keys that may come by the thousand, each with a word that a record of
            use has in it ("" for any). The first such record is kept and, evenly over the log, 16
            to 32 of them in all; ``dropped`` counts the others. It holds from round 0.7 on.

    Returns:
        The log with the events of those keys. ``token_lines`` counts the lines looked at, and
        ``findings`` are about these and about what cannot be read at all.

    Raises:
        ValueError: A key has other characters.
    """
    names = frozenset(wanted) | frozenset(sampled)
    if odd := [name for name in names if not _NAME.fullmatch(name)]:
        raise ValueError(f"cannot search for the key {odd[0]!r}: letters, digits and _ alone")
    scanner = _Scanner(names, sampled)
    read_0_6 = partial(read_0_6_block, any_quotes=True)
    readers = Readers(
        mllog=scanner,
        mll=partial(_scan_old, _pattern(_RECORD_0_6, names), read_0_6, names),
        mlp=partial(_scan_old, _pattern(_RECORD_0_5, names), read_0_5_block, names),
        returns=True,
    )
    return scanner.completed(gather(stream, source, readers))


@lru_cache(maxsize=16)
def _pattern(form: bytes, *names: frozenset[str]) -> re.Pattern[bytes]:
    """The pattern with an alternative for each set of names."""
    return re.compile(
        form % tuple(b"|".join(map(str.encode, sorted(n))) or _NO_NAME for n in names)
    )


class _Line(NamedTuple):
    """A line to be looked at: where it begins and ends, its number, and what was found on it."""

    begin: int
    end: int
    line_no: int
    match: re.Match[bytes]


def _lines(data: bytes, line_no: int, pattern: re.Pattern[bytes]) -> tuple[list[_Line], int]:
    """The lines on which a pattern is found, and the number of all lines."""
    found, line_no_before, begin, after = [], line_no, 0, 0
    for match in pattern.finditer(data):
        place = match.start()
        if place < after:
            continue  # once more on the same line
        begin = max(after, data.rfind(b"\n", after, place) + 1)
        line_no += data.count(b"\n", after, begin)
        end = data.find(b"\n", match.end())
        found.append(_Line(begin, end, line_no, match))
        line_no += 1
        after = end + 1
    return found, line_no + data.count(b"\n", after) - line_no_before


def _scan_old(
    pattern: re.Pattern[bytes],
    read: Callable[[bytes, int, str, Collection[str]], Batch],
    wanted: Collection[str],
    data: bytes,
    line_no: int,
    source: str,
) -> Batch:
    """The wanted records of some lines in one of the older forms."""
    lines, count = _lines(data, line_no, pattern)
    batch = Batch(lines=count)
    for begin, end, number, _ in lines:
        one = read(data[begin : end + 1], number, source, wanted)
        batch.events += one.events
        batch.findings += one.findings
        batch.dropped += one.dropped
        batch.token_lines += one.token_lines
        batch.text_bytes += one.text_bytes
    return batch


@dataclass(slots=True)
class _Sample:
    """Records of one key, spread evenly over all that there were: each so many is kept."""

    word: bytes
    every: int = 1
    seen: int = 0
    without: int = 0
    kept: list[tuple[bytes, int]] = field(default_factory=list)

    def passes_over(self, data: bytes, place: int) -> bool:
        """Count one more record; whether it is left out.

        Args:
            data: What it is part of.
            place: Where its key stands.
        """
        if self.word:
            begin = data.rfind(b"\n", 0, place) + 1
            if data.find(self.word, begin, data.find(b"\n", place)) < 0:
                self.without += 1
                return True
        self.seen += 1
        return (self.seen - 1) % self.every != 0

    def add(self, text: bytes, line_no: int) -> None:
        """Keep a record."""
        self.kept.append((text, line_no))
        if len(self.kept) > 2 * _SAMPLE:
            self.kept = self.kept[::2]
            self.every *= 2


def _has_more(text: bytes) -> bool:
    """Whether a line may hold more than the one record that is sampled, or much text."""
    return len(text) > _LONGEST_SAMPLED or b"\r" in text or text.count(b'"key"') > 1


class _Scanner:
    """Looks for the wanted records of one log in the form of round 0.7 and later.

    Args:
        wanted: The keys.
        sampled: Those of them of which a part is enough, with the words to look for.
    """

    def __init__(self, wanted: frozenset[str], sampled: Mapping[str, str]) -> None:
        self._wanted = wanted
        self._pattern = _pattern(_RECORD, frozenset(sampled), wanted.difference(sampled))
        self._samples = {key.encode(): _Sample(word=word.encode()) for key, word in sampled.items()}

    def __call__(self, data: bytes, line_no: int, source: str, /) -> Batch:
        if b"\\" in data and b"\\u" in data:  # a key may hide behind an escape
            return read_block(data, line_no, source, self._wanted)
        first, after, token_bytes = line_no, 0, len(TOKEN)
        returns = b"\r" in data
        reader = RecordReader(source, self._wanted, returns=returns)
        batch, read, samples = reader.batch, reader.read_record, self._samples
        for match in self._pattern.finditer(data):
            place = match.start()
            if place < after:
                continue  # once more on the same line
            sample = samples[match[1]] if match.lastindex else None
            if sample is not None and sample.passes_over(data, place):
                continue
            begin = data.rfind(b"\n", after, place) + 1 or after
            line_no += data.count(b"\n", after, begin)
            end = data.find(b"\n", place)
            token = data.find(TOKEN, begin, end)
            if token >= 0:
                batch.token_lines += 1
                last = end - 1 if returns and data[end - 1] == _RETURN else end
                text = data[token + token_bytes : last]
                if sample is None or _has_more(text):
                    read(text, line_no)
                else:
                    sample.add(text, line_no)
            line_no += 1
            after = end + 1
        batch.lines = line_no + data.count(b"\n", after) - first
        return batch

    def completed(self, log: RunLog) -> RunLog:
        """The log with what was put aside of it."""
        if not any(sample.seen or sample.without for sample in self._samples.values()):
            return log
        reader = RecordReader(log.source, self._wanted, returns=False)
        dropped = dict(log.dropped)
        for key, sample in self._samples.items():
            for text, line_no in sample.kept:
                reader.read_record(text, line_no)
            if more := sample.seen + sample.without - len(sample.kept):
                dropped[key.decode()] = more
        return replace(
            log,
            events=tuple(sorted((*log.events, *reader.batch.events), key=lambda one: one.line_no)),
            findings=(*log.findings, *reader.batch.findings),
            dropped=dropped,
        )
