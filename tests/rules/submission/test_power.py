"""Power folders: files, readings, energy."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.logs import RunShape, write_desk
from trainmark.rules.submission import power_logs
from trainmark.rules.submission.power import Power, check_power, measure_power
from trainmark.rules.submission.power_energy import (
    PowerRun,
    RunEnergy,
    energy_score,
    joules_of,
    official_joules_of,
)
from trainmark.rules.submission.power_logs import PowerLog, Sample, read_power_log
from trainmark.rules.submission.power_verdict import measure_folder, power_verdict
from trainmark.types import Event, Finding, Severity

START_MS = 1_700_000_000_000
SECONDS = 120


def record(key: str, value: Any, seconds: float, metadata: Any = None) -> str:
    time_ms = START_MS + round(seconds * 1000)
    return ":::MLLOG " + json.dumps(
        {"time_ms": time_ms, "key": key, "value": value, "metadata": metadata or {}}
    )


def readings(times: Iterable[float], watts: float = 500.0) -> list[str]:
    return [record("power_reading", watts, seconds) for seconds in times]


def log_lines(lines: Sequence[str], *, until: float = SECONDS + 5) -> list[str]:
    return [
        record("power_measurement_start", None, -5),
        *lines,
        record("power_measurement_stop", None, until),
    ]


GOOD = log_lines(readings(range(-4, SECONDS + 6)))


@dataclass
class Folder:
    """A benchmark folder with power logs of several runs."""

    root: Path
    runs: int = 3

    def write(self, name: str = "node_0.txt", lines: Sequence[str] = GOOD) -> "Folder":
        """The same power log for every run."""
        for number in range(self.runs):
            self.put(f"result_{number}/{name}", lines)
        return self

    def put(self, place: str, lines: Sequence[str] = GOOD) -> Path:
        path = self.root / "power" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    def timed(self) -> list[PowerRun]:
        return [
            PowerRun(
                log=self.root / f"result_{number}.txt",
                start_ms=START_MS,
                stop_ms=START_MS + SECONDS * 1000,
            )
            for number in range(self.runs)
        ]

    def measure(self, nodes: int | None = None) -> Power:
        return measure_power(self.root / "power", self.timed(), nodes=nodes)

    def found(self, nodes: int | None = None) -> dict[str, Finding]:
        findings = self.measure(nodes).findings
        named = {one.rule: one for one in findings}
        assert len(named) == len(findings), findings
        return named


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_a_good_folder_has_no_findings(folder: Folder) -> None:
    power = folder.write("node_0.txt").write("node_1.txt").measure(nodes=2)
    assert power.findings == ()
    assert check_power(folder.root / "power", folder.timed(), nodes=2) == []
    assert [run.nodes for run in power.runs] == [2, 2, 2]
    assert power.runs[0].joules == pytest.approx(2 * 500 * SECONDS)
    assert power.runs[0].kwh == pytest.approx(2 * 500 * SECONDS / 3.6e6)
    assert power.runs[0].watts == pytest.approx(1000)


def test_metadata_that_is_text_is_fine(folder: Folder) -> None:
    lines = [line.replace('"metadata": {}', '"metadata": ""') for line in GOOD]
    assert '"metadata": ""' in lines[3]
    assert folder.write(lines=lines).found() == {}


def test_a_run_without_power_logs(folder: Folder) -> None:
    folder.write()
    (folder.root / "power/result_1").rename(folder.root / "power/result_7")
    found = folder.found()
    assert found.keys() == {"power.no_run", "power.no_log"}
    assert found["power.no_run"].is_error
    assert "result_1.txt" in found["power.no_run"].message
    assert '"result_7"' in found["power.no_log"].message


def test_an_empty_power_folder(folder: Folder) -> None:
    (folder.root / "power").mkdir()
    assert [one.rule for one in folder.measure().findings] == ["power.no_run"] * 3
    for number in range(3):
        (folder.root / f"power/result_{number}").mkdir()
    found = folder.found()
    assert found.keys() == {"power.no_nodes"}
    assert "(and 2 more alike" in found["power.no_nodes"].message
    assert [run.joules for run in folder.measure().runs] == [None] * 3


def test_no_power_folder_is_a_finding_not_an_error_of_ours(folder: Folder) -> None:
    (finding,) = folder.measure().findings
    assert finding.rule == "power.unreadable"


def test_fewer_logs_than_nodes(folder: Folder) -> None:
    found = folder.write("node_0.txt").write("node_1.txt").found(nodes=8)
    assert "2 of 8 nodes" in found["power.nodes"].message


@pytest.mark.parametrize(
    ("names", "severity"),
    [
        (("node_1.txt",), Severity.ERROR),
        (("node_0.txt", "node_2.txt"), Severity.ERROR),
        (("node_0.txt", "node_00.txt"), Severity.WARNING),  # the official one sees no doubles
        (("node_1.txt", "node_2.txt", "nodes_1_to_2.png"), Severity.WARNING),
    ],
)
def test_odd_numbers(folder: Folder, names: tuple[str, ...], severity: Severity) -> None:
    for name in names:
        folder.write(name)
    assert folder.found()["power.numbering"].severity is severity


def test_switches_are_numbered_too(folder: Folder) -> None:
    folder.write().write("sw_1.txt", [record("interconnect_power_est", 1000, 0)])
    assert '"sw_1.txt"; expected sw_0.txt, each once' in folder.found()["power.numbering"].message


def test_runs_with_other_numbers_of_nodes(folder: Folder) -> None:
    folder.write("node_0.txt").write("node_1.txt")
    (folder.root / "power/result_2/node_1.txt").unlink()
    found = folder.found()
    assert found.keys() == {"power.uneven"}
    assert "power logs of 1 nodes, in most runs of 2" in found["power.uneven"].message
    assert found["power.uneven"].path.endswith("result_2")


def test_an_estimated_switch_counts(folder: Folder) -> None:
    folder.write().write("sw_0.txt", [record("interconnect_power_est", 1000, -9_999)])
    power = folder.measure()
    assert power.findings == ()
    assert power.runs[0].switch_joules == 1000 * SECONDS
    official = power.runs[0].official_joules
    assert official == pytest.approx(1500 * SECONDS, rel=0.01)


def test_a_measured_switch_is_nothing_to_the_official_tool(folder: Folder) -> None:
    found = folder.write().write("sw_0.txt").found()
    assert found.keys() == {"power.switch", "power.energy"}
    assert found["power.energy"].severity is Severity.NOTE


def test_a_switch_log_without_power(folder: Folder) -> None:
    found = folder.write().write("sw_0.txt", log_lines([])).found()
    assert found.keys() == {"power.no_readings"}


def test_a_node_log_without_readings(folder: Folder) -> None:
    found = folder.write(lines=log_lines([])).found()
    assert found.keys() == {"power.no_readings"}
    assert folder.measure().runs[0].joules is None


@pytest.mark.parametrize(
    ("lines", "rule", "severity", "said"),
    [
        (GOOD[1:], "power.start", Severity.ERROR, "official summarizer stops"),
        (GOOD[:-1], "power.stop", Severity.WARNING, "no power_measurement_stop"),
        (
            [*GOOD[:-1], record("power_measurement_stop", None, -5)],
            "power.stop",
            Severity.ERROR,
            "0 seconds after",
        ),
        (
            log_lines(readings(range(-4, SECONDS + 6, 2))),
            "power.rate",
            Severity.WARNING,
            "0.50 readings a second",
        ),
        (
            log_lines([*GOOD[1:41], *GOOD[46:-1]]),
            "power.gap",
            Severity.WARNING,
            "6.0 seconds without a reading; more than 2.0 seconds once",
        ),
        (
            log_lines([*GOOD[1:31], GOOD[32], GOOD[31], *GOOD[33:-1]]),
            "power.order",
            Severity.WARNING,
            "1 seconds before the one above",
        ),
        (
            log_lines([*GOOD[1:31], record("power_reading", -3, 26), *GOOD[32:-1]]),
            "power.negative",
            Severity.WARNING,
            "the least -3",
        ),
        (
            log_lines(readings(range(4, SECONDS + 6))),
            "power.window",
            Severity.ERROR,
            "4.0 of the run's 120.0 seconds were not measured: the first reading is 4.0 seconds "
            "after run_start, the last 5.0 seconds after run_stop",
        ),
        (
            log_lines(readings(range(-4, SECONDS - 9)), until=SECONDS),
            "power.window",
            Severity.ERROR,
            "10.0 of the run's",
        ),
        (
            log_lines(readings(range(18_000, 18_000 + SECONDS)), until=19_000),
            "power.window",
            Severity.ERROR,
            "no reading is from the run: they are 5.00 hours later",
        ),
    ],
)
def test_readings_that_are_not_as_they_should(
    folder: Folder, lines: list[str], rule: str, severity: Severity, said: str
) -> None:
    found = folder.write(lines=lines).found()
    assert found.keys() - {"power.energy"} == {rule}
    assert found[rule].severity is severity
    assert said in found[rule].message
    assert "(and 2 more alike in this power folder)" in found[rule].message


def test_readings_cut_to_whole_seconds_have_no_gaps(folder: Folder) -> None:
    times = sorted({int(number * 1.05) for number in range(-4, SECONDS)})
    assert 2 in {after - before for before, after in pairwise(times)}
    assert folder.write(lines=log_lines(readings(times))).found() == {}


def test_sixty_readings_are_needed(tmp_path: Path) -> None:
    short = Folder(tmp_path)
    short.write(lines=log_lines(readings(range(-2, 57)), until=57))
    runs = [
        PowerRun(log=run.log, start_ms=START_MS, stop_ms=START_MS + 55_000) for run in short.timed()
    ]
    (finding,) = check_power(tmp_path / "power", runs)
    assert finding.rule == "power.samples"
    assert finding.message.startswith("59 readings; expected 60 or more")


def test_a_finding_names_file_and_line(folder: Folder) -> None:
    folder.write()
    lines = [*GOOD[:20], record("power_reading", "full", 15), *GOOD[20:]]
    path = folder.put("result_1/node_0.txt", lines)
    found = folder.found()["power.value"]
    assert (found.path, found.line_no) == (str(path), 21)
    assert 'power_reading is "full"' in found.message


@pytest.mark.parametrize("value", [True, None, "12", [], float("nan"), float("inf"), 10**400])
def test_readings_that_are_no_numbers(folder: Folder, value: Any) -> None:
    folder.write(lines=[*GOOD[:20], record("power_reading", value, 15.5), *GOOD[20:]])
    findings = folder.measure().findings
    assert {one.rule for one in findings} <= {"power.value", "power.record"}
    assert len(findings) == 3
    assert folder.measure().runs[0].joules == pytest.approx(500 * SECONDS)


@pytest.mark.parametrize("value", [0, -1, "0.9", True])
def test_an_efficiency_that_is_none(folder: Folder, value: Any) -> None:
    folder.write(lines=[record("conversion_eff", value, -5), *GOOD])
    power = folder.measure()
    assert {one.rule for one in power.findings} == {"power.value"}
    assert power.runs[0].joules == pytest.approx(500 * SECONDS)


def test_the_efficiency_counts(folder: Folder) -> None:
    folder.write(lines=[record("conversion_eff", 0.96, -5), *GOOD])
    assert folder.measure().runs[0].joules == pytest.approx(0.96 * 500 * SECONDS)


@pytest.mark.parametrize(
    "junk", [b"", b"\0" * 100, b"\xff\xfe:\0:\0", b":::MLLOG {", b":::MLLOG []\n", b"x" * 9999]
)
def test_any_bytes_make_findings(folder: Folder, junk: bytes) -> None:
    folder.write()
    folder.put("result_1/node_0.txt").write_bytes(junk)
    found = {one.rule for one in folder.measure().findings}
    assert found
    assert found <= {"power.record", "power.start", "power.no_readings"}


def test_a_log_that_is_too_large_is_not_read(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(power_logs, "LARGEST_BYTES", 1000)
    folder.write()
    (finding, *_) = folder.measure().findings
    assert finding.rule == "power.unreadable"


def test_links_out_of_the_folder_are_not_read(folder: Folder, tmp_path: Path) -> None:
    folder.write()
    inside = folder.root / "power/result_0/node_1.txt"
    inside.symlink_to("node_0.txt")
    outside = tmp_path / "outside.txt"
    outside.write_text("\n".join(GOOD), encoding="utf-8")
    (folder.root / "power/result_0/node_2.txt").symlink_to(outside)
    assert [run.nodes for run in folder.measure().runs] == [2, 1, 1]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Total Power Usage: 0.03 kWh", True),
        ("Total Power Usage: 0.0167 kWh", False),
        ("Total: 0.05 kWh", False),
        ("no number", False),
    ],
)
def test_a_stated_total_is_checked(folder: Folder, text: str, wrong: bool) -> None:
    folder.write().write("sw_0.txt", [record("interconnect_power_est", 1000, 0)])
    folder.put("result_0/total_power.txt", [text])  # the nodes alone are 0.0167 kWh, all 0.05
    assert folder.found().keys() == ({"power.total"} if wrong else set())


def test_pictures_are_told_once(folder: Folder) -> None:
    folder.write().write("nodes_0_to_7.png")
    assert folder.found().keys() == {"power.stray_file"}


def test_a_run_without_times_has_no_energy(folder: Folder) -> None:
    folder.write()
    for start, stop in ((None, None), (START_MS, None), (START_MS, START_MS), (2.0, 1.0)):
        runs = [PowerRun(log=run.log, start_ms=start, stop_ms=stop) for run in folder.timed()]
        power = measure_power(folder.root / "power", runs)
        assert power.findings == ()
        assert {run.joules for run in power.runs} == {None}
        assert {run.official_joules for run in power.runs} == {None}
        assert energy_score(power.runs, benchmark="resnet") is None


def test_a_benchmark_folder_is_measured_by_its_logs(tmp_path: Path) -> None:
    logs = [write_desk(tmp_path / f"result_{n}.txt", RunShape(minutes=2)) for n in range(2)]
    assert power_verdict(tmp_path, logs, ruleset=None) is None
    begin = 61  # the writer's clock: a minute of initialisation and a second
    lines = log_lines(readings(range(begin - 3, begin + 124)), until=begin + 124)
    folder = Folder(tmp_path, runs=2).write(lines=lines)
    folder.put("result_1/node_0.txt", lines[:60])
    verdict = power_verdict(tmp_path, logs, ruleset=None, nodes=1)
    assert verdict is not None
    assert (verdict.kind, verdict.path) == ("power", str(tmp_path / "power"))
    assert {one.rule for one in verdict.findings} == {"power.stop", "power.window", "power.samples"}
    power = measure_folder(tmp_path, logs)
    assert power is not None
    assert power.runs[0].joules == pytest.approx(500 * 120)


def test_a_log_that_cannot_be_read_has_no_times(folder: Folder) -> None:
    folder.write()
    power = measure_folder(folder.root, [folder.root / "result_0.txt"])
    assert power is not None
    assert power.runs[0].joules is None


def energy(seconds: float | None, joules: float | None) -> RunEnergy:
    return RunEnergy(
        log=Path("x"),
        nodes=1,
        switches=0,
        node_joules=joules,
        switch_joules=0.0,
        official_joules=None if joules is None else 2 * joules,
        seconds=seconds,
    )


def test_the_energy_score_is_over_the_runs_of_the_time_score() -> None:
    runs = [energy(5, 900), energy(2, 10), energy(3, 20), energy(4, 30), energy(1, 500)]
    score = energy_score(runs, benchmark="resnet", scaling=1.5)
    assert score is not None
    assert (score.joules, score.official_joules, score.runs_counted) == (30, 60, 3)
    without = energy_score([*runs[:3], energy(4, None), runs[4]], benchmark="resnet")
    assert without is not None
    assert without.joules is None


# --- the energy itself


def power_log(samples: Iterable[tuple[float, float]], **more: Any) -> PowerLog:
    read = [Sample(time_ms=time, watts=watts, line_no=9) for time, watts in samples]
    return PowerLog(path=Path("node_0.txt"), is_node=True, number=0, samples=tuple(read), **more)


def event(key: str, time_ms: float, line_no: int) -> Event:
    return Event(key=key, value=None, metadata={}, time_ms=time_ms, kind="", line_no=line_no)


def run(start_ms: float, stop_ms: float) -> PowerRun:
    return PowerRun(log=Path("result_0.txt"), start_ms=start_ms, stop_ms=stop_ms)


times = st.lists(st.integers(1, 10**6), min_size=1, max_size=30)


@settings(deadline=None)  # the machine may be busy
@given(times, st.floats(0, 1e5), st.integers(1, 10**6), st.integers(1, 10**6))
def test_constant_power_times_time(at: list[int], watts: float, start: int, length: int) -> None:
    log = power_log([(time, watts) for time in at])
    joules = joules_of(log, run(start, start + length))
    touches = max(at) >= start and min(at) <= start + length
    assert (joules is not None) == touches
    if joules is not None:
        assert joules == pytest.approx(watts * length / 1e3)


@settings(deadline=None)  # the machine may be busy
@given(
    st.lists(st.tuples(st.integers(1, 1000), st.floats(0, 1e4)), min_size=2, max_size=30),
    st.integers(1, 1000),
    st.integers(1, 500),
    st.integers(1, 500),
)
def test_energy_adds_up(
    samples: list[tuple[int, float]], start: int, first: int, second: int
) -> None:
    samples = [*samples, (1, 1.0), (3000, 1.0)]  # so that every part is covered
    log = power_log(samples)
    whole = joules_of(log, run(start, start + first + second))
    one = joules_of(log, run(start, start + first))
    two = joules_of(log, run(start + first, start + first + second))
    assert whole is not None
    assert one is not None
    assert two is not None
    # Readings at the very same time make a step that belongs to either side.
    if len({time for time, _ in samples}) == len(samples):
        assert whole == pytest.approx(one + two, rel=1e-9, abs=1e-9)
    most = max(watts for _, watts in samples)
    assert 0 <= whole <= most * (first + second) / 1e3 * (1 + 1e-9)


def test_a_ramp_between_readings_is_followed() -> None:
    log = power_log([(0, 0.0), (4000, 400.0)])
    assert joules_of(log, run(1000, 3000)) == pytest.approx(200 * 2)


def test_beyond_the_readings_the_nearest_counts() -> None:
    log = power_log([(2000, 100.0), (3000, 300.0)])
    assert joules_of(log, run(1000, 5000)) == pytest.approx(100 + 200 + 300 * 2)


@pytest.mark.parametrize("samples", [[], [(1_000, 10.0)], [(t, 10.0) for t in range(1, 9000, 500)]])
def test_the_official_energy_never_divides_by_zero(samples: list[tuple[float, float]]) -> None:
    log = power_log(samples, start=event("a", 1_000, 1), stop=event("b", 1_000, 99))
    assert official_joules_of(log, 5_000) is None
    assert official_joules_of(power_log(samples), 5_000) is None


def test_the_official_energy_is_the_average_times_the_duration() -> None:
    log = power_log(
        [(500, 9e9), (2000, 100.0), (1500, 200.0), (9000, 9e9)],
        start=event("a", 1_000, 1),
        stop=event("b", 3_000, 99),
        efficiency=0.5,
    )
    # (200 W x 0.5 s + 100 W x 0.5 s) x 0.5 over 2 s, for 10 s
    assert official_joules_of(log, 10_000) == pytest.approx(375)


def test_a_pipe_is_no_power_log(folder: Folder) -> None:
    log = read_power_log(folder.root / "node_3.txt")
    assert [one.rule for one in log.findings] == ["power.unreadable"]
    assert (log.number, log.is_node) == (3, True)
