"""Read many lines at once: what a well-formed log has, at the speed of the JSON parser or beyond.

Two things make it quick. Most records differ from an earlier one, of the same log or of another,
in their time alone: their text without the time is looked up among those read before. The others
are parsed together, as one list. A line that is not plainly well-formed goes to
``trainmark.mllog.exact``, which has the last word on what a line means.
"""

import re
import secrets
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, chain, compress, repeat
from operator import attrgetter, itemgetter, not_
from sys import intern
from typing import Any

import orjson

from trainmark.mllog.exact import TOKEN, is_too_deep, read_line
from trainmark.types import Event, Finding

__all__ = ["Batch", "read_block"]

# Key, value, metadata, event type and namespace: a record without its time.
_Content = tuple[str, Any, dict[str, Any], str, str]

_TOGETHER = 64  # records parsed as one list: one bad record sends no more than these elsewhere
# Stands between two records that are parsed together. No file can foresee it, so that a record
# that runs into its neighbour, or is two, is found out.
_BETWEEN = secrets.token_hex(8)
_SEPARATOR = f',"{_BETWEEN}",'.encode()
_FIELDS = itemgetter("key", "value", "metadata", "time_ms", "event_type", "namespace")
_NUMBERS = frozenset({int, float})
_CONTAINERS = frozenset({dict, list})
_LATEST_MS = 1e300
_LINE_NO = attrgetter("line_no")
_make_event: partial[Event] = partial(tuple.__new__, Event)

# The text of a record up to its time. In valid JSON, the name before the digits is that of a
# member of the record itself: without a brace there is no other object, without a backslash no
# string that holds quotes.
_HEAD = re.compile(rb' ?\{[^{}\\\n]{0,80}"time_ms": ?(?=[1-9][0-9]{12},)')
_TIME_DIGITS = 13  # from 2001 to 2286
_MOST_HEADS, _MOST_KNOWN, _LONGEST_KNOWN = 64, 16_384, 512
# Values of these types come again; what was measured hardly ever does.
_RECURRING = frozenset({str, int, bool, type(None)})
_known: dict[bytes, dict[bytes, _Content]] = {}  # by the text before and after the time


@dataclass(slots=True)
class Batch:
    """What some lines hold.

    Attributes:
        events: Their events that are wanted, in order.
        findings: What is wrong with them, in order.
        dropped: How many well-formed records of which key are not wanted.
        token_lines: How many lines carry the token.
        lines: How many lines there are.
        text_bytes: The length of the records whose events were made anew; the others share what
            they hold with events made before.
    """

    events: list[Event] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    token_lines: int = 0
    lines: int = 0
    text_bytes: int = 0


def read_block(
    data: bytes, line_no: int, source: str, wanted: Collection[str] | None = None
) -> Batch:
    """The records of some whole lines.

    Args:
        data: The lines, each with a line feed at its end.
        line_no: The number of the first of them.
        source: The name that findings carry.
        wanted: The keys to make events of; None for all.
    """
    before, *parts = data.split(TOKEN)
    first = line_no + before.count(b"\n")
    if not parts:
        return Batch(lines=first - line_no)
    ends = list(map(bytes.find, parts, repeat(b"\n")))
    if min(ends) < 0:  # a token inside a value, or several records on a line
        parts = _whole_lines(parts)
        ends = list(map(bytes.find, parts, repeat(b"\n")))
    line_nos = list(accumulate(map(bytes.count, parts, repeat(b"\n")), initial=first))
    following = line_nos.pop()
    batch = _Lines(parts, ends, line_nos, source, returns=b"\r" in data).read(wanted)
    batch.token_lines, batch.lines = len(parts), following - line_no
    return batch


def _whole_lines(parts: Sequence[bytes]) -> list[bytes]:
    """The parts between tokens, those that share a line joined again."""
    lines: list[list[bytes]] = []
    for part in parts:
        if lines and b"\n" not in lines[-1][-1]:
            lines[-1].append(part)
        else:
            lines.append([part])
    return [TOKEN.join(line) for line in lines]


class _Lines:
    """The lines of a block that carry the token.

    Args:
        parts: What follows the token, up to the next line that has it.
        ends: Where in each part the line ends.
        line_nos: The lines' numbers in the file.
        source: The name that findings carry.
        returns: Whether there are carriage returns: the first ends the record.
    """

    def __init__(
        self,
        parts: list[bytes],
        ends: list[int],
        line_nos: list[int],
        source: str,
        *,
        returns: bool,
    ) -> None:
        self._parts, self._ends, self._line_nos = parts, ends, line_nos
        self._source, self._returns = source, returns
        # For each line what it says and when; None for what is not read yet.
        self._contents: list[_Content | None]
        self._times: list[float]
        self._known: dict[bytes, _Content] | None = None
        self._rests: list[bytes] = []

    def read(self, wanted: Collection[str] | None) -> Batch:
        """All records, those in doubt exactly."""
        self._look_up()
        batch = Batch()
        unknown = [place for place, content in enumerate(self._contents) if content is None]
        doubtful: list[int] = []
        for start in range(0, len(unknown), _TOGETHER):
            places = unknown[start : start + _TOGETHER]
            texts = [self._text(place) for place in places]
            read = _parse(texts)
            if read is None:
                doubtful += places
                batch.text_bytes += sum(map(len, texts))
            else:
                batch.text_bytes += self._take(places, texts, *read, wanted)
        if doubtful:
            self._read_exactly(doubtful, batch, wanted)
        else:
            batch.events = _events(
                self._contents, self._times, self._line_nos, wanted, batch.dropped
            )
        return batch

    def _look_up(self) -> None:
        """The contents of the records that differ from a known one in their time alone."""
        count = len(self._parts)
        match = _HEAD.match(self._parts[count // 2])
        if match is None:
            self._contents, self._times = [None] * count, [0.0] * count
            return
        head = match[0]
        self._known = _known_after(head)
        begin, end = len(head), len(head) + _TIME_DIGITS
        digits = [part[begin:end] for part in self._parts]
        self._rests = [part[end:stop] for part, stop in zip(self._parts, self._ends, strict=True)]
        self._contents = list(map(self._known.get, self._rests))
        if all(map(bytes.startswith, self._parts, repeat(head))) and _are_times(digits):
            self._times = list(map(float, digits))
            return
        for place, content in enumerate(self._contents):
            is_so = self._parts[place].startswith(head) and _are_times(digits[place : place + 1])
            if content is None or not is_so:
                digits[place] = b"0"
                self._contents[place] = None
            if not is_so:
                self._rests[place] = b""
        self._times = list(map(float, digits))

    def _text(self, place: int) -> bytes:
        """The record on a line."""
        text = self._parts[place][: self._ends[place]]
        return text.partition(b"\r")[0] if self._returns else text

    def _take(
        self,
        places: list[int],
        texts: list[bytes],
        contents: list[_Content],
        times: list[float],
        wanted: Collection[str] | None,
    ) -> int:
        """Put records that were parsed in their places; the bytes of those that are wanted."""
        size = 0
        known = None if self._returns else self._known
        for place, text, content, time in zip(places, texts, contents, times, strict=True):
            self._contents[place] = content
            self._times[place] = time
            if wanted is None or content[0] in wanted:
                size += len(text)
            if known is not None and type(content[1]) in _RECURRING:
                rest = self._rests[place]
                if _is_recognisable(rest) and len(known) < _MOST_KNOWN:
                    known[rest] = content
        return size

    def _read_exactly(
        self, doubtful: list[int], batch: Batch, wanted: Collection[str] | None
    ) -> None:
        """Fill the batch where some lines are in doubt."""
        odd: list[Event] = []
        for place in doubtful:
            record = TOKEN + self._text(place)
            for item in read_line(record, self._source, self._line_nos[place]):
                if isinstance(item, Finding):
                    batch.findings.append(item)
                elif wanted is None or item.key in wanted:
                    odd.append(item)
                else:
                    batch.dropped[item.key] += 1
        clear = [content is not None for content in self._contents]
        plain = _events(
            list(compress(self._contents, clear)),
            list(compress(self._times, clear)),
            list(compress(self._line_nos, clear)),
            wanted,
            batch.dropped,
        )
        batch.events = sorted(plain + odd, key=_LINE_NO)


def _known_after(head: bytes) -> dict[bytes, _Content]:
    """The records known that begin like this."""
    if sum(map(len, _known.values())) >= _MOST_KNOWN or len(_known) >= _MOST_HEADS:
        _known.clear()
    return _known.setdefault(head, {})


def _are_times(digits: Sequence[bytes]) -> bool:
    """Whether each is a number of 13 digits as JSON writes it."""
    joined = b"".join(digits)
    whole = len(joined) == _TIME_DIGITS * len(digits) and joined.isdigit()
    return whole and min(digits) >= b"1"


def _is_recognisable(rest: bytes) -> bool:
    """Whether the text after the time is the same record wherever it stands again.

    The time must end where it begins, and it must not bring a second time.
    """
    return (
        rest[:1] == b","
        and len(rest) <= _LONGEST_KNOWN
        and b"time_ms" not in rest
        and b"\\u" not in rest
    )


def _parse(texts: list[bytes]) -> tuple[list[_Content], list[float]] | None:
    """The records of some lines, None unless every one of them is plainly well-formed."""
    try:
        items = orjson.loads(b"[" + _SEPARATOR.join(texts) + b"]")
        if len(items) != 2 * len(texts) - 1 or items[1::2].count(_BETWEEN) != len(texts) - 1:
            return None
        rows = list(map(_FIELDS, items[::2]))
    except (orjson.JSONDecodeError, LookupError, TypeError):
        return None
    keys, values, metadata, times, kinds, namespaces = zip(*rows, strict=True)
    if not (
        {*map(type, keys), *map(type, kinds), *map(type, namespaces)} == {str}
        and {*map(type, metadata)} == {dict}
        and {*map(type, times)} <= _NUMBERS
        and min(times) >= 0
        and max(times) <= _LATEST_MS
    ):
        return None
    inner = chain(values, chain.from_iterable(map(dict.values, metadata)))
    if not _CONTAINERS.isdisjoint(map(type, inner)) and any(
        is_too_deep({"value": value, "metadata": more})
        for value, more in zip(values, metadata, strict=True)
    ):
        return None
    columns = (map(intern, keys), values, metadata, map(intern, kinds), namespaces)
    return list(zip(*columns, strict=True)), list(map(float, times))


def _events(
    contents: Sequence[_Content | None],
    times: Sequence[float],
    line_nos: Sequence[int],
    wanted: Collection[str] | None,
    dropped: Counter[str],
) -> list[Event]:
    """Events of records; those that are not wanted are counted."""
    if not contents:
        return []
    keys, values, metadata, kinds, namespaces = zip(*contents, strict=True)
    rows = zip(keys, values, metadata, times, kinds, line_nos, namespaces, strict=True)
    if wanted is not None:
        keep = list(map(wanted.__contains__, keys))
        if not all(keep):
            dropped.update(compress(keys, map(not_, keep)))
            return list(map(_make_event, compress(rows, keep)))
    return list(map(_make_event, rows))
