from pathlib import Path

import pytest

from tests.catalogue.repositories import own_result
from trainmark.catalogue import default_folder, own_results, record, runs_of
from trainmark.types import Doubt, Evaluation, Finding, Run, UsageError

RUNS = (
    Run(source="r0", minutes=1.15, seed=1, settings={"a": 1}),
    Run(
        source="r1",
        minutes=1.25,
        evaluations=(Evaluation(minutes=1.0, samples=64.0, quality=0.9),),
    ),
)


def test_what_is_recorded_comes_back(tmp_path: Path) -> None:
    result = own_result(raw={"accelerator": "none"}, doubts=(Doubt(kind="a kind", text="a note"),))
    record(result, RUNS, tmp_path / "new" / "catalogue")
    assert own_results(where=tmp_path / "new" / "catalogue") == [result]
    assert runs_of(result, where=tmp_path / "new" / "catalogue") == list(RUNS)


def test_sessions_are_listed_oldest_first_and_filtered(tmp_path: Path) -> None:
    later = own_result(id="own/2", recorded="2026-11-02T10:00:00+00:00", machine="other")
    earlier = own_result()
    record(later, RUNS[:1], tmp_path)
    record(earlier, RUNS, tmp_path)
    assert own_results(where=tmp_path) == [earlier, later]
    assert own_results(where=tmp_path, machine="other") == [later]
    assert own_results(where=tmp_path, benchmark="resnet50_desk", machine="0123abcd") == [earlier]
    assert own_results(where=tmp_path, benchmark="never_run") == []
    assert runs_of(later, where=tmp_path) == [RUNS[0]]


def test_nothing_recorded_yet_is_no_error(tmp_path: Path) -> None:
    assert own_results(where=tmp_path / "absent") == []


def test_runs_without_a_result_are_a_session_cut_short(tmp_path: Path) -> None:
    record(own_result(), RUNS, tmp_path).unlink()
    assert own_results(where=tmp_path) == []
    assert runs_of(own_result(), where=tmp_path) == []


def test_a_damaged_session_is_reported_and_the_others_are_listed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    record(own_result(), RUNS, tmp_path)
    record(own_result(id="own/2"), RUNS, tmp_path).write_bytes(b"damaged")
    findings: list[Finding] = []
    assert own_results(where=tmp_path, on_finding=findings.append) == [own_result()]
    assert [finding.rule for finding in findings] == ["catalogue.damaged"]
    assert caplog.messages == []
    assert own_results(where=tmp_path) == [own_result()]
    assert "is left out" in caplog.text


def test_the_users_folder_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "trainmark" / "catalogue"
    record(own_result(), RUNS)
    assert own_results() == [own_result()]


def test_a_folder_that_cannot_be_made_is_the_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UsageError, match="cannot make the catalogue folder") as caught:
        record(own_result(), RUNS, tmp_path / "file")
    assert "--catalogue" in caught.value.hint


def test_no_temporary_file_stays(tmp_path: Path) -> None:
    written = record(own_result(), RUNS, tmp_path)
    files = sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file())
    assert files == [f"results/{written.name}", f"runs/{written.name}"]


def test_any_text_that_a_log_can_hold_is_kept(tmp_path: Path) -> None:
    """NUL and control characters as they are; half a surrogate pair, which is no text, as "?"."""
    result = own_result(
        system="a\0b\x1b", submitter="half \ud800", doubts=(Doubt(kind="odd", text="\udfff"),)
    )
    run = Run(source="s", platform="\ud800", settings={"name": "x\0"})
    record(result, (run,), tmp_path)
    (found,) = own_results(where=tmp_path)
    assert (found.system, found.submitter, found.notes) == ("a\0b\x1b", "half ?", ("?",))
    (back,) = runs_of(found, where=tmp_path)
    assert (back.platform, back.settings) == ("?", {"name": "x\0"})


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home(_: str) -> Path:
        raise RuntimeError("could not determine the home directory")

    monkeypatch.setattr("trainmark.catalogue.own.user_data_path", no_home)
    with pytest.raises(UsageError, match="where own results are kept") as caught:
        own_results()
    assert "XDG_DATA_HOME" in caught.value.hint
