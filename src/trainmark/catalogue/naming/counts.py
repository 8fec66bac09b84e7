"""How many nodes, accelerators and hosts a system has, and what contradicts that.

The system file decides. Three rules go beyond it, each a doubt that says so: counts that the
code of the same submission proves wrong (``tables/names/corrections.toml``), TPU slices of
round 0.5 that are counted in cores, and hosts that stand apart from the accelerators.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trainmark.catalogue.naming import names
from trainmark.catalogue.naming.doubts import Doubts, Kind, many, shown
from trainmark.catalogue.naming.files import SystemFile
from trainmark.catalogue.naming.name_tables import table
from trainmark.rules.submission.systems_claims import LoggedSystem

__all__ = ["Counts", "Place", "count_all"]

_CORES_OF_CHIP = 2  # of TPU v2 and v3: https://cloud.google.com/tpu/docs/v3
_TPU_CORES = re.compile(r"^tpu-?v[23]-(\d{1,5})$", re.IGNORECASE)
_PROCESSORS_OF_HOST = 2  # Graphcore's host servers, Dell PowerEdge R6525
_APART = frozenset({"GC200-IPU", "Bow-IPU"})  # accelerators in appliances without a host
_MOST = 10_000_000  # of anything in one system
_LONGEST_NAME = 200  # characters that are searched
_SLICE = 16  # accelerators in one "node" from which on it is no server but a slice of a pod

# A number of servers in front, not of accelerators: "4xXE9680x8H100-SXM-80GB", not "8xMI325X".
_SERVERS = re.compile(r"^(\d{1,6}) ?x ?(?=[a-z])(?!(?:gb|mi|rtx|[abhlv])\d)", re.IGNORECASE)
# Numbers in names: "dgxa100_n14", "8-nodes-32s", "..._16N", "ngpu512", "...x8H100".
_NUMBERS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"[_-]n(\d{1,6})(?=[_.-]|$)",
        r"\b(\d{1,6})[-_ ]?nodes?\b",
        r"[_-](\d{1,6})N(?=[_.-]|$)",
        r"[_-]ngpu(\d{1,6})\b",
        r"x(\d{1,6})x?(?=(?:gb|h|a|b|l|mi)\d{2,3})",
    )
)
_PRODUCT = re.compile(r"(\d{1,6})x\w*?x(\d{1,6})x(\d{1,6})(?=[a-z])", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a result stands.

    Attributes:
        round: The round, "2.0".
        submitter: The submitter's folder.
        system: The system's folder.
        benchmark: The benchmark's official name.
        implementations: What the submitter's implementations of the benchmark are called.
    """

    round: str
    submitter: str
    system: str
    benchmark: str
    implementations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The counts of a system; None where unknown.

    Attributes:
        nodes: Nodes, as the system file counts them.
        per_node: Accelerators in one node.
        accelerators: Accelerators in all.
        hosts: Host servers.
        host_processors: Host processors in all.
    """

    nodes: int | None
    per_node: int | None
    accelerators: int | None
    hosts: int | None
    host_processors: int | None


def count_all(
    file: SystemFile,
    place: Place,
    accelerator: str,
    counted: Sequence[LoggedSystem],
    doubts: Doubts,
) -> Counts:
    """Count a system.

    Args:
        file: Its system file.
        place: Where the result stands.
        accelerator: The accelerator's normalised name, "" for none.
        counted: What logs of the result counted themselves.
        doubts: Where contradictions are added.
    """
    nodes = _number(file, "number_of_nodes", Kind.NODES, doubts)
    per_node = _number(file, "accelerators_per_node", Kind.PER_NODE, doubts)
    nodes, per_node = _in_chips(file, nodes, per_node, doubts)
    nodes, per_node = _corrected(place, nodes, per_node, doubts)
    total = None if nodes is None or per_node is None else nodes * per_node
    if total is not None and total > _MOST:
        text = f"{nodes} nodes of {per_node} accelerators are more than any machine has"
        doubts.left_open(Kind.PER_NODE, text)
        nodes = per_node = total = None
    if total is not None and file.found and (total > 0) != bool(accelerator):
        text = f"{per_node} accelerators in a node are called {shown(accelerator)}"
        doubts.left_open(Kind.ACCELERATOR_COUNT, text)
    processors = names.count(file.fields.get("host_processors_per_node"))
    all_processors = None if not nodes or not processors else nodes * processors
    if all_processors is not None and all_processors > _MOST:
        all_processors = None
    found = Counts(
        nodes=nodes,
        per_node=per_node,
        accelerators=total,
        hosts=_hosts(nodes, per_node, all_processors, accelerator, doubts),
        host_processors=all_processors,
    )
    _compare_names(file, place, found, doubts)
    _compare_logs(counted, found, accelerator, doubts)
    return found


def _number(file: SystemFile, name: str, kind: Kind, doubts: Doubts) -> int | None:
    number = names.count(file.fields.get(name))
    if number is None or number > _MOST or (number == 0 and kind is Kind.NODES):
        if file.found:
            doubts.left_open(kind, f"{name} {shown(file.text(name))} is no such number")
        return None
    return number


def _in_chips(
    file: SystemFile, nodes: int | None, per_node: int | None, doubts: Doubts
) -> tuple[int | None, int | None]:
    """Chips of a TPU slice that round 0.5 counts in cores, of all nodes together."""
    match = _TPU_CORES.match(file.text("accelerator_model_name"))
    if match is None or nodes is None or per_node != int(match[1]):
        return nodes, per_node
    chips = per_node // _CORES_OF_CHIP
    doubts.settled(
        Kind.CORES,
        f"{per_node} accelerators are the cores of the whole slice {shown(match[0])}: "
        f"{chips} chips of {_CORES_OF_CHIP} cores in {many(nodes, 'node')}",
    )
    hardware = file.text("system_name")
    if "+" in hardware:  # "tpuv3-32 + tpuv2-8": the second one evaluated
        text = f"the hardware is {shown(hardware)}; only the first slice is counted"
        doubts.left_open(Kind.ACCELERATOR_MIXED, text)
    return nodes, chips // nodes


def _corrected(
    place: Place, nodes: int | None, per_node: int | None, doubts: Doubts
) -> tuple[int | None, int | None]:
    row = _correction(place)
    if row is None:
        return nodes, per_node
    right = (row.get("nodes", nodes), row.get("accelerators_per_node", per_node))
    doubts.settled(
        Kind.CORRECTED,
        f"{many(right[0], 'node')} of {many(right[1], 'accelerator')}, not {nodes} of {per_node} "
        f"as the system file says: {row['source']}",
    )
    return right


def _correction(place: Place) -> dict[str, Any] | None:
    wanted = {
        "round": place.round,
        "submitter": place.submitter,
        "system": place.system,
        "benchmark": place.benchmark,
    }
    rows = table("corrections")["correction"]
    return next((row for row in rows if wanted.items() <= row.items()), None)


def _hosts(
    nodes: int | None,
    per_node: int | None,
    processors: int | None,
    accelerator: str,
    doubts: Doubts,
) -> int | None:
    """Host servers: the nodes, but for accelerators in appliances and slices of pods."""
    if accelerator in _APART:
        if not processors or processors % _PROCESSORS_OF_HOST:
            doubts.left_open(Kind.HOSTS_OPEN, "the host servers stand apart and are not counted")
            return None
        hosts = processors // _PROCESSORS_OF_HOST
        doubts.settled(
            Kind.HOSTS,
            f"{many(hosts, 'host server')}: {processors} host processors, "
            f"{_PROCESSORS_OF_HOST} in each",
        )
        return hosts
    if accelerator.startswith("TPU") and nodes and per_node and per_node >= _SLICE:
        text = f"a slice of {per_node} accelerators is counted as one node; its hosts are not told"
        doubts.left_open(Kind.HOSTS_OPEN, text)
        return None
    return nodes


def _compare_names(file: SystemFile, place: Place, counts: Counts, doubts: Doubts) -> None:
    """Numbers in the system's and the folder's name that are none of its counts."""
    if not counts.nodes or not counts.accelerators:
        return  # without accelerators the number may be that of processors: "2-nodes-8s"
    for name in dict.fromkeys((file.text("system_name"), place.system)):
        if _product_of(name) == counts.accelerators:
            continue
        said = _wrong_number(name[:_LONGEST_NAME], counts)
        if said is not None:
            doubts.settled(
                Kind.NAME_COUNT,
                f"the name {shown(name)} says {said}; the system file's "
                f"{many(counts.nodes, 'node')} of {many(counts.per_node, 'accelerator')} stand",
            )


def _wrong_number(name: str, counts: Counts) -> int | None:
    """A number in a name that is none of the counts it may be."""
    servers = _SERVERS.match(name)
    if servers and int(servers[1]) not in (counts.nodes, counts.accelerators):
        return int(servers[1])
    numbers = (int(match[1]) for pattern in _NUMBERS if (match := pattern.search(name)))
    right = {counts.nodes, counts.per_node, counts.accelerators}
    return next((number for number in numbers if number not in right), None)


def _product_of(name: str) -> int | None:
    """Racks times nodes times accelerators: "8xKinabalux18x4GB200"."""
    match = _PRODUCT.search(name[:_LONGEST_NAME])
    return math.prod(int(number) for number in match.groups()) if match else None


def _compare_logs(
    counted: Sequence[LoggedSystem], counts: Counts, accelerator: str, doubts: Doubts
) -> None:
    """What the scripts of a submitter found on the machine while it ran."""
    for said in counted:
        named = names.accelerator(said.accelerator)
        if named.known and named.name not in ("", accelerator):
            text = f"a log names {shown(said.accelerator)}; the system file's {accelerator} stands"
            doubts.settled(Kind.LOG_ACCELERATOR, text)
        pairs = ((said.nodes, counts.nodes), (said.accelerators_per_node, counts.per_node))
        if any(None not in pair and pair[0] != pair[1] for pair in pairs):
            doubts.settled(
                Kind.LOG_COUNT,
                f"a log counted {many(said.nodes, 'node')} of "
                f"{many(said.accelerators_per_node, 'accelerator')} ({shown(said.accelerator)}); "
                f"the system file's {counts.nodes} of {counts.per_node} stand",
            )
