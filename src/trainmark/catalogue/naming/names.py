"""One spelling for each thing that submitters spell in many ways.

The vocabularies are data, ``tables/names/*.toml``: a value that no row knows stays as it was
written and is counted as a doubt, so that nothing is guessed silently. Every normalised value
keeps the raw one beside it (``Result.raw``). Widening to another round means adding rows.
"""

import re
from dataclasses import dataclass
from functools import cache

from trainmark.catalogue.naming.name_tables import LONGEST, Named, folded, look_up, rows_of, table
from trainmark.rules.submission import systems_fields

__all__ = [
    "Accelerator",
    "Named",
    "accelerator",
    "accelerator_named",
    "accelerators",
    "benchmark",
    "benchmarks",
    "category",
    "count",
    "division",
    "interconnect",
    "kinds_of_accelerators",
    "place",
    "power_limit",
    "submitter",
    "task",
    "title",
]

_PARTS = re.compile(r"[,;&+]|\band\b", re.IGNORECASE)
_WATTS = re.compile(r"\b(\d{2,4}) ?W\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One name of the vocabulary.

    Attributes:
        name: The name, "A100-SXM-80GB".
        vendor: Who makes it, "NVIDIA".
        family: What differs from it only in memory and form, "A100".
        certain: Whether the name says which one it is; "TPU" or "A100" alone does not.
    """

    name: str
    vendor: str
    family: str
    certain: bool


@cache
def accelerators() -> tuple[Accelerator, ...]:
    """Every name of the vocabulary, those that leave the kind open last."""
    return tuple(
        Accelerator(row.name, row.facts["vendor"], row.facts["family"], kind == "accelerator")
        for kind in ("accelerator", "open")
        for row in rows_of("accelerators", kind)
    )


def accelerator_named(name: str) -> Accelerator | None:
    """What the vocabulary says of a normalised name; None for "" and for a name as written."""
    return next((one for one in accelerators() if one.name == name), None)


def accelerator(raw: str, evidence: str = "") -> Named:
    """The accelerator's name; "" when the system has none.

    Args:
        raw: accelerator_model_name as written.
        evidence: "system name; folder; memory; interconnect", asked when the raw value leaves
            the kind open. Not known is then a name of the vocabulary that stays open.
    """
    value = raw.strip()[:LONGEST]
    if re.search(table("accelerators")["none"]["pattern"], value, re.IGNORECASE):
        return Named("", known=True)
    if row := look_up(rows_of("accelerators", "accelerator"), value):
        return Named(row.name, known=True)
    if row := look_up(rows_of("accelerators", "open"), value):
        for settled in row.facts["settled"]:
            if re.search(settled["evidence"], evidence[: 4 * LONGEST], re.IGNORECASE):
                return Named(settled["name"], known=True)
        return Named(row.name, known=False)
    return Named(raw.strip(), known=False)


def kinds_of_accelerators(raw: str) -> tuple[str, ...]:
    """The names of the vocabulary that a text lists, each once: "MI300X + MI325X" has two."""
    parts = (part.strip() for part in _PARTS.split(raw[:LONGEST]))
    found = (accelerator(part) for part in parts)
    return tuple(dict.fromkeys(named.name for named in found if named.known and named.name))


def power_limit(*texts: str) -> int | None:
    """The power limit of one accelerator that the first text with one states, W."""
    found = (match for text in texts if (match := _WATTS.search(text[:LONGEST])))
    return next((int(match[1]) for match in found), None)


@cache
def _benchmarks() -> dict[str, str]:
    return {
        spelling.casefold(): row["name"]
        for row in table("benchmarks")["benchmark"]
        for spelling in row["spellings"]
    }


def benchmarks() -> tuple[str, ...]:
    """The official name of every benchmark of all rounds."""
    return tuple(row["name"] for row in table("benchmarks")["benchmark"])


def benchmark(raw: str) -> Named:
    """The benchmark's official name."""
    value = raw.strip()
    name = _benchmarks().get(value.casefold())
    return Named(value, known=False) if name is None else Named(name, known=True)


def title(benchmark_name: str) -> str:
    """A benchmark's name for people; the name itself of one that is no official benchmark."""
    rows = table("benchmarks")["benchmark"]
    return next((row["title"] for row in rows if row["name"] == benchmark_name), benchmark_name)


def task(benchmark_name: str, round_name: str | None) -> str:
    """What a benchmark trains in a round; the benchmark's own name where that never changed.

    Args:
        benchmark_name: The official name, or one's own benchmark's.
        round_name: "2.0"; None for today's meaning.
    """
    rows = (row for row in table("benchmarks")["benchmark"] if row["name"] == benchmark_name)
    name = benchmark_name
    for later in (later for row in rows for later in row.get("task", ())):
        if round_name is None or _numbers(round_name) >= _numbers(later["since"]):
            name = later["name"]
    return name


def _numbers(round_name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", round_name, re.ASCII))


def division(raw: str) -> Named:
    """The division, "closed" or "open"."""
    name = systems_fields.division(raw)
    return Named(raw.strip(), known=False) if name is None else Named(name, known=True)


_CATEGORY = {"on premise": "available", "cloud": "available"}
_PLACE = {"on premise": "on-premise", "cloud": "cloud"}


def category(raw: str) -> Named:
    """The category ("available", "preview", "research") that a status field means."""
    said = systems_fields.category(raw)
    if said is None:
        return Named(raw.strip(), known=False)
    return Named(_CATEGORY.get(said, said), known=True)


def place(raw: str) -> str:
    """Where the system stands by its status field: "on-premise", "cloud", "" if it says neither."""
    return _PLACE.get(systems_fields.category(raw) or "", "")


@cache
def _submitters() -> dict[str, str]:
    return {
        folded(spelling): row["name"]
        for row in table("submitters")["submitter"]
        for spelling in (row["name"], *row["spellings"])
    }


def submitter(raw: str) -> Named:
    """The organisation in one spelling; always known, for any name is possible."""
    value = raw.strip()
    return Named(_submitters().get(folded(value), value), known=True)


def interconnect(raw: str) -> Named:
    """The link between the accelerators of a node, "NVLink 3 + NVSwitch"; "" if none is named."""
    row = look_up(rows_of("interconnects", "interconnect"), raw)
    return Named(raw.strip(), known=False) if row is None else Named(row.name, known=True)


def count(raw: object) -> int | None:
    """A whole number that may be written as text or as a float; None if it is none."""
    number = systems_fields.count(raw)
    return None if number is None or not 0 <= number < 10**9 else number
