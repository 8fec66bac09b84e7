"""System files of all rounds as one set of fields, named as they are from 0.7 on.

0.5         entry.json: hardware, framework, libraries, a list of kinds of nodes
0.6         the same, or lines "key: {json}" with Python literals, or the fields of today
0.7 to now  <system>.json: 33 fields, with misspelt names, trailing commas, a byte order mark
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from trainmark.catalogue.naming.doubts import Doubts, Kind, shown
from trainmark.catalogue.naming.hosts import host_processor
from trainmark.catalogue.naming.name_tables import LONGEST
from trainmark.rules.submission.systems_json import Description, Form, parse_description
from trainmark.types import Finding

__all__ = ["SystemFile", "read_system_file"]

_PROCESSORS = re.compile(r"\b([1-9]\d?)x (?=Intel|AMD)", re.IGNORECASE)
# A text, also one that never ends, or a comma before a closing bracket; in one pass.
_TRAILING_COMMA = re.compile(rb'("(?:[^"\\]|\\.)*+(?:"|\\?\Z))|,(?=\s*[}\]])', re.DOTALL)
_LONGEST_LITERAL = 20_000  # characters; the longest published one has 1,200
# Names of fields that were written otherwise somewhere.
_MISSPELT = {
    "number of nodes": "number_of_nodes",
    "divison": "division",
    "sumitter": "submitter",
}
# What the forms of 0.5 and 0.6 call a field of today.
_OLD_FIELDS = {
    "hardware": "system_name",
    "os": "operating_system",
    "libraries": "other_software_stack",
    "interconnect": "host_networking",
}
_OLD_NODE_FIELDS = {
    "num_nodes": "number_of_nodes",
    "num_accelerators": "accelerators_per_node",
    "accelerator": "accelerator_model_name",
    "cpu": "host_processor_model_name",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFile:
    """What a system file says.

    Attributes:
        fields: Values by the field names of today, as written.
        old: Whether it has the form of 0.5 and 0.6.
        found: Whether there was anything to read.
        findings: What was damaged.
    """

    fields: Mapping[str, Any]
    old: bool = False
    found: bool = True
    findings: tuple[Finding, ...] = ()

    def text(self, name: str) -> str:
        """A field as text, without spaces around it and not too long; "" if it has none."""
        value = self.fields.get(name)
        return (
            "" if value is None or isinstance(value, list | dict) else str(value).strip()[:LONGEST]
        )


def read_system_file(data: bytes | None, path: str, doubts: Doubts) -> SystemFile:
    """Read a system file of any round.

    Args:
        data: The file's bytes, None if there is none.
        path: Its path, for the findings and doubts.
        doubts: Where what was bridged is added.

    Returns:
        The fields; none when nothing could be read. Nothing that a file can hold raises.
    """
    if data is None:
        doubts.left_open(Kind.NO_FILE, f"there is no system file {shown(path)}")
        return SystemFile(fields=MappingProxyType({}), found=False)
    reading = parse_description(data, path)
    description = reading.description
    if description is not None and not description.complete:
        # A comma too many deep inside ends the reading; nothing is lost by leaving it out.
        again = parse_description(_TRAILING_COMMA.sub(_without_comma, data), path).description
        description = again if again is not None and again.complete else description
    if description is None or not description.fields:
        doubts.left_open(
            Kind.BAD_FILE, f"{shown(path)} is no description: {_why(reading.findings)}"
        )
        return SystemFile(
            fields=MappingProxyType({}), found=False, findings=tuple(reading.findings)
        )
    if reading.findings:
        text = f"{shown(path)} is damaged: {_why(reading.findings)}"
        (doubts.settled if description.complete else doubts.left_open)(Kind.DAMAGED_FILE, text)
    for name, values in description.repeated.items():
        if any(value != values[-1] for value in values):
            text = f"{shown(name)} stands there {len(values)} times; the last counts"
            doubts.settled(Kind.REPEATED, text)
    fields, old = _of_today(description, doubts)
    return SystemFile(fields=MappingProxyType(fields), old=old, findings=tuple(reading.findings))


def _without_comma(match: re.Match[bytes]) -> bytes:
    """A text as it is; nothing for a comma before a closing bracket."""
    return match[1] or b""


def _why(findings: tuple[Finding, ...]) -> str:
    """The first finding, in few words."""
    first = next(iter(findings), None)
    if first is None:
        return "it has no fields"
    return first.message if first.line_no is None else f"line {first.line_no}: {first.message}"


def _of_today(description: Description, doubts: Doubts) -> tuple[dict[str, Any], bool]:
    """The fields by the names of today, and whether the file has an old form."""
    fields = dict(description.fields)
    for misspelt, name in _MISSPELT.items():
        if misspelt in fields and name not in fields:
            fields[name] = fields[misspelt]
            doubts.settled(Kind.MISSPELT, f"{shown(misspelt)} was read as {name}")
    if description.form is Form.LINES:
        entry = _literal(fields.pop("entry", None))
        fields = {**(entry if isinstance(entry, dict) else {}), **fields}
        doubts.settled(Kind.OLD_FORM, "the file is lines of a log, as in round 0.6")
    nodes = fields.get("nodes")
    if not isinstance(nodes, str | list | dict):
        return fields, False
    for old_name, name in _OLD_FIELDS.items():
        if old_name in fields:
            fields.setdefault(name, fields[old_name])
    _add_nodes(fields, _literal(nodes), doubts)
    return fields, True


def _add_nodes(fields: dict[str, Any], nodes: object, doubts: Doubts) -> None:
    """Add what the first kind of nodes says, and say so when there are more."""
    kinds = [kind for kind in (nodes if isinstance(nodes, list) else [nodes]) if kind]
    first = kinds[0] if kinds and isinstance(kinds[0], dict) else {}
    if len(kinds) > 1:
        text = f"the file lists {len(kinds)} kinds of nodes; only the first is read"
        doubts.left_open(Kind.ACCELERATOR_MIXED, text)
    for old_name, name in _OLD_NODE_FIELDS.items():
        if old_name in first:
            fields.setdefault(name, first[old_name])
    number = host_processor(str(first.get("cpu", ""))).number
    if number is None and (match := _PROCESSORS.search(str(fields.get("system_name", ""))[:500])):
        number = int(match[1])  # "8-nodes 2x Intel(R) Xeon(R) Platinum 8180 processor"
    if number:
        fields.setdefault("host_processors_per_node", number)


def _literal(value: object) -> object:
    """A Python literal in a text, as 0.6 wrote them; what is no text stays as it is."""
    if not isinstance(value, str) or len(value) > _LONGEST_LITERAL:
        return value
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return value
