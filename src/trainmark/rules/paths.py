"""Check what a path holds: a log, a benchmark folder, or a whole tree of them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from trainmark.rules.files import Untold, check_file
from trainmark.rules.options import CheckOptions
from trainmark.rules.places import Place, find_place
from trainmark.rules.processes import in_order
from trainmark.rules.rulesets import Ruleset
from trainmark.rules.tree import Group
from trainmark.rules.verdict import Verdict

__all__ = ["check_groups", "check_path", "check_paths"]


def check_path(
    path: str | Path,
    *,
    ruleset: Ruleset | str | None = None,
    division: str | None = None,
    benchmark: str | None = None,
) -> list[Verdict]:
    """Check one path in this process: ``check_paths`` with the common options.

    Args:
        path: The log or the folder.
        ruleset: The rules, or a round's name; by default those that each log follows.
        division: Taken instead of what the logs say.
        benchmark: Taken instead of what the logs say.

    Raises:
        UsageError: As ``check_paths``.
    """
    options = CheckOptions.of(ruleset=ruleset, division=division, benchmark=benchmark)
    return list(check_paths([path], options))


def check_paths(
    paths: Iterable[str | Path], options: CheckOptions | None = None
) -> Iterator[Verdict]:
    """Check result logs, benchmark folders, or all that is below other folders.

    Links that lead out of a given folder are not followed, and nothing is written.

    Args:
        paths: The logs and folders.
        options: How to check; by default by the rules that each log follows, in this process.

    Yields:
        For a log its verdict; for folders the verdicts of the logs of each benchmark folder,
        followed by that of the folder itself.

    Raises:
        UsageError: A path does not exist or holds no result logs, or nothing tells the round of a
            log or of a folder that was given.
    """
    options = options or CheckOptions()
    places = [find_place(path) for path in paths]
    stream = check_groups([group for place in places for group in place.groups], options)
    for place in places:
        checked = islice(stream, len(place.groups))
        yield from _raised(_of_place(place, checked, options), options)


def _of_place(
    place: Place, checked: Iterator[tuple[Group, list[Verdict]]], options: CheckOptions
) -> Iterator[Verdict]:
    if place.groups and all(group.single for group in place.groups):
        return (verdict for _, verdicts in checked for verdict in verdicts)
    from trainmark.rules.trees import check_around  # a third of the start of a single log

    return check_around(place, checked, options)


def _raised(verdicts: Iterable[Verdict], options: CheckOptions) -> Iterator[Verdict]:
    return (one.strict() if options.strict else one for one in verdicts)


def check_groups(
    groups: Sequence[Group], options: CheckOptions
) -> Iterator[tuple[Group, list[Verdict]]]:
    """Each folder with the verdicts on its logs; one that does not tell its round follows others.

    Args:
        groups: The folders.
        options: How to check.

    Raises:
        UsageError: There is one folder, and no log in it tells its round.
    """
    files = [file for group in groups for file in group.files]
    checked = in_order(check_file, files, options)
    for group in groups:
        results = [next(checked) for _ in group.files]
        verdicts = [one for one in results if isinstance(one, Verdict)]
        others = Counter(one.ruleset for one in verdicts if one.ruleset is not None)
        untold = [one for one in results if isinstance(one, Untold)]
        if untold and not others and len(groups) == 1:
            raise untold[0].error()
        yield group, [_settle(one, others, options) for one in results]


def _settle(result: Verdict | Untold, others: Counter[Ruleset], options: CheckOptions) -> Verdict:
    """The verdict on a log that has waited for what the others of its folder say."""
    if isinstance(result, Verdict):
        return result
    if not others:
        return result.verdict()
    checked = check_file(result.path, replace(options, ruleset=others.most_common(1)[0][0]))
    return checked if isinstance(checked, Verdict) else checked.verdict()
