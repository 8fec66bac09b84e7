"""Read many lines at once: what a well-formed log has, at about the speed of the JSON parser.

Most records differ from an earlier one, of the same log or of another, in their time alone: their
text after the time is looked up among those read before, and only the others are parsed. A line
that is not plainly well-formed goes to ``trainmark.mllog.exact``, which has the last word on what
a line means.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import Any

import orjson

from trainmark.mllog.exact import MAX_DEPTH, ONLY_WHOLE, TOKEN, read_line
from trainmark.types import Event, Finding

__all__ = ["Batch", "RecordReader", "forget", "read_block"]

# Key, value, metadata, event type and namespace: a record without its time.
_Content = tuple[str, Any, dict[str, Any], str, str]

_CONTENT = itemgetter("key", "value", "metadata", "event_type", "namespace")
_LATEST_MS = 1e300
# A shorter record has no room for deeper nesting.
_LONG = 2 * MAX_DEPTH + len('{"key":"","time_ms":0,"value":,"metadata":}')
_make_event: partial[Event] = partial(tuple.__new__, Event)

# The text of a record up to its time. In valid JSON, the name before the digits is that of a
# member of the record itself: without a brace there is no other object, without a backslash no
# string that holds quotes.
_HEAD = re.compile(rb' ?\{[^{}\\\n]{0,80}"time_ms": ?(?=[1-9][0-9]{12},)')
_TIME_DIGITS = 13  # from 2001 to 2286
_MOST_HEADS, _MOST_KNOWN, _LONGEST_KNOWN = 64, 16_384, 512
# Values of these types come again; what was measured hardly ever does.
_RECURRING = frozenset({str, int, bool, type(None)})
_known: dict[bytes, dict[bytes, _Content]] = {}  # by the text before the time, then that after it


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
    block = RecordReader(source, wanted, returns=b"\r" in data)
    if not block.read(parts, first):  # a token inside a value, or several records on a line
        block = RecordReader(source, wanted, returns=b"\r" in data)
        block.read(_whole_lines(parts), first)
    block.batch.lines += first - line_no
    return block.batch


def forget() -> None:
    """Let go of the records known, as if no log had been read."""
    _known.clear()


def _whole_lines(parts: Sequence[bytes]) -> list[bytes]:
    """The parts between tokens, those that share a line joined again."""
    lines: list[list[bytes]] = []
    for part in parts:
        if lines and b"\n" not in lines[-1][-1]:
            lines[-1].append(part)
        else:
            lines.append([part])
    return [TOKEN.join(line) for line in lines]


class RecordReader:
    """Reads records of the lines of one block.

    Attributes:
        batch: What they hold so far.

    Args:
        source: The name that findings carry.
        wanted: The keys to make events of; None for all.
        returns: Whether there are carriage returns: each ends a record, but counts as no line.
    """

    def __init__(self, source: str, wanted: Collection[str] | None, *, returns: bool) -> None:
        self.batch = Batch()
        self._source, self._wanted, self._returns = source, wanted, returns
        self._head = b""
        self._known: dict[bytes, _Content] = {}

    def read(self, parts: Sequence[bytes], line_no: int) -> bool:
        """Read the lines; False, and nothing of use, if one has no end.

        Args:
            parts: What follows the token, up to the next token.
            line_no: The number of the line that the first of them stands on.
        """
        wanted, first = self._wanted, line_no
        add, make = self.batch.events.append, _make_event
        self._find_head(parts[len(parts) // 2])
        head, known = self._head, self._known.get
        begin, after = len(head), len(head) + _TIME_DIGITS
        for part in parts:
            end = part.find(b"\n")
            if end < 0:
                return False
            content = known(part[after:end])
            digits = part[begin:after]
            if (
                content is not None
                and digits.isdigit()
                and digits >= b"1"
                and part.startswith(head)
            ):
                key, value, metadata, kind, namespace = content
                if wanted is None or key in wanted:
                    add(make((key, value, metadata, float(digits), kind, line_no, namespace)))
                else:
                    self.batch.dropped[key] += 1
            else:
                self.read_record(part[:end], line_no)
            line_no += 1 if end + 1 == len(part) else part.count(b"\n", end)
        self.batch.token_lines, self.batch.lines = len(parts), line_no - first
        return True

    def _find_head(self, part: bytes) -> None:
        """How most records begin, up to their time, and those known that begin so."""
        match = _HEAD.match(part)
        if match is None:
            return
        full = sum(map(len, _known.values())) >= _MOST_KNOWN or len(_known) >= _MOST_HEADS
        if full:
            _known.clear()
        self._head = match[0]
        self._known = _known.setdefault(self._head, {})

    def read_record(self, text: bytes, line_no: int) -> None:
        """Read a record that has not stood before, or something else.

        Args:
            text: What follows the first token of a line, up to the line's end.
            line_no: The number of that line.
        """
        if self._returns and b"\r" in text:
            text, *others = text.split(b"\r")
            self.read_record(text, line_no)
            for other in others:  # lines too, and many a writer ends a bar of progress so
                token = other.find(TOKEN)
                if token >= 0:
                    self.read_record(other[token + len(TOKEN) :], line_no)
            return
        if len(text) > _LONG and text.count(b"[") + text.count(b"{") > MAX_DEPTH:
            self._read_exactly(text, line_no)
            return
        try:
            content = _CONTENT(fields := orjson.loads(text))
            time = fields["time_ms"]
        except (orjson.JSONDecodeError, LookupError, TypeError):
            self._read_exactly(text, line_no)
            return
        key, value, metadata, kind, namespace = content
        if not (
            type(key) is type(kind) is type(namespace) is str
            and type(metadata) is dict
            and (type(time) is int or type(time) is float)
            and 0 <= time <= _LATEST_MS
            and (type(value) is not float or abs(value) < ONLY_WHOLE)
        ):
            self._read_exactly(text, line_no)
            return
        if self._wanted is None or key in self._wanted:
            row = (key, value, metadata, float(time), kind, line_no, namespace)
            self.batch.events.append(_make_event(row))
            self.batch.text_bytes += len(text)
        else:
            self.batch.dropped[key] += 1
        if type(value) in _RECURRING and self._head and text.startswith(self._head):
            self._learn(text, content)

    def _learn(self, text: bytes, content: _Content) -> None:
        """Remember a record that may stand again at another time.

        What is left out must be the time and no more, and no second time may follow.
        """
        begin = len(self._head)
        rest = text[begin + _TIME_DIGITS :]
        if (
            rest[:1] == b","
            and text[begin : begin + _TIME_DIGITS].isdigit()
            and len(rest) <= _LONGEST_KNOWN
            and b"time_ms" not in rest
            and b"\\u" not in rest
            and len(self._known) < _MOST_KNOWN
        ):
            self._known[rest] = content

    def _read_exactly(self, text: bytes, line_no: int) -> None:
        """A line in doubt."""
        self.batch.text_bytes += len(text)
        for item in read_line(TOKEN + text, self._source, line_no):
            if isinstance(item, Finding):
                self.batch.findings.append(item)
            elif self._wanted is None or item.key in self._wanted:
                self.batch.events.append(item)
            else:
                self.batch.dropped[item.key] += 1
