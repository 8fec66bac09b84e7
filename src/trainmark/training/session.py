"""A session: probe the machine, then train a workload several times, each in a fresh process.

A session leaves a folder in the layout of a submission:

    OUT/session.json                                       what was asked, and what the probe saw
    OUT/<submitter>/systems/<system>.json                  the official system description
    OUT/<submitter>/results/<system>/<benchmark>/result_0.txt ...
"""

import dataclasses
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

import orjson

from trainmark import __version__
from trainmark.machine import describe_short, fingerprint, write_system
from trainmark.training import plugins
from trainmark.training.child import answers
from trainmark.training.division import DIVISIONS, OPEN
from trainmark.training.log_observer import Submission
from trainmark.training.messages import Request
from trainmark.types import (
    InterruptedRunError,
    System,
    UsageError,
    WorkloadSpec,
    atomic_write,
    unknown_name,
)

__all__ = [
    "Listener",
    "Order",
    "Session",
    "check_order",
    "new_folder",
    "refuse_impossible",
    "run_session",
    "safe_name",
]

_SEEDS = 2**31
# What a run may write at most; asked for before the work, not found out at its end.
_NEEDED_BYTES = 4 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What the user asks for.

    Attributes:
        workload: The workload's name.
        scale: "desk" or "full".
        runs: Number of runs.
        seed: Seed of the first run, the next ones count on; None draws one for each.
        assignments: ``name=value`` settings.
        data: The data folder, None for packaged data.
        out: The folder to make.
        system: The machine.
        command: The command line, to repeat it.
        division: "closed" refuses what the closed rules of the workload's round forbid; "open".
    """

    workload: str
    scale: str
    runs: int
    seed: int | None
    assignments: tuple[str, ...]
    data: Path | None
    out: Path
    system: System
    command: tuple[str, ...]
    division: str = OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What was done.

    Attributes:
        folder: The session's folder.
        logs: The result logs, in order.
        spec: The workload.
        machine: The machine's fingerprint.
        started: ISO date and time.
        division: "closed" or "open", as asked for.
    """

    folder: Path
    logs: tuple[Path, ...]
    spec: WorkloadSpec
    machine: str
    started: str
    division: str


class Listener(Protocol):
    """Told how the session goes, to show it."""

    def probing(self, order: Order) -> None:
        """The settings are being decided."""

    def preparing(self, text: str, share: float) -> None:
        """Data is being made; ``share`` of it, 0 to 1, is done."""

    def probed(self, spec: WorkloadSpec, answer: Mapping[str, Any]) -> None:
        """They are decided."""

    def message(self, run: int, message: Mapping[str, Any]) -> None:
        """A worker's message: "started", "step", "evaluated" or "stopped"."""


def run_session(order: Order, listener: Listener, now: Callable[[], datetime]) -> Session:
    """Carry out an order.

    Args:
        order: What is asked for.
        listener: Told how it goes.
        now: The clock, with its time zone.

    Raises:
        UsageError: Something in the order cannot be done; nothing was run.
        TrainmarkError: A run failed; the logs written until then stay.
        InterruptedRunError: Somebody stopped it; the same.
    """
    refuse_impossible(order)
    started = now().isoformat(timespec="milliseconds")
    with new_folder(order.out):
        return _run(order, listener, started)


def _run(order: Order, listener: Listener, started: str) -> Session:
    listener.probing(order)
    answer = _probe(order, listener)
    spec = WorkloadSpec.from_dict(answer["spec"])
    listener.probed(spec, answer)
    results = _lay_out(order, spec, answer, started)
    logs = []
    for run in range(order.runs):
        log = results / f"result_{run}.txt"
        request = _run_request(order, spec, answer, log, _seed(order, run))
        try:
            for message in answers(request):
                listener.message(run, message)
        except InterruptedRunError as stopped:
            stopped.hint = _what_is_there(order, run)
            raise
        logs.append(log)
    return Session(
        folder=order.out,
        logs=tuple(logs),
        spec=spec,
        machine=fingerprint(order.system),
        started=started,
        division=order.division,
    )


def check_order(order: Order, variants: tuple[str, ...], listener: Listener) -> None:
    """See whether an order can be carried out with each of several settings; measure nothing.

    Args:
        order: What is asked for.
        variants: Each is one more ``name=value``, looked at by itself.
        listener: Told when data is being made.

    Raises:
        UsageError: One of them cannot be carried out.
    """
    refuse_impossible(order)
    request = dataclasses.replace(_probe_request(order), mode="check", variants=variants)
    for message in answers(request):
        listener.preparing(message["text"], message["share"])


def refuse_impossible(order: Order) -> None:
    """See whether an order makes sense at all, before any process is started for it.

    Raises:
        UsageError: No such workload or division, or no runs.
    """
    if order.workload not in plugins.workload_names():
        raise unknown_name("workload", order.workload, plugins.workload_names())
    if order.division not in DIVISIONS:
        raise unknown_name("division", order.division, DIVISIONS)
    if order.runs < 1:
        raise UsageError(f"--runs {order.runs} is not possible", hint="Ask for 1 run or more.")


@contextmanager
def new_folder(folder: Path) -> Iterator[None]:
    """A folder for results, made at the start and taken away again if nothing was put into it.

    Args:
        folder: It may be there if it is empty.

    Raises:
        UsageError: It cannot be made or written to, holds something, or there is no room.
    """
    _make_folder(folder)
    try:
        yield
    finally:
        with suppress(OSError):  # there is something in it
            folder.rmdir()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        occupied = any(folder.iterdir())
        free = shutil.disk_usage(folder).free
        writable = os.access(folder, os.W_OK | os.X_OK)
    except OSError as error:
        raise UsageError(
            f"cannot make the folder {folder}: {error.strerror}",
            hint="Give another place with --out DIR.",
        ) from error
    if not writable:
        raise UsageError(
            f"the folder {folder} may not be written to", hint="Give another with --out DIR."
        )
    if occupied:
        raise UsageError(
            f"the folder {folder} is not empty; results are never mixed or overwritten",
            hint="Give a new folder with --out DIR, or leave --out away.",
        )
    if free < _NEEDED_BYTES:
        raise UsageError(
            f"only {free >> 10} KiB are free where {folder} lies; a session needs 4 MiB",
            hint="Free some space, or give another place with --out DIR.",
        )


def _probe(order: Order, listener: Listener) -> Mapping[str, Any]:
    found: Mapping[str, Any] | None = None
    for message in answers(_probe_request(order)):
        if message["kind"] == "preparing":
            listener.preparing(message["text"], message["share"])
        else:
            found = message
    assert found is not None, "a probe answers once or raises"
    return found


def _probe_request(order: Order) -> Request:
    return Request(
        mode="probe",
        workload=order.workload,
        scale=order.scale,
        assignments=order.assignments,
        data=order.data,
        division=order.division,
    )


def _lay_out(order: Order, spec: WorkloadSpec, answer: Mapping[str, Any], started: str) -> Path:
    """Make folders, session.json and the system description; the folder of the logs."""
    system = dataclasses.replace(order.system, division=order.division)
    root = order.out / safe_name(system.submitter)
    name = safe_name(system.system_name)
    results = root / "results" / name / spec.benchmark
    session = {
        "version": __version__,
        "command": list(order.command),
        "started": started,
        "machine": fingerprint(system),
        "machine_title": describe_short(system),
        "workload": spec.name,
        "scale": spec.scale,
        "benchmark": spec.benchmark,
        "division": order.division,
        "title": spec.title,
        "dataset": spec.dataset,
        "target": spec.target.to_dict(),
        "label": spec.label,
        "probe": {
            "candidates": answer["candidates"],
            "matmul_peak_flop_per_s": {answer["settings"]["precision"]: answer["matmul_peak"]},
            "unusable": answer["unusable"],
        },
    }
    try:
        results.mkdir(parents=True)
        (root / "systems").mkdir()
    except OSError as error:
        raise UsageError(
            f"cannot make folders in {order.out}: {error.strerror}",
            hint="Give another place with --out DIR.",
        ) from error
    write_system(system, root / "systems" / f"{name}.json")
    atomic_write(order.out / "session.json", orjson.dumps(session, option=orjson.OPT_INDENT_2))
    return results


def _run_request(
    order: Order,
    spec: WorkloadSpec,
    answer: Mapping[str, Any],
    log: Path,
    seed: int,
) -> Request:
    return Request(
        mode="train",
        workload=order.workload,
        scale=order.scale,
        settings=dict(answer["settings"]),
        spec=spec,
        data=order.data,
        seed=seed,
        log=log,
        submission=Submission(
            org=order.system.submitter,
            platform=order.system.system_name,
            division=order.division,
            status=order.system.status,
            ruleset=spec.ruleset,
            seed=seed,
        ),
        matmul_peak=answer["matmul_peak"],
    )


def _what_is_there(order: Order, ended: int) -> str:
    if not ended:
        return "No run had ended before it."
    return f"Runs that had ended before it: {ended}. trainmark report {order.out} shows them."


def _seed(order: Order, run: int) -> int:
    """The run's seed: counted on from the user's, or drawn from the system."""
    if order.seed is not None:
        return (order.seed + run) % _SEEDS
    return int.from_bytes(os.urandom(4), "big") % _SEEDS


def safe_name(text: str) -> str:
    """A text as a folder name: letters, digits and ``._+-``; no way out of the folder."""
    return re.sub(r"[^\w.+-]+", "_", text).strip("._") or "unnamed"
