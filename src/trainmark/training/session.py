"""A session: probe the machine, then train a workload several times, each in a fresh process.

A session leaves a folder in the layout of a submission:

    OUT/session.json                                       what was asked, and what the probe saw
    OUT/<submitter>/systems/<system>.json                  the official system description
    OUT/<submitter>/results/<system>/<benchmark>/result_0.txt ...
"""

import os
import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

import orjson

from trainmark import __version__
from trainmark.machine import describe_short, fingerprint, write_system
from trainmark.training import plugins
from trainmark.training.child import answers
from trainmark.training.log_observer import Submission
from trainmark.training.messages import Request
from trainmark.types import (
    InterruptedRunError,
    System,
    TrainmarkError,
    UsageError,
    WorkloadSpec,
    atomic_write,
    unknown_name,
)

__all__ = ["Listener", "Order", "Session", "run_session"]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What was done.

    Attributes:
        folder: The session's folder.
        logs: The result logs, in order.
        spec: The workload.
        machine: The machine's fingerprint.
        started: ISO date and time.
        division: "closed", or "open" when a fixed setting was changed.
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
    if order.workload not in plugins.workload_names():
        raise unknown_name("workload", order.workload, plugins.workload_names())
    if order.runs < 1:
        raise UsageError(f"--runs {order.runs} is not possible", hint="Ask for 1 run or more.")
    started = now().isoformat(timespec="milliseconds")
    _make_folder(order.out)
    listener.probing(order)
    try:
        answer = _probe(order)
    except TrainmarkError:
        with suppress(OSError):  # somebody else has put something there meanwhile
            order.out.rmdir()
        raise
    spec = WorkloadSpec.from_dict(answer["spec"])
    listener.probed(spec, answer)
    division = "open" if answer["changed_fixed"] else "closed"
    results = _lay_out(order, spec, answer, started, division)
    logs = []
    for run in range(order.runs):
        log = results / f"result_{run}.txt"
        request = _run_request(order, spec, answer, division, log, _seed(order, run))
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
        division=division,
    )


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


def _probe(order: Order) -> Mapping[str, Any]:
    request = Request(
        mode="probe",
        workload=order.workload,
        scale=order.scale,
        assignments=order.assignments,
        data=order.data,
    )
    found = [message for message in answers(request) if message["kind"] == "probe"]
    assert len(found) == 1, "a probe answers once or raises"
    return found[0]


def _lay_out(
    order: Order, spec: WorkloadSpec, answer: Mapping[str, Any], started: str, division: str
) -> Path:
    """Make folders, session.json and the system description; the folder of the logs."""
    system = order.system
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
        "division": division,
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
    division: str,
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
            division=division,
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
