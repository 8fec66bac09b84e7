"""Recorded sentences: what one is, and what is done to its sound before any framework (numpy).

Sound is float32 between -1 and 1, one channel, 16,000 samples a second. Files are read and written
by libsndfile (package soundfile): FLAC, WAV and whatever else it knows.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trainmark.types import UsageError

__all__ = [
    "SAMPLE_RATE",
    "Sound",
    "Utterance",
    "change_speed",
    "decode",
    "length",
    "read",
    "resample",
    "trimmed",
]

SAMPLE_RATE = 16_000
Sound = npt.NDArray[np.float32]

_BLOCK = 1 << 20  # samples
_NOTHING = np.empty(0, np.float32)
_SILENCE = 1e-6  # share of the loudest power: -60 dB
_SILENCE_WINDOW = 2048
_PAD = 4000  # lengths of a transform are multiples of it: small factors
_GRAIN = 40  # and those of its inverse of this


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One recorded sentence.

    Attributes:
        file: The sound.
        text: What is said, in lower case.
        samples: Its length, 0 where nobody has looked yet.
    """

    file: Path
    text: str
    samples: int = 0


def read(file: Path) -> Sound:
    """The sound of a file.

    Raises:
        UsageError: It cannot be read, is no sound, or has another rate.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise UsageError(
            f"cannot read {file}: {error.strerror}", hint="Lay the data out again."
        ) from error
    return decode(content, str(file))


def decode(content: bytes, name: str) -> Sound:
    """The sound of a file's bytes; several channels are averaged.

    Args:
        content: The bytes.
        name: What to call it in an error.

    Raises:
        UsageError: The bytes are no sound, or of another rate.
    """
    import soundfile

    try:
        with soundfile.SoundFile(io.BytesIO(content)) as file:
            rate = file.samplerate
            # Block by block: what a header says of the length may be damage of any size.
            sound = np.concatenate([_NOTHING, *map(_mono, _blocks(file))])
    except (soundfile.LibsndfileError, RuntimeError, TypeError, ValueError) as error:
        raise _no_sound(name, error) from error
    if rate != SAMPLE_RATE:
        raise UsageError(
            f"{name} has {rate} samples a second instead of {SAMPLE_RATE}",
            hint="Resample it, for example: ffmpeg -i IN -ar 16000 OUT.flac",
        )
    if not len(sound):
        raise UsageError(f"{name} holds no sound", hint="Remove it.")
    if not np.isfinite(sound).all():
        raise UsageError(
            f"{name} holds values that are not finite", hint="Fetch it again, or remove it."
        )
    return sound


def length(source: Path | bytes, name: str) -> int:
    """How many samples a sound says that it has, at 16,000 a second, from its header.

    Args:
        source: A file, or its bytes.
        name: What to call it in an error.

    Raises:
        UsageError: It is no sound.
    """
    import soundfile

    try:
        header = soundfile.info(io.BytesIO(source) if isinstance(source, bytes) else str(source))
    except (soundfile.LibsndfileError, RuntimeError, TypeError, ValueError) as error:
        raise _no_sound(name, error) from error
    return round(int(header.frames) * SAMPLE_RATE / int(header.samplerate))


def _no_sound(name: str, error: Exception) -> UsageError:
    reason = getattr(error, "error_string", None) or error  # without the buffer's address
    return UsageError(f"{name} is no sound file: {reason}", hint="Fetch it again, or remove it.")


def _blocks(file: Any) -> Iterator[npt.NDArray[np.float32]]:
    while len(block := file.read(_BLOCK, dtype="float32", always_2d=True)):
        yield block


def _mono(block: npt.NDArray[np.float32]) -> Sound:
    mean: Sound = block[:, 0] if block.shape[1] == 1 else block.mean(1)
    return mean


def trimmed(sound: Sound) -> Sound:
    """Without the silence at both ends: power below -60 dB of the loudest 128 ms."""
    if len(sound) <= _SILENCE_WINDOW:
        return sound
    power = np.cumsum(np.square(sound, dtype=np.float64))
    windows = power[_SILENCE_WINDOW:] - power[:-_SILENCE_WINDOW]
    loud = np.flatnonzero(windows >= _SILENCE * windows.max())
    return sound[loud[0] : loud[-1] + _SILENCE_WINDOW + 1]


def change_speed(sound: Sound, rate: float) -> Sound:
    """The same said ``rate`` times as fast, pitch and all."""
    return resample(sound, 1.0 / rate)


def resample(sound: Sound, factor: float) -> Sound:
    """The same with ``factor`` times as many samples, by Fourier transform."""
    padded = -(-len(sound) // _PAD) * _PAD
    longer = max(1, round(padded * factor / _GRAIN)) * _GRAIN
    spectrum = np.fft.rfft(sound, padded)[: longer // 2 + 1]
    found = np.fft.irfft(spectrum, longer) * (longer / padded)
    wanted = max(1, round(len(sound) * longer / padded))
    cut: Sound = found[:wanted].astype(np.float32)
    return cut
