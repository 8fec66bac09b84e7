"""``trainmark report``: one self-contained HTML page about a folder of runs."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from trainmark.report import SessionReport

__all__ = ["command"]


@click.command("report")
@click.argument(
    "paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH..."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE.html",
    help="Where to write the page; PATH/report.html if not given.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the whole report as JSON as well.")
def command(paths: tuple[Path, ...], out: Path | None, as_json: bool) -> None:
    """Write one self-contained HTML page about each folder of runs.

    PATH is a folder that `trainmark run` made, or any folder that holds result_*.txt in the
    layout of a submission. The page needs no network and opens from disk.

    Exit status: 0 the page is written (whatever the checker says in it), 2 a wrong request.
    """
    from trainmark.report import load, write_html
    from trainmark.types import UsageError

    if out is not None and len(paths) > 1:
        raise UsageError(
            f"--out names one file, but {len(paths)} folders are given",
            hint="Leave out --out: each page is then written to its own PATH/report.html.",
        )
    reports = []
    for path in paths:
        session = load(path)
        page = path / "report.html" if out is None else out
        write_html(session, page)
        reports.append((session, page))
    if as_json:
        _print_json(reports)
    else:
        for _, page in reports:
            click.echo(f"report: {_clean(page)}")


def _print_json(reports: "list[tuple[SessionReport, Path]]") -> None:
    import orjson

    from trainmark.report import session_to_dict

    data = [session_to_dict(session) | {"page": str(page)} for session, page in reports]
    click.echo(orjson.dumps({"reports": data}, option=orjson.OPT_INDENT_2))


def _clean(page: Path) -> str:
    from trainmark.types import printable

    return printable(page)
