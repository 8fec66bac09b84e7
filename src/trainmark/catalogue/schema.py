"""The two tables of the catalogue, results and runs, as typed columns.

A column is a row of ``RESULT_COLUMNS`` or ``RUN_COLUMNS``: its name is the field of the type it
stores. Later columns are added at the end; a file written before has none of them, and reading
gives the field's default.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from trainmark.types import Doubt, Evaluation, Result, Run, Target

__all__ = [
    "RESULT_COLUMNS",
    "RUN_COLUMNS",
    "Column",
    "result_from_row",
    "result_to_row",
    "run_from_row",
    "run_to_row",
]


def _same(value: Any) -> Any:
    return value


def _unicode(value: str) -> str:
    """Text that Parquet can hold: a log's JSON may escape half of a surrogate pair."""
    return value.encode("utf-8", "replace").decode()


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=dict)


def _words(raw: Mapping[str, str]) -> str:
    """As JSON that DuckDB searches, which refuses half of a surrogate pair even when escaped."""
    return _text({name: _unicode(value) for name, value in raw.items()})


def _evaluation_row(evaluation: Evaluation) -> dict[str, Any]:
    """As ``asdict`` has it, twenty times as fast: there are 600,000."""
    return {
        "minutes": evaluation.minutes,
        "samples": evaluation.samples,
        "quality": evaluation.quality,
    }


def _doubt_row(doubt: Doubt) -> dict[str, Any]:
    return {"kind": doubt.kind, "text": _unicode(doubt.text), "resolved": doubt.resolved}


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        name: The column, and the field of the type.
        sql: DuckDB's type.
        store: From the field's value to the column's.
        load: Back again; never called with None.
        needed: Whether every row has it: the type's field has no default.
        sound: SQL that holds of every value but NULL, with {} for the column; a file of which it
            does not hold was damaged, or written by something else.
    """

    name: str
    sql: str
    store: Callable[[Any], Any] = _same
    load: Callable[[Any], Any] = _same
    needed: bool = False
    sound: str = "true"

    @property
    def unsound(self) -> str:
        """SQL that holds of a row whose value cannot be read back."""
        quoted = f'"{self.name}"'
        null = str(self.needed).lower()
        return f"CASE WHEN {quoted} IS NULL THEN {null} ELSE NOT {self.sound.format(quoted)} END"


def _columns(sql: str, *names: str, needed: bool = False) -> tuple[Column, ...]:
    store = _unicode if sql == "VARCHAR" else _same
    sound = "isfinite({})" if sql == "DOUBLE" else "true"
    return tuple(Column(name, sql, store, needed=needed, sound=sound) for name in names)


_IS_OBJECT = "CASE WHEN json_valid({0}) THEN json_type({0}) = 'OBJECT' ELSE false END"


RESULT_COLUMNS: tuple[Column, ...] = (
    *_columns("VARCHAR", "id", "origin", needed=True),
    *_columns("VARCHAR", "round"),
    *_columns("VARCHAR", "division", "category", "submitter", needed=True),
    *_columns("VARCHAR", "system", "benchmark", "accelerator", needed=True),
    *_columns("INTEGER", "accelerators", "nodes"),
    *_columns("VARCHAR", "framework", needed=True),
    Column("run_minutes", "DOUBLE[]", list, tuple, needed=True),
    *_columns("DOUBLE", "minutes"),
    *_columns("VARCHAR", "score_basis", needed=True),
    *_columns("DOUBLE", "scaling_factor", needed=True),
    *_columns("DOUBLE", "global_batch_size", "samples_to_target"),
    *_columns("VARCHAR", "label", needed=True),
    *_columns("VARCHAR", "repository", "commit", "path", "machine", "recorded"),
    *_columns("DOUBLE", "samples_per_second"),
    *_columns("BOOLEAN", "carried_over"),
    Column("raw", "VARCHAR", _words, json.loads, sound=_IS_OBJECT),
    Column(
        "doubts",
        "STRUCT(kind VARCHAR, text VARCHAR, resolved BOOLEAN)[]",
        lambda doubts: [_doubt_row(doubt) for doubt in doubts],
        lambda rows: tuple(Doubt(**row) for row in rows),
    ),
    *_columns("VARCHAR", "task"),
    *_columns("INTEGER", "accelerators_per_node", "hosts", "host_processors"),
    *_columns("VARCHAR", "host_processor", "interconnect"),
    *_columns("VARCHAR", "framework_name", "framework_version"),
    Column("software", "VARCHAR", _words, json.loads, sound=_IS_OBJECT),
    *_columns("DOUBLE", "energy_joules"),
)

# Which result a run belongs to, and its place in it: in front of the run's own columns.
_RUN_KEYS = (
    Column("result_id", "VARCHAR", needed=True),
    Column("run_index", "INTEGER", needed=True),
)

_RUN_FIELDS: tuple[Column, ...] = (
    *_columns("VARCHAR", "source", needed=True),
    *_columns("VARCHAR", "benchmark", "division", "submitter", "platform"),
    *_columns("DOUBLE", "minutes", "init_minutes"),
    *_columns("VARCHAR", "status"),
    *_columns("DOUBLE", "quality"),
    Column(
        "target",
        "VARCHAR",
        lambda target: _text(target.to_dict()),
        lambda text: Target.from_dict(json.loads(text)),
    ),
    *_columns("DOUBLE", "samples_to_target", "global_batch_size"),
    # A seed is any whole number that a log holds: wider than any integer column.
    Column("seed", "VARCHAR", str, int),
    *_columns("DOUBLE", "train_samples", "eval_samples"),
    Column(
        "evaluations",
        "STRUCT(minutes DOUBLE, samples DOUBLE, quality DOUBLE)[]",
        lambda evaluations: [_evaluation_row(evaluation) for evaluation in evaluations],
        lambda rows: tuple(Evaluation(**row) for row in rows),
    ),
    *_columns("DOUBLE", "samples_per_second"),
    Column("efficiency", "VARCHAR", _text, json.loads),
    Column("settings", "VARCHAR", _text, json.loads),
    Column("environment", "VARCHAR", _text, json.loads),
    *_columns("VARCHAR", "content"),
    *_columns("BOOLEAN", "available"),
    *_columns("DOUBLE", "energy_joules"),
)

RUN_COLUMNS: tuple[Column, ...] = _RUN_KEYS + _RUN_FIELDS


def result_to_row(result: Result) -> tuple[Any, ...]:
    """The values in the order of ``RESULT_COLUMNS``."""
    return _to_row(result, RESULT_COLUMNS)


def run_to_row(result_id: str, run_index: int, run: Run) -> tuple[Any, ...]:
    """The values in the order of ``RUN_COLUMNS``.

    Args:
        result_id: The result that the run belongs to.
        run_index: Its place among the result's runs, from 0.
        run: The run.
    """
    return (result_id, run_index, *_to_row(run, _RUN_FIELDS))


def result_from_row(row: Mapping[str, Any]) -> Result:
    """The result of one row, by column name; unknown columns are left out."""
    return Result(**_from_row(row, RESULT_COLUMNS, _NULLABLE_RESULT))


def run_from_row(row: Mapping[str, Any]) -> Run:
    """The run of one row, by column name; unknown columns are left out."""
    return Run(**_from_row(row, _RUN_FIELDS, frozenset()))


# Fields without a default whose None is a value of its own.
_NULLABLE_RESULT = frozenset(
    {"round", "accelerators", "nodes", "minutes", "global_batch_size", "samples_to_target"}
)


def _to_row(record: Result | Run, columns: tuple[Column, ...]) -> tuple[Any, ...]:
    assert {column.name for column in columns} == {field.name for field in fields(record)}
    return tuple(
        None if (value := getattr(record, column.name)) is None else column.store(value)
        for column in columns
    )


def _from_row(
    row: Mapping[str, Any], columns: tuple[Column, ...], nullable: frozenset[str]
) -> dict[str, Any]:
    found = {}
    for column in columns:
        value = row.get(column.name)
        if value is not None:
            found[column.name] = column.load(value)
        elif column.name in nullable:
            found[column.name] = None
    return found
