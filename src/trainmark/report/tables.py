"""The tables of a report, once for the terminal and for the page.

A table is data: a caption, headings, rows of cells. A column that no row fills is left out, so
that a published log, which lacks our own measurements, shows no empty columns.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Generic, TypeVar

from trainmark.mllog import keys
from trainmark.report import format as text
from trainmark.report import wording
from trainmark.report.compare import Comparison, spread
from trainmark.report.session import Entry, efficiency
from trainmark.types import Evaluation, Result, Run, System, printable

__all__ = [
    "Cell",
    "Column",
    "Table",
    "build",
    "earlier_table",
    "evaluation_table",
    "overview_table",
    "probe_table",
    "published_table",
    "run_table",
    "settings_table",
    "software_table",
    "system_table",
]

Row = TypeVar("Row")
EMPTY = "\N{EN DASH}"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell.

    Attributes:
        text: What is shown; harmless already.
        sort: What it sorts by: a number, or the text in small letters.
    """

    text: str
    sort: float | str


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One column of a table of rows of that type.

    Attributes:
        heading: Its heading, with the unit.
        value: The row's value, None if it has none.
        show: How a number is shown; without it the column holds text.
        rank: A table that is too wide for a terminal goes without the highest first; 0 stays.
    """

    heading: str
    value: Callable[[Row], Any]
    show: Callable[[float], str] | None = None
    rank: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table ready to be drawn.

    Attributes:
        caption: What it shows.
        headings: One for each column.
        numeric: Whether a column holds numbers, one for each column.
        ranks: ``Column.rank`` of each column.
        rows: The cells, row by row.
    """

    caption: str
    headings: tuple[str, ...]
    numeric: tuple[bool, ...]
    ranks: tuple[int, ...]
    rows: tuple[tuple[Cell, ...], ...]


def build(caption: str, columns: Sequence[Column[Row]], rows: Sequence[Row]) -> Table:
    """A table of those rows with the columns that at least one of them fills.

    Args:
        caption: What the table shows.
        columns: The columns that are wanted.
        rows: Anything the columns read.
    """
    values = [[_known(column.value(row)) for row in rows] for column in columns]
    filled = [
        (column, column_values)
        for column, column_values in zip(columns, values, strict=True)
        if any(value is not None for value in column_values)
    ]
    cells = [[_cell(column, value) for value in values] for column, values in filled]
    return Table(
        caption=caption,
        headings=tuple(column.heading for column, _ in filled),
        numeric=tuple(column.show is not None for column, _ in filled),
        ranks=tuple(column.rank for column, _ in filled),
        rows=tuple(zip(*cells, strict=True)),
    )


def _known(value: Any) -> Any:
    """The value; None for a NaN or an infinity (a log without a start has no minutes)."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cell(column: Column[Row], value: Any) -> Cell:
    if value is None:
        return Cell(EMPTY, "")
    if column.show is None:
        shown = printable(value)
        return Cell(shown, shown.lower())
    return Cell(column.show(value), float(value))


_CHECKED = {True: "passes", False: "does not pass", None: "not checked"}


def overview_table(entries: Sequence[Entry]) -> Table:
    """Every entry of a folder in a line."""
    columns: tuple[Column[Entry], ...] = (
        Column("Submitter", lambda entry: entry.submitter),
        Column("System", lambda entry: entry.system),
        Column("Benchmark", lambda entry: entry.benchmark),
        Column("Runs", lambda entry: len(entry.runs), text.count),
        Column("Minutes", lambda entry: entry.score.minutes, text.minutes),
        Column("Checker", lambda entry: _CHECKED[entry.compliant]),
    )
    return build("Results in this folder", columns, entries)


def run_table(entry: Entry) -> Table:
    """The runs of an entry, one a line.

    Args:
        entry: The entry.
    """
    columns: tuple[Column[Run], ...] = (
        Column("Run", lambda run: PurePath(run.source).stem.removeprefix("result_")),
        Column("Minutes", lambda run: run.minutes, text.minutes),
        Column("Status", lambda run: run.status or "not finished"),
        Column(wording.quality_heading(entry), lambda run: run.quality, _quality(entry)),
        Column("Samples to target", lambda run: run.samples_to_target, text.count, rank=1),
        Column("Samples/s", lambda run: run.samples_per_second, text.rate, rank=1),
        Column("FLOP/s", _efficiency(keys.EFFICIENCY_ACHIEVED), text.flop_rate, rank=4),
        Column("Of measured peak", _efficiency(keys.EFFICIENCY_SHARE), text.share, rank=2),
        Column("Waiting for data", _efficiency(keys.EFFICIENCY_INPUT_WAIT), text.share, rank=4),
        Column("Padding", _efficiency(keys.EFFICIENCY_PADDING), text.share, rank=4),
        Column("Preparation (min)", lambda run: run.init_minutes, text.minutes, rank=5),
        Column("Seed", lambda run: run.seed, lambda seed: f"{seed:.0f}", rank=3),
    )
    return build("What each run took and measured", columns, entry.runs)


def _quality(entry: Entry) -> Callable[[float], str]:
    return lambda value: text.quality(value, entry.target)


def _efficiency(name: str) -> Callable[[Run], float | None]:
    return lambda run: efficiency(run, name)


def evaluation_table(entry: Entry) -> Table:
    """Every evaluation of every run: the data of the curve."""
    rows = [(run, evaluation) for run in entry.runs for evaluation in run.evaluations]
    columns: tuple[Column[tuple[Run, Evaluation]], ...] = (
        Column("Run", lambda row: PurePath(row[0].source).stem.removeprefix("result_")),
        Column("Minutes", lambda row: row[1].minutes, text.minutes),
        Column("Samples", lambda row: row[1].samples, text.count),
        Column(wording.quality_heading(entry), lambda row: row[1].quality, _quality(entry)),
        Column("Training loss", lambda row: row[1].train_loss, lambda value: f"{value:.4g}"),
    )
    return build("Quality at every evaluation", columns, rows)


def earlier_table(comparisons: Sequence[Comparison]) -> Table:
    """Earlier results on this machine, newest first, each with this session's difference.

    Args:
        comparisons: Oldest first.
    """
    columns: tuple[Column[Comparison], ...] = (
        Column("Recorded", lambda row: text.moment(row.then.recorded) or None),
        Column("Minutes", lambda row: row.then.minutes, text.minutes),
        Column("Runs", lambda row: len(row.then.run_minutes) or None, text.count, rank=2),
        Column(
            "Spread", lambda row: spread(row.then.run_minutes), lambda part: f"±{part * 100:.1f} %"
        ),
        Column("Time now", lambda row: row.change, text.change),
        Column("Meaning", lambda row: str(row.verdict)),
        Column("Samples/s", lambda row: row.then.samples_per_second, text.rate, rank=3),
        Column("Samples/s now", lambda row: row.rate_change, text.change, rank=1),
        Column("Framework", lambda row: row.then.framework or None, rank=4),
    )
    rows = tuple(reversed(comparisons))
    caption = 'Earlier results, newest first; "now" is how this session differs from each'
    return build(caption, columns, rows)


def published_table(results: Sequence[Result], caption: str, *, division: bool = True) -> Table:
    """Published results in a line each.

    Args:
        results: The results, in the order wanted.
        caption: What the selection is.
        division: Whether to say the division; not where the caption says it of all.
    """
    columns: tuple[Column[Result], ...] = (
        Column("Round", lambda row: row.round),
        Column("Submitter", lambda row: row.submitter),
        Column("System", lambda row: row.system),
        Column("Accelerator", lambda row: row.accelerator or None, rank=1),
        Column("Number", lambda row: row.accelerators, text.count),
        Column("Minutes", lambda row: row.minutes, text.minutes),
        Column("Division", lambda row: (division and row.division) or None),
    )
    return build(caption, columns, results)


_SYSTEM_HEADINGS = {name: name.replace("_", " ").replace("-", " ") for name in System().to_dict()}
_SOFTWARE_FIELDS = ("framework", "operating_system", "other_software_stack", "sw_notes")


def system_table(entry: Entry) -> Table:
    """The filled fields of the system file, hardware, in the official order."""
    description = entry.system_description
    names = [name for name in _SYSTEM_HEADINGS if name not in _SOFTWARE_FIELDS]
    return _pairs("System description", description, names)


def software_table(entry: Entry) -> Table:
    """The software: from the system file, and what the runs recorded of their environment."""
    rows = {
        _SYSTEM_HEADINGS[name]: entry.system_description.get(name)
        for name in _SOFTWARE_FIELDS
        if name != "other_software_stack"
    }
    stack = entry.system_description.get("other_software_stack")
    rows |= stack if isinstance(stack, dict) else {"other software": stack}
    # The system file says "PyTorch 2.13.0" where the environment says "torch".
    told = {name for name, value in rows.items() if value}
    recorded = _common(run.environment for run in entry.runs)
    rows |= {name: value for name, value in recorded.items() if name not in told}
    return _pairs("Software and environment", rows, list(rows))


def settings_table(entry: Entry) -> Table:
    """The settings of the runs; where runs differ, every value in the order of the runs."""
    rows = _common(run.settings for run in entry.runs)
    name = entry.info.workload if entry.info is not None else ""
    meant = f"; `trainmark workloads {name}` says what each means" if name else ""
    return _pairs(f"Every setting of the runs{printable(meant)}", rows, list(rows))


def probe_table(entry: Entry) -> Table:
    """How fast each way of running the training step was, and the machine's matmul peaks."""
    info = entry.info
    rows: dict[str, str] = {}
    if info is not None:
        for one in info.candidates:
            # The names are keys: a candidate must not take the place of one with fewer threads.
            threads = "" if one.threads is None else _threads(one.threads)
            name = ", ".join(filter(None, (one.precision, one.memory_format, threads)))
            rows[name] = f"{text.rate(one.samples_per_second)} samples/s"
        for precision, why in info.unusable.items():
            rows[f"{precision}: not used"] = why
        for precision, peak in info.matmul_peaks.items():
            rows[f"peak of matrix multiplication, {precision}"] = text.flop_rate(peak)
    caption = "Ways to run the training step, timed on this machine before the runs"
    return _pairs(caption, rows, list(rows))


def _threads(number: int) -> str:
    return "1 thread" if number == 1 else f"{number} threads"


def _common(each: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The fields of several mappings; a field that differs holds its values joined."""
    gathered: dict[str, list[str]] = {}
    for mapping in each:
        for name, value in mapping.items():
            gathered.setdefault(str(name), []).append(text.value_text(value))
    return {
        name: values[0] if len(set(values)) == 1 else " / ".join(values)
        for name, values in gathered.items()
    }


def _pairs(caption: str, data: Mapping[str, Any], names: Sequence[str]) -> Table:
    """A table of names and values; empty values are left out."""
    rows = [
        (_SYSTEM_HEADINGS.get(name, name), text.value_text(data[name]))
        for name in names
        if data.get(name) not in (None, "", {}, [])
    ]
    columns: tuple[Column[tuple[str, str]], ...] = (
        Column("Field", lambda row: row[0]),
        Column("Value", lambda row: row[1]),
    )
    return build(caption, columns, rows)
