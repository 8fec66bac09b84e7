"""Check folders of logs as a whole, and what stands around them in a submission."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from trainmark.rules.folders import check_folder, may_have_failed
from trainmark.rules.options import CheckOptions
from trainmark.rules.places import Place
from trainmark.rules.rulesets import Ruleset, round_of_folder
from trainmark.rules.submission.power_verdict import power_verdict
from trainmark.rules.submission.surroundings import Systems, surroundings_of
from trainmark.rules.submission.systems import check_system
from trainmark.rules.submission.tree_checks import check_tree
from trainmark.rules.submission.tree_copies import find_copies
from trainmark.rules.tree import Group
from trainmark.rules.verdict import Verdict
from trainmark.types import Finding

__all__ = ["check_around"]


def check_around(
    place: Place, checked: Iterable[tuple[Group, list[Verdict]]], options: CheckOptions
) -> Iterator[Verdict]:
    """The verdicts on logs, on their folders and power logs, then on what stands around them.

    Args:
        place: What there is to check.
        checked: Its folders, each with the verdicts on its logs.
        options: How to check.
    """
    rounds: Counter[Ruleset] = Counter()
    systems = Systems(place.descriptions)
    copies = _copies(place)
    for group, verdicts in checked:
        rounds.update(one.ruleset for one in verdicts if one.ruleset is not None)
        around = surroundings_of(group.folder, systems.read)
        folder = check_folder(group, verdicts, around, options)
        tolerated = may_have_failed(folder)
        yield from (replace(one, tolerated=tolerated and not one.ok) for one in verdicts)
        more = (*copies.get(group.folder, ()), *systems.add(around, verdicts))
        yield replace(folder, findings=(*folder.findings, *more))
        power = power_verdict(group.folder, group.files, ruleset=folder.ruleset, nodes=around.nodes)
        if power is not None:
            yield power
    ruleset = options.ruleset or (rounds.most_common(1)[0][0] if rounds else None)
    yield from _around(place, systems, ruleset or round_of_folder(place.path))


def _copies(place: Place) -> dict[Path, list[Finding]]:
    """Copies of logs by folder, of the folders that no submission's verdict speaks of."""
    told = {folder for one in place.submissions for folder in one.results.values()}
    found: dict[Path, list[Finding]] = {}
    for copy in find_copies(one.folder for one in place.groups if one.folder not in told):
        found.setdefault(Path(copy.path).parent, []).append(copy)
    return found


def _around(place: Place, systems: Systems, ruleset: Ruleset | None) -> Iterator[Verdict]:
    """The verdicts on system descriptions and on how submissions are laid out."""
    if place.findings:
        yield Verdict(
            path=str(place.path),
            kind="submission",
            ruleset=ruleset,
            chosen="",
            benchmark=None,
            division=None,
            findings=place.findings,
        )
    for file in place.descriptions:
        verdict = check_system(file, ruleset=ruleset, reading=systems.read(file))
        yield replace(verdict, findings=(*verdict.findings, *systems.disagreements(file)))
    for verdict in check_tree(place.submissions, ruleset=ruleset):
        # Our own sessions are laid out alike but are no submissions.
        if verdict.findings or ruleset is None or ruleset.official:
            yield verdict
