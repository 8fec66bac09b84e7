"""The columns of the page of all results: what each is called, where it is shown, how it is read.

The order here is the order of the table, of its column chooser, and of a result's details.
"""

import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from trainmark.report.columns import Field
from trainmark.report.subjects import DERIVED, Subject

if TYPE_CHECKING:
    from trainmark.analysis.cost import Derived

__all__ = ["FIELDS"]

_RESULT, _SYSTEM, _SOFTWARE, _COST, _SOURCE = (
    "Result",
    "System",
    "Software",
    "Costs: derived, not official",
    "Where it stands",
)


def _of_result(name: str, subject: Subject) -> Any:
    return getattr(subject.result, name)


def _of_subject(name: str, subject: Subject) -> Any:
    return getattr(subject, name)


def _plain(name: str, title: str, kind: str = "words", **more: Any) -> Field[Subject]:
    """A column that is a field of the result."""
    return Field(name=name, title=title, kind=kind, get=partial(_of_result, name), **more)


def _task(subject: Subject) -> str:
    return subject.result.task or subject.result.benchmark


def _framework(subject: Subject) -> str:
    return subject.result.framework_name or subject.result.framework


def _pairs(name: str, subject: Subject) -> list[str]:
    """A mapping as lines "name: value"."""
    mapping: Mapping[str, Any] = getattr(subject.result, name)
    return [
        f"{key}: {value if isinstance(value, str) else json.dumps(value, default=str)}"
        for key, value in sorted(mapping.items())
    ]


def _doubts(subject: Subject) -> list[str]:
    return [
        doubt.text if doubt.resolved else f"{doubt.text} (not resolved)"
        for doubt in subject.result.doubts
    ]


_OWN = (
    Field(
        name="minutes",
        title="Minutes",
        kind="numbers",
        get=partial(_of_result, "minutes"),
        section=_RESULT,
        unit="min",
        form="minutes",
        digits=6,
        shown=True,
        narrow=True,
    ),
    _plain("system", "System", section=_SYSTEM, facet="", shown=True, narrow=True, searched=True),
    _plain("benchmark", "Benchmark", section=_RESULT, facet="Benchmark", shown=True, searched=True),
    Field(
        name="task",
        title="Task",
        kind="words",
        get=_task,
        section=_RESULT,
        facet="Task",
        searched=True,
    ),
    Field(
        name="group",
        title="Comparable with",
        kind="words",
        get=partial(_of_subject, "group"),
        section=_RESULT,
        facet="Comparable group",
        searched=True,
    ),
    _plain("round", "Round", section=_RESULT, facet="Round", shown=True, narrow=True),
    _plain("submitter", "Submitter", section=_RESULT, facet="Submitter", shown=True, searched=True),
    _plain(
        "accelerator",
        "Accelerator",
        section=_SYSTEM,
        facet="Accelerator",
        shown=True,
        narrow=True,
        searched=True,
    ),
    _plain(
        "accelerators",
        "Chips",
        "numbers",
        section=_SYSTEM,
        form="count",
        shown=True,
        narrow=True,
    ),
    Field(
        name="architecture",
        title="Architecture",
        kind="words",
        get=partial(_of_subject, "architecture"),
        section=_SYSTEM,
        facet="Architecture",
        searched=True,
    ),
    Field(
        name="vendor",
        title="Accelerator vendor",
        kind="words",
        get=partial(_of_subject, "vendor"),
        section=_SYSTEM,
        facet="Vendor",
        searched=True,
    ),
    Field(
        name="framework",
        title="Framework",
        kind="words",
        get=_framework,
        section=_SOFTWARE,
        facet="Framework",
        shown=True,
        searched=True,
    ),
    _plain("framework_version", "Framework version", section=_SOFTWARE),
    _plain("division", "Division", section=_RESULT, facet="Division", shown=True),
    _plain("category", "Category", section=_RESULT, facet="Category"),
    _plain("label", "Standing", section=_RESULT, searched=True),
    _plain("origin", "Origin", section=_RESULT, facet="Origin"),
    _plain("carried_over", "Carried over", "flags", section=_RESULT),
    _plain("nodes", "Nodes", "numbers", section=_SYSTEM, form="count"),
    _plain("accelerators_per_node", "Chips per node", "numbers", section=_SYSTEM, form="count"),
    _plain("hosts", "Hosts", "numbers", section=_SYSTEM, form="count"),
    _plain("host_processor", "Host processor", section=_SYSTEM, searched=True),
    _plain("host_processors", "Host processors", "numbers", section=_SYSTEM, form="count"),
    _plain("interconnect", "Interconnect", section=_SYSTEM, searched=True),
    _plain("score_basis", "How the score came about", section=_RESULT, listed=False),
    _plain("scaling_factor", "Scaling factor", "numbers", section=_RESULT, digits=6),
    _plain("global_batch_size", "Batch size", "numbers", section=_RESULT, form="count"),
    _plain(
        "samples_to_target",
        "Samples to target",
        "numbers",
        section=_RESULT,
        form="count",
        digits=0,
    ),
    _plain(
        "samples_per_second",
        "Samples per second",
        "numbers",
        section=_RESULT,
        form="count",
        digits=2,
    ),
    _plain("run_minutes", "Minutes of each run", "lists", listed=False, digits=5),
    Field(
        name="list_price_usd",
        title="List price",
        kind="numbers",
        get=partial(_of_subject, "list_price_usd"),
        section=_COST,
        unit="USD",
        form="money",
        digits=2,
    ),
)

_UNLISTED = (
    Field(name="doubts", title="Doubts", kind="lines", get=_doubts, listed=False),
    Field(
        name="software", title="Software", kind="lines", get=partial(_pairs, "software"),
        listed=False,
    ),
    Field(name="raw", title="As written", kind="lines", get=partial(_pairs, "raw"), listed=False),
    _plain("repository", "Repository", section=_SOURCE, listed=False),
    _plain("commit", "Commit", section=_SOURCE, listed=False),
    _plain("path", "Folder", "texts", section=_SOURCE, listed=False),
    _plain("machine", "Machine", section=_SOURCE, listed=False),
    _plain("recorded", "Recorded", section=_SOURCE, searched=True),
    _plain("id", "Id", "texts", section=_SOURCE, searched=True),
)  # fmt: skip


def _part(name: str, part: str, without: Any, subject: Subject) -> Any:
    """One part of a derived number."""
    derived: Derived | None = subject.derived.get(name)
    return without if derived is None else getattr(derived, part)


def _sources(name: str, part: str, without: Any, subject: Subject) -> list[str]:
    """Where the figures come from; where the result itself comes from is shown anyway."""
    own = f"{subject.result.repository}, {subject.result.path}"
    return [source for source in _part(name, part, without, subject) if source != own]


def _costs() -> tuple[Field[Subject], ...]:
    """The derived numbers, each with how it came about, on what basis, and what to mind."""
    found: list[Field[Subject]] = []
    for name, title, unit, form in DERIVED:
        found.append(
            Field(
                name=name,
                title=title,
                kind="numbers",
                get=partial(_part, name, "value", None),
                section=_COST,
                unit=unit,
                form=form,
                digits=4,
            )
        )
        found += [_about(name, part) for part in ("formula", "basis", "missing")]
        found += [_about(name, part) for part in ("marks", "sources")]
    return tuple(found)


_KINDS = {"formula": "texts", "basis": "words", "missing": "words"}


def _about(name: str, part: str) -> Field[Subject]:
    """How a derived number came about: a column beside it that only its details show."""
    kind = _KINDS.get(part, "lines")
    return Field(
        name=f"{name}.{part}",
        title=part,
        kind=kind,
        get=partial(
            _sources if part == "sources" else _part, name, part, () if kind == "lines" else ""
        ),
        listed=False,
    )


FIELDS: tuple[Field[Subject], ...] = (*_OWN, *_costs(), *_UNLISTED)
