"""The framework of one result, its version, and the other software of its system."""

import re
from collections.abc import Mapping
from typing import Any

from trainmark.catalogue.naming.counts import Place
from trainmark.catalogue.naming.doubts import Doubts, Kind, shown
from trainmark.catalogue.naming.files import SystemFile
from trainmark.catalogue.naming.frameworks import (
    Framework,
    chosen,
    frameworks,
    other_software,
    usual_frameworks,
)
from trainmark.catalogue.naming.name_tables import folded
from trainmark.catalogue.naming.names import accelerator_named
from trainmark.rules.submission.systems_fields import is_placeholder

__all__ = ["framework_of", "software_of"]

_CONTAINERS = "NGC containers for MLPerf"
_SHOWN_HASH = 12  # digits of a commit
_MOST = 60  # entries of other software that are kept
_LONGEST_VALUE = 200
_NOTHING = frozenset({"", "-", "n/a", "na", "none"})


def framework_of(
    file: SystemFile, place: Place, accelerator: str, doubts: Doubts
) -> tuple[str, str]:
    """The framework's name and version; "" where unknown.

    A field that lists several frameworks describes a machine, not a result: the field
    framework_name or the folder's name decides where it names one of them, else what NVIDIA's
    implementation of the benchmark is written in, else the names of the submitter's code.

    Args:
        file: The system file.
        place: Where the result stands.
        accelerator: The accelerator's normalised name.
        doubts: Where choices and gaps are added.
    """
    choice = _Choice(file, place, accelerator, doubts)
    one = choice.framework()
    return ("", "") if one is None else (one.name, choice.version(one))


class _Choice:
    """The search for the framework of one result."""

    def __init__(self, file: SystemFile, place: Place, accelerator: str, doubts: Doubts) -> None:
        self._file = file
        self._place = place
        self._doubts = doubts
        self._written = file.text("framework")
        self._named = frameworks(self._written)
        texts = (file.text("framework_name"), place.system, file.text("system_name"))
        # Texts that may name the framework, the surest first, their parts told apart.
        self._hints = tuple(dict.fromkeys(text.replace("_", " ") for text in texts if text))
        known = accelerator_named(accelerator)
        nvidia = known is not None and known.vendor == "NVIDIA"
        self._usual = usual_frameworks(place.benchmark, place.round) if nvidia else ()

    def framework(self) -> Framework | None:
        """The framework, None where nothing tells."""
        if len(self._named) == 1:
            return self._named[0]
        found = self._hinted() or self._by_usual() or self._by_code()
        if found is None and self._file.found:
            what = "lists several" if self._named else "names none"
            self._doubts.left_open(
                Kind.FRAMEWORK, f"the framework field {shown(self._written)} {what}"
            )
        return found

    def _settle(self, reason: str) -> None:
        kind = Kind.FRAMEWORK_CHOSEN if self._named else Kind.FRAMEWORK_TOLD
        what = "lists several" if self._named else "names none"
        self._doubts.settled(kind, f"the framework field {shown(self._written)} {what}; {reason}")

    def _hinted(self) -> Framework | None:
        """By framework_name, the folder or the system's name, where one names one framework."""
        for text in self._hints:
            hinted = frameworks(text)
            if len(hinted) != 1:
                continue
            one = chosen(self._named, (hinted[0].name,)) if self._named else hinted[0]
            if one is not None:
                self._settle(f"{shown(text)} names {one.name}")
                return one
        return None

    def _by_usual(self) -> Framework | None:
        """By NVIDIA's implementation, among those listed; its containers alone have it too."""
        one = chosen(self._named, self._usual)
        if not self._named and self._usual and _CONTAINERS in other_software(self._written):
            one = Framework(self._usual[0])
        if one is not None:
            self._settle(
                f"{one.name} is what NVIDIA's implementation of {self._place.benchmark} uses"
            )
        return one

    def _by_code(self) -> Framework | None:
        """By the names of the submitter's code, where all that name a framework name the same.

        A system with code of its own may use another: the usual framework has to agree then.
        """
        code = self._place.implementations
        own = [name for name in code if folded(self._place.system) in folded(name)]
        for considered in (own, code):
            told = {one.name for name in considered for one in frameworks(name.replace("_", " "))}
            if len(told) != 1:
                continue
            (name,) = told
            if considered is own or not own or name in self._usual[:1]:
                self._settle(f"the submitter's code for {self._place.benchmark} is in {name}")
                return chosen(self._named, (name,)) or Framework(name)
        return None

    def version(self, one: Framework) -> str:
        """Its version; of several, or of none, what a name or the other software tells."""
        if len(one.versions) == 1:
            return one.versions[0]
        for text in self._hints:
            told = _release_in(text)
            if told and (not one.versions or told in one.versions):
                self._told(one, told, text)
                return told
        for name, version in software_of(self._file).items():
            named = frameworks(name.replace("_", " "))
            if not one.versions and len(named) == 1 and named[0] == Framework(one.name):
                told = _commit_in(version)
                self._told(one, told, name)
                return told
        if one.versions:
            text = f"{one.name} is {' or '.join(one.versions)} in {shown(self._written)}"
            self._doubts.left_open(Kind.FRAMEWORK_VERSION, text)
        return ""

    def _told(self, one: Framework, version: str, where: str) -> None:
        self._doubts.settled(
            Kind.VERSION_TOLD, f"the version {shown(version)} of {one.name} is from {shown(where)}"
        )


def _commit_in(version: str) -> str:
    """A version; a commit in short."""
    match = re.search(r"\bcommit[/ ]([0-9a-f]{7,40})\b", version)
    return f"commit {match[1][:_SHOWN_HASH]}" if match else version.removeprefix("v")


def _release_in(text: str) -> str:
    """A release of NVIDIA's containers in a name such as "dgxa100_n4_ngc21.05_mxnet"."""
    match = re.search(r"(?<![a-z])ngc(\d\d\.\d\d)(?!\d)", text, re.IGNORECASE)
    return f"NGC {match[1]}" if match else ""


def software_of(file: SystemFile) -> dict[str, str]:
    """Other software by name, with versions as written: a list, an object or one text.

    Args:
        file: The system file.
    """
    found: dict[str, str] = {}
    for name, version in other_software(file.text("framework")).items():
        _put(found, name, version)
    for name in ("other_software_stack", "ml_libraries", "math_libraries", "compilers"):
        _add(found, name, file.fields.get(name))
    _add(found, "operating_system", file.fields.get("operating_system"))
    return found


def _add(found: dict[str, str], name: str, value: Any) -> None:
    """Add one field: the members of an object or of objects in a list, else the whole text."""
    members = [value] if isinstance(value, Mapping) else value if isinstance(value, list) else None
    if members is None:
        if isinstance(value, str):
            _put(found, name, value)
        return
    for member in members[:_MOST]:
        if isinstance(member, Mapping):
            for inner, version in list(member.items())[:_MOST]:
                _put(found, str(inner), version)
        else:
            before = found.get(name)
            text = str(member).strip()
            _put(found, name, f"{before}, {text}" if before else text)


def _put(found: dict[str, str], name: str, version: object) -> None:
    text = "" if isinstance(version, list | Mapping) else str(version).strip()[:_LONGEST_VALUE]
    known = text.lower() not in _NOTHING and not is_placeholder(text)
    if known and len(found) < _MOST:
        found[name[:_LONGEST_VALUE]] = text
