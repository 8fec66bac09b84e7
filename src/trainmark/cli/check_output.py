"""What the outputs of ``trainmark check`` share: the logs of a folder together, and the count."""

import os
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from trainmark.types import Finding, Severity, printable

if TYPE_CHECKING:
    from trainmark.rules import Verdict

__all__ = [
    "MOST_IN_DATA",
    "MOST_OF_A_KIND",
    "Block",
    "Output",
    "Tally",
    "bounded",
    "clean",
    "count",
    "escaped",
    "fails",
    "grouped",
    "kind_of",
    "level_of",
    "relative",
    "summary",
    "unread",
    "wrapped",
]

MOST_OF_A_KIND = 20  # for people
MOST_IN_DATA = 1000  # for programs, of one rule in one file
_FILES = ("log", "system")  # kinds of verdicts that are about one file
_NOUNS = {"system": "system description", "power": "power folder"}
_LEAST_WIDTH = 60
_STANDS_FOR = re.compile(r"([\d,]+) more findings of this kind: ")  # trainmark.mllog.kept
_MOST_TOGETHER = 1000  # logs of one folder that are kept until they are printed


@dataclass(slots=True)
class Block:
    """The verdicts that are told together: on the files of one folder and the folder itself.

    Attributes:
        folder: The folder, or the path of anything else that has no files of its own.
        kind: What the files are: "log" or "system".
        files: The verdicts on the files.
        whole: The verdicts on what lies at the folder's path.
    """

    folder: str
    kind: str = "log"
    files: "list[Verdict]" = field(default_factory=list)
    whole: "list[Verdict]" = field(default_factory=list)

    @property
    def verdicts(self) -> "list[Verdict]":
        """All of them, files first."""
        return [*self.files, *self.whole]

    @property
    def is_one_file(self) -> bool:
        """Whether it is about a single file and not about its folder."""
        return len(self.files) == 1 and not self.whole


class Output(Protocol):
    """One format. ``begin`` is called before the first block, ``end`` after the last one."""

    def begin(self) -> None:
        """Print what comes first."""

    def add(self, block: Block) -> None:
        """Print one block."""

    def end(self, tally: "Tally") -> None:
        """Print what comes last."""


@dataclass(slots=True)
class Tally:
    """What was found in all.

    Attributes:
        checked: Number of verdicts by their kind ("log", "folder", ...).
        failed: Number of those with errors, the tolerated ones left out.
        tolerated: Number of logs with errors that their folders may have.
        findings: Number of findings by severity.
        errors_by_rule: For each rule the number of logs (or folders) that it is an error in.
        rules: The rules that were applied, in words.
        failed_folders: Number of folders with errors.
        first_failed: The first of them.
    """

    checked: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    tolerated: int = 0
    findings: Counter[Severity] = field(default_factory=Counter)
    errors_by_rule: Counter[str] = field(default_factory=Counter)
    rules: dict[str, None] = field(default_factory=dict)
    failed_folders: int = 0
    first_failed: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing has an error but runs that may fail."""
        return not self.failed

    def add(self, block: Block) -> None:
        """Count a block."""
        for verdict in block.verdicts:
            self.checked[verdict.kind] += 1
            self.failed[verdict.kind] += fails(verdict)
            self.tolerated += verdict.tolerated
            if verdict.ruleset is not None:
                self.rules[verdict.ruleset.title] = None
            for one in verdict.findings:
                self.findings[one.severity] += unread(one) or 1
            self.errors_by_rule.update(
                {kind_of(one.rule) for one in verdict.findings if one.is_error}
            )
        self.failed = +self.failed  # zeros fall out
        if any(map(fails, block.verdicts)):
            self.failed_folders += 1
            if len(self.first_failed) < MOST_OF_A_KIND:
                self.first_failed.append(block.folder)


def fails(verdict: "Verdict") -> bool:
    """Whether a verdict makes the whole check fail: a run that may fail does not."""
    return not verdict.ok and not verdict.tolerated


def level_of(finding: Finding, verdict: "Verdict") -> Severity:
    """How severe a finding is to a service that fails what has an error.

    Args:
        finding: A finding.
        verdict: The verdict that it belongs to; one on a run that its folder may have failed must
            not fail a check that ends well.
    """
    tolerated = verdict.tolerated and finding.is_error
    return Severity.WARNING if tolerated else finding.severity


def grouped(verdicts: "Iterable[Verdict]") -> Iterator[Block]:
    """Put a stream of verdicts together, folder by folder.

    Args:
        verdicts: Those on the logs of a folder stand before that on the folder.
    """
    block: Block | None = None
    for verdict in verdicts:
        is_file = verdict.kind in _FILES
        kind = verdict.kind if is_file else "log"
        folder = str(Path(verdict.path).parent) if is_file else verdict.path
        if block is not None and (
            (block.folder, block.kind) != (folder, kind) or len(block.files) >= _MOST_TOGETHER
        ):
            yield block
            block = None
        block = block or Block(folder, kind)
        (block.files if is_file else block.whole).append(verdict)
    if block is not None:
        yield block


def bounded(findings: Sequence[Finding], most: int) -> tuple[list[Finding], dict[str, int]]:
    """At most so many findings of each rule, and how many more there are of which rule.

    Args:
        findings: The findings of one file.
        most: The limit.
    """
    seen: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    shown = []
    for finding in findings:
        further = unread(finding)
        seen[finding.rule] += further or 1
        if not further and kept[finding.rule] < most:
            kept[finding.rule] += 1
            shown.append(finding)
    return shown, {rule: number - kept[rule] for rule, number in seen.items() if number > most}


def unread(finding: Finding) -> int:
    """The number of findings that this one stands for: those beyond what is kept of a log."""
    stands_for = _STANDS_FOR.match(finding.message) if finding.line_no is None else None
    is_for_many = stands_for is not None and finding.rule.startswith("log.")
    return int(stands_for[1].replace(",", "")) if stands_for and is_for_many else 0


def kind_of(rule: str) -> str:
    """A rule's name with the key left out: "rules.*.missing"."""
    area, _, rest = rule.partition(".")
    key, _, what = rest.rpartition(".")
    return f"{area}.*.{what}" if area == "rules" and key else rule


def summary(tally: Tally) -> tuple[str, str]:
    """The verdict on everything: "Valid" or "Not valid", and the sentence after the colon."""
    by = f" by {_rules(tally.rules)}" if tally.rules else ""
    warnings = tally.findings[Severity.WARNING]
    noted = f"; {count(warnings, 'warning')}" if warnings else ""
    if tally.tolerated:
        verb = "does" if tally.tolerated == 1 else "do"
        noted = f"; {count(tally.tolerated, 'log')} {verb} not count, as may be{noted}"
    if tally.ok:
        kinds = sorted(kind for kind in tally.checked if kind not in ("log", "folder"))
        if tally.checked["log"] or not kinds:
            kinds.insert(0, "log")
        shown = [count(tally.checked[kind], kind) for kind in kinds]
        return "Valid", f"{', '.join(shown)}{by}{noted}."
    kinds = sorted(tally.failed, key=lambda kind: (kind != "log", kind))
    parts = [f"{tally.failed[kind]:,} of {count(tally.checked[kind], kind)}" for kind in kinds]
    have = "has" if tally.failed.total() == 1 else "have"
    failed = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    return "Not valid", f"{failed} {have} errors{by}{noted}."


def _rules(titles: Iterable[str]) -> str:
    """Titles of rules, the rounds of one kind together."""
    rounds: dict[str, list[str]] = {}
    for title in titles:
        kind, _, name = title.partition(" round ")
        rounds.setdefault(kind, []).append(name)
    shown = []
    for kind, names in rounds.items():
        word = " round " if len(names) == 1 else " rounds "
        shown.append(f"{kind}{word}{', '.join(sorted(names))}" if names[0] else kind)
    return " and ".join(shown)


def count(number: int, noun: str) -> str:
    """A number with its noun or a kind of verdict: 1 log, 3 system descriptions."""
    noun = _NOUNS.get(noun, noun)
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def clean(text: object) -> str:
    r"""Text for a terminal: on one line, without control, bytes that are no UTF-8 as ``\xff``."""
    return printable(escaped(str(text)))


def escaped(text: str) -> str:
    r"""Text in which bytes that are no UTF-8 (Python has surrogates for them) stand as ``\xff``."""
    if text.isascii():
        return text
    try:
        raw = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that a log spelt out
        raw = text.encode("utf-8", "backslashreplace")
    return raw.decode("utf-8", "backslashreplace")


def relative(path: str) -> str:
    """A path as seen from the working folder if it lies in it, else in full; with "/"."""
    full = Path(os.path.abspath(path))  # noqa: PTH100 -- resolve() would follow links
    try:
        return full.relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):
        return full.as_posix()


def wrapped(text: str, first: str, rest: str) -> list[str]:
    """Text on lines that fit the terminal; on one line where the output is no terminal.

    Args:
        text: The text.
        first: What the first line begins with.
        rest: What the lines after it begin with.
    """
    width = _terminal_width()
    if width is None:
        return [first + text]
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first]


def _terminal_width() -> int | None:
    try:
        columns = os.get_terminal_size(1).columns
    except (OSError, ValueError):
        return None
    return max(columns, _LEAST_WIDTH) if columns else None
