"""docs/normalisation.md and the packaged catalogue say the same."""

import re
from functools import cache
from pathlib import Path

from trainmark import catalogue
from trainmark.catalogue.naming import names
from trainmark.catalogue.naming.doubts import Kind
from trainmark.catalogue.naming.name_tables import table
from trainmark.catalogue.quality import quality
from trainmark.types import Result

_PAGE = (Path(__file__).parents[2] / "docs" / "normalisation.md").read_text(encoding="utf-8")


@cache
def _published() -> tuple[Result, ...]:
    filters = catalogue.Filters(origin="published")
    return tuple(catalogue.query(filters, limit=0))


def test_the_page_counts_what_stays_open() -> None:
    section = _PAGE.partition("## What stays open")[2].partition("\n## ")[0]
    told = {row[0]: int(row[1]) for row in re.findall(r"^\| ([^|]+?) \| (\d+) \|", section, re.M)}
    kinds = {str(kind) for kind in Kind}
    found = {
        kind.kind: len(kind.results)
        for kind in quality(_published()).kinds
        if not kind.resolved and kind.kind in kinds
    }
    assert told == found


def test_the_page_counts_spellings() -> None:
    results = _published()
    spellings = {r.raw["accelerator"] for r in results if r.accelerator}
    counted = {
        "spellings of accelerators": len(spellings),
        "names of the vocabulary": sum(
            one.certain for one in names.accelerators() if one.name in _used(results)
        ),
        "framework texts": len({r.framework for r in results if r.framework}),
        "frameworks,": len({r.framework_name for r in results if r.framework_name}),
    }
    text = " ".join(_PAGE.split())
    for what, number in counted.items():
        assert f"{number} {what}" in text, (what, number)


def _used(results: tuple[Result, ...]) -> set[str]:
    return {result.accelerator for result in results}


def test_the_page_names_every_table() -> None:
    for file in re.findall(r"`(\w+)\.toml`", _PAGE):
        assert table(file)
    assert f"| `accelerators.toml` | {sum(a.certain for a in names.accelerators())} " in _PAGE
