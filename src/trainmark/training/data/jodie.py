"""The interaction streams of JODIE, as published: one table in a text file.

Kumar, Zhang, Leskovec, "Predicting Dynamic Embedding Trajectory in Temporal Interaction Networks",
2019 (arXiv:1908.01207), snap.stanford.edu/jodie. The first line names the columns; every other line
is user, item, seconds since the first interaction, a label (not used here) and the features of
the interaction, all separated by commas, in the order of time. Users and items are numbered from 0
each; here the items follow on the users.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from trainmark.training.data.interactions import Interactions
from trainmark.types import Finding, Severity, UsageError

__all__ = ["Table", "check_table", "read_table", "scan_table"]

COLUMNS = "user_id,item_id,timestamp,state_label"
_LEADING = 4
_BLOCK = 1 << 24
_FIRST_RECORDS = 1000
_LINE_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What a file holds, without having been read.

    Attributes:
        file: The file.
        interactions: Its lines but the first.
        features: Features of an interaction.
    """

    file: Path
    interactions: int
    features: int


def scan_table(file: Path) -> Table:
    """Look at the first lines of a stream and count the others.

    Raises:
        UsageError: It cannot be read or is no such table; says which line is wrong.
    """
    try:
        with file.open("rb") as stream:
            header = stream.readline(_LINE_LIMIT)
            if not header.startswith(COLUMNS.encode()):
                raise _wrong(file, 1, f"it starts with {_short(header)}, not with {COLUMNS!r}")
            record = stream.readline(_LINE_LIMIT)
            lines, ended = 1, True
            while block := stream.read(_BLOCK):
                lines += block.count(b"\n")
                ended = block.endswith(b"\n")
    except OSError as error:
        raise UsageError(
            f"cannot read the interactions in {file}: {error.strerror or error}",
            hint="Fetch the file from http://snap.stanford.edu/jodie/ and put it there.",
        ) from error
    features = len(_numbers(file, 2, record)) - _LEADING
    return Table(file=file, interactions=lines + (not ended), features=features)


def read_table(table: Table) -> Interactions:
    """The whole stream.

    Args:
        table: What ``scan_table`` found.

    Raises:
        UsageError: A line is not as it should be; says which.
    """
    import pandas  # type: ignore[import-untyped]  # reads numbers far faster than numpy

    kinds = {2: np.float64} | {_LEADING + i: np.float32 for i in range(table.features)}
    try:
        frame = pandas.read_csv(
            table.file,
            header=None,
            skiprows=1,
            skip_blank_lines=False,
            dtype={0: np.int64, 1: np.int64, 3: np.float64, **kinds},
        )
    except (OSError, ValueError, OverflowError) as error:  # a ParserError is a ValueError
        _find_wrong_line(table)
        raise UsageError(
            f"{table.file} is no table of interactions: {error}",
            hint="Fetch it again from http://snap.stanford.edu/jodie/.",
        ) from error
    ids = frame[[0, 1]].to_numpy()
    times = frame[2].to_numpy()
    features = frame[list(range(_LEADING, _LEADING + table.features))].to_numpy(np.float32)
    fine = (
        len(frame.columns) == _LEADING + table.features
        and (ids >= 0).all()
        and (ids < len(ids)).all()
        and np.isfinite(times).all()
        and np.isfinite(features).all()
        and (np.diff(times) >= 0).all()
    )
    if not fine:
        _find_wrong_line(table)
    assert fine, "the lines that pandas reads are those that are checked one by one"
    users = int(ids[:, 0].max()) + 1
    return Interactions(
        sources=ids[:, 0].copy(),
        destinations=ids[:, 1] + users,
        times=times,
        features=features,
        nodes=users + int(ids[:, 1].max()) + 1,
    )


def check_table(file: Path, *, interactions: int, features: int) -> Iterator[Finding]:
    """What is wrong with a file: its form, its first thousand lines, its size.

    Args:
        file: The file, which exists.
        interactions: How many it should hold.
        features: How many features each should have.
    """
    try:
        table = scan_table(file)
        _find_wrong_line(table, _FIRST_RECORDS)
    except UsageError as error:
        yield Finding.of_error(error, rule="data.records", path=file)
        return
    if (table.interactions, table.features) != (interactions, features):
        yield Finding(
            rule="data.count",
            severity=Severity.WARNING,
            message="this is not the published stream: a run on it has another benchmark name",
            fix="Fetch the file from http://snap.stanford.edu/jodie/ again, and whole.",
            path=str(file),
            expected=f"{interactions:,} interactions of {features} features",
            found=f"{table.interactions:,} interactions of {table.features} features",
        )


def _find_wrong_line(table: Table, limit: int | None = None) -> None:
    """Raise for the first line that is not as it should be."""
    latest = -math.inf
    with table.file.open("rb") as stream:
        lines = iter(partial(stream.readline, _LINE_LIMIT), b"")
        for number, line in enumerate(itertools.islice(lines, 1, None), start=2):
            if limit is not None and number > limit + 1:
                return
            values = _numbers(table.file, number, line)
            if len(values) != _LEADING + table.features:
                wanted = f"the first record has {_LEADING + table.features}"
                raise _wrong(table.file, number, f"it has {len(values)} fields, {wanted}")
            if max(values[:2]) >= table.interactions:
                wanted = f"users and items are numbered without gaps, so below {table.interactions}"
                raise _wrong(table.file, number, wanted)
            if values[2] < latest:
                raise _wrong(table.file, number, "its time is before that of the line above it")
            latest = values[2]


def _numbers(file: Path, number: int, line: bytes) -> list[float]:
    """The fields of one record."""
    fields = line.strip().split(b",")
    try:
        ids, others = [int(field) for field in fields[:2]], [float(field) for field in fields[2:]]
    except ValueError:
        raise _wrong(file, number, f"{_short(line)} is not a row of numbers") from None
    if len(fields) < _LEADING:
        raise _wrong(file, number, f"it has {len(fields)} fields, at least {_LEADING} are needed")
    if min(ids) < 0 or max(ids) > np.iinfo(np.int32).max:
        raise _wrong(file, number, "users and items are numbered from 0")
    if not all(math.isfinite(value) for value in others):
        raise _wrong(file, number, "a number is missing or not finite")
    return [*ids, *others]


def _short(line: bytes) -> str:
    text = line[:60].decode("utf-8", "replace").strip()
    return repr(text + "..." if len(line) > len(text) + 2 else text)


def _wrong(file: Path, number: int, what: str) -> UsageError:
    return UsageError(
        f"{file}:{number}: {what}",
        hint=f"Expected lines of {COLUMNS} and features, as http://snap.stanford.edu/jodie/ "
        "publishes them: fetch the file again.",
    )
