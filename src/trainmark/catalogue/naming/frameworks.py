"""Frameworks and their versions, from the free text of system files.

    "PyTorch NVIDIA Release 23.04"                          PyTorch, NGC 23.04
    "NGC MXNet 22.04 , NGC PyTorch 22.04 , ..."             by the benchmark: MXNet, NGC 22.04
    "NVIDIA Release 24.09 MxNet, pytorch and 23.09 dgl"     the number stands before
    "PaddlePaddle (branch: develop, commitID: b2d8f6d)"     PaddlePaddle, commit b2d8f6d

A version that is a release of NVIDIA's containers is written "NGC 23.04": it is not the version
of the framework in it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from trainmark.catalogue.naming.name_tables import LONGEST, rows_of, table

__all__ = ["Framework", "chosen", "frameworks", "other_software", "usual_frameworks"]

_URL = re.compile(r"\w+://\S+")
_VERSION = re.compile(
    r"(?:(?<![\w.])|(?<=ngc)|(?<=\bv))(?:\d{1,3}(?:\.\d+)+[\w.+-]*|20\d{6}\b)", re.IGNORECASE
)
_COMMIT = re.compile(r"\bcommit(?:id)?\b\W*(?:hash\W*)?([0-9a-f]{7,40})\b", re.IGNORECASE)
_BRANCH = re.compile(r"\bbranch\b\W*([\w./-]+)", re.IGNORECASE)
_RELEASE = re.compile(r"(?:1[7-9]|2\d)\.(?:0[1-9]|1[0-2])(?![\d.])(?:-\w+)?|20\d{6}")
_ALTERNATIVE = re.compile(r"\s*(?:[/,]|\bor\b|\band\b)\s*", re.IGNORECASE)
_SHOWN_HASH = 12  # digits of a commit


@dataclass(frozen=True, slots=True)
class Framework:
    """One framework that a text names.

    Attributes:
        name: Its name in the vocabulary.
        versions: The versions that the text gives for it, more than one where it leaves open
            which; none where it gives none.
        package: A package on the framework that the text names instead of it, else "".
    """

    name: str
    versions: tuple[str, ...] = ()
    package: str = ""


@dataclass(frozen=True, slots=True)
class _Mention:
    start: int
    end: int
    name: str
    framework: bool  # other software's versions are its own
    package: str


def frameworks(raw: str) -> tuple[Framework, ...]:
    """The frameworks that a text names, in its order, each once."""
    text = _URL.sub(" ", raw[:LONGEST])
    mentions = _mentions(text)
    named: dict[str, Framework] = {}
    for index, mention in enumerate(mentions):
        if not mention.framework:
            continue
        # What follows a library is the library's version.
        versions = [] if mention.package else _versions_of(text, mentions, index)
        before = named.get(mention.name, Framework(mention.name, package=mention.package))
        named[mention.name] = Framework(
            mention.name, tuple(dict.fromkeys((*before.versions, *versions))), before.package
        )
    return tuple(named.values())


def other_software(raw: str) -> dict[str, str]:
    """Other software that a framework's text names, with its version, "" if it gives none."""
    text = _URL.sub(" ", raw[:LONGEST])
    mentions = _mentions(text)
    found = {}
    for index, mention in enumerate(mentions):
        if mention.framework:
            if mention.package:
                found[mention.package] = ""
            continue
        versions = _own_versions(_tail(text, mentions, index))
        found[mention.name] = " or ".join(versions)
    return found


def usual_frameworks(benchmark: str, round_name: str) -> tuple[str, ...]:
    """The frameworks of NVIDIA's implementation of a benchmark, the first one first."""
    for row in table("frameworks")["usual"]:
        if benchmark in row["benchmarks"] and round_name in row.get("rounds", (round_name,)):
            return tuple(row["frameworks"])
    return ()


def _mentions(text: str) -> list[_Mention]:
    """Every mention in the text, in its order; of two that overlap the longer one."""
    found = [
        _Mention(
            match.start(), match.end(), row.name, kind == "framework", row.facts.get("package", "")
        )
        for kind in ("framework", "other")
        for row in rows_of("frameworks", kind)
        for match in row.pattern.finditer(text)
    ]
    kept: list[_Mention] = []
    for mention in sorted(found, key=lambda m: (m.start, -m.end)):
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
    return kept


def _tail(text: str, mentions: list[_Mention], index: int) -> str:
    """The text between a mention and the next one."""
    after = mentions[index + 1].start if index + 1 < len(mentions) else len(text)
    return text[mentions[index].end : after]


def _versions_of(text: str, mentions: list[_Mention], index: int) -> list[str]:
    """The versions of one mention: behind it, or before it, or at the end of its list."""
    tail = _tail(text, mentions, index)
    if _VERSION.search(text[: mentions[0].start]):  # "NVIDIA Release 24.09 MxNet, pytorch"
        head = text[: mentions[index].start]
        return _alternatives(head, _joined_to_last(head, list(_VERSION.finditer(head))))
    if own := _own_versions(tail):
        return own
    if match := _COMMIT.search(tail):
        return [f"commit {match[1][:_SHOWN_HASH]}"]
    if match := _BRANCH.search(tail):
        return [f"branch {match[1]}"]
    return _of_list(text, mentions, index)


def _own_versions(tail: str) -> list[str]:
    return _alternatives(tail, list(_VERSION.finditer(tail)))


def _joined_to_last(text: str, found: list[re.Match[str]]) -> list[re.Match[str]]:
    """The last version, and those before it that only "/" or "or" parts from it."""
    kept = found[-1:]
    for match in reversed(found[:-1]):
        if not _ALTERNATIVE.fullmatch(text[match.end() : kept[0].start()]):
            break
        kept.insert(0, match)
    return kept


def _alternatives(text: str, found: list[re.Match[str]]) -> list[str]:
    """The first version, and those behind it that only "/", "," or "or" parts from it."""
    versions: list[str] = []
    end = 0
    for match in found:
        if versions and not _ALTERNATIVE.fullmatch(text[end : match.start()]):
            break
        versions.append(_written(match[0]))
        end = match.end()
    return versions


def _of_list(text: str, mentions: list[_Mention], index: int) -> list[str]:
    """The version that a list of frameworks shares: "PyTorch, NeMo, DGL NVIDIA Release 24.09".

    A framework that stands directly before its SDK ("PopART Poplar SDK 2.5.1") has the SDK's.
    """
    for place in range(index + 1, len(mentions)):
        between = _tail(text, mentions, place - 1)
        if ";" in between or (not mentions[place].framework and between.strip()):
            return []
        if found := _own_versions(_tail(text, mentions, place)):
            return found
    return []


def _written(version: str) -> str:
    """A version; a release of NVIDIA's containers says so."""
    version = version.rstrip(".-+")
    return f"NGC {version}" if _RELEASE.fullmatch(version) else version


def chosen(named: Iterable[Framework], usual: tuple[str, ...]) -> Framework | None:
    """The first of the usual frameworks that is among those named."""
    by_name = {framework.name: framework for framework in named}
    return next((by_name[name] for name in usual if name in by_name), None)
