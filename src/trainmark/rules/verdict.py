"""Check one result log: the official rules, then what they do not see; one clear verdict."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trainmark.mllog import count_ranks, first_rank, keys, run_interval, summarize
from trainmark.rules.convergence.measured import Measured, measure
from trainmark.rules.engine import Missing, Outcome, run_tables
from trainmark.rules.hints import with_hints
from trainmark.rules.later_changes import later_change
from trainmark.rules.rulesets import Ruleset, find_ruleset, other_round, refuse_unknown
from trainmark.rules.runchecks import Facts, extra_findings, torn_end
from trainmark.rules.seeds import Seed, seeds_of
from trainmark.rules.subjects import show
from trainmark.rules.submission.systems_claims import Claims, claims
from trainmark.rules.tables import package_version
from trainmark.types import Event, Finding, Run, RunLog, Severity

__all__ = ["LogFacts", "Verdict", "check_log"]

# Findings of the reader that the official one refuses a log for; the others are ours.
_OFFICIAL_READER = frozenset({"log.json", "log.record", "log.encoding", "log.empty"})
_SEVERAL_ON_A_LINE = frozenset({"log.two_records", "log.torn"})
# Keys that a run cut short has had no time to log.
_RUN_KEYS = frozenset(
    {
        keys.RUN_STOP,
        keys.BLOCK_START,
        keys.BLOCK_STOP,
        keys.EPOCH_START,
        keys.EPOCH_STOP,
        keys.EVAL_START,
        keys.EVAL_STOP,
        keys.EVAL_ACCURACY,
        keys.EVAL_ERROR,
        "aggregated_eval_accuracy",
    }
)
_NAMES_OF_TABLES = (keys.SUBMISSION_DIVISION, keys.SUBMISSION_BENCHMARK)
# What says most about a log comes first.
_FIRST = ("log.encoding", "log.empty", "run.", "log.", "rules.submission_", "rules.")
_SEVERITIES = tuple(Severity)
_ROUND_0_6 = (0, 6)  # the only round whose records are written otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFacts:
    """What a log says that only matters together with others.

    Attributes:
        seeds: The seeds it logs.
        measured: How much it trained until the target; None where that is not looked at.
        claims: What it says of the system.
    """

    seeds: tuple[Seed, ...] = ()
    measured: Measured | None = None
    claims: Claims = field(default_factory=Claims)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the checker says of one log, or of one benchmark folder.

    Attributes:
        path: The log or the folder.
        kind: "log" or "folder".
        ruleset: The rules it was held to; None for a folder without readable logs.
        chosen: What decided which rules, for example "by the folder v2.0".
        benchmark: The log's benchmark as written, None if it has none.
        division: The log's division as written, None if it has none.
        findings: Errors first, then what says most.
        official_compliant: What the official checker's tables say of the log; None where it has
            no such rules (our own benchmarks, folders).
        run: The log's numbers; None for a folder.
        facts: What else is needed of the log to judge its folder; None for a folder.
        table: Lines that show how a finding came about, for people.
        tolerated: Whether this is a log with errors in a folder that may have such a one: the run
            takes the place of the slowest.
    """

    path: str
    kind: str
    ruleset: Ruleset | None
    chosen: str
    benchmark: str | None
    division: str | None
    findings: tuple[Finding, ...]
    official_compliant: bool | None = None
    run: Run | None = None
    facts: LogFacts | None = field(default=None, repr=False)
    table: tuple[str, ...] = ()
    tolerated: bool = False

    def strict(self) -> "Verdict":
        """The verdict with every warning as an error."""
        raised = tuple(
            replace(one, severity=Severity.ERROR) if one.severity is Severity.WARNING else one
            for one in self.findings
        )
        return replace(self, findings=tuple(sorted(raised, key=_weight)))

    @property
    def ok(self) -> bool:
        """Whether no finding is an error."""
        return not any(finding.is_error for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain data for ``--json``."""
        return {
            "path": self.path,
            "kind": self.kind,
            "ok": self.ok,
            "tolerated": self.tolerated,
            "rules": None if self.ruleset is None else self.ruleset.name,
            "rules_chosen": self.chosen,
            "rule_tables": f"mlperf-logging {package_version()}",
            "benchmark": self.benchmark,
            "division": self.division,
            "official_compliant": self.official_compliant,
            "findings": [finding.to_dict() for finding in self.findings],
            "minutes": None if self.run is None else self.run.minutes,
            "status": None if self.run is None else self.run.status,
            "table": list(self.table),
        }


def check_log(
    log: RunLog,
    *,
    ruleset: Ruleset | str | None = None,
    division: str | None = None,
    benchmark: str | None = None,
) -> Verdict:
    """Check one result log.

    Args:
        log: The log as read.
        ruleset: The rules, or a round's name; by default those that ``find_ruleset`` finds.
        division: Taken instead of what the log says.
        benchmark: Taken instead of what the log says.

    Raises:
        UsageError: Nothing tells the rules, or they do not know what was asked for.
        TrainmarkError: A rule table cannot be read.
    """
    said = {keys.SUBMISSION_DIVISION: division, keys.SUBMISSION_BENCHMARK: benchmark}
    asked = {key: value for key, value in said.items() if value is not None}
    log = _with_values(log, asked)
    if not log.events:
        return _unreadable(log)
    if isinstance(ruleset, Ruleset):
        rules, chosen = ruleset, "as asked for"
    elif ruleset is None and _is_cut_at_the_start(log):
        return _without_rules(log, [_cut_at_the_start(log)])
    else:
        rules, chosen = find_ruleset(log, name=ruleset)
    for key in asked:
        refuse_unknown(log, rules, key)
    theirs = _as_official(log)
    official = run_tables(theirs, rules.first_table, resolve=rules.resolve)
    ranks = count_ranks(log)
    plain = _submission_first(first_rank(log))
    same = plain is theirs
    ours = official if same else run_tables(plain, rules.first_table, resolve=rules.resolve)
    compliant = official.compliant and not _refused(log.findings)
    run = summarize(plain)
    findings = _findings(plain, run, ranks, ours, rules)
    folder = other_round(log, rules) if ruleset is None else None
    if folder is not None:
        findings.append(_other_round(log, rules, chosen, folder))
    if rules.official and not official.compliant and ours.compliant:
        findings.append(_only_official(log, official))
    if rules.official:
        if (rules.round == _ROUND_0_6) is not (log.form == "mll"):
            compliant = False
            findings.append(_other_form(log, rules))
        findings = [_with_later_change(one, rules, run.benchmark) for one in findings]
    return Verdict(
        path=log.source,
        kind="log",
        ruleset=rules,
        chosen=chosen,
        benchmark=run.benchmark,
        division=run.division,
        findings=tuple(sorted(findings, key=_weight)),
        official_compliant=compliant if rules.official else None,
        run=run,
        facts=LogFacts(
            seeds=seeds_of(log),
            measured=measure(log, benchmark=run.benchmark or "", ruleset=rules),
            claims=claims(log),
        ),
    )


def _other_round(log: RunLog, rules: Ruleset, chosen: str, folder: Ruleset) -> Finding:
    """A log that chooses its rules, among others that are held to their round's."""
    return Finding(
        rule="rules.other_round",
        severity=Severity.ERROR,
        message=f"the log was held to {rules.title} ({chosen}), but it lies in a folder of round "
        f"{folder.name}",
        fix=f"Hold it to the folder's rules with --round {folder.name}, or move it elsewhere.",
        path=log.source,
    )


def _other_form(log: RunLog, rules: Ruleset) -> Finding:
    """A log whose lines are not written as its round has it."""
    wanted, found = "':::MLLOG {JSON}'", "':::MLL SECONDS KEY: {JSON}' (round 0.6)"
    if log.form != "mll":
        wanted, found = found, wanted
    return Finding(
        rule="log.form",
        severity=Severity.ERROR,
        message=f"the records are written as {found}; {rules.title} ask for {wanted}",
        fix="Name the round that the log was made for with --round, or write it in that form.",
        path=log.source,
        line_no=log.events[0].line_no,
        expected=wanted,
        found=found,
    )


def _unreadable(log: RunLog) -> Verdict:
    """The verdict on a log without a single record."""
    if any(finding.rule in ("log.encoding", "log.round_0_5") for finding in log.findings):
        return _without_rules(log, [])
    empty = Finding(
        rule="log.empty",
        severity=Severity.ERROR,
        message="there is no readable record in the file: no line has the token :::MLLOG (in round "
        "0.6 :::MLL) with a record after it",
        fix="Give the result log itself (result_0.txt), from round 0.6 or later; if this is it, "
        "nothing was logged: run it again.",
        path=log.source,
    )
    return _without_rules(log, [empty])


def _is_cut_at_the_start(log: RunLog) -> bool:
    """Whether the log ends before it says what it is a log of."""
    said = (keys.SUBMISSION_BENCHMARK, keys.OWN_RULESET, keys.RUN_START, keys.RUN_STOP)
    return not any(map(log.count, said))


def _cut_at_the_start(log: RunLog) -> Finding:
    last = log.events[-1]
    return Finding(
        rule="run.no_stop",
        severity=Severity.ERROR,
        message=f"there is no run_stop: the log ends at line {last.line_no} with {show(last.key)}, "
        "before it names its benchmark and before run_start",
        fix="The run was cut short while it started: run it again.",
        path=log.source,
        line_no=last.line_no,
    )


def _without_rules(log: RunLog, findings: Sequence[Finding]) -> Verdict:
    """The verdict on a log that has too little in it to be held to any rules."""
    return Verdict(
        path=log.source,
        kind="log",
        ruleset=None,
        chosen="",
        benchmark=None,
        division=None,
        findings=tuple(sorted([*log.findings, *findings], key=_weight)),
        official_compliant=False,
        run=summarize(log),
    )


def _findings(log: RunLog, run: Run, ranks: int, outcome: Outcome, rules: Ruleset) -> list[Finding]:
    """Everything that there is to say, consequences of something said left out."""
    start, stop = run_interval(log)
    facts = Facts(
        log=log,
        ranks=ranks,
        run=run,
        start=start,
        stop=stop,
        outcome=outcome,
        ruleset=rules,
    )
    extra = list(extra_findings(facts))
    named = {finding.rule for finding in extra} | {finding.rule for finding in outcome.findings}
    missing = [
        one.finding
        for one in outcome.missing
        if not ("run.no_stop" in named and _for_lack_of_time(one, started=start is not None))
    ]
    named |= {finding.rule for finding in missing}
    stated = [finding for finding in outcome.findings if not _follows(finding.rule, named, outcome)]
    cut = torn_end(log) if "run.no_stop" in named else None
    unread = [finding for finding in log.findings if finding is not cut]
    return with_hints([*unread, *extra, *stated, *missing])


def _for_lack_of_time(missing: Missing, *, started: bool) -> bool:
    """Whether a key is missing because the log was cut short."""
    return not started or missing.keys <= _RUN_KEYS


def _follows(rule: str, named: set[str], outcome: Outcome) -> bool:
    """Whether a finding is only the consequence of another one."""
    if rule in {f"rules.{target.key}.target" for target in outcome.targets}:
        return bool(named & {"run.no_stop", "run.status"})
    if rule == "rules.table":
        return bool(
            named & {"rules.submission_division.choice", "rules.submission_benchmark.choice"}
        )
    if rule.endswith(".items"):  # the tensors of records that are not there
        return "rules.weights_initialization.missing" in named
    if rule == "rules.init_stop.time":  # without a division its limit is 0
        return "rules.submission_division.missing" in named
    return False


def _only_official(log: RunLog, official: Outcome) -> Finding:
    """A note on what the official checker says although the log is sound."""
    errors = [finding for finding in official.findings if finding.is_error]
    errors += [missing.finding for missing in official.missing]
    return Finding(
        rule="official.verdict",
        severity=Severity.NOTE,
        message=f"the official checker refuses this log for the order of its records: "
        f"{errors[0].message}",
        fix="To satisfy it too, log every record once and the submission_ records first.",
        path=log.source,
        line_no=errors[0].line_no,
    )


def _with_later_change(finding: Finding, rules: Ruleset, benchmark: str | None) -> Finding:
    """The finding, with what is to be known of a rule that changed after the round."""
    if not finding.is_error or not finding.rule.startswith("rules."):
        return finding
    change = later_change(rules.name, finding.rule, benchmark)
    return finding if change is None else replace(finding, message=f"{finding.message}; {change}")


def _refused(findings: Sequence[Finding]) -> bool:
    return any(finding.rule in _OFFICIAL_READER for finding in findings)


def _weight(finding: Finding) -> tuple[int, int, int]:
    """The order of findings: severity, then kind, then line."""
    kinds = [place for place, prefix in enumerate(_FIRST) if finding.rule.startswith(prefix)]
    return (
        _SEVERITIES.index(finding.severity),
        min(kinds, default=len(_FIRST)),
        finding.line_no or 0,
    )


def _with_values(log: RunLog, values: dict[str, str]) -> RunLog:
    """The log with other values of some keys, put at the front where it has none."""
    if not values or not log.events:
        return log
    events = [
        event._replace(value=values[event.key]) if event.key in values else event
        for event in log.events
    ]
    first = log.events[0]
    for key, value in values.items():
        if log.first(key) is None:
            events.insert(0, first._replace(key=key, value=value, metadata={}))
    return replace(log, events=tuple(events))


def _as_official(log: RunLog) -> RunLog:
    """The log as the official reader has it: of several records on a line only the last."""
    shared = {finding.line_no for finding in log.findings if finding.rule in _SEVERAL_ON_A_LINE}
    if not shared:
        return log
    last = {event.line_no: event for event in log.events if event.line_no in shared}
    events = (event for event in log.events if last.get(event.line_no, event) is event)
    return replace(log, events=tuple(events))


def _submission_first(log: RunLog) -> RunLog:
    """The log with the submission_ records at the front where the division comes too late.

    The official tables need the division before init_stop; the written rules ask for no order.
    """
    division, stop = log.first(keys.SUBMISSION_DIVISION), log.first(keys.INIT_STOP)
    if division is None or stop is None or division.line_no < stop.line_no:
        return log

    def is_submission(event: Event) -> bool:
        return event.key.startswith("submission_")

    front = [event for event in log.events if is_submission(event)]
    rest = [event for event in log.events if not is_submission(event)]
    return replace(log, events=(*front, *rest))
