"""Damage result logs for as long as asked for, and see that each gets a sound verdict.

    python tests/fuzz/long.py --lines 1000000 --files 10000
    python tests/fuzz/long.py --minutes 10

Every log has a number of its own: a failure names it, and ``--only NUMBER`` runs it again. What
fails is saved in the folder given with ``--save``. Exit status 0: everything held; 1: something
failed.
"""

import argparse
import json
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

_ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ROOT), str(_ROOT / "src")]

from tests.fuzz.corpus import corpus  # noqa: E402 -- the path comes first
from tests.fuzz.mutate import mutate_file, mutate_line  # noqa: E402
from tests.fuzz.properties import ROUNDS, check_holds, pieces_hold  # noqa: E402

_LINES_A_LOG = 20
_LOGS_A_TASK = 200
_SLOW_SECONDS = 5.0


@dataclass(frozen=True)
class Task:
    """Some logs to damage: ``kind`` is "lines" or "files", the numbers are those of the logs."""

    kind: str
    numbers: range
    save: str


@dataclass
class Report:
    """What came of it."""

    logs: int = 0
    lines: int = 0
    byte_count: int = 0
    findings: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest_seconds: float = 0.0
    slowest: str = ""

    def add(self, other: "Report") -> None:
        """Count the other's as well."""
        self.logs += other.logs
        self.lines += other.lines
        self.byte_count += other.byte_count
        self.findings += other.findings
        self.failures += other.failures
        if other.slowest_seconds > self.slowest_seconds:
            self.slowest_seconds, self.slowest = other.slowest_seconds, other.slowest


def damaged(kind: str, number: int, logs: Sequence[Sequence[bytes]]) -> tuple[bytes, str | None]:
    """The log of that number, and the round that it is held to.

    Args:
        kind: "lines" for a log with twenty damaged lines, "files" for one damaged as a whole.
        number: Which one; the same number gives the same bytes.
        logs: Good logs.
    """
    rng = Random(f"{kind} {number}")
    lines = list(rng.choice(logs))
    round_name = rng.choice(ROUNDS)
    if kind == "files":
        return mutate_file(rng, lines, rng.choice(logs)), round_name
    for _ in range(_LINES_A_LOG):
        place = rng.randrange(len(lines))
        lines.insert(rng.randrange(len(lines) + 1), mutate_line(rng, lines[place]))
    return b"\n".join(lines) + b"\n", round_name


def run(task: Task) -> Report:
    """Do a task, in a process of its own.

    Args:
        task: What to do.
    """
    report = Report()
    with TemporaryDirectory() as folder:
        logs = corpus(Path(folder))
    for number in task.numbers:
        data, round_name = damaged(task.kind, number, logs)
        report.logs += 1
        report.lines += _LINES_A_LOG if task.kind == "lines" else 0
        report.byte_count += len(data)
        begin = time.perf_counter()
        try:
            verdict = check_holds(data, round_name)
            if number % 8 == 0:
                pieces_hold(data, 1 + number % 997)
        except Exception:  # noqa: BLE001 -- any exception at all is what is looked for
            report.failures.append(_failure(task, number, data))
            continue
        seconds = time.perf_counter() - begin
        report.findings += Counter({one.rule for one in verdict.findings} if verdict else ())
        if seconds > report.slowest_seconds:
            report.slowest_seconds, report.slowest = seconds, f"{task.kind} {number}"
        if seconds > _SLOW_SECONDS:
            report.failures.append(f"{task.kind} {number} took {seconds:.1f} seconds")
    return report


def _failure(task: Task, number: int, data: bytes) -> str:
    if task.save:
        Path(task.save, f"{task.kind}_{number}.txt").write_bytes(data)
    return f"{task.kind} {number}: {traceback.format_exc(limit=-3)[-1500:]}"


def _tasks(args: argparse.Namespace) -> Iterator[Task]:
    """As many as were asked for; without an end when it is a time."""
    if args.only:
        kind, number = args.only
        yield Task(kind, range(int(number), int(number) + 1), args.save)
        return
    if args.minutes:
        for number in count(0, _LOGS_A_TASK):
            kind = "files" if number // _LOGS_A_TASK % 4 == 0 else "lines"
            yield Task(kind, range(number, number + _LOGS_A_TASK), args.save)
    for kind, total in (("lines", -(-args.lines // _LINES_A_LOG)), ("files", args.files)):
        for begin in range(0, total, _LOGS_A_TASK):
            yield Task(kind, range(begin, min(total, begin + _LOGS_A_TASK)), args.save)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=0, help="damaged lines to check")
    parser.add_argument("--files", type=int, default=0, help="damaged files to check")
    parser.add_argument("--minutes", type=float, default=0.0, help="go on for so long")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--save", default="", help="folder for logs that fail")
    parser.add_argument("--only", nargs=2, metavar=("KIND", "NUMBER"), help="one log again")
    args = parser.parse_args()
    if not (args.lines or args.files or args.minutes or args.only):
        parser.error("say how much: --lines, --files, --minutes or --only")
    if args.save:
        Path(args.save).mkdir(parents=True, exist_ok=True)
    total, begin = Report(), time.monotonic()
    tasks = _tasks(args)
    with ProcessPoolExecutor(args.jobs) as pool:
        while batch := list(islice(tasks, args.jobs * 4)):
            for report in pool.map(run, batch):
                total.add(report)
            _progress(total, time.monotonic() - begin)
            if args.minutes and time.monotonic() - begin > args.minutes * 60:
                break
    _say(total, time.monotonic() - begin)
    return 1 if total.failures else 0


def _progress(total: Report, seconds: float) -> None:
    if sys.stderr.isatty():
        print(
            f"\r{total.logs:,} logs, {len(total.failures)} failures, {seconds:.0f} s",
            end="",
            file=sys.stderr,
        )


def _say(total: Report, seconds: float) -> None:
    for failure in total.failures[:20]:
        print(failure)
    print(
        json.dumps(
            {
                "logs": total.logs,
                "damaged_lines": total.lines,
                "megabytes": round(total.byte_count / 1e6, 1),
                "seconds": round(seconds, 1),
                "failures": len(total.failures),
                "rules_found": len(total.findings),
                "slowest_seconds": round(total.slowest_seconds, 2),
                "slowest": total.slowest,
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    sys.exit(main())
