"""How long the catalogue's verbs take from a cold start, and where that time goes.

    python benchmarks/catalogue_speed.py [--runs 9] [--json]

Each command is a process of its own, in an empty home. Wall and CPU time are medians; the least is
shown too, for other work on the machine only adds. The phases are those of `results`, in fresh
processes as well.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

_ID = "v2.0/Graphcore/ipu-pod16-TF1-closed/resnet"
_COMMANDS: tuple[tuple[str, ...], ...] = (
    ("--help",),
    ("results",),
    ("results", "--benchmark", "resnet", "--round", "2.0"),
    ("results", "--text", "epyc", "--text", "nvlink"),
    ("results", "--columns", "id,minutes,per_dollar", "--benchmark", "resnet"),
    ("results", _ID),
    ("results", "--runs", "--limit", "5"),
    ("results", "--limit", "0", "--json"),
    ("results", "--quality"),
    ("sql",),
    ("sql", "SELECT round, count(*) FROM results GROUP BY ALL"),
    ("sql", "SELECT status, count(*) FROM runs GROUP BY ALL"),
)
_PHASES = """
import json, time
marks = {}
before = time.perf_counter()
def mark(name):
    global before
    now = time.perf_counter()
    marks[name] = 1000 * (now - before)
    before = now
import click
mark("click")
import trainmark.types
mark("types")
import trainmark.catalogue.engine
mark("DuckDB's engine")
from trainmark.catalogue import search
mark("the catalogue's modules")
from trainmark.cli import results_columns, results_table
mark("printing's modules")
with search.connect() as database:
    mark("a database in memory")
    search.open_results(database)
    mark("opening the files")
    database.execute("FROM results ORDER BY minutes, id LIMIT 25").fetchall()
    mark("the first 25 by minutes")
    database.execute("SELECT count(*) FROM results").fetchall()
    mark("how many there are")
    search.open_runs(database)
    database.execute("FROM runs WHERE result_id = 'ID'").fetchall()
    mark("the runs of one result")
mark("closing")
print(json.dumps(marks))
""".replace("ID", _ID)


def _median(values: Sequence[float]) -> float:
    return statistics.median(values)


def _timed(arguments: Sequence[str], runs: int, home: dict[str, str]) -> dict[str, float]:
    walls, cpus = [], []
    for _ in range(runs):
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "trainmark", *arguments],
            env=home,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        walls.append(time.perf_counter() - began)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus.append(after.ru_utime + after.ru_stime - spent.ru_utime - spent.ru_stime)
    return {"least": min(walls), "wall": _median(walls), "cpu": _median(cpus)}


def _phases(runs: int, home: dict[str, str]) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for _ in range(runs):
        done = subprocess.run(
            [sys.executable, "-c", _PHASES], env=home, capture_output=True, text=True, check=True
        )
        for name, spent in json.loads(done.stdout).items():
            found.setdefault(name, []).append(spent)
    return {name: min(values) for name, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        variables = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
        home = {**os.environ, **dict.fromkeys(variables, folder)}
        commands = {
            " ".join(arguments): _timed(arguments, asked.runs, home) for arguments in _COMMANDS
        }
        phases = _phases(asked.runs, home)
    if asked.json:
        print(json.dumps({"commands": commands, "phases": phases}, indent=2))
        return
    print("seconds: least wall, median wall, median CPU")
    for name, spent in commands.items():
        print(f"{spent['least']:6.2f} {spent['wall']:6.2f} {spent['cpu']:6.2f}  trainmark {name}")
    print("milliseconds, least of the runs")
    for name, spent_ms in phases.items():
        print(f"{spent_ms:6.1f}  {name}")


if __name__ == "__main__":
    main()
