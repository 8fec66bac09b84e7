"""``trainmark import``: read published or own results repositories into the catalogue."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trainmark.types import UsageError

if TYPE_CHECKING:
    from trainmark.catalogue.importing.place import Place

__all__ = ["command"]


@click.command("import")
@click.argument("sources", nargs=-1, metavar="PATH_OR_URL...")
@click.option("--round", "round_name", metavar="ROUND", help="The round, where nothing tells it.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Use so many processes; by default all cores where there is much to read.",
)
@click.option("--again", is_flag=True, help="Read everything, also what has not changed.")
@click.option(
    "--catalogue",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Import into this folder instead of the user's catalogue.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Also write the packaged catalogue of these sources into DIR.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    sources: tuple[str, ...],
    round_name: str | None,
    jobs: int | None,
    again: bool,
    catalogue: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Import results repositories: all their results, runs, systems and measured energy.

    PATH_OR_URL is a results repository (a folder, a bare git directory, a URL that git can
    clone), one submitter's folder with results/ and systems/ in it, or a folder of such folders.
    OWNER/REPO=PATH names a repository that does not tell its own name.

    What has not changed since the last import is not read again. Nothing is written into what is
    read, and nothing in it is executed. Results from other places than the repositories of
    MLCommons are marked as unverified.

    Exit status: 0 done, 1 done but something was damaged and is lost, 2 a wrong request.
    """
    from trainmark.catalogue import default_folder
    from trainmark.catalogue.importing.build import write_published
    from trainmark.catalogue.importing.imports import import_places
    from trainmark.cli.import_progress import ImportProgress
    from trainmark.cli.import_report import as_text, report_of

    places = _places(sources, round_name)
    progress = ImportProgress()
    try:
        imported = import_places(
            places,
            where=default_folder() if catalogue is None else catalogue,
            jobs=jobs,
            again=again,
            on_progress=progress.update,
            on_step=progress.step,
        )
        facts = None if out is None else write_published(imported, out)
    finally:
        progress.clear()
    report = report_of(imported, facts, seconds=progress.seconds())
    if as_json:
        import json

        click.echo(json.dumps(report.to_dict(), indent=2))
    else:
        as_text(report)
    ctx.exit(1 if report.lost else 0)


def _places(sources: tuple[str, ...], round_name: str | None) -> "list[Place]":
    from trainmark.catalogue.importing.place import find_place

    if not sources:
        raise UsageError(
            "no PATH_OR_URL is given",
            hint="Give a results repository, for example: "
            "trainmark import https://github.com/mlcommons/training_results_v5.1",
        )
    places = [find_place(one, round_name) for one in sources]
    seen: dict[str, Any] = {}
    for given, place in zip(sources, places, strict=True):
        if place.slug in seen:
            raise UsageError(
                f"{seen[place.slug]} and {given} are the same repository, {place.name}",
                hint="Give it once.",
            )
        seen[place.slug] = given
    return places
