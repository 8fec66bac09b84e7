"""A system's description in the catalogue's words, for one result.

The folder decides who submitted what; the system file decides division, category, hardware and
software; the logs decide times and quality. Where they contradict each other a doubt says so,
and every value that was normalised stays in ``Result.raw`` as it was written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from trainmark.catalogue.naming import names
from trainmark.catalogue.naming.code import other_system_file
from trainmark.catalogue.naming.counts import Place, count_all
from trainmark.catalogue.naming.doubts import Doubts, Kind, shown
from trainmark.catalogue.naming.files import SystemFile, read_system_file
from trainmark.catalogue.naming.hosts import host_processor
from trainmark.catalogue.naming.software import framework_of, software_of
from trainmark.rules.submission.systems_agree import same_organisation
from trainmark.rules.submission.systems_claims import LoggedSystem
from trainmark.types import Doubt, Finding, Run

__all__ = ["Described", "describe"]

_LONGEST_RAW = 500

# What stands in Result.raw, and the field of the system file that it is.
_RAW = {
    "accelerator": "accelerator_model_name",
    "accelerators_per_node": "accelerators_per_node",
    "division": "division",
    "framework_name": "framework_name",
    "host_processor": "host_processor_model_name",
    "host_processors_per_node": "host_processors_per_node",
    "interconnect": "accelerator_interconnect",
    "memory": "accelerator_memory_capacity",
    "network": "host_networking",
    "nodes": "number_of_nodes",
    "notes": "hw_notes",
    "status": "status",
    "submitter": "submitter",
    "system": "system_name",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What is said of a system.

    Attributes:
        fields: Fields of ``Result`` by name: system, submitter, division, category, accelerator,
            accelerators, accelerators_per_node, nodes, hosts, host_processors, host_processor,
            interconnect, framework, framework_name, framework_version, software, raw.
        doubts: What a rule settled, or nothing could.
        findings: What was damaged in the file.
    """

    fields: Mapping[str, Any]
    doubts: tuple[Doubt, ...]
    findings: tuple[Finding, ...] = ()


def describe(
    data: bytes | None,
    *,
    path: str,
    round_name: str,
    submitter: str,
    system: str,
    benchmark: str,
    runs: Sequence[Run] = (),
    counted: Sequence[LoggedSystem] = (),
    implementations: Sequence[str] = (),
) -> Described:
    """Describe the system of one result.

    Args:
        data: The bytes of its system file, None if there is none.
        path: Where that file stands, or would stand.
        round_name: The round, "2.0".
        submitter: The submitter's folder.
        system: The system's folder.
        benchmark: The benchmark's official name.
        runs: The result's runs, which say a division and a submitter of their own.
        counted: What the logs counted on the machine (``logged_system_in``), as far as known.
        implementations: What the submitter's implementations of the benchmark are called
            (``implementations_in``), as far as known.

    Returns:
        Fields, doubts and findings; nothing that a file can hold raises.
    """
    doubts = Doubts()
    place = Place(
        round=round_name,
        submitter=submitter,
        system=system,
        benchmark=benchmark,
        implementations=tuple(implementations),
    )
    file = read_system_file(data, path, doubts)
    _compare_file(file, path, place, doubts)
    accelerator = _accelerator(file, place, doubts)
    counts = count_all(file, place, accelerator, counted, doubts)
    framework_name, framework_version = framework_of(file, place, accelerator, doubts)
    fields = {
        "system": file.text("system_name") or system,
        "submitter": _submitter(file, submitter, doubts),
        "division": _division(file, runs, doubts),
        "category": _category(file, doubts),
        "accelerator": accelerator,
        "accelerators": counts.accelerators,
        "accelerators_per_node": counts.per_node,
        "nodes": counts.nodes,
        "hosts": counts.hosts,
        "host_processors": counts.host_processors,
        "host_processor": _host_processor(file, doubts),
        "interconnect": _interconnect(file, doubts),
        "framework": file.text("framework"),
        "framework_name": framework_name,
        "framework_version": framework_version,
        "software": software_of(file),
        "raw": _raw(file),
    }
    return Described(fields=fields, doubts=doubts.all(), findings=file.findings)


def _compare_file(file: SystemFile, path: str, place: Place, doubts: Doubts) -> None:
    """Say so where the file was found by a table instead of the folder's name."""
    other = other_system_file(place.submitter, place.system)
    if file.found and other and PurePosixPath(path).stem == other:
        text = f"there is no {shown(place.system + '.json')}; {shown(other)} describes this system"
        doubts.settled(Kind.OTHER_FILE, text)


def _accelerator(file: SystemFile, place: Place, doubts: Doubts) -> str:
    raw = file.text("accelerator_model_name")
    kinds = names.kinds_of_accelerators(raw)
    if len(kinds) > 1:  # no single name is right
        doubts.left_open(Kind.ACCELERATOR_MIXED, f"{shown(raw)} are {len(kinds)} kinds")
        return " + ".join(kinds)
    evidence = "; ".join(
        (
            file.text("system_name"),
            place.system,
            file.text("accelerator_memory_capacity"),
            file.text("accelerator_interconnect"),
        )
    )
    plain = names.accelerator(raw)
    found = plain if plain.known else names.accelerator(raw, evidence)
    if found.known and not plain.known:
        text = f"{shown(raw)} is {found.name} by {shown(evidence)}"
        doubts.settled(Kind.ACCELERATOR_SETTLED, text)
    elif not found.known and names.accelerator_named(found.name) is not None:
        text = f"the system file does not say which {found.name} {shown(raw)} is"
        doubts.left_open(Kind.ACCELERATOR_OPEN, text)
    elif not found.known:
        doubts.left_open(Kind.ACCELERATOR, f"the accelerator {shown(raw)} is as written")
    _compare_folder(found.name, place.system, doubts)
    return found.name


def _compare_folder(accelerator: str, folder: str, doubts: Doubts) -> None:
    """Graphcore's folders of 2.0 are named after the machine before."""
    if accelerator == "Bow-IPU" and folder.lower().startswith("ipu"):
        text = f"the folder is called {shown(folder)}; the system file's {accelerator} stands"
        doubts.settled(Kind.ACCELERATOR_FOLDER, text)


def _submitter(file: SystemFile, folder: str, doubts: Doubts) -> str:
    """The organisation of the file where it is the folder's, or a joint one; else the folder's."""
    by_folder = names.submitter(folder).name
    written = file.text("submitter")
    if not written:
        return by_folder
    by_file = names.submitter(written).name
    if by_file == by_folder or same_organisation(written, folder):
        return by_file
    if same_organisation(by_file, by_folder):
        return by_file
    text = f"the system file says {shown(written)}, the folder is {shown(folder)}: it decides"
    doubts.settled(Kind.SUBMITTER, text)
    return by_folder


def _division(file: SystemFile, runs: Sequence[Run], doubts: Doubts) -> str:
    """The system file's division; the logs' where it says none."""
    said = sorted({run.division for run in runs if run.division})
    meant = {names.division(text).name for text in said if names.division(text).known}
    written = file.text("division")
    division = names.division(written)
    if division.known:
        if other := [text for text in said if names.division(text).name != division.name]:
            text = f"the logs say {', '.join(map(shown, other[:3]))}; the system file's "
            doubts.settled(Kind.DIVISION_LOGS, f"{text}{division.name} stands")
        return division.name
    if len(meant) == 1:
        (only,) = meant
        text = f"the system file says {shown(written)}; all logs say {only}"
        doubts.settled(Kind.DIVISION_TOLD, text)
        return only
    doubts.left_open(Kind.DIVISION, f"the division {shown(written)} is neither closed nor open")
    return division.name


def _category(file: SystemFile, doubts: Doubts) -> str:
    written = file.text("status")
    category = names.category(written)
    if not category.known and file.found:
        doubts.left_open(Kind.CATEGORY, f"the status {shown(written)} means no category")
    return category.name


def _host_processor(file: SystemFile, doubts: Doubts) -> str:
    written = file.text("host_processor_model_name")
    found = host_processor(written)
    if not found.name and file.found:
        doubts.left_open(Kind.HOST_PROCESSOR, f"the host processor is called {shown(written)}")
    return found.name


def _interconnect(file: SystemFile, doubts: Doubts) -> str:
    """The link between accelerators; the early forms have only the network between nodes."""
    written = file.text("accelerator_interconnect")
    if file.old and not written:
        network = file.text("host_networking")
        return names.interconnect(network).name if "nvlink" in network.lower() else ""
    found = names.interconnect(written)
    if not found.known:
        doubts.left_open(Kind.INTERCONNECT, f"the interconnect {shown(written)} is as written")
    return found.name


def _raw(file: SystemFile) -> dict[str, str]:
    """What was written, and two facts that no field holds: where it stands, and its power limit."""
    raw = {name: text[:_LONGEST_RAW] for name, field in _RAW.items() if (text := file.text(field))}
    if place := names.place(file.text("status")):
        raw["place"] = place
    watts = names.power_limit(
        file.text("accelerator_model_name"), file.text("hw_notes"), file.text("system_name")
    )
    if watts is not None and file.text("accelerator_model_name"):
        raw["power_limit_watts"] = str(watts)
    return raw
