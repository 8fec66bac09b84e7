"""Values that cannot be: text, true or nothing where a number is meant, names left unfilled."""

import functools
import math
import re
from collections.abc import Iterator
from typing import Any

from trainmark.mllog import keys
from trainmark.rules.constraints import limits_a_number
from trainmark.rules.runchecks_facts import Facts
from trainmark.rules.subjects import show
from trainmark.types import Event, Finding, Severity

__all__ = ["names", "numbers", "qualities"]

_QUALITIES = (keys.EVAL_ACCURACY, keys.EVAL_ERROR)
# Counted things: a run without a sample, or with a fraction of one, does not exist.
_COUNTS = (
    keys.GLOBAL_BATCH_SIZE,
    keys.GRADIENT_ACCUMULATION_STEPS,
    keys.TRAIN_SAMPLES,
    keys.EVAL_SAMPLES,
)
# Settings that are numbers by their name; some log one for each part of the schedule, as a list.
_SETTING = re.compile(
    r"(?:\w+_)?(?:learning_rate|learning_rate_min|epsilon|beta_1|beta_2|momentum"
    r"|weight_decay|weight_decay_rate|clip_norm|poly_power|lora_rank|lora_alpha"
    r"|warmup_(?:steps|epochs|factor|ratio|samples)|decay_(?:steps|factor|epochs)"
    r"|training_steps|max_steps)"
)
_DIVISIONS = ("closed", "open")


def numbers(facts: Facts) -> Iterator[Finding]:
    """Counts that are no whole numbers above 0, and settings that are no numbers.

    What the rule tables already say of a record is not said twice. Rounds before 1.0 had other
    keys and are left alone.

    Args:
        facts: The log and what is known of it.
    """
    if facts.ruleset is not None and facts.ruleset.official and facts.ruleset.round < (1, 0):
        return
    for key in filter(_is_setting, facts.log.keys()):
        for event in facts.log.all(key):
            problem = _problem(key, event.value)
            if problem and not _is_told(facts, event):
                yield _no_number(facts, event, problem)
                break


def _is_told(facts: Facts, event: Event) -> bool:
    """Whether the rule tables say something about that record's key."""
    start = f"rules.{event.key}."
    return any(
        one.line_no == event.line_no and one.rule.startswith(start)
        for one in facts.outcome.findings
    )


def _problem(key: str, value: Any) -> str:
    """What is expected of a value that is none; "" for one that will do."""
    if type(value) is int and value > 0:  # nearly all of them
        return ""
    if key == keys.SEED:  # what else a seed must be is a matter of its folder
        return "a whole number" if isinstance(value, bool) else ""
    if key in _COUNTS:
        fits = _is_number(value) and value > 0 and value == int(value)
        return "" if fits else "a whole number above 0"
    parts = value if isinstance(value, list) else [value]
    if not parts or not all(map(_is_number, parts)):
        return "a number"
    least = key.endswith(("learning_rate", "weight_decay", "epsilon"))
    return "a number of 0 or more" if least and any(part < 0 for part in parts) else ""


def _no_number(facts: Facts, event: Event, expected: str) -> Finding:
    is_bool = isinstance(event.value, bool)
    return facts.finding(
        "log.bool_as_number" if is_bool else "run.number",
        f"{event.key} is {show(event.value)}; expected {expected}",
        f"Log {event.key} as {expected}, the one that the run used.",
        event=event,
        expected=expected,
        found=show(event.value),
    )


def qualities(facts: Facts) -> Iterator[Finding]:
    """Qualities that are true, NaN, or infinite where that meets the target.

    Args:
        facts: The log and what is known of it.
    """
    for key in _QUALITIES:
        events = list(facts.log.all(key))
        odd = [one for one in events if type(one.value) is not float or not _is_number(one.value)]
        if not odd:
            continue
        if _is_limited(facts, key):
            yield from (
                _no_number(facts, one, "a number") for one in odd if isinstance(one.value, bool)
            )
        odd = [one for one in odd if isinstance(one.value, float)]
        if odd:
            yield _not_finite(facts, odd, len(events))


def _not_finite(facts: Facts, odd: list[Event], total: int) -> Finding:
    met = {target.met_on_line for target in facts.outcome.targets}
    meets = [one.line_no in met for one in odd]
    event = odd[meets.index(True)] if any(meets) else odd[0]
    several = f" ({len(odd)} of {total} evaluations are like that)" if len(odd) > 1 else ""
    although = ", and yet the target counts as met" if any(meets) else ""
    return facts.finding(
        "run.not_a_number",
        f"{event.key} is {_name(event.value)}{several}; the training has probably diverged"
        f"{although}",
        "Lower the learning rate or use a wider number format, then run again.",
        event=event,
        severity=Severity.ERROR if any(meets) else Severity.WARNING,
        expected="a number",
        found=_name(event.value),
    )


def names(facts: Facts) -> Iterator[Finding]:
    """Names that somebody forgot to fill in, and a division spelt in a way that no tool reads.

    Args:
        facts: The log and what is known of it.
    """
    firsts = map(facts.log.first, (keys.SUBMISSION_ORG, keys.SUBMISSION_PLATFORM))
    unfilled = [
        event
        for event in firsts
        if event is not None and _is_placeholder(event.value) and not _is_told(facts, event)
    ]
    if unfilled:
        said = " and ".join(f"{event.key} is {_still(event.value)}" for event in unfilled)
        yield facts.finding(
            "run.placeholder",
            f"{said}; expected a name",
            f"Set {' and '.join(event.key for event in unfilled)} in the configuration of the run. "
            "Until then the folder decides whose result it is.",
            event=unfilled[0],
            severity=Severity.WARNING,
            expected="a name",
            found=show(unfilled[0].value),
        )
    division = facts.log.first(keys.SUBMISSION_DIVISION)
    value = None if division is None else division.value
    if isinstance(value, str) and value not in _DIVISIONS:
        meant = value.strip().casefold()
        meant = "closed" if meant == "close" else meant
        if meant in _DIVISIONS:
            yield facts.finding(
                "run.division_spelling",
                f"the division is spelt {show(value)}; the rules of the benchmark, its seeds and "
                "its convergence are only looked at where it is spelt as the rules do",
                f'Write "{meant}".',
                event=division,
                severity=Severity.WARNING,
                expected=show(meant),
                found=show(value),
            )


@functools.lru_cache(maxsize=4096)
def _is_setting(key: str) -> bool:
    return key in _COUNTS or key == keys.SEED or _SETTING.fullmatch(key) is not None


def _is_placeholder(value: Any) -> bool:
    return not isinstance(value, str) or not value.strip() or "PLACEHOLDER" in value


def _still(value: Any) -> str:
    return f"still {show(value)}" if isinstance(value, str) else show(value)


def _is_number(value: Any) -> bool:
    kind = type(value)  # JSON has no other kinds of numbers than these
    return math.isfinite(value) if kind is float else kind is int


def _is_limited(facts: Facts, key: str) -> bool:
    """Whether the tables hold the key to a limit, so that its value must be a number."""
    rule = facts.outcome.rules.get(key)
    if rule is None:
        return True
    checks = (*rule.checks, *([rule.target] if rule.target else []))
    return any(limits_a_number(check) for check in checks)


def _name(value: float) -> str:
    """NaN, Infinity or -Infinity, as JSON has them."""
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
