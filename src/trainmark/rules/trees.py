"""Check folders of logs as a whole, and what stands around them in a submission."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from trainmark.rules.folders import check_folder, may_have_failed
from trainmark.rules.options import CheckOptions
from trainmark.rules.places import Place
from trainmark.rules.rulesets import Ruleset, round_of_folder
from trainmark.rules.submission.surroundings import Systems, surroundings_of
from trainmark.rules.submission.systems import check_system
from trainmark.rules.submission.tree_checks import check_tree
from trainmark.rules.submission.tree_copies import find_copies
from trainmark.rules.submission.tree_listing import list_folder
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
    rounds = _Rounds(place, options)
    systems = Systems(place.descriptions)
    copies = _copies(place)
    unlisted: set[str] = set()
    for group, verdicts in checked:
        if group.unlisted:
            if str(group.folder) not in unlisted:
                yield _unlisted(group)
            unlisted.add(str(group.folder))
            continue
        rounds.add(group.folder, verdicts)
        around = surroundings_of(group.folder, systems.read)
        told = copies.get(group.folder, [])
        folder = check_folder(group, verdicts, around, options, copies={copy.path for copy in told})
        tolerated = may_have_failed(folder)
        yield from (replace(one, tolerated=tolerated and not one.ok) for one in verdicts)
        more = (*told, *systems.add(around, verdicts))
        yield replace(folder, findings=(*folder.findings, *more))
        if "power" in list_folder(group.folder).folder_names:
            for power in _power(group, folder.ruleset, around.nodes):
                unlisted |= {one.path for one in power.findings if one.rule == "power.unreadable"}
                yield power
    for verdict in _around(place, systems, rounds):
        new = (
            one
            for one in verdict.findings
            if one.rule != "submission.unreadable" or one.path not in unlisted
        )
        yield replace(verdict, findings=tuple(new))


def _unlisted(group: Group) -> Verdict:
    """The verdict on a folder of which nothing is known but that it may not be read."""
    return Verdict(
        path=str(group.folder),
        kind="folder",
        ruleset=None,
        chosen="",
        benchmark=None,
        division=None,
        findings=group.findings,
    )


def _power(group: Group, ruleset: Ruleset | None, nodes: int | None) -> Iterator[Verdict]:
    """The verdict on a folder's power logs."""
    # A tenth of the start; few submissions measure power.
    from trainmark.rules.submission.power_verdict import power_verdict

    power = power_verdict(group.folder, group.files, ruleset=ruleset, nodes=nodes)
    if power is not None:
        yield power


class _Rounds:
    """The rounds of submissions: what most logs of each are held to, or its folder says."""

    def __init__(self, place: Place, options: CheckOptions) -> None:
        self._asked_for = options.ruleset
        self._place = place.path
        self._of: dict[Path, Counter[Ruleset]] = {one.root: Counter() for one in place.submissions}
        self._all: Counter[Ruleset] = Counter()

    def add(self, folder: Path, verdicts: Iterable[Verdict]) -> None:
        """Count the rounds of a folder's logs."""
        found = Counter(one.ruleset for one in verdicts if one.ruleset is not None)
        self._all.update(found)
        root = self._root(folder)
        if root is not None:
            self._of[root].update(found)

    def of(self, path: Path) -> Ruleset | None:
        """The round of the submission that a path is or lies in, None if nothing tells it."""
        root = self._root(path)
        counted = self._all if root is None else self._of[root]
        return (
            self._asked_for
            or _most(counted)
            or round_of_folder(self._place if root is None else root)
            or _most(self._all)
        )

    def _root(self, path: Path) -> Path | None:
        return next((one for one in (path, *path.parents) if one in self._of), None)


def _most(counted: Counter[Ruleset]) -> Ruleset | None:
    return counted.most_common(1)[0][0] if counted else None


def _copies(place: Place) -> dict[Path, list[Finding]]:
    """Copies of logs by folder, of the folders that no submission's verdict speaks of."""
    told = {folder for one in place.submissions for folder in one.results.values()}
    found: dict[Path, list[Finding]] = {}
    for copy in find_copies(one.folder for one in place.groups if one.folder not in told):
        found.setdefault(Path(copy.path).parent, []).append(copy)
    return found


def _around(place: Place, systems: Systems, rounds: _Rounds) -> Iterator[Verdict]:
    """The verdicts on system descriptions and on how submissions are laid out."""
    if place.findings:
        yield Verdict(
            path=str(place.path),
            kind="submission",
            ruleset=rounds.of(place.path),
            chosen="",
            benchmark=None,
            division=None,
            findings=place.findings,
        )
    for file in place.descriptions:
        verdict = check_system(file, ruleset=rounds.of(file), reading=systems.read(file))
        yield replace(verdict, findings=(*verdict.findings, *systems.disagreements(file)))
    of_each = [rounds.of(one.root) for one in place.submissions]
    for verdict in check_tree(place.submissions, rulesets=of_each):
        # Our own sessions are laid out alike but are no submissions.
        if verdict.findings or verdict.ruleset is None or verdict.ruleset.official:
            yield verdict
