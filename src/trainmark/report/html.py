"""A report as one HTML page that needs nothing but itself.

The chart library is taken from the installed plotly package when the page is made; ``page`` says
how the page is held to its own scripts.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import orjson
from markupsafe import Markup

from trainmark import __version__
from trainmark.report import charts, page, tables, wording
from trainmark.report.format import moment
from trainmark.report.published import PICKED, pick
from trainmark.report.session import Entry, SessionReport
from trainmark.report.tables import Table
from trainmark.types import Result

__all__ = ["render_html", "write_html"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _EntryView:
    """An entry with its tables and sentences."""

    entry: Entry
    anchor: str
    goal: str
    score: str
    story: str
    setup: str
    verdict: str
    rules_note: str
    verdict_class: str
    spread: str
    facts: tuple[wording.Fact, ...]
    notes: str
    runs: Table
    evaluations: Table
    curve_caption: str
    findings: tuple[wording.FindingGroup, ...]
    comparison: str
    earlier: Table | None
    system: Table
    software: Table
    settings: Table
    probe: Table


@dataclass(frozen=True, slots=True, kw_only=True)
class _PublishedView:
    """The published results of one benchmark, apart from what the report is about."""

    anchor: str
    heading: str
    apart: str
    picked: Table
    all: Table


def write_html(session: SessionReport, path: str | Path) -> None:
    """Write the page; the file is whole or not there.

    Args:
        session: The report.
        path: The file to make or replace.

    Raises:
        UsageError: It is a folder, or its folder is missing or may not be written to.
        TrainmarkError: The disk is full.
    """
    page.write_page(path, render_html(session))


def render_html(session: SessionReport) -> str:
    """The page as text.

    Args:
        session: The report.
    """
    library = page.chart_library()
    script = page.template_text("report.js")
    figures: dict[str, charts.Figure] = {}
    views = [_entry_view(entry, i, figures) for i, entry in enumerate(session.entries)]
    published = list(_published_views(session.entries, figures))
    return (
        page.environment()
        .get_template("report.html.j2")
        .render(
            session=session,
            views=views,
            overview=tables.overview_table(session.entries) if len(views) > 1 else None,
            published=published,
            beside=wording.group(session.findings),
            figures=figures,
            figures_json=page.inert_json(orjson.dumps(figures)),
            policy=page.policy(library, script),
            library=Markup(library),  # noqa: S704 - the installed package's own script
            script=Markup(script),  # noqa: S704 - ours
            style=Markup(page.template_text("report.css")),  # noqa: S704 - ours
            notice=wording.NOTICE,
            version=__version__,
            started="" if session.info is None else moment(session.info.started),
        )
    )


_VERDICT_CLASS = {True: "pass", False: "fail", None: "unchecked"}


def _entry_view(entry: Entry, number: int, figures: dict[str, charts.Figure]) -> _EntryView:
    anchor = f"result-{number + 1}"
    drawn = {
        f"{anchor}-curve": charts.curve(entry),
        f"{anchor}-samples": charts.curve(entry, "samples"),
        f"{anchor}-history": charts.history(entry),
    }
    figures |= {name: figure for name, figure in drawn.items() if figure is not None}
    return _EntryView(
        entry=entry,
        anchor=anchor,
        goal=wording.goal(entry),
        score=wording.score_headline(entry),
        story=wording.score_story(entry),
        setup=wording.setup(entry),
        verdict=wording.verdict_sentence(entry),
        rules_note=wording.rules_note(entry),
        verdict_class=_VERDICT_CLASS[entry.compliant],
        spread=wording.spread_sentence(entry),
        facts=wording.facts(entry),
        notes=" ".join(filter(None, (wording.facts_note(entry), wording.peak_note(entry)))),
        runs=tables.run_table(entry),
        evaluations=tables.evaluation_table(entry),
        curve_caption=_curve_caption(entry),
        findings=wording.group(entry.findings),
        comparison=wording.comparison_sentence(entry.comparisons[-1]) if entry.comparisons else "",
        earlier=tables.earlier_table(entry.comparisons) if entry.comparisons else None,
        system=tables.system_table(entry),
        software=tables.software_table(entry),
        settings=tables.settings_table(entry),
        probe=tables.probe_table(entry),
    )


def _curve_caption(entry: Entry) -> str:
    name = wording.quality_heading(entry)
    lines = [f"{name} on the held-out set over minutes since the clock started"]
    lines.append("one line a run, its last evaluation drawn large")
    if entry.target is not None:
        lines.append("the dashed line is the target")
    if entry.score.minutes is not None:
        lines.append("the dotted line is the score")
    return f"{'; '.join(lines)}."


def _published_views(
    entries: Iterable[Entry], figures: dict[str, charts.Figure]
) -> Iterable[_PublishedView]:
    """One for each official benchmark beside these entries."""
    seen: dict[str, Entry] = {}
    for entry in entries:
        if entry.kin is not None and entry.published:
            seen.setdefault(entry.kin.benchmark, entry)
    for number, entry in enumerate(seen.values(), start=1):
        assert entry.kin is not None
        anchor = f"published-{number}"
        figure = charts.published_scatter(entry.published)
        if figure is not None:
            figures[f"{anchor}-chart"] = figure
        yield _PublishedView(
            anchor=anchor,
            heading=wording.apart_heading(entry),
            apart=wording.apart(entry),
            picked=tables.published_table(pick(entry.published), PICKED, division=False),
            all=tables.published_table(
                sorted(entry.published, key=_round_then_minutes),
                "Every published result of this target",
            ),
        )


def _round_then_minutes(result: Result) -> tuple[str, float]:
    return result.round or "", result.minutes if result.minutes is not None else float("inf")
