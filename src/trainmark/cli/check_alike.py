"""Findings that say the same, put together: ten logs that fail alike read as one thing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from trainmark.cli.check_output import Block, kind_of
from trainmark.types import Finding, Severity

if TYPE_CHECKING:
    from trainmark.rules import Verdict

__all__ = ["Entry", "alike"]

_ORDER = tuple(Severity)
_FEW = 3  # from so many keys on, findings that differ only in the key are told as one
_EACH = "of each"


@dataclass(slots=True)
class Entry:
    """Findings that say the same of one or several files.

    Attributes:
        first: The first of them.
        of_files: Whether it is about the files of the block, not about its folder.
        found: Each with the name of its file; "" for what the heading of the block names.
    """

    first: Finding
    of_files: bool = True
    found: list[tuple[str, Finding]] = field(default_factory=list)

    @property
    def files(self) -> tuple[str, ...]:
        """The files that have it, in order."""
        return tuple(dict.fromkeys(name for name, _ in self.found))

    @property
    def signature(self) -> tuple[str, ...]:
        """What it says, without its place: equal for equal findings of other folders."""
        first = self.first
        return (first.severity, first.rule, first.message, first.fix)


def alike(block: Block) -> list[Entry]:
    """The findings of a block: alike ones together, errors first, those of most logs first.

    Args:
        block: The verdicts on a folder's logs and the folder.
    """
    entries: dict[tuple[str, ...], Entry] = {}
    for verdict in block.verdicts:
        is_file = verdict.kind == block.kind
        for finding in verdict.findings:
            same = (finding.severity, finding.rule, finding.fix, finding.expected, str(is_file))
            entry = entries.setdefault(same, Entry(finding, is_file))
            entry.found.append((_name(finding, verdict, block), finding))
    return sorted(_merged(list(entries.values())), key=_weight)


def _name(finding: Finding, verdict: "Verdict", block: Block) -> str:
    """The file that a finding is about, as seen from the block's folder; "" for the heading's."""
    path = finding.path or verdict.path
    if path == block.folder or (block.is_one_file and path == verdict.path):
        return ""
    try:
        return str(Path(path).relative_to(block.folder))
    except ValueError:
        return path


def _weight(entry: Entry) -> tuple[int, bool, int]:
    """Errors first; of these what the files say before what follows for the folder."""
    return (_ORDER.index(entry.first.severity), not entry.of_files, -len(entry.files))


def _merged(entries: Sequence[Entry]) -> list[Entry]:
    """Entries that differ only in the key they are about become one, where the first stands."""
    groups: dict[tuple[str, ...], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((_template(entry), entry.first.severity, *entry.files), []).append(entry)
    taken: dict[int, Entry | None] = {}
    for (template, *_), several in groups.items():
        if template and len(several) >= _FEW:
            taken |= dict.fromkeys(map(id, several))
            taken[id(several[0])] = _of_each(template, several)
    replaced = (taken.get(id(entry), entry) for entry in entries)
    return [entry for entry in replaced if entry is not None]


def _template(entry: Entry) -> str:
    """What a finding on a missing or repeated record says with its key left out, "" for others."""
    kind = kind_of(entry.first.rule)
    if kind not in ("rules.*.missing", "rules.*.repeated") or entry.first.line_no is not None:
        return ""
    if len(entry.found) != len(entry.files):
        return ""
    messages = {finding.message for _, finding in entry.found}
    key = re.compile(rf"\b{re.escape(_key(entry))}\b")
    return "" if len(messages) > 1 else key.sub(_EACH, entry.first.message)


def _of_each(template: str, several: Sequence[Entry]) -> Entry:
    """One entry that names every key."""
    first, keys = several[0].first, [_key(entry) for entry in several]
    together = replace(
        first,
        rule=kind_of(first.rule),
        message=f"{template}: {', '.join(keys)}",
        fix=re.sub(rf"\b{re.escape(keys[0])}\b", "each of them", first.fix),
        expected="",
        found="",
    )
    named = [(name, together) for name in several[0].files]
    return Entry(together, several[0].of_files, named)


def _key(entry: Entry) -> str:
    return entry.first.rule.partition(".")[2].rpartition(".")[0]
