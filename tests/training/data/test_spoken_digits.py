import resource
from pathlib import Path

import pytest

from trainmark.training.data import espeak, librispeech, speech, spoken_digits
from trainmark.training.data.pieces import Pieces
from trainmark.training.data.spoken_digits import DIGITS, PIECES, SPLITS, Order
from trainmark.training.prepared import quiet
from trainmark.types import TrainmarkError

ORDER = Order(train=60, held_out=12)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spoken")
    told: list[float] = []
    spoken_digits.make(ORDER, folder, lambda _, share: told.append(share))
    assert told[-1] == 1.0
    return folder


def test_there_are_as_many_as_were_asked_for(made: Path) -> None:
    counts = [len(librispeech.scan(made, [split])) for split in SPLITS]
    assert counts == [60, 12]


def test_voices_of_the_held_out_set_are_never_heard_in_training(made: Path) -> None:
    train, held_out = ({file.name for file in (made / split).iterdir()} for split in SPLITS)
    assert train
    assert held_out
    assert not train & held_out


def test_the_same_texts_are_said_on_every_machine(made: Path, tmp_path: Path) -> None:
    spoken_digits.make(ORDER, tmp_path, quiet)
    for split in SPLITS:
        first, again = (librispeech.scan(root, [split]) for root in (made, tmp_path))
        assert [(u.file.name, u.text) for u in first] == [(u.file.name, u.text) for u in again]


def test_texts_are_digits_and_pieces_are_words(made: Path) -> None:
    pieces = Pieces(made / PIECES)
    assert len(pieces) == spoken_digits.VOCABULARY
    for utterance in librispeech.scan(made, SPLITS):
        words = utterance.text.split()
        assert 1 <= len(words) <= 5
        assert set(words) <= set(DIGITS)
        assert len(pieces.encode(utterance.text)) == len(words)


def test_sounds_are_speech_in_noise(made: Path) -> None:
    for utterance in librispeech.scan(made, [SPLITS[1]]):
        sound = speech.read(utterance.file)
        words = len(utterance.text.split())
        assert 0.1 < len(sound) / speech.SAMPLE_RATE / words < 1.2
        assert 0.1 < float(abs(sound).max()) < 0.6


def test_a_voice_that_is_not_there_is_told() -> None:
    manner = espeak.Manner(accent="en-Mars", voice="f1", speed=150, pitch=50, melody=50)
    with pytest.raises(TrainmarkError, match=r"does not say 'one' with the voice 'en-Mars\+f1'"):
        espeak.Speaker().say("one", manner)


def test_robots_and_whispers_are_no_people() -> None:
    voices = espeak.voices()
    assert len(voices) > 80
    assert not [name for name in voices if "robo" in name.lower() or "whisper" in name]


def test_who_is_interrupted_does_not_wait_for_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spoken_digits, "_CHUNK", 1)

    def stop(text: str, share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        spoken_digits.make(Order(train=2000, held_out=10), tmp_path, stop)
    assert len(list(tmp_path.rglob("*.flac"))) < 1000  # some are made before the first is told


def test_a_full_disk_is_an_error_of_the_system(tmp_path: Path) -> None:
    chunk = spoken_digits._Chunk(split=SPLITS[0], first=0, count=1)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            spoken_digits._speak(chunk, tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
