"""Every result as one HTML page: search, filters, a table, charts, from disk and without network.

The facts stand in the page column by column, deflated; so does the chart library, which makes the
page half as large and lets the table stand before the library is read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import orjson
from markupsafe import Markup

from trainmark import __version__
from trainmark.report import charts, page
from trainmark.report import format as text
from trainmark.report.columns import encode
from trainmark.report.fields import FIELDS
from trainmark.report.subjects import Subject
from trainmark.report.wording import NOTICE

__all__ = ["SCRIPTS", "render_browser", "write_browser"]

# Joined in this order; each is plain script that knows what stands before it.
SCRIPTS = (
    "facts",
    "format",
    "dom",
    "series",
    "state",
    "filter",
    "facets",
    "table",
    "csv",
    "detail",
    "charts",
    "main",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plain:
    """The table for a browser without scripts."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def write_browser(subjects: Sequence[Subject], path: str | Path, *, asked: str = "") -> None:
    """Write the page; the file is whole or not there.

    Args:
        subjects: What is in it, from ``subjects_of``.
        path: The file to make or replace.
        asked: Which results these are, for its head; "" for all of the catalogue.

    Raises:
        UsageError: The path is a folder, or its folder is missing or may not be written to.
        TrainmarkError: The disk is full.
    """
    page.write_page(path, render_browser(subjects, asked=asked))


def render_browser(subjects: Sequence[Subject], *, asked: str = "") -> str:
    """The page as text.

    Args:
        subjects: What is in it, from ``subjects_of``.
        asked: As for ``write_browser``.
    """
    library, script = page.chart_library(), _script()
    look = {
        "colours": charts.COLOURS,
        "markers": charts.MARKERS,
        "dashes": charts.DASHES,
    }
    data = encode(FIELDS, subjects) | {"look": look}
    styles = page.template_text("report.css") + page.template_text("browse.css")
    return (
        page.environment()
        .get_template("browse.html.j2")
        .render(
            title=f"Time to train: {text.count(len(subjects))} result{'s' * (len(subjects) != 1)}",
            subtitle=_subtitle(subjects, asked),
            policy=page.policy(script, library),
            style=Markup(styles),  # noqa: S704 - ours
            script=Markup(script),  # noqa: S704 - ours
            facts=page.pack(orjson.dumps(data)),
            library=page.pack(library.encode()),
            plain=_plain(subjects),
            notice=NOTICE,
            version=__version__,
            made=datetime.now(UTC).strftime("%Y-%m-%d"),
        )
    )


def _script() -> str:
    parts = [page.template_text(f"browse/{name}.js") for name in SCRIPTS]
    return '"use strict";\n(function () {\n' + "\n".join(parts) + "})();\n"


def _subtitle(subjects: Sequence[Subject], asked: str) -> str:
    """What these results are, in a sentence or two."""
    origins = [subject.result.origin for subject in subjects]
    parts = [
        f"{text.count(number)} {words}"
        for origin, words in (
            ("published", "published in the rounds of MLPerf Training"),
            ("imported", "imported, unverified"),
            ("own", "of one's own, unverified"),
        )
        if (number := origins.count(origin))
    ]
    said = f"{text.join(parts)}." if parts else "No result."
    return f"{said} Asked for: {asked}." if asked else said


def _plain(subjects: Sequence[Subject]) -> _Plain:
    """Every result in few columns, newest round first."""
    ordered = sorted(subjects, key=_by_round)
    return _Plain(
        headings=(
            "Round",
            "Benchmark",
            "Minutes",
            "System",
            "Submitter",
            "Accelerators",
            "Standing",
        ),
        rows=tuple(_plain_row(subject) for subject in ordered),
    )


def _by_round(subject: Subject) -> tuple[float, str, float]:
    result = subject.result
    try:
        newest_first = -float(result.round or "inf")
    except ValueError:
        newest_first = 0.0
    return newest_first, result.benchmark, result.minutes or float("inf")


def _plain_row(subject: Subject) -> tuple[str, ...]:
    result = subject.result
    division = "" if result.division == "closed" else f", {result.division}"
    standing = "published" if result.origin == "published" else f"{result.origin}, unverified"
    chips = "" if result.accelerators is None else f"{result.accelerators} x "
    return (
        result.round or "",
        result.benchmark + division,
        "none" if result.minutes is None else text.minutes(result.minutes),
        result.system,
        result.submitter,
        f"{chips}{result.accelerator}",
        standing,
    )
