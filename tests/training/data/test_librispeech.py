from pathlib import Path

import pytest

from tests.training.speech import write_librispeech
from trainmark.training.data import librispeech
from trainmark.types import UsageError

SPLITS = {"train-clean-100": 7, "dev-clean": 2}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_librispeech(tmp_path / "LibriSpeech", SPLITS)


def test_every_utterance_is_listed_with_its_text(root: Path) -> None:
    found = librispeech.scan(root, ["train-clean-100"])
    assert len(found) == 7
    assert found[0].text == "the cat sat"
    assert all(utterance.file.is_file() for utterance in found)


def test_lengths_come_from_the_headers(root: Path) -> None:
    found = list(librispeech.measured(librispeech.scan(root, ["dev-clean"])))
    assert [utterance.samples for utterance in found] == [4800, 9600]


def test_a_missing_split_is_a_text(root: Path) -> None:
    with pytest.raises(UsageError, match="train-other-500 is not there"):
        librispeech.scan(root, ["train-other-500"])


def test_a_split_without_transcripts_is_a_text(root: Path) -> None:
    (root / "dev-other").mkdir()
    with pytest.raises(UsageError, match="holds no transcripts"):
        librispeech.scan(root, ["dev-other"])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("200-7-0000", "line 3: '200-7-0000' is no name and text"),
        ("200-7-0009 HELLO", "line 3: there is no 200-7-0009.flac beside it"),
        ("../../x HELLO", "line 3: there is no ../../x.flac beside it"),
    ],
)
def test_a_line_that_does_not_fit_is_named(root: Path, line: str, said: str) -> None:
    transcripts = root / "dev-clean/200/7/200-7.trans.txt"
    with transcripts.open("a") as stream:
        stream.write(line + "\n")
    with pytest.raises(UsageError, match=said):
        librispeech.scan(root, ["dev-clean"])


def test_bytes_that_are_no_text_are_told(root: Path) -> None:
    (root / "dev-clean/200/7/200-7.trans.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="cannot read the transcripts"):
        librispeech.scan(root, ["dev-clean"])


def test_a_damaged_sound_is_named(root: Path) -> None:
    first = librispeech.scan(root, ["dev-clean"])[0].file
    first.write_bytes(b"fLaC")
    with pytest.raises(UsageError, match=first.name):
        list(librispeech.measured(librispeech.scan(root, ["dev-clean"])))
