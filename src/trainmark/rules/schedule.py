"""When a benchmark must be evaluated, and whether a log's evaluations keep to it.

The written rules fix the schedule (training rules, section "Quality measure", a table by
benchmark); the official tools do not look at it. Only the Closed division is bound by it. A row
here says from which round to which its text stood in the rules. Two rows follow what was done:
ssd of round 1.0 (all 110 logs evaluate every 5 epochs, as the rules of 1.1 say), and dlrm, whose
"102,400 samples" are batches of the reference's 2,048: a twentieth of an epoch.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from trainmark.mllog import keys
from trainmark.rules.runchecks_facts import Facts
from trainmark.types import Event, Finding, RunLog, Severity

__all__ = ["Plan", "evaluations", "plan_of"]

_CLOSED = "closed"
_ROUNDING = 0.01  # of the interval: positions are logged rounded, batches overlap
_LARGEST_EPOCH = 10_000  # an epoch_num beyond is a count of samples under another name
_LARGEST_BATCH = 1e12
_BEYOND = 1e18  # no training comes so far
_LARGEST_SAMPLE = 10_000_000  # a count of sequences beyond is one of tokens
_CRITEO_SAMPLES = 4_195_197_692
_UNET3D_SAMPLES = 168
_GPT3_TOKENS = 2_048  # in a sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """When evaluations are due, in the unit that the log counts in.

    Attributes:
        every: From one to the next.
        gap: The least and the most from one to the next: evaluations wait for the end of a batch.
        start: Where the first one is due.
        first: The least and the most for that.
        multiples: Whether evaluations may be left out, as long as each stands at a multiple.
        unit: "epochs", "samples" or "tokens".
    """

    every: float
    gap: tuple[float, float]
    start: float
    first: tuple[float, float]
    multiples: bool = False
    unit: str = "epochs"

    def off(self, at: float, before: float | None) -> bool:
        """Whether an evaluation there, after one at ``before``, breaks the plan."""
        if self.multiples:
            count = max(1, round(at / self.every))
            return not count * self.gap[0] <= at <= count * self.gap[1]
        least, most = self.first if before is None else self.gap
        return not least <= at - (before or 0.0) <= most


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A row of the rules' table: whose schedule, in which rounds, how counted and reckoned."""

    benchmarks: tuple[str, ...]
    since: tuple[int, int]
    until: tuple[int, int]
    plan: Callable[[float, float], Plan]  # of the batch size and the first position logged
    counted: tuple[str, ...] = (keys.SAMPLES_COUNT, keys.EPOCH_NUM)  # where it does so


def _regular(every: float, *, first: float = 0.0, slack: float = 0.01) -> Plan:
    """Evaluations at even distances, the first after one distance or where ``first`` says."""
    start = first or every
    return Plan(
        every=every,
        gap=(every - slack, every + slack),
        start=start,
        first=(start - slack, start + slack),
    )


def _epochs(every: int) -> Callable[[float, float], Plan]:
    return lambda _batch, _at: _regular(every)


def _resnet(_batch: float, _at: float) -> Plan:
    """Every 4 epochs, with an offset of 0 to 3."""
    return Plan(every=4, gap=(3.99, 4.01), start=4, first=(0.0, 4.01))


def _samples(every: int) -> Callable[[float, float], Plan]:
    return lambda batch, _at: _in_batches(every, batch)


def _in_batches(every: int, batch: float, *, skipped: int = 0, unit: int = 1) -> Plan:
    """Every so many samples, in whole batches: rounded up, as the rules say, or down."""
    least, most = every - batch if 2 * batch < every else float(every), _up(every, batch)
    gap = (least * unit, (most + _ROUNDING * every) * unit)
    return Plan(
        every=every * unit,
        gap=gap,
        start=most * unit * (skipped + 1),
        first=(gap[0] * (skipped + 1), gap[1] * (skipped + 1)),
        unit="samples" if unit == 1 else "tokens",
    )


def _bert(batch: float, _at: float) -> Plan:
    """A late first evaluation only delays the run's end, so a quarter is allowed."""
    every = max(1, (0.05 * (230.23 * batch + 3_000_000)) // 25_000) * 25_000
    slack = batch + _ROUNDING * every
    return Plan(
        every=every,
        gap=(every - slack, every + slack),
        start=every,
        first=(every - slack, 1.25 * every + slack),
        unit="samples",
    )


def _unet3d(batch: float, at: float) -> Plan:
    """Position in epochs, or in samples from round 4.0 on; a first one at epoch 1,000 is fine."""
    samples = _up(_UNET3D_SAMPLES, batch)
    every, first = (math.ceil(n * _UNET3D_SAMPLES / samples) for n in (20, 1_000))
    in_epochs = at <= _LARGEST_EPOCH
    size = 1.0 if in_epochs else samples
    return Plan(
        every=every * size,
        gap=((every - 0.01) * size, (every + 0.01) * size),
        start=first * size,
        first=((first - 0.01) * size, 1_000.01 * size),
        unit="epochs" if in_epochs else "samples",
    )


def _gpt3(batch: float, at: float) -> Plan:
    """Position in sequences or in tokens."""
    return _in_batches(24_576, batch, unit=_GPT3_TOKENS if at > _LARGEST_SAMPLE else 1)


def _lora(batch: float, _at: float) -> Plan:
    return _in_batches(384, batch, skipped=math.floor(0.125 * batch + 2))


def _llama405(batch: float, _at: float) -> Plan:
    return _in_batches(18_432, batch, skipped=math.floor(0.0026 * batch + 12))


def _dcnv2(batch: float, _at: float) -> Plan:
    """In fractions of the one epoch, counted from 0."""
    every = max(1, _CRITEO_SAMPLES // (20 * batch)) * batch / _CRITEO_SAMPLES
    slack = min(batch / _CRITEO_SAMPLES + _ROUNDING * every, every / 2)
    return _regular(every, slack=slack)


def _dlrm(_batch: float, at: float) -> Plan:
    """In epochs, counted from 1 (or from 0)."""
    return _regular(0.05, first=1.05 if at > 1 else 0.05, slack=0.001)


def _rgat(_batch: float, _at: float) -> Plan:
    return _regular(0.05, slack=0.011)


def _checkpoints(batch: float, _at: float) -> Plan:
    """Stable Diffusion: checkpoints at fixed places, of which some may be left unjudged."""
    return replace(_in_batches(512_000, batch), multiples=True)


_EVER = (99, 0)
_EPOCHS = (keys.EPOCH_NUM,)
_ROWS = (
    _Row(benchmarks=("resnet",), since=(0, 7), until=(4, 0), plan=_resnet, counted=_EPOCHS),
    _Row(benchmarks=("bert",), since=(1, 0), until=(5, 0), plan=_bert),
    _Row(benchmarks=("rnnt",), since=(1, 0), until=(3, 1), plan=_epochs(1), counted=_EPOCHS),
    _Row(benchmarks=("maskrcnn",), since=(0, 7), until=(3, 1), plan=_epochs(1), counted=_EPOCHS),
    _Row(benchmarks=("ssd",), since=(1, 0), until=(1, 1), plan=_epochs(5), counted=_EPOCHS),
    _Row(
        benchmarks=("ssd", "retinanet"),
        since=(2, 0),
        until=(5, 1),
        plan=_epochs(1),
        counted=_EPOCHS,
    ),
    _Row(benchmarks=("unet3d",), since=(1, 0), until=(4, 0), plan=_unet3d, counted=_EPOCHS),
    _Row(benchmarks=("dlrm",), since=(1, 0), until=(2, 1), plan=_dlrm, counted=_EPOCHS),
    _Row(benchmarks=("dlrm_dcnv2",), since=(3, 0), until=_EVER, plan=_dcnv2, counted=_EPOCHS),
    _Row(benchmarks=("gpt3",), since=(3, 0), until=(4, 1), plan=_gpt3),
    _Row(benchmarks=("stable_diffusion",), since=(3, 1), until=(5, 0), plan=_checkpoints),
    _Row(benchmarks=("llama2_70b_lora",), since=(4, 0), until=_EVER, plan=_lora),
    _Row(benchmarks=("gnn", "rgat"), since=(4, 0), until=(5, 1), plan=_rgat, counted=_EPOCHS),
    _Row(benchmarks=("llama31_405b",), since=(5, 0), until=(5, 0), plan=_samples(46_080)),
    _Row(benchmarks=("llama31_405b",), since=(5, 1), until=_EVER, plan=_llama405),
    _Row(benchmarks=("llama31_8b",), since=(5, 1), until=_EVER, plan=_samples(12_288)),
    _Row(benchmarks=("flux1",), since=(5, 1), until=_EVER, plan=_samples(262_144)),
    _Row(benchmarks=("gpt_oss_20b",), since=(6, 0), until=_EVER, plan=_samples(12_288)),
)


def plan_of(
    benchmark: str, round_: tuple[int, ...], *, batch: float, first: float = 0.0
) -> Plan | None:
    """When a benchmark's evaluations were due in a round.

    Args:
        benchmark: Its name as logs have it.
        round_: The round, for example (4, 0).
        batch: The global batch size, from 1 to 1e12.
        first: Where the log has its first evaluation: some benchmarks are counted in several
            units, which its size tells apart.

    Returns:
        The plan; None if the written rules state none that could be reckoned.
    """
    row = _row(benchmark, round_)
    return None if row is None else row.plan(batch, first)


def _row(benchmark: str, round_: tuple[int, ...]) -> _Row | None:
    fitting = (row for row in _ROWS if benchmark in row.benchmarks)
    return next((row for row in fitting if row.since <= round_ <= row.until), None)


def evaluations(facts: Facts) -> Iterator[Finding]:
    """Evaluations of a Closed run that do not keep to its benchmark's schedule: one finding.

    Args:
        facts: The log and what is known of it.
    """
    rules, run = facts.ruleset, facts.run
    if rules is None or not rules.official or rules.name.startswith("hpc"):
        return
    batch = run.global_batch_size
    if run.division != _CLOSED or run.benchmark is None or batch is None:
        return
    if not 1 <= batch <= _LARGEST_BATCH:  # that is another finding's matter
        return
    row = _row(run.benchmark, rules.round)
    places = [] if row is None else _places(facts.log, row.counted)
    if row is None or not places:
        return
    plan = row.plan(batch, places[0][0])
    # BERT logs that count epochs have 1 throughout: there is nothing to see.
    if plan.unit == "samples" and places[-1][0] == 1:
        return
    before: float | None = None
    off: list[tuple[float | None, float, Event]] = []
    for at, event in places:
        if plan.off(at, before):
            off.append((before, at, event))
        before = at
    if off:
        yield _off_schedule(facts, plan, off, len(places))


def _off_schedule(
    facts: Facts, plan: Plan, off: list[tuple[float | None, float, Event]], total: int
) -> Finding:
    before, at, event = off[0]
    found = f"at {_count(at, plan)}" + (
        " first" if before is None else f", {_count(at - before, plan)} after the one before"
    )
    expected = f"every {_count(plan.every, plan)}"
    if plan.multiples:
        expected = f"at multiples of {_count(plan.every, plan)}"
    elif before is None:
        or_less = "" if plan.first[0] else " or less"
        expected = f"first at {_count(plan.start, plan)}{or_less}, then {expected}"
    return facts.finding(
        "run.eval_schedule",
        f"{facts.run.benchmark} with batch size {facts.run.global_batch_size:g} is to be evaluated "
        f"{expected}; this evaluation is {found} ({len(off)} of {total} are off)",
        "Evaluate where the rules of the round say, no more and no less often: who evaluates more "
        "often stops earlier.",
        event=event,
        severity=Severity.WARNING,
        expected=expected,
        found=found,
    )


def _places(log: RunLog, counted: tuple[str, ...]) -> list[tuple[float, Event]]:
    """Where in training the evaluations stand, each place once, in order; the start left out."""
    found: dict[float, Event] = {}
    for event in log.all(keys.EVAL_ACCURACY, keys.EVAL_ERROR):
        for name in counted:
            at = event.metadata.get(name)
            if type(at) is int or type(at) is float:
                if 0 < at < _BEYOND:
                    found.setdefault(at, event)
                break
    return sorted(found.items(), key=_place)


def _place(item: tuple[float, Event]) -> float:
    return item[0]


def _up(count: float, batch: float) -> float:
    """The least whole number of batches that holds so many samples."""
    return math.ceil(count / batch) * batch


def _count(amount: float, plan: Plan) -> str:
    """An amount with its unit, for people."""
    shown = f"{amount:,.0f}" if amount >= 100 else f"{amount:.4g}"
    return f"{shown} {plan.unit.removesuffix('s') if shown == '1' else plan.unit}"
