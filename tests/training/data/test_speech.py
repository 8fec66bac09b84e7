from pathlib import Path

import numpy as np
import pytest
import soundfile

from tests.training.speech import flac, tone
from trainmark.training.data import speech
from trainmark.types import UsageError


def pitch(sound: speech.Sound) -> float:
    """The loudest frequency, hertz."""
    spectrum = np.abs(np.fft.rfft(sound * np.hanning(len(sound))))
    return float(spectrum.argmax() * speech.SAMPLE_RATE / len(sound))


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "a.flac").write_bytes(flac(tone(0.2)))
    assert speech.read(tmp_path / "a.flac") == pytest.approx(tone(0.2), abs=1e-4)


def test_two_channels_are_averaged(tmp_path: Path) -> None:
    both = np.stack([tone(0.1), -tone(0.1)], 1)
    soundfile.write(tmp_path / "a.wav", both, speech.SAMPLE_RATE)
    assert np.abs(speech.read(tmp_path / "a.wav")).max() < 1e-4


@pytest.mark.parametrize("content", [b"", b"fLaC", b"no sound" * 50, flac(tone(0.1))[:60]])
def test_bytes_that_are_no_sound_are_a_text(content: bytes) -> None:
    with pytest.raises(UsageError, match=r"x\.flac"):
        speech.decode(content, "x.flac")


def test_a_header_that_promises_too_much_costs_no_memory() -> None:
    """The most that the 36 bits of FLAC can say: 256 GB of sound."""
    content = bytearray(flac(tone(0.1)))
    content[21] |= 0x0F
    content[22:26] = b"\xff" * 4
    assert speech.length(bytes(content), "x.flac") == 2**36 - 1
    with pytest.raises(UsageError, match=r"x\.flac is no sound file"):
        speech.decode(bytes(content), "x.flac")


def test_an_error_names_the_sound_not_the_buffer_that_held_it() -> None:
    for read in (speech.decode, speech.length):
        with pytest.raises(UsageError, match=r"^x\.flac is no sound file: [^<>]*$"):
            read(b"fLaC", "x.flac")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_sound_is_made_of_numbers(tmp_path: Path, value: float) -> None:
    sound = np.append(tone(0.5), np.float32(value))
    soundfile.write(tmp_path / "a.wav", sound, speech.SAMPLE_RATE, subtype="FLOAT")
    with pytest.raises(UsageError, match="not finite"):
        speech.read(tmp_path / "a.wav")


def test_a_long_sound_is_read_in_blocks_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech, "_BLOCK", 700)
    found = speech.decode(flac(tone(0.2)), "x.flac")
    assert found == pytest.approx(tone(0.2), abs=1e-4)


def test_another_rate_is_a_text() -> None:
    with pytest.raises(UsageError, match="8000 samples a second instead of 16000"):
        speech.decode(flac(tone(0.1), 8000), "x.flac")


def test_a_file_that_is_not_there_is_a_text(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        speech.read(tmp_path / "none.flac")


@pytest.mark.parametrize("rate", [0.85, 1.0, 1.07, 1.15])
def test_speed_changes_length_and_pitch(rate: float) -> None:
    sound = tone(1.0, 500)
    faster = speech.change_speed(sound, rate)
    assert len(faster) == pytest.approx(len(sound) / rate, rel=0.002)
    assert pitch(faster) == pytest.approx(500 * rate, rel=0.005)
    assert float(np.abs(faster).max()) == pytest.approx(0.3, rel=0.1)


def test_resampling_there_and_back_is_the_same_sound() -> None:
    sound = tone(0.5, 300)
    back = speech.resample(speech.resample(sound, 1.25), 0.8)
    assert len(back) == len(sound)
    assert back[500:-500] == pytest.approx(sound[500:-500], abs=0.005)


def test_silence_at_the_ends_is_cut() -> None:
    quiet = np.zeros(8000, np.float32)
    cut = speech.trimmed(np.concatenate([quiet, tone(0.5), quiet]))
    assert len(tone(0.5)) <= len(cut) <= len(tone(0.5)) + 2 * 2048


def test_silence_alone_stays() -> None:
    assert len(speech.trimmed(np.zeros(8000, np.float32))) == 8000
    assert len(speech.trimmed(np.zeros(10, np.float32))) == 10
