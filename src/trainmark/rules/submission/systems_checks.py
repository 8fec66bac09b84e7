"""What a system description is checked for: its 33 fields, their words and their numbers.

What the official system_desc_checker finds is an error here too; what it does not see is an error
where the description no longer says whose result it is and of how many accelerators, else a
warning. A vocabulary that came with a later round is no error for an earlier one.
"""

import difflib
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from trainmark.rules.rulesets import Ruleset
from trainmark.rules.subjects import few, show
from trainmark.rules.submission.systems_fields import (
    ALSO_KNOWN,
    CATEGORIES_OF_4_1,
    DIVISIONS,
    FIELD_NAMES,
    FIELDS,
    Field,
    Kind,
    Need,
    category,
    division,
    is_placeholder,
    is_text,
)
from trainmark.rules.submission.systems_json import Description, Form
from trainmark.rules.submission.systems_names import (
    FIELDS_FIXED,
    Context,
    missing,
    unknown_fields,
)
from trainmark.types import Finding, Severity

__all__ = ["WORDS_ASKED", "check_description"]

_WORDS_FIXED = (4, 1)  # the round from which status is one of four words
WORDS_ASKED = (4, 0)  # the round from which the official checker asks for them
_MOST_REPEATED = 20


def check_description(
    description: Description, *, ruleset: Ruleset | None = None
) -> Iterator[Finding]:
    """What is wrong with a description that could be read.

    Args:
        description: The description.
        ruleset: The round's rules, None for what holds in every round.
    """
    context = Context(description, ruleset)
    for check in _CHECKS if description.form is Form.JSON else _CHECKS_OF_LINES:
        yield from check(context)


def _old_form(context: Context) -> Iterator[Finding]:
    """The form of round 0.6: wrong in every other round."""
    early = not context.round() or context.is_before(FIELDS_FIXED)
    yield context.finding(
        "form",
        Severity.WARNING if early else Severity.ERROR,
        "the file has one 'key: {json}' on each line, as some of round 0.6; only division, "
        "status, submitter and system name were read",
        f"Write one JSON object with the {len(FIELDS)} official fields.",
    )


def _types(context: Context) -> Iterator[Finding]:
    """Values of a type that the field does not take."""
    ours = context.ruleset is not None and not context.ruleset.official
    for field in FIELDS:
        value = context.value(field.name)
        if isinstance(value, str) or field.name not in context.description.fields:
            continue
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if field.kind is Kind.STACK and isinstance(value, list | dict):
            continue
        if ours and number and field.kind is Kind.COUNT:  # as `trainmark system` writes them
            continue
        if field.joined:
            yield context.finding(
                "type",
                Severity.WARNING if context.ruleset is None and number else Severity.ERROR,
                f"{field.name} is {show(value)}; expected text: the official checker stops at "
                "anything else in this field",
                f'Write it in quotes: "{field.name}": "{value}".' if number else "Write a text.",
                field=field.name,
                expected="text",
            )
        elif field.kind is not Kind.COUNT:
            yield context.finding(
                "type",
                Severity.ERROR if field.need is Need.IDENTITY else Severity.WARNING,
                f"{field.name} is {show(value)}; expected text",
                "Write a text in quotes.",
                field=field.name,
                expected="text",
            )


def _numbers(context: Context) -> Iterator[Finding]:
    """Counts that are no whole numbers, or too small."""
    for field in FIELDS:
        if field.kind is not Kind.COUNT or field.name not in context.description.fields:
            continue
        value, number = context.value(field.name), context.description.count(field.name)
        harmless = number is not None and number >= field.least
        if harmless and not isinstance(value, float):
            continue
        if _said_elsewhere(field, value):
            continue
        wanted = f"a whole number of {field.least} or more"
        yield context.finding(
            "number",
            Severity.ERROR if field.need is Need.IDENTITY and not harmless else Severity.WARNING,
            f"{field.name} is {show(value)}; expected {wanted}",
            f'Write "{field.name}": "{number}".'
            if harmless
            else f'Write the number alone, for example "{field.name}": "8".',
            field=field.name,
            expected=wanted,
        )


def _said_elsewhere(field: Field, value: Any) -> bool:
    """Whether the value is empty, or of a type that the field does not take anyway."""
    if isinstance(value, str):
        return not value.strip() or (_says_nothing(value) and field.need is not Need.IDENTITY)
    return field.joined and not isinstance(value, int | float)


def _says_nothing(text: str) -> bool:
    """Whether a text says that there is nothing to say."""
    return text.strip().lower() in ("", "n/a", "na", "none", "-")


def _empty(context: Context) -> Iterator[Finding]:
    """Fields that need an answer and have none."""
    lacking = []
    for field in FIELDS:
        value = context.value(field.name)
        if field.name not in context.description.fields or not _is_empty(value):
            continue
        if field.need is Need.IDENTITY:
            yield context.finding(
                "empty",
                Severity.ERROR,
                f"{field.name} is empty",
                f"Write the {field.name.replace('_', ' ')}.",
                field=field.name,
            )
        elif field.need is Need.ANSWER:
            lacking.append(field.name)
    cores = ("host_processor_core_count", "host_processor_vcpu_count")
    if all(name in context.description.fields and not context.value(name) for name in cores):
        lacking.append(" or ".join(cores))
    if lacking:
        yield context.finding(
            "empty",
            Severity.NOTE,  # five of six published files have such fields
            f"{_number(len(lacking), 'field')} that the submission rules want an answer for "
            f"{'is' if len(lacking) == 1 else 'are'} empty: {', '.join(lacking)}",
            "Fill in what is known; N/A where the system has no such thing.",
            field=lacking[0] if len(lacking) == 1 else None,
        )


def _is_empty(value: Any) -> bool:
    return value in ([], {}) or (isinstance(value, str) and not value.strip())


def _placeholders(context: Context) -> Iterator[Finding]:
    """Texts that were meant to be replaced."""
    fields = context.description.fields
    left = [
        name for name, value in fields.items() if isinstance(value, str) and is_placeholder(value)
    ]
    if left:
        first = show(fields[left[0]])
        yield context.finding(
            "placeholder",
            Severity.WARNING,
            f"{_number(len(left), 'field')} still {'has' if len(left) == 1 else 'have'} the text "
            f"that was to be replaced ({first}): {_few_names(left)}",
            "Write what the system has, or N/A.",
            field=left[0],
        )


def _few_names(names: list[str], limit: int = 40) -> str:
    """Names from a file in one safe line."""
    shown = [name if name in FIELD_NAMES or name in ALSO_KNOWN else show(name) for name in names]
    more = len(names) - limit
    return ", ".join(shown[:limit]) + (f" and {more} more" if more > 0 else "")


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _status(context: Context) -> Iterator[Finding]:
    """The category: any known word, and one of four from round 4.1 on."""
    status = context.value("status")
    allowed = tuple(CATEGORIES_OF_4_1.values())
    if not is_text(status) or status in allowed:
        return
    severity = Severity.WARNING
    if context.round() >= _WORDS_FIXED:
        severity, wanted = Severity.ERROR, f"expected one of {few(allowed)}, letter by letter"
    elif category(status) is None:
        wanted = "expected available (on premise or in the cloud), preview or research"
    elif context.round() >= WORDS_ASKED:
        wanted = f"the official checker asks for one of {few(allowed)}, words of round 4.1"
    else:
        return
    yield context.finding(
        "status",
        severity,
        f"status is {show(status)}; {wanted}",
        f"Write {_right_status(status)}.",
        field="status",
        expected=", ".join(allowed),
    )


def _right_status(status: str) -> str:
    """The words of round 4.1 for what is meant; all of them if that is not clear."""
    means = category(status)
    if means == "available":
        return f"{show(CATEGORIES_OF_4_1['on premise'])} or {show(CATEGORIES_OF_4_1['cloud'])}"
    near = difflib.get_close_matches(status[:100], CATEGORIES_OF_4_1.values(), n=1)
    if means is not None:
        return show(CATEGORIES_OF_4_1[means])
    return show(near[0]) if near else f"one of {few(tuple(CATEGORIES_OF_4_1.values()))}"


def _division(context: Context) -> Iterator[Finding]:
    """The division: closed or open."""
    value = context.value("division")
    if not is_text(value) or value in DIVISIONS:
        return
    means = division(value)
    if means is None:
        message = f"division is {show(value)}; expected closed or open"
        fix = "Write closed or open."
    else:
        message = (
            f"division is {show(value)}, read as {means}; the official tools know only {means}, "
            "and skip checks and table for any other spelling"
        )
        fix = f"Write {means}."
    yield context.finding(
        "division",
        Severity.ERROR if means is None else Severity.WARNING,
        message,
        fix,
        field="division",
        expected="closed or open",
    )


def _repeated(context: Context) -> Iterator[Finding]:
    """Fields that stand there twice."""
    for name, values in islice(context.description.repeated.items(), _MOST_REPEATED):
        differ = any(value != values[-1] for value in values)
        which = f"with different values; the last one, {show(values[-1])}, counts" if differ else ""
        yield context.finding(
            "repeated_field",
            Severity.WARNING if differ else Severity.NOTE,
            f"{show(name)} stands {len(values)} times in the file {which}".strip(),
            "Leave one of them.",
            field=name,
        )


def _accelerators(context: Context) -> Iterator[Finding]:
    """Accelerators without a name, or a name without accelerators."""
    number = context.description.count("accelerators_per_node")
    name = context.description.text("accelerator_model_name")
    if number is None or not name or (number > 0) != _says_nothing(name):
        return
    yield context.finding(
        "accelerator",
        Severity.WARNING,
        f"accelerators_per_node is {number}, but accelerator_model_name is {show(name)}",
        "Name the accelerator, or write 0 and N/A.",
        field="accelerator_model_name",
    )


_CHECKS: tuple[Callable[[Context], Iterator[Finding]], ...] = (
    missing,
    _types,
    _numbers,
    _empty,
    _status,
    _division,
    _accelerators,
    _repeated,
    _placeholders,
    unknown_fields,
)
_CHECKS_OF_LINES = (_old_form, _status, _division)
