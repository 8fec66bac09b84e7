"""What a user means by "A": a result's id, words about it, own results, or a folder of runs.

    select("v2.0/Graphcore/ipu-pod16-TF1-closed/resnet")
    select("round=2.0 submitter=graphcore system=pod16 benchmark=resnet")
    select("graphcore pod16 v2.0 resnet")
    select("own:last"), select("runs/20261101T100000-resnet50-desk")

Several results are meant only where they are of one system, one for each task. Anything else is
an error that lists what was found: nothing is picked silently.
"""

import difflib
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trainmark.catalogue import Filters, query
from trainmark.catalogue.search import OnFinding
from trainmark.types import Result, UsageError, unknown_name

__all__ = ["KEYS", "Selection", "candidates", "one_system", "select", "task_of"]

_MOST_LISTED = 10
_LONGEST = 100
_OWN = "own:"
_PATH = re.compile(r"(~|\.{0,2})/")
_FORMS = (
    "Give a result's id (trainmark results --json has them), words such as "
    "'round=2.0 submitter=graphcore system=pod16 benchmark=resnet', own:last, or a folder of runs."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """One side of a comparison.

    Attributes:
        label: What the user wrote.
        results: What it means.
        path: Whether it is a folder of runs.
    """

    label: str
    results: tuple[Result, ...]
    path: bool = False

    def of_task(self, tasks: Iterable[str]) -> "Selection":
        """The same selection with the results of some tasks only."""
        wanted = set(tasks)
        kept = tuple(result for result in self.results if task_of(result) in wanted)
        return replace(self, results=kept)


def task_of(result: Result) -> str:
    """What is trained: the task, which has a benchmark's name where nothing else is known."""
    return result.task or result.benchmark


def select(
    text: str, *, where: Path | None = None, on_finding: OnFinding | None = None
) -> Selection:
    """The results of one system that a text means.

    Args:
        text: As in the module's examples.
        where: The folder of own results instead of the user's.
        on_finding: As for ``catalogue.query``.

    Raises:
        UsageError: Nothing is found; several systems are; or several results of one task.
    """
    found = candidates(text, where=where, on_finding=on_finding)
    return one_system(found)


def candidates(
    text: str,
    *,
    benchmark: str | None = None,
    where: Path | None = None,
    on_finding: OnFinding | None = None,
) -> Selection:
    """All results that a text may mean, of however many systems.

    Args:
        text: As in the module's examples.
        benchmark: Only results of this benchmark.
        where: The folder of own results instead of the user's.
        on_finding: As for ``catalogue.query``.

    Raises:
        UsageError: Nothing is found.
    """
    text = text.strip()
    if not text:
        raise UsageError("a side of the comparison is empty", hint=_FORMS)
    if _is_path(text):
        from trainmark.analysis.own_runs import results_at  # loads all of the rules

        results = _narrowed(text, results_at(Path(text).expanduser()), benchmark)
        return Selection(label=text, results=results, path=True)

    def ask(filters: Filters) -> list[Result]:
        filters = replace(filters, benchmark=benchmark or filters.benchmark)
        return query(filters, where=where, on_finding=on_finding)

    if text.startswith(_OWN):
        return Selection(label=text, results=_own(text, ask))
    found = _by_id(text, ask) or ask(_filters(*_parsed(text)))
    if not found:
        raise _nothing(text, ask, benchmark)
    return Selection(label=text, results=tuple(found))


def one_system(selection: Selection) -> Selection:
    """The selection when it is of one system with one result for each task.

    Raises:
        UsageError: It is not; the text lists the candidates and says how to tell them apart.
    """
    results = selection.results
    systems = min((_names(results), _machines(results)), key=len)
    tasks = [task_of(result) for result in results]
    if len(systems) == 1 and len(set(tasks)) == len(tasks):
        return selection
    what = (
        f"{len(systems)} systems"
        if len(systems) > 1
        else f"{len(results)} results of one system, several of the same benchmark"
    )
    if selection.path:
        hint = "Give one benchmark folder, or one system's."
    else:
        hint = _how_to_narrow(results)
    raise UsageError(f"{_short(selection.label)} means {what}:\n{_listed(results)}", hint=hint)


def _is_path(text: str) -> bool:
    if _PATH.match(text):
        return True
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long for a name, or a NUL in it
        return False


def _narrowed(text: str, results: tuple[Result, ...], benchmark: str | None) -> tuple[Result, ...]:
    if benchmark is None:
        return results
    kept = tuple(result for result in results if benchmark in (result.benchmark, result.task))
    if not kept:
        have = ", ".join(sorted({result.benchmark for result in results}))
        raise UsageError(
            f"{text} has no runs of {benchmark!r}", hint=f"It has runs of {have or 'none'}."
        )
    return kept


Ask = Callable[[Filters], list[Result]]


def _own(text: str, ask: Ask) -> tuple[Result, ...]:
    """Own results: ``own:last``, or ``own:`` and a part of the id."""
    name = text.removeprefix(_OWN)
    recorded = sorted(ask(Filters(origin="own")), key=lambda result: result.recorded)
    if name == "last":
        found = recorded[-1:]
    else:
        found = [result for result in recorded if name.lower() in result.id.lower()]
    if not found:
        raise UsageError(
            f"there is no own result {_short(text)}",
            hint="trainmark results --origin own lists them; trainmark run makes one."
            if recorded
            else "Nothing was recorded on this machine yet. Next: trainmark run resnet50",
        )
    return tuple(found)


def _by_id(text: str, ask: Ask) -> list[Result]:
    """The result of an id, with or without the v of its round, or all below a part of it."""
    wanted = text.rstrip("/").lower()
    if "/" not in wanted:
        return []
    names = (wanted, f"v{wanted}")
    below = tuple(f"{name}/" for name in names)
    found = ask(Filters(words=(text.rstrip("/"),)))
    exact = [result for result in found if result.id.lower() in names]
    return exact or [result for result in found if result.id.lower().startswith(below)]


def _parsed(text: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """The key=value words and the free ones; quotes keep a value with spaces together."""
    try:
        parts = shlex.split(text)
    except ValueError:  # a quote that is none, as in O'Brien
        parts = text.split()
    asked, words = {}, []
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals:
            words.append(part)
        elif key.lower() not in KEYS:
            raise unknown_name("key", key, KEYS)
        else:
            asked[key.lower()] = value
    return asked, tuple(words)


def _filters(asked: dict[str, str], words: tuple[str, ...]) -> Filters:
    fields: dict[str, Any] = {"words": words}
    for key, value in asked.items():
        fields |= KEYS[key](value)
    return Filters(**fields)


def _chips(value: str) -> dict[str, Any]:
    match = re.fullmatch(r"([0-9]{1,9})(?:(-)([0-9]{0,9}))?", value)
    if match is None:
        raise UsageError(
            f"chips={value:.80} is no number of accelerators",
            hint="Write chips=16, or chips=16-64.",
        )
    least = int(match[1])
    most = least if match[2] is None else int(match[3]) if match[3] else None
    return {"chips_min": least, "chips_max": most}


def _field(name: str) -> Callable[[str], dict[str, Any]]:
    return lambda value: {name: value}


# The keys of a query, and what filters their values are.
KEYS: dict[str, Callable[[str], dict[str, Any]]] = {
    **{
        name: _field(name)
        for name in (
            "benchmark",
            "task",
            "submitter",
            "system",
            "accelerator",
            "framework",
            "division",
            "category",
            "origin",
        )
    },
    "round": lambda value: {"rounds": (value,)},
    "chips": _chips,
}


def _nothing(text: str, ask: Ask, benchmark: str | None) -> UsageError:
    """Why nothing is found: the word or the key without which something would be."""
    asked, words = _parsed(text)
    problem = f"nothing in the catalogue is {_short(text)}"
    if benchmark is not None:
        problem += f" with a result of {benchmark}"
    for word in words:
        if not ask(Filters(words=(word,))):
            near = _nearest(word, ask)
            hint = f"No id, system, submitter or accelerator has {_short(word)} in it. "
            return UsageError(problem, hint=f"{hint}{near}{_FORMS}")
    for key in asked:
        if not ask(_filters({key: asked[key]}, ())):
            hint = f"No result has {key}={asked[key]:.80}. "
            return UsageError(problem, hint=f"{hint}{_valid(key, ask)}{_FORMS}")
    return UsageError(
        problem,
        hint="Each word alone is found, no result has them all: leave one out. "
        "trainmark results has filters to look around.",
    )


def _nearest(word: str, ask: Ask) -> str:
    names = {name for r in ask(Filters()) for name in (r.system, r.submitter, r.accelerator)}
    pieces = {piece.lower() for name in names for piece in (name, *name.split())}
    near = difflib.get_close_matches(word.lower(), sorted(pieces), n=3, cutoff=0.7)
    return f"Near: {', '.join(near)}. " if near else ""


def _valid(key: str, ask: Ask) -> str:
    if key not in ("submitter", "accelerator", "framework"):
        return ""
    values = sorted({getattr(result, key) for result in ask(Filters())} - {""})
    more = f" and {len(values) - 20} more" if len(values) > 20 else ""
    return f"There are {', '.join(values[:20])}{more}. "


def _names(results: Iterable[Result]) -> set[tuple[Any, ...]]:
    """The systems by name; spaces and hyphens differ within one submission."""
    return {
        (r.origin, r.round, r.submitter, re.sub(r"[\s_-]+", " ", r.system).lower(), r.accelerators)
        for r in results
    }


def _machines(results: Iterable[Result]) -> set[tuple[Any, ...]]:
    """The systems by hardware: some file one machine under a name for each framework."""
    return {
        (
            r.origin,
            r.round,
            r.submitter,
            r.accelerator or r.system,
            r.accelerators,
            r.nodes,
            r.host_processor,
        )
        for r in results
    }


def _short(text: str) -> str:
    return repr(text) if len(text) <= _LONGEST else f"{text[:_LONGEST]!r}..."


def _listed(results: Sequence[Result]) -> str:
    lines = [f"    {result.id}  {_brief(result)}" for result in results[:_MOST_LISTED]]
    left_out = len(results) - _MOST_LISTED
    if left_out > 0:
        lines.append(f"    and {left_out} more")
    return "\n".join(lines)


def _brief(result: Result) -> str:
    minutes = "no score" if result.minutes is None else f"{result.minutes:.3f} minutes"
    return f"{result.system}, {minutes}, {result.division}"


def _how_to_narrow(results: Sequence[Result]) -> str:
    """The keys in which the candidates differ, with their values."""
    parts = []
    for key, value in _TELLING.items():
        values = sorted({value(result) for result in results} - {""})
        if 1 < len(values) <= _MOST_LISTED // 2:
            parts.append(f"{key}={' or '.join(values)}")
    differ = f"Say which: {'; '.join(parts)}. " if parts else ""
    return f"{differ}{'Or give' if parts else 'Give'} the id itself."


# The keys that tell results of one name apart.
_TELLING: dict[str, Callable[[Result], str]] = {
    "benchmark": lambda result: result.benchmark,
    "round": lambda result: result.round or "",
    "submitter": lambda result: result.submitter,
    "division": lambda result: result.division,
    "chips": lambda result: "" if result.accelerators is None else str(result.accelerators),
    "framework": lambda result: result.framework_name or result.framework.partition(" ")[0],
}
