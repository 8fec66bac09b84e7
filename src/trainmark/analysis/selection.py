"""What a user means by "A": a result's id, words about it, own results, or a folder of runs.

    select("v2.0/Graphcore/ipu-pod16-TF1-closed/resnet")
    select("round=2.0 submitter=graphcore system=pod16 benchmark=resnet")
    select("graphcore pod16 v2.0 resnet")
    select("own:last"), select("runs/20261101T100000-resnet50-desk")

Several results are meant only where they are of one system, one for each task. Anything else is
an error that lists what was found: nothing is picked silently.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trainmark.analysis.asking import Catalogue, filters_of, parsed
from trainmark.catalogue import Filters
from trainmark.catalogue.search import OnFinding
from trainmark.types import Result, UsageError

__all__ = ["Selection", "candidates", "one_system", "select", "sides", "task_of"]

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
    (found,) = sides([text], benchmark=benchmark, where=where, on_finding=on_finding)
    return found


def sides(
    texts: Sequence[str],
    *,
    benchmark: str | None = None,
    where: Path | None = None,
    on_finding: OnFinding | None = None,
) -> list[Selection]:
    """All results that each of several texts may mean; faster than one after another.

    Args:
        texts: As in the module's examples.
        benchmark: As for ``candidates``.
        where: As for ``candidates``.
        on_finding: As for ``candidates``.

    Raises:
        UsageError: As ``candidates``.
    """
    texts = [text.strip() for text in texts]
    if not all(texts):
        raise UsageError("a side of the comparison is empty", hint=_FORMS)
    catalogue = Catalogue(benchmark=benchmark, where=where, on_finding=on_finding)
    paths = {text for text in texts if _is_path(text)}
    catalogue.prepare([_question(text) for text in texts if text not in paths])
    return [
        _runs(text, benchmark) if text in paths else _recorded(text, catalogue) for text in texts
    ]


def _question(text: str) -> Filters:
    """What is asked first about a text."""
    if text.startswith(_OWN):
        return Filters(origin="own")
    if "/" in text:
        return Filters(words=(text.rstrip("/"),))
    return filters_of(*parsed(text))


def _runs(text: str, benchmark: str | None) -> Selection:
    from trainmark.analysis.own_runs import results_at  # loads all of the rules

    results = _narrowed(text, results_at(Path(text).expanduser()), benchmark)
    return Selection(label=text, results=results, path=True)


def _recorded(text: str, catalogue: Catalogue) -> Selection:
    if text.startswith(_OWN):
        return Selection(label=text, results=_own(text, catalogue))
    found = catalogue.ask(_question(text))
    if "/" in text:
        found = _below(text, found) or catalogue.ask(filters_of(*parsed(text)))
    if not found:
        raise _nothing(text, catalogue)
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
    from trainmark.catalogue.naming import names  # reads the vocabulary

    asked = {benchmark, names.benchmark(benchmark).name}
    kept = tuple(result for result in results if asked & {result.benchmark, result.task})
    if not kept:
        have = ", ".join(sorted({result.benchmark for result in results}))
        raise UsageError(
            f"{text} has no runs of {benchmark!r}", hint=f"It has runs of {have or 'none'}."
        )
    return kept


def _own(text: str, catalogue: Catalogue) -> tuple[Result, ...]:
    """Own results: ``own:last``, or ``own:`` and a part of the id."""
    name = text.removeprefix(_OWN)
    recorded = sorted(catalogue.ask(Filters(origin="own")), key=lambda result: result.recorded)
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


def _below(text: str, found: Sequence[Result]) -> list[Result]:
    """The result of an id, with or without the v of its round, or all below a part of it."""
    wanted = text.rstrip("/").lower()
    names = (wanted, f"v{wanted}")
    below = tuple(f"{name}/" for name in names)
    exact = [result for result in found if result.id.lower() in names]
    return exact or [result for result in found if result.id.lower().startswith(below)]


def _nothing(text: str, catalogue: Catalogue) -> UsageError:
    """Why nothing is found: the word or the key without which something would be."""
    asked, words = parsed(text)
    problem = f"nothing in the catalogue is {_short(text)}"
    if catalogue.benchmark is not None:
        problem += f" with a result of {catalogue.benchmark}"
    for word in words:
        if not catalogue.ask(Filters(words=(word,))):
            near = _nearest(word, catalogue)
            hint = f"No id, system, submitter or accelerator has {_short(word)} in it. "
            return UsageError(problem, hint=f"{hint}{near}{_FORMS}")
    for key in asked:
        if not catalogue.ask(filters_of({key: asked[key]}, ())):
            hint = f"No result has {key}={asked[key]:.80}. "
            return UsageError(problem, hint=f"{hint}{_valid(key, catalogue)}{_FORMS}")
    return UsageError(
        problem,
        hint="Each word alone is found, no result has them all: leave one out. "
        "trainmark results has filters to look around.",
    )


def _nearest(word: str, catalogue: Catalogue) -> str:
    """What is spelt alike: ids for a part of one, else names."""
    if "/" in word:
        ids = catalogue.similar(word)
        return f"Near: {', '.join(ids)}. " if ids else ""
    import difflib  # for messages only

    names = {
        name for r in catalogue.ask(Filters()) for name in (r.system, r.submitter, r.accelerator)
    }
    pieces = {piece.lower() for name in names for piece in (name, *name.split())}
    near = difflib.get_close_matches(word.lower(), sorted(pieces), n=3, cutoff=0.7)
    return f"Near: {', '.join(near)}. " if near else ""


def _valid(key: str, catalogue: Catalogue) -> str:
    if key not in ("submitter", "accelerator", "framework"):
        return ""
    values = sorted({getattr(result, key) for result in catalogue.ask(Filters())} - {""})
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


def _by_number(value: str) -> tuple[int, str]:
    return (int(value), "") if value.isdecimal() else (0, value)


def _quoted(value: str) -> str:
    """A value as it is written in a query."""
    return f'"{value}"' if " " in value else value


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
        values = sorted({value(result) for result in results} - {""}, key=_by_number)
        if 1 < len(values) <= _MOST_LISTED // 2:
            parts.append(f"{key}={' or '.join(map(_quoted, values))}")
    differ = f"Say which: {'; '.join(parts)}. " if parts else ""
    return f"{differ}{'Or give' if parts else 'Give'} the id itself."


# The keys that tell results of one name apart.
_TELLING: dict[str, Callable[[Result], str]] = {
    "benchmark": lambda result: result.benchmark,
    "round": lambda result: result.round or "",
    "submitter": lambda result: result.submitter,
    "division": lambda result: result.division,
    "chips": lambda result: "" if result.accelerators is None else str(result.accelerators),
    "accelerator": lambda result: result.accelerator,
    "framework": lambda result: result.framework_name or result.framework.partition(" ")[0],
    "system": lambda result: result.system,
}
