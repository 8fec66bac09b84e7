"""The tables of docs/comparability.md, from the packaged table.

python -m tests.docs.comparability_page    write them anew
"""

import re
from collections.abc import Iterator
from pathlib import Path

from trainmark.analysis.comparability import Group, changes, groups

__all__ = ["PAGE", "rewritten"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "comparability.md"
_MARKED = re.compile(r"(<!-- (?P<name>groups|changes|sources) -->\n).*?(<!-- end -->)", re.DOTALL)


def rewritten(page: str) -> str:
    """The page with its tables as the packaged table has them."""
    tables = {"groups": _groups, "changes": _changes, "sources": _sources}
    return _MARKED.sub(lambda m: f"{m[1]}{''.join(tables[m['name']]())}{m[3]}", page)


def _groups() -> Iterator[str]:
    yield "| task | rounds | target | model, data | why apart | source |\n"
    yield "|---|---|---|---|---|---|\n"
    for group in groups():
        task = group.task + _other_names(group)
        span = group.span.partition(" ")[2]
        yield (
            f"| {task} | {span} | {group.target} | {group.model}, {group.data} | {group.parted} | "
            f"{_number(group)} |\n"
        )


def _other_names(group: Group) -> str:
    others = [name for name in group.benchmarks if name != group.task]
    return f" (also: {', '.join(others)})" if others else ""


def _changes() -> Iterator[str]:
    yield "| task | since | what |\n|---|---|---|\n"
    for task in dict.fromkeys(group.task for group in groups()):
        for change in changes(task):
            yield f"| {task} | {change.since} | {change.what} |\n"


def _titles() -> dict[str, str]:
    """Every source: its text by its title."""
    rows = [group.source for group in groups()]
    rows += [change.source for group in groups() for change in changes(group.task)]
    return {row.title: f"[{row.title}]({row.url}), read on {row.date}" for row in rows}


def _number(group: Group) -> int:
    return list(_titles()).index(group.source.title) + 1


def _sources() -> Iterator[str]:
    for number, text in enumerate(_titles().values(), start=1):
        yield f"{number}. {text}\n"


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text("utf-8")), encoding="utf-8")
