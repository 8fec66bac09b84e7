import shutil
from pathlib import Path

import pytest

from tests.training.speech import write_librispeech, write_shards
from trainmark.types import Severity, UsageError
from trainmark.workloads import rnnt_data


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    splits = {"train-clean-100": 6, "train-clean-360": 4, "dev-clean": 3}
    write_librispeech(tmp_path / "data/LibriSpeech", splits)
    return tmp_path / "data"


@pytest.fixture
def archives(tmp_path: Path) -> Path:
    write_shards(tmp_path / "shards", "train", 2, 5)
    write_shards(tmp_path / "shards", "dev", 1, 3)
    return tmp_path / "shards"


def test_without_data_it_says_what_to_fetch() -> None:
    with pytest.raises(UsageError, match="trains on LibriSpeech") as caught:
        rnnt_data.survey(None, 16.7)
    assert "--data DIR" in caught.value.hint


def test_folders_are_counted_long_utterances_left_out(data: Path) -> None:
    assert rnnt_data.survey(data, 16.7) == rnnt_data.Survey(train=10, held_out=3, official=False)
    assert rnnt_data.survey(data, 0.4).train == 5
    with pytest.raises(UsageError, match=r"no utterance is as short as 0.1 s"):
        rnnt_data.survey(data, 0.1)


def test_the_folder_itself_may_be_given(data: Path) -> None:
    assert rnnt_data.survey(data / "LibriSpeech", 16.7).train == 10


def test_the_numbers_of_librispeech_are_the_benchmark(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rnnt_data, "TRAIN", {"train-clean-100": 6, "train-clean-360": 4})
    monkeypatch.setattr(rnnt_data, "HELD_OUT", {"dev-clean": 3})
    assert rnnt_data.survey(data, 16.7).official
    assert not list(rnnt_data.findings(data))


def test_headers_are_read_once(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = rnnt_data.folders(data)
    monkeypatch.setattr("soundfile.info", lambda *_: pytest.fail("read again"))
    assert rnnt_data.folders(data) == first


def test_a_changed_transcript_is_seen(data: Path) -> None:
    before = rnnt_data.folders(data)
    file = data / "LibriSpeech/dev-clean/300/7/300-7.trans.txt"
    file.write_text(file.read_text().replace("THE CAT", "THE BLACK CAT"))
    after = rnnt_data.folders(data)
    assert before != after
    assert after is not None
    assert after.held_out[0].text == "the black cat sat"


def test_archives_are_counted_by_their_lists(archives: Path) -> None:
    assert rnnt_data.survey(archives, 16.7) == rnnt_data.Survey(
        train=10, held_out=3, official=False
    )
    assert len(list(rnnt_data.files(archives))) == 3


@pytest.mark.parametrize("layout", ["data", "archives"])
def test_the_vocabulary_comes_from_the_texts(layout: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(layout)
    model = rnnt_data.vocabulary(folder, 20)
    assert model == rnnt_data.vocabulary(folder, 20)  # kept
    with pytest.raises(UsageError, match="do not make a vocabulary of 1023 pieces"):
        rnnt_data.vocabulary(folder, 1023)


def test_a_vocabulary_in_the_folder_is_taken(data: Path) -> None:
    made = rnnt_data.vocabulary(data, 20)
    shutil.copy(made, data / "pieces.model")
    assert rnnt_data.vocabulary(data, 20) == data / "pieces.model"
    with pytest.raises(UsageError, match=r"pieces.model has 20 pieces instead of 24"):
        rnnt_data.vocabulary(data, 24)


def test_files_are_all_the_sounds(data: Path) -> None:
    files = list(rnnt_data.files(data))
    assert len(files) == 13
    assert all(file.suffix == ".flac" for file in files)


def test_what_is_not_librispeech_is_a_warning(data: Path, archives: Path) -> None:
    for folder, found in (
        (data, "10 in train, 3 in dev-clean"),
        (archives, "10 in train, 3 in dev"),
    ):
        (finding,) = rnnt_data.findings(folder)
        assert (finding.rule, finding.severity) == ("data.count", Severity.WARNING)
        assert finding.found == found


def test_what_is_damaged_is_an_error(data: Path, tmp_path: Path) -> None:
    next(rnnt_data.files(data)).write_bytes(b"")
    transcripts = data / "LibriSpeech/train-clean-100/100/7/100-7.trans.txt"
    transcripts.write_text(transcripts.read_text() + "\n")
    (finding,) = rnnt_data.findings(data)
    assert finding.severity is Severity.ERROR
    assert "100-7.trans.txt, line 6" in finding.message
    (tmp_path / "empty").mkdir()
    (finding,) = rnnt_data.findings(tmp_path / "empty")
    assert "neither folders train-* nor train.json" in finding.message


def test_a_list_that_is_no_text_is_told_before_a_vocabulary_is_made(archives: Path) -> None:
    (archives / "train.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"train.json is no list of archives"):
        rnnt_data.vocabulary(archives, 20)
