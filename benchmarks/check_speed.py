"""What checking costs: CPU seconds a log and MB/s, beside the official checker and two limits.

    python benchmarks/check_speed.py DIR [--limit 20] [--commands 5] [--round 5.0] [--json]

All ways meet the same logs below DIR in one run, log by log and in turn, so that a change of the
machine's speed meets them alike:

    check           trainmark: read and check_log, in this process
    official        mlperf-logging's compliance checker, in this process
    orjson          a limit: read the file, find the token lines, orjson.loads each
    grep            a limit: grep -c :::MLLOG over all of them, as a command
    check command   trainmark check LOG, from a cold start
    official command

Goals: check at most 2 times orjson, and at least 30 times less than official. --limit is in MB of
logs (0: all); logs are taken evenly from the whole of DIR. The official checker runs code that a
log may name: use published logs, or your own.
"""

import argparse
import contextlib
import json
import logging
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import orjson
from mlperf_logging.compliance_checker import mlp_compliance

from trainmark import mllog
from trainmark.rules import Ruleset, check_log, find_ruleset, ruleset_named
from trainmark.types import UsageError
from trainmark.types.garbage import collection_paused

TOKEN = b":::MLLOG"
WAYS = ("check", "official", "orjson")


@dataclass(slots=True)
class Spent:
    """CPU seconds of one way.

    Attributes:
        each: For each log, in order.
    """

    each: list[float] = field(default_factory=list)

    @property
    def total(self) -> float:
        """Of all logs."""
        return sum(self.each)

    def summary(self, size: int) -> dict[str, float]:
        """The numbers that are shown; ``size`` is that of all logs in bytes."""
        return {
            "cpu_seconds": self.total,
            "cpu_ms_a_log_median": 1e3 * statistics.median(self.each),
            "mb_per_cpu_second": size / 1e6 / self.total,
        }


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dir", type=Path)
    parser.add_argument("--limit", type=float, default=20.0, help="MB of logs, 0 for all")
    parser.add_argument("--commands", type=int, default=5, help="logs given to the commands")
    parser.add_argument("--round", help="where the folders do not tell")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    asked = None if options.round is None else ruleset_named(options.round)
    logs = _logs(options.dir, options.limit * 1e6)
    rules = {path: known for path in logs if (known := asked or _rules(path)) is not None}
    if not rules:
        sys.exit(f"no log below {options.dir} whose round is known; give --round")
    found = measure(rules) | _commands(rules, options.commands)
    print(json.dumps(found, indent=2) if options.json else "\n".join(_lines(found)))


def measure(rules: Mapping[Path, Ruleset]) -> dict[str, Any]:
    """CPU seconds of the ways that run in this process, and where those of check go.

    Args:
        rules: The logs, each with its round's rules.
    """
    logging.disable(logging.CRITICAL)
    spent = {way: Spent() for way in WAYS}
    reading = Spent()

    def check(path: Path) -> None:
        with collection_paused():  # as trainmark check does
            begin = process_time()
            log = mllog.read(path)
            reading.each.append(process_time() - begin)
            check_log(log, ruleset=rules[path])

    def official(path: Path) -> None:
        usage, ruleset = _official_names(rules[path])
        checker = mlp_compliance.make_checker(usage, ruleset, quiet=False, werror=False)
        try:
            mlp_compliance.main(str(path), f"{usage}_{ruleset}/common.yaml", checker)
        except Exception:  # noqa: BLE001 - it ends with any error on logs that it did not foresee
            mlp_compliance.enqueued_configs.clear()

    ways: dict[str, Callable[[Path], None]] = {
        "check": check,
        "official": official,
        "orjson": _parse_alone,
    }
    for path in list(rules)[:1]:  # what is loaded once, by each
        for run in ways.values():
            run(path)
    reading.each.clear()
    mllog.forget()  # each log is new to the reader
    for turn, path in enumerate(rules):
        for place in range(len(WAYS)):
            way = WAYS[(turn + place) % len(WAYS)]
            begin = process_time()
            ways[way](path)
            spent[way].each.append(process_time() - begin)
    size = sum(path.stat().st_size for path in rules)
    found: dict[str, Any] = {way: one.summary(size) for way, one in spent.items()}
    found["logs"], found["megabytes"] = len(rules), size / 1e6
    found["check"]["reading_share"] = reading.total / spent["check"].total
    found["grep"] = {
        "cpu_seconds": _command_seconds(["grep", "-c", TOKEN.decode(), *map(str, rules)])[0]
    }
    found["grep"]["mb_per_cpu_second"] = size / 1e6 / found["grep"]["cpu_seconds"]
    found["check_over_orjson"] = spent["check"].total / spent["orjson"].total
    found["official_over_check"] = spent["official"].total / spent["check"].total
    return found


def _parse_alone(path: Path) -> None:
    """The least that any reader has to do: the JSON of every token line."""
    data = path.read_bytes()
    token = data.find(TOKEN)
    while token >= 0:
        end = data.find(b"\n", token)
        end = len(data) if end < 0 else end
        with contextlib.suppress(orjson.JSONDecodeError):
            orjson.loads(data[token + len(TOKEN) : end])
        token = data.find(TOKEN, end)


def _commands(rules: Mapping[Path, Ruleset], count: int) -> dict[str, Any]:
    """CPU and wall seconds of both commands, the median over some logs."""
    seconds: dict[str, list[tuple[float, float]]] = {"check command": [], "official command": []}
    chosen = list(rules)[:: max(1, len(rules) // max(1, count))][:count]
    with tempfile.TemporaryDirectory() as folder:
        for path in chosen:
            usage, ruleset = _official_names(rules[path])
            name = rules[path].name
            ours = [
                sys.executable,
                "-m",
                "trainmark",
                "check",
                str(path.absolute()),
                "--round",
                name,
            ]
            theirs = [sys.executable, "-m", "mlperf_logging.compliance_checker"]
            theirs += ["--usage", usage, "--ruleset", ruleset, str(path.absolute())]
            seconds["check command"].append(_command_seconds(ours, folder))
            seconds["official command"].append(_command_seconds(theirs, folder))
    return {
        way: {
            "cpu_seconds_median": statistics.median(cpu for cpu, _ in each),
            "wall_seconds_median": statistics.median(wall for _, wall in each),
        }
        for way, each in seconds.items()
        if each
    }


def _command_seconds(
    command: Sequence[str | Path], folder: str | None = None
) -> tuple[float, float]:
    """CPU and wall seconds of a command; it may find errors."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    wall, after = perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def _logs(folder: Path, limit: float) -> list[Path]:
    """Logs below a folder, evenly taken from the whole of it up to a size."""
    logs = sorted(path for path in folder.rglob("result*.txt") if path.is_file())
    total = sum(path.stat().st_size for path in logs)
    step = max(1.0, total / limit) if limit else 1.0
    return [logs[int(place * step)] for place in range(int(len(logs) / step))]


def _rules(path: Path) -> Ruleset | None:
    """The official rules that a log is held to, None where they cannot be told."""
    try:
        found, _ = find_ruleset(mllog.read(path))
    except UsageError:
        return None
    return found if found.official else None


def _official_names(rules: Ruleset) -> tuple[str, str]:
    """Usage and ruleset as the official checker names them."""
    usage, _, number = rules.name.rpartition("-")
    return usage or "training", f"{number}.0"


def _lines(found: Mapping[str, Any]) -> list[str]:
    """What was measured, for people."""
    lines = [f"{found['logs']} logs, {found['megabytes']:.1f} MB; CPU seconds"]
    for way in WAYS:
        one = found[way]
        lines.append(
            f"  {way:17} {one['cpu_seconds']:9.3f} s  {one['cpu_ms_a_log_median']:8.2f} ms a log "
            f"(median)  {one['mb_per_cpu_second']:7.1f} MB/s"
        )
    grep = found["grep"]
    rate = f"{'':25}{grep['mb_per_cpu_second']:7.1f} MB/s"
    lines.append(f"  {'grep -c':17} {grep['cpu_seconds']:9.3f} s  {rate}")
    for way in ("check command", "official command"):
        if way in found:
            cpu, wall = found[way]["cpu_seconds_median"], found[way]["wall_seconds_median"]
            lines.append(f"  {way:17} {cpu:9.3f} s a log (median), {wall:.3f} s on the clock")
    lines += [
        f"check over orjson    {found['check_over_orjson']:6.2f}  (goal: at most 2)",
        f"official over check  {found['official_over_check']:6.1f}  (goal: at least 30)",
        f"of check, reading takes {found['check']['reading_share']:.0%}, the rules and the rest "
        f"{1 - found['check']['reading_share']:.0%}",
    ]
    return lines


if __name__ == "__main__":
    main()
