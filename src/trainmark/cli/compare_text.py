"""What ``trainmark compare`` prints for people: sentences around the tables."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from trainmark.cli.compare_table import advantages, number, sides
from trainmark.cli.plain_table import percent, terminal_width, wrapped

if TYPE_CHECKING:
    from trainmark.analysis.comparison import Against, Comparison, Measure, Refused, Side, Versus
    from trainmark.analysis.cost import Derived

__all__ = ["text"]

# What is shown where it is known, and what is told to be missing where it is not.
_SHOWN = (
    "accelerator_minutes",
    "dollar_minutes",
    "run_cost_usd",
    "rack_unit_minutes",
    "rated_watt_hours",
    "accelerator_watt_hours",
    "energy_joules",
)
_TOLD = {
    "dollar_minutes": "list price",
    "rack_unit_minutes": "height",
    "rated_watt_hours": "rated power",
    "energy_joules": "measured energy",
}
_AS_LONG = 0.0005  # less shows as 0.0 %


def text(comparison: "Comparison", *, explain: bool, costs: bool) -> Iterator[str]:
    """The lines to print.

    Args:
        comparison: What was compared.
        explain: Whether every formula follows, with its numbers and sources.
        costs: Whether the running cost was asked for, and is told to be missing where it is.
    """
    for versus in comparison.versus:
        yield from _versus(versus, explain=explain, costs=costs)
        yield ""
    for refused in comparison.refused:
        yield from _refused(refused)
    yield from _wrap(_standing(comparison))


def _versus(versus: "Versus", *, explain: bool, costs: bool) -> Iterator[str]:
    width = terminal_width()
    target = f" ({versus.target})" if versus.target else ""
    yield from _wrap(f"{versus.task}{target}: time to train in minutes")
    for reason in versus.forced:
        yield from _wrap(f"NOT COMPARABLE, compared anyway: {reason}")
    yield ""
    for one in versus.against:
        yield from _wrap(_verdict(one))
        yield from _wrap(_why(one), "  ")
    for side in versus.sides:
        if side.result.minutes is None:
            why = side.result.score_basis.removeprefix("no score: ")
            yield from _wrap(f"{side.letter} has no score: {why}.")
    yield ""
    yield from sides(versus, width)
    if all(one.speed is None for one in versus.against):
        return
    names = _names(versus)
    yield ""
    yield "A's performance, where the other side is 1 (above 1: A is better)"
    yield from advantages(versus, names, width)
    for line in _missing(versus, costs=costs, explain=explain):
        yield from _wrap(line)
    marks = _marks(versus, names)
    if marks:
        yield ""
        yield "To be said beside it"
        for mark in marks:
            yield from _wrap(mark, "  - ", "    ")
    if explain:
        yield ""
        yield from _explained(versus, names)


def _verdict(one: "Against") -> str:
    """How much less time, how many times as fast, and whether that is noise; "" without scores."""
    if one.time is None or one.speed is None or one.less_time is None:
        return ""
    name, times = one.letter, f"{one.speed:.3f} times as fast"
    if one.speed_low is not None and one.speed_high is not None:
        times += f" [{one.speed_low:.3f} to {one.speed_high:.3f}]"
    if abs(one.less_time) < _AS_LONG:
        said = f"A takes as long as {name}: it is {times}"
    elif one.less_time > 0:
        said = f"A takes {percent(one.less_time)} less time than {name}: it is {times}"
        said += f" ({percent(one.speed - 1)} more speed)"
    else:
        said = f"A takes {percent(-one.less_time)} more time than {name}: it is {times}"
        said += f" ({percent(1 - one.speed)} less speed)"
    time = one.time
    if time.within_noise is None:
        return f"{said}. Noise or not cannot be told; {time.note}."
    which = "within" if time.within_noise else "beyond"
    share = percent(time.share_faster)
    return f"{said}. That is {which} the noise of these runs (A is faster in {share} of the draws)."


def _why(one: "Against") -> str:
    """Whether the difference is in samples or in their rate; "" where that is not known."""
    split = one.split
    if split is None:
        return ""
    needs = f"A needs {1 / split.samples:.3f} times the samples of {one.letter}"
    rate = f"trains {split.rate:.3f} times as many a second"
    scaled = ""
    if split.scaling != 1:
        scaled = f"; factors of reference convergence account for {split.scaling:.3f}"
    return f"Why: {needs} and {rate}{scaled}."


def _names(versus: "Versus") -> list[str]:
    """The amounts that some side can be compared by."""
    known = {
        measure.name
        for one in versus.against
        for measure in one.measures
        if measure.against.value is not None
    }
    return [name for name in _SHOWN if name in known]


def _missing(versus: "Versus", *, costs: bool, explain: bool) -> Iterator[str]:
    """What is not known, and so not compared; each reason where it was asked for."""
    asked = [name for name in ("dollar_minutes", "run_cost_usd") if costs]
    names = list(dict.fromkeys([*asked, *_TOLD])) if explain else asked
    yield from _reasons(versus, names)
    unknown = {
        name: [
            side.letter
            for side in versus.sides
            if side.derived[name].missing and side.result.minutes is not None
        ]
        for name in _TOLD
        if name not in names
    }
    who: dict[str, list[str]] = {}
    for name, letters in unknown.items():
        if letters:
            who.setdefault(", ".join(letters), []).append(_TOLD[name])
    if who:
        parts = (f"{', '.join(what)} of {letters}" for letters, what in who.items())
        figures = any(unknown[name] for name in unknown if name != "energy_joules")
        how = " (--explain: why; trainmark prices add: your own figures)" if figures else ""
        yield f"Not known, so not compared: {'; '.join(parts)}{how}."


def _reasons(versus: "Versus", names: Sequence[str]) -> Iterator[str]:
    """Why there is no number per something, a line for each; then what to do about it."""
    per = {measure.name: measure.per for measure in versus.against[0].measures}
    advice: dict[str, None] = {}
    for name in names:
        reasons = []
        for side in versus.sides:
            reason, _, next_step = side.derived[name].missing.partition("; ")
            if reason:
                reasons.append((side.letter, reason))
            if next_step:
                advice[next_step] = None
        if reasons:
            yield f"Not per {per[name]}. {'. '.join(_by_text(reasons))}."
    yield from (f"{one[:1].upper()}{one[1:]}." for one in advice)


def _marks(versus: "Versus", names: Sequence[str]) -> list[str]:
    notes = [
        (one.letter, one.time.note)
        for one in versus.against
        if one.time is not None and one.time.within_noise is not None and one.time.note
    ]
    marks = [f"interval against {note}" for note in _by_text(notes)]
    marks += versus.marks
    per = {measure.name: measure.per for measure in versus.against[0].measures}
    for name in names:
        said = [(side.letter, mark) for side in versus.sides for mark in side.derived[name].marks]
        marks += [f"per {per[name]}: {mark}" for mark in _by_text(said)]
    return list(dict.fromkeys(marks))


def _by_text(said: Iterable[tuple[str, str]]) -> list[str]:
    """What is said of several sides, once with all their letters."""
    letters: dict[str, dict[str, None]] = {}
    for letter, one in said:
        letters.setdefault(one, {})[letter] = None
    return [f"{', '.join(who)}: {one}" for one, who in letters.items()]


def _explained(versus: "Versus", names: Sequence[str]) -> Iterator[str]:
    yield "How each number comes about"
    for side in versus.sides:
        yield from _wrap(f"{side.letter} minutes: {side.result.score_basis}", "  ", "      ")
        if note := _estimate_note(side):
            yield from _wrap(note, "      ", "      ")
    for one in versus.against:
        yield from _wrap(_speed_formula(versus.sides[0], versus, one), "  ", "      ")
    for name in names:
        yield from _measure(versus, name)


def _estimate_note(side: "Side") -> str:
    if side.estimate is None or side.estimate.low is None:
        return side.estimate.note if side.estimate else ""
    note = f"; {side.estimate.note}" if side.estimate.note else ""
    return f"interval: the runs drawn again 2,000 times and scored again, the middle 95 %{note}"


def _speed_formula(first: "Side", versus: "Versus", one: "Against") -> str:
    other = next(side for side in versus.sides if side.letter == one.letter)
    if one.speed is None or first.result.minutes is None or other.result.minutes is None:
        return f"speed against {one.letter}: none without two scores"
    a, b = number(first.result.minutes), number(other.result.minutes)
    return (
        f"speed = minutes of {one.letter} / minutes of A = {b} / {a} = {one.speed:.3f}; "
        f"less time = 1 - A / {one.letter} = {percent(one.less_time)}"
    )


def _measure(versus: "Versus", name: str) -> Iterator[str]:
    measures = [m for one in versus.against for m in one.measures if m.name == name]
    yield from _wrap(f"performance per {measures[0].per}, not official", "  ", "      ")
    for side in versus.sides:
        yield from _amount(side.letter, side.derived[name])
    for one, measure in zip(versus.against, measures, strict=True):
        yield from _wrap(_ratio(one, measure), "    ", "      ")


def _amount(letter: str, derived: "Derived") -> Iterator[str]:
    if derived.missing:
        yield from _wrap(f"{letter}  {derived.missing}", "    ", "       ")
        return
    yield from _wrap(f"{letter}  {derived.formula}", "    ", "       ")
    yield from _wrap(f"basis: {derived.basis}", "       ", "         ")
    for source in derived.sources:
        yield from _wrap(f"source: {source}", "       ", "         ")


def _ratio(one: "Against", measure: "Measure") -> str:
    if measure.against.value is None:
        return f"{one.letter} / A: none"
    return f"{one.letter} / A = {measure.against.value:.3f}"


def _refused(refused: "Refused") -> Iterator[str]:
    yield from _wrap(f"{refused.task} is left out, its results do not compare (see --anyway):")
    for reason in refused.reasons:
        yield from _wrap(reason, "  - ", "    ")
    yield ""


def _standing(comparison: "Comparison") -> str:
    labels = {side.result.label for one in comparison.versus for side in one.sides}
    said = "Ratios, intervals and all that is per something are derived by trainmark, not official."
    if any("unverified" in label for label in labels):
        said += " Unverified results were not reviewed by MLCommons."
    return said


def _wrap(line: str, first: str = "", rest: str = "  ") -> list[str]:
    return wrapped(line, width=terminal_width(), first=first, rest=rest)
