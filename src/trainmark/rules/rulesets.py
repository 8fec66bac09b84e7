"""Which rules a log is to be held to: the round, found from what is known about the log."""

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainmark.mllog import keys
from trainmark.rules.constraints import OneOf
from trainmark.rules.tables import Requirement, known_tables, load_table
from trainmark.types import RunLog, UsageError

__all__ = [
    "OWN",
    "NoRulesError",
    "RoundUnknownError",
    "Ruleset",
    "find_ruleset",
    "known_rulesets",
    "other_round",
    "refuse_unknown",
    "round_of_folder",
    "ruleset_named",
]

_TABLE = re.compile(r"(?P<usage>training|hpc)_(?P<round>\d+\.\d+)\.\d+/common\.yaml")
# A folder that says which round it belongs to: v2.0, training_results_v2.0, submission_4.0, ...
_FOLDER = re.compile(
    r"(?P<says>(?:(?P<usage>training|hpc)[_-])?"
    r"(?:results[_-]|submissions?[_-](?:training[_-])?|round[_-]?)?)"
    r"v?(?P<round>\d+\.\d+)(?:\.\d+)?"
)
_ONLY_MLL = "0.6"  # the only round whose records have the token :::MLL
_BENCHMARK = keys.SUBMISSION_BENCHMARK
_DIVISION = keys.SUBMISSION_DIVISION
_DIVISIONS = ("closed", "open")
_MARGIN = 2  # keys that a log may lack by mistake


class NoRulesError(UsageError):
    """The round is known, and there are no rules for it."""


class RoundUnknownError(UsageError):
    """Nothing tells which round's rules a log follows."""


@functools.cache
def _numbers_in(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruleset:
    """The rules of one round.

    Attributes:
        name: The name on the command line: "4.0", "hpc-3.0" or "own".
        first_table: The rule table to start with.
        official: Whether the official checker has these rules.
    """

    name: str
    first_table: str
    official: bool = True

    @property
    def round(self) -> tuple[int, ...]:
        """The round in comparable form, for example (4, 0); () for our own rules."""
        return _numbers_in(self.name)

    @property
    def is_hpc(self) -> bool:
        """Whether these are the rules of an HPC round."""
        return self.name.startswith("hpc-")

    def resolve(self, table: str) -> str | None:
        """The known table that a table's request for another stands for, None if none does.

        A benchmark without a table among our own ones is held to the generic one, which takes
        the target from the log.
        """
        if table in known_tables():
            return table
        return None if self.official or not table.startswith("own/") else "own/generic.yaml"

    @property
    def title(self) -> str:
        """The name for people."""
        if not self.official:
            return "trainmark's own rules"
        usage, _, number = self.name.rpartition("-")
        return f"the rules of MLPerf {'HPC' if usage else 'Training'} round {number}"


OWN = Ruleset(name="own", first_table="own/common.yaml", official=False)


@functools.cache
def known_rulesets() -> Mapping[str, Ruleset]:
    """Every ruleset by name, in the order of the rounds, our own last."""
    found = []
    for table in known_tables():
        match = _TABLE.fullmatch(table)
        if match:
            prefix = "" if match["usage"] == "training" else f"{match['usage']}-"
            found.append(Ruleset(name=f"{prefix}{match['round']}", first_table=table))
    found.sort(key=lambda ruleset: ("-" in ruleset.name, ruleset.round))
    return {ruleset.name: ruleset for ruleset in (*found, OWN)}


def ruleset_named(name: str) -> Ruleset:
    """The ruleset of a name as a user writes it: "4.0", "v4.0", "4.0.0", "hpc-3.0", "own".

    Raises:
        UsageError: There is no such round.
    """
    known = known_rulesets()
    match = re.fullmatch(r"(hpc[-_ ])?v?(\d+\.\d+)(\.0)?", name.strip().lower())
    short = name.strip().lower() if match is None else f"{'hpc-' if match[1] else ''}{match[2]}"
    if short in known:
        return known[short]
    raise UsageError(f"there are no rules for round {name!r}", hint=f"Valid: {', '.join(known)}.")


def find_ruleset(
    log: RunLog, path: str | Path | None = None, *, name: str | None = None
) -> tuple[Ruleset, str]:
    """The rules for a log, and what decided it.

    In this order: the name given, the log's own record of its rules, the form of its records, a
    folder named after a round, the keys in the log where they fit one round alone.

    Args:
        log: The log as read.
        path: Where it lies; by default where it was read from.
        name: A round asked for.

    Raises:
        UsageError: The name is unknown.
        NoRulesError: The folder names a round that has no rules.
        RoundUnknownError: Nothing tells the round.
    """
    if name is not None:
        return ruleset_named(name), "as asked for"
    own = log.value(keys.OWN_RULESET)
    if isinstance(own, str) and own in known_rulesets():
        return known_rulesets()[own], f"by the log's record {keys.OWN_RULESET}"
    if log.form == "mll" and _ONLY_MLL in known_rulesets():
        return known_rulesets()[_ONLY_MLL], "by the form of its records"
    found = _by_place(Path(path or log.source).absolute().parent)
    if found is not None:
        return found
    return _by_keys(log), "by the keys in the log"


def round_of_folder(folder: Path) -> Ruleset | None:
    """The round that a folder, or one above it, is named after; None if none is.

    Args:
        folder: The folder.
    """
    try:
        found = _by_place(folder.absolute())
    except NoRulesError:
        return None
    return None if found is None else found[0]


def other_round(log: RunLog, rules: Ruleset) -> Ruleset | None:
    """The round that a log's folder names, where the log itself has asked for other rules.

    A run of one of our own benchmarks may lie anywhere.

    Args:
        log: The log as read.
        rules: What ``find_ruleset`` found for it.
    """
    folder = round_of_folder(Path(log.source).parent)
    if folder is None or folder == rules or not (rules.official or _has_benchmark(log, folder)):
        return None
    return folder


def refuse_unknown(log: RunLog, rules: Ruleset, key: str) -> None:
    """Refuse a division or benchmark that was asked for and that the rules do not know.

    Args:
        log: The log, with what was asked for in it.
        rules: The rules it is held to.
        key: ``submission_division`` or ``submission_benchmark``.

    Raises:
        UsageError: The rules do not know it.
    """
    options, asked = _allowed(key, _layers(log, rules)), log.value(key)
    if options and asked not in options:
        name = key.removeprefix("submission_")
        raise UsageError(
            f"{rules.title} know no {name} {asked!r}", hint=f"Valid: {', '.join(options)}."
        )


@functools.lru_cache(maxsize=256)
def _by_place(folder: Path) -> tuple[Ruleset, str] | None:
    """What the folders above tell as they are named, else where links in them lead.

    Raises:
        NoRulesError: As ``_by_folder``.
    """
    try:
        return _by_folder(folder.parts) or _by_folder(folder.resolve().parts)
    except (OSError, RuntimeError):  # it has gone, or a ring of links
        return None


def _by_folder(parts: tuple[str, ...]) -> tuple[Ruleset, str] | None:
    """The round that the nearest of several folders names, and how it was found.

    Raises:
        NoRulesError: It names a round that has no rules.
    """
    for part in reversed(parts):
        match = _FOLDER.fullmatch(part)
        if match:
            prefix = "hpc-" if match["usage"] == "hpc" else ""
            ruleset = known_rulesets().get(f"{prefix}{match['round']}")
            if ruleset is not None:
                return ruleset, f"by the folder {part}"
            if match["says"]:  # a bare v7.1 may be the version of anything
                raise _no_rules(f"{match['usage'] or 'training'} {match['round']}", part)
    return None


def _no_rules(round_name: str, folder: str) -> NoRulesError:
    return NoRulesError(
        f"there are no rules for round {round_name}, which the folder {folder} names",
        hint=f"Rules are there for {', '.join(known_rulesets())} (pip install -U mlperf-logging "
        "brings those of a new round); --round ROUND holds the log to one of them.",
    )


def _by_keys(log: RunLog) -> Ruleset:
    """The one round whose keys the log has, all others being far off.

    A log that lacks a key of its round may have all those of another: that is no reason to hold
    it to the rules of that other one.

    Raises:
        RoundUnknownError: Several rounds fit about as well, or none has this benchmark.
    """
    lacking = {
        name: _lacking(log, ruleset)
        for name, ruleset in known_rulesets().items()
        if ruleset.official and name != _ONLY_MLL and _has_benchmark(log, ruleset)
    }
    near = [name for name, count in lacking.items() if count <= min(lacking.values()) + _MARGIN]
    if len(near) == 1:
        return known_rulesets()[near[0]]
    valid = ", ".join(known_rulesets())
    if not near:
        raise RoundUnknownError(
            f"cannot tell which round's rules {log.source} follows: no round has its benchmark",
            hint=f"Name the rules with --round. Valid: {valid}.",
        )
    raise RoundUnknownError(
        f"cannot tell which round's rules {log.source} follows: rounds {', '.join(near)} fit "
        "about equally well",
        hint=f"Name the rules, for example --round {near[-1]}. Valid: {valid}.",
    )


def _layers(log: RunLog, ruleset: Ruleset) -> list[str]:
    """The tables of a round for the log's division and benchmark, those that there are."""
    folder = ruleset.first_table.split("/")[0]
    division, benchmark = log.value(_DIVISION), log.value(_BENCHMARK)
    division = division if division in _DIVISIONS else _DIVISIONS[0]
    wanted = ("common", f"{division}_common", f"{division}_{benchmark}")
    return [name for stem in wanted if (name := f"{folder}/{stem}.yaml") in known_tables()]


def _has_benchmark(log: RunLog, ruleset: Ruleset) -> bool:
    """Whether the round has a table for the log's benchmark, and its tables allow it."""
    benchmark, tables = log.value(_BENCHMARK), _layers(log, ruleset)
    options = _allowed(_BENCHMARK, tables)
    return tables[-1].endswith(f"_{benchmark}.yaml") and benchmark in options


def _allowed(key: str, tables: Sequence[str]) -> tuple[str, ...]:
    """What a round's tables let a key be; () if they say nothing of it."""
    found: tuple[str, ...] = ()
    for table in tables:
        rule = load_table(table).keys.get(key)
        for check in () if rule is None else rule.checks:
            found = check.options if isinstance(check, OneOf) else found
    return found


def _lacking(log: RunLog, ruleset: Ruleset) -> int:
    """How many keys that the round asks for are not in the log."""
    needed: dict[str, Requirement | None] = {}
    for table in _layers(log, ruleset):
        needed |= load_table(table).requirements()
    present = set(log.keys())
    return sum(
        need is not None and not present & {key, *need.alternatives} for key, need in needed.items()
    )
