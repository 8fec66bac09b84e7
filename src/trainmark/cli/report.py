"""``trainmark report``: one self-contained HTML page, of a folder of runs or of all results."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trainmark.cli.results_filters import filter_options
from trainmark.cli.shared_options import catalogue_folder, own_figures

if TYPE_CHECKING:
    from trainmark.catalogue import Filters
    from trainmark.report import SessionReport
    from trainmark.types import Finding, Result

__all__ = ["command"]

_PAGE = "trainmark-results.html"


@click.command("report")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH...]")
@click.option(
    "--published",
    "--beside",
    "with_published",
    is_flag=True,
    help="One page of all results, with the runs of each PATH among them.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE.html",
    help=f"Where to write the page; PATH/report.html, or {_PAGE} here, if not given.",
)
@click.option(
    "--curves",
    type=click.Path(path_type=Path),
    metavar="FILE.svg|.png",
    help="Draw the quality of every run of PATH over minutes and samples, instead of the page.",
)
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    metavar="NAME=QUALITY",
    help="A line for --curves: what a simple method reaches, as 'nearest neighbour=0.937'.",
)
@filter_options
@catalogue_folder
@own_figures
@click.option("--json", "as_json", is_flag=True, help="Print what is written where, as JSON.")
def command(
    *,
    paths: tuple[Path, ...],
    with_published: bool,
    out: Path | None,
    curves: Path | None,
    baselines: tuple[str, ...],
    where: Path | None,
    prices: Path | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Write one self-contained HTML page: of all results, or of a folder of runs.

    Without PATH the page holds every result of the catalogue, published, imported and your own
    (unverified), with search, filters, charts and export; filters choose what is in it.

    PATH is a folder that `trainmark run` made, or any folder that holds result_*.txt in the
    layout of a submission: the page is a report of these runs. With --published their results
    stand among all others instead. With --curves the quality curves of its runs become one
    picture for a document.

    The page needs no network and opens from disk.

    Exit status: 0 the page is written (whatever the checker says in it), 1 no result matches,
    2 a wrong request.
    """
    from trainmark.cli.results_filters import described, filters_of
    from trainmark.types import UsageError

    filters = filters_of(asked)
    if baselines and curves is None:
        raise UsageError(
            "--baseline draws a line into the picture of --curves, which is not asked for",
            hint="Add --curves FILE.svg.",
        )
    if curves is not None:
        if len(paths) != 1 or with_published or out is not None or described(filters):
            raise UsageError(
                "--curves draws the runs of one PATH, and nothing else",
                hint="For example: trainmark report runs/today --curves today.svg",
            )
        _write_curves(paths[0], curves, baselines, as_json=as_json)
        return
    if not paths or with_published:
        _write_all(paths, out or Path(_PAGE), where, prices, filters, as_json=as_json)
        return
    if described(filters) or prices is not None:
        raise UsageError(
            "filters and prices are for the page of all results, not for the report of runs",
            hint="Leave them out, or add --published.",
        )
    if out is not None and len(paths) > 1:
        raise UsageError(
            f"--out names one file, but {len(paths)} folders are given",
            hint="Leave out --out: each page is then written to its own PATH/report.html.",
        )
    _write_runs(paths, out, where, as_json=as_json)


def _write_runs(
    paths: tuple[Path, ...], out: Path | None, where: Path | None, *, as_json: bool
) -> None:
    """A report of its own for each folder of runs."""
    from trainmark.report import load, write_html

    reports = []
    for path in paths:
        session = load(path, own_results=where)
        page = path / "report.html" if out is None else out
        write_html(session, page)
        reports.append((session, page))
    if as_json:
        _print_json(reports)
    else:
        for _, page in reports:
            click.echo(f"report: {_clean(page)}")


def _write_curves(path: Path, picture: Path, baselines: tuple[str, ...], *, as_json: bool) -> None:
    """The picture of the runs of one benchmark."""
    import orjson

    from trainmark.report import load
    from trainmark.report.picture import write_curves
    from trainmark.types import UsageError

    entries = load(path).entries
    if len(entries) > 1:
        listed = ", ".join(_clean(Path(entry.folder)) for entry in entries[:3])
        raise UsageError(
            f"{_clean(path)} holds {len(entries)} benchmarks or systems; a picture shows one",
            hint=f"Give the folder of one of them: {listed}",
        )
    write_curves(entries[0], picture, dict(map(_baseline, baselines)))
    if as_json:
        told = {"picture": _clean(picture), "runs": len(entries[0].runs)}
        click.echo(orjson.dumps({"reports": [told]}, option=orjson.OPT_INDENT_2))
    else:
        click.echo(f"curves: {_clean(picture)}")


def _baseline(words: str) -> tuple[str, float]:
    """``nearest neighbour=0.937`` as a name and a quality."""
    import math

    from trainmark.types import UsageError

    name, equals, number = words.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not (name.strip() and equals and math.isfinite(value)):
        raise UsageError(
            f"--baseline {words!r} is not of the form NAME=QUALITY",
            hint="For example: --baseline 'nearest neighbour=0.937' (a share of 1, no per cent).",
        )
    return name.strip(), value


def _write_all(
    paths: tuple[Path, ...],
    out: Path,
    where: Path | None,
    prices: Path | None,
    filters: "Filters",
    *,
    as_json: bool,
) -> None:
    """The page of all results that are asked for, and of the runs in the folders."""
    from trainmark.cli.damaged import warn
    from trainmark.cli.results_filters import described, nothing_matches
    from trainmark.cli.told import told
    from trainmark.report.browse import write_browser
    from trainmark.report.page import refuse_folder
    from trainmark.report.subjects import subjects_of

    refuse_folder(out)
    findings: list[Finding] = []
    with told("reading the results"):
        results = _results(paths, filters, where, findings)
    warn(findings)
    if not results:
        raise nothing_matches(filters, where, damaged=bool(findings))
    with told(f"writing {len(results):,} results"):
        write_browser(subjects_of(results, prices=prices), out, asked=described(filters))
    if as_json:
        _print_page(results, out)
    else:
        megabytes = out.stat().st_size / 1e6
        click.echo(f"report: {_clean(out)} ({len(results):,} results, {megabytes:.1f} MB)")


def _results(
    paths: tuple[Path, ...],
    filters: "Filters",
    where: Path | None,
    findings: "list[Finding]",
) -> "tuple[Result, ...]":
    """What the catalogue has, and the runs in the folders, each once."""
    from trainmark.analysis.own_runs import results_at
    from trainmark.catalogue import query

    mine = tuple(result for path in paths for result in results_at(path))
    found = query(filters, where=where, on_finding=findings.append)
    kept = [one for one in found if not any(_is_same(one, other) for other in mine)]
    return (*mine, *kept)


def _is_same(recorded: "Result", result: "Result") -> bool:
    """Whether a recorded session is the one that the runs of a result belong to."""
    return (
        recorded.origin == "own"
        and recorded.benchmark == result.benchmark
        and bool(recorded.path)
        and Path(result.path).resolve().is_relative_to(recorded.path)
    )


def _print_page(results: "tuple[Result, ...]", page: Path) -> None:
    import orjson

    origins = [result.origin for result in results]
    told = {
        "page": _clean(page),
        "bytes": page.stat().st_size,
        "results": len(results),
        **{origin: origins.count(origin) for origin in ("published", "imported", "own")},
    }
    click.echo(orjson.dumps({"reports": [told]}, option=orjson.OPT_INDENT_2))


def _print_json(reports: "list[tuple[SessionReport, Path]]") -> None:
    import orjson

    from trainmark.report import session_to_dict

    data = [session_to_dict(session) | {"page": _clean(page)} for session, page in reports]
    click.echo(orjson.dumps({"reports": _unicode(data)}, option=orjson.OPT_INDENT_2))


def _unicode(value: Any) -> Any:
    """The same data with text that JSON can hold: a folder's name may be any bytes."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_unicode(key): _unicode(item) for key, item in value.items()}
    return [_unicode(item) for item in value] if isinstance(value, list | tuple) else value


def _clean(page: Path) -> str:
    from trainmark.types import printable

    return printable(page)
