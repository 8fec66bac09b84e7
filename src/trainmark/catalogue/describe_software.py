"""The framework of one result, its version, and the other software of its system."""

import re
from collections.abc import Mapping
from typing import Any

from trainmark.catalogue.describe_counts import Place
from trainmark.catalogue.describe_doubts import Doubts, Kind, shown
from trainmark.catalogue.describe_files import SystemFile
from trainmark.catalogue.names_frameworks import (
    Framework,
    chosen,
    frameworks,
    other_software,
    usual_frameworks,
)
from trainmark.rules.submission.systems_fields import is_placeholder

__all__ = ["framework_of", "software_of"]

_MOST = 60  # entries of other software that are kept
_LONGEST_VALUE = 200
_NOTHING = frozenset({"", "-", "n/a", "na", "none"})


def framework_of(file: SystemFile, place: Place, doubts: Doubts) -> tuple[str, str]:
    """The framework's name and version; "" where unknown.

    A field that lists several frameworks describes a machine, not a result: the field
    framework_name or the folder's name decides where it names one of them, else what NVIDIA's
    implementation of the benchmark is written in.

    Args:
        file: The system file.
        place: Where the result stands.
        doubts: Where choices and gaps are added.
    """
    written = file.text("framework")
    named = frameworks(written)
    if not named:
        return _without_field(file, place, written, doubts)
    one = named[0] if len(named) == 1 else _one_of(named, file, place, written, doubts)
    if one is None:
        return "", ""
    return one.name, _version(one, file, place, doubts)


def _without_field(file: SystemFile, place: Place, written: str, doubts: Doubts) -> tuple[str, str]:
    """The framework where the field names none: by the system's names, by NVIDIA's containers."""
    for text in _hints(file, place):
        hinted = frameworks(text)
        if len(hinted) == 1:
            doubts.settled(
                Kind.FRAMEWORK_TOLD,
                f"the framework field {shown(written)} names none; {shown(text)} does",
            )
            return hinted[0].name, " or ".join(hinted[0].versions)
    usual = usual_frameworks(place.benchmark, place.round)
    if usual and "NGC containers for MLPerf" in other_software(written):
        doubts.settled(
            Kind.FRAMEWORK_CHOSEN,
            f"{shown(written)} are NVIDIA's containers: {usual[0]} for {place.benchmark}",
        )
        return usual[0], ""
    if file.found:
        doubts.left_open(Kind.FRAMEWORK, f"the framework field {shown(written)} names none")
    return "", ""


def _one_of(
    named: tuple[Framework, ...], file: SystemFile, place: Place, written: str, doubts: Doubts
) -> Framework | None:
    """The framework of several that this result used."""
    for text in _hints(file, place):
        hinted = [framework.name for framework in frameworks(text)]
        one = chosen(named, tuple(hinted)) if len(hinted) == 1 else None
        if one is not None:
            text = f"{shown(written)} lists several; {shown(text)} names {one.name}"
            doubts.settled(Kind.FRAMEWORK_CHOSEN, text)
            return one
    one = chosen(named, usual_frameworks(place.benchmark, place.round))
    if one is not None:
        doubts.settled(
            Kind.FRAMEWORK_CHOSEN,
            f"{shown(written)} lists several; {one.name} is what NVIDIA's implementation of "
            f"{place.benchmark} is written in",
        )
        return one
    doubts.left_open(
        Kind.FRAMEWORK, f"{shown(written)} lists several; which one ran {place.benchmark} is open"
    )
    return None


def _version(one: Framework, file: SystemFile, place: Place, doubts: Doubts) -> str:
    """The version; of several, or of none, what framework_name or the folder's name tells."""
    if len(one.versions) == 1:
        return one.versions[0]
    for text in _hints(file, place):
        told = _release_in(text)
        if told and (not one.versions or told in one.versions):
            doubts.settled(
                Kind.FRAMEWORK_TOLD, f"the version {told} of {one.name} is from {shown(text)}"
            )
            return told
    if one.versions:
        text = f"{one.name} is {' or '.join(one.versions)} in {shown(file.text('framework'))}"
        doubts.left_open(Kind.FRAMEWORK_VERSION, text)
    return ""


def _release_in(text: str) -> str:
    """A release of NVIDIA's containers in a name such as "dgxa100_n4_ngc21.05_mxnet"."""
    match = re.search(r"(?<![a-z])ngc(\d\d\.\d\d)(?!\d)", text, re.IGNORECASE)
    return f"NGC {match[1]}" if match else ""


def _hints(file: SystemFile, place: Place) -> tuple[str, ...]:
    """Texts that may name the framework, the surest first, their parts told apart."""
    texts = (file.text("framework_name"), place.system, file.text("system_name"))
    return tuple(dict.fromkeys(text.replace("_", " ") for text in texts if text))


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
