"""Digits in a row, spoken by synthetic voices with noise: the desk scale's data, made once.

Each utterance has one to five digits, a voice, an accent, a speed, a pitch and a melody drawn from
a seed, and noise of a random colour 5 to 30 dB below it. Every fifth voice speaks in the held-out
set only. Files are FLAC in the folders of LibriSpeech (``training/data/librispeech.py``), beside
them the vocabulary. What is said and how is the same on every machine; the sound itself differs in
detail from one making to the next, which is why it is made once and kept.
"""

import io
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from trainmark.training.data import espeak
from trainmark.training.data.pieces import train_pieces
from trainmark.training.data.speech import SAMPLE_RATE, Sound, resample
from trainmark.training.prepared import Tell
from trainmark.types import TrainmarkError

__all__ = ["DIGITS", "PIECES", "SPLITS", "Order", "make"]

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
SPLITS = ("train", "test")
PIECES = "pieces.model"
VOCABULARY = 27  # the ten words, their fifteen letters, the word boundary, the unknown

_VERSION = 1  # of what this module makes
_SEED = 20211201
_HELD_OUT = 5  # every fifth voice
_MOST_DIGITS = 5
_CHUNK = 50
_SPEEDS, _PITCHES, _MELODIES = (140, 240), (20, 81), (20, 81)
_SNR_DB = (5.0, 30.0)
_PEAK_DB = (-18.0, -6.0)
_NOISE_SECONDS = 8
_NOISE_COLOURS = np.linspace(0.0, 1.0, 5)  # 0 is white, 1 falls by 6 dB an octave
_LOWEST_BINS = 100  # of the noise, kept from growing without limit
_FASTEST = 0  # of FLAC's levels: half the time, a few per cent larger


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be made.

    Attributes:
        train: Utterances to learn from.
        held_out: Utterances to evaluate on.
    """

    train: int
    held_out: int

    def inputs(self) -> Mapping[str, Any]:
        """Everything that the data depends on."""
        return {
            "making": _VERSION,
            "espeakng-loader": espeak.version(),
            "voices": list(espeak.voices()),
            "accents": list(espeak.accents()),
            "train": self.train,
            "held_out": self.held_out,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chunk:
    """Utterances that one process makes in one go."""

    split: str
    first: int
    count: int


def make(order: Order, folder: Path, tell: Tell) -> None:
    """Write both splits and the vocabulary.

    Args:
        order: What.
        folder: An empty folder.
        tell: Told how far it is.

    Raises:
        TrainmarkError: The synthesiser fails.
    """
    chunks = list(_chunks(order))
    texts: dict[tuple[str, int], Mapping[Path, str]] = {}
    cores = len(os.sched_getaffinity(0))
    try:
        with ProcessPoolExecutor(min(cores, len(chunks)), get_context("spawn")) as pool:
            pending = {pool.submit(_speak, chunk, folder): chunk for chunk in chunks}
            try:
                for done, future in enumerate(as_completed(pending), start=1):
                    chunk = pending[future]
                    texts[chunk.split, chunk.first] = future.result()
                    tell("synthesising speech", done / len(chunks))
            finally:  # who is interrupted does not wait for the rest
                pool.shutdown(wait=True, cancel_futures=True)
    except BrokenProcessPool as error:
        raise TrainmarkError(
            "the speech synthesiser espeak-ng ended its process",
            hint="Run the command again; if it does so each time, reinstall espeakng-loader.",
        ) from error
    _write_transcripts([texts[key] for key in sorted(texts)])
    train = [texts[key] for key in sorted(texts) if key[0] == SPLITS[0]]
    train_pieces((t for part in train for t in part.values()), VOCABULARY, folder / PIECES)


def _chunks(order: Order) -> Iterator[_Chunk]:
    for split, count in zip(SPLITS, (order.train, order.held_out), strict=True):
        for first in range(0, count, _CHUNK):
            yield _Chunk(split=split, first=first, count=min(_CHUNK, count - first))


def _speakers(split: str) -> Sequence[str]:
    held_out = espeak.voices()[_HELD_OUT // 2 :: _HELD_OUT]
    if split != SPLITS[0]:
        return held_out
    return [voice for voice in espeak.voices() if voice not in held_out]


def _speak(chunk: _Chunk, folder: Path) -> Mapping[Path, str]:
    """Write the sounds of a chunk; their texts. Runs in a process of its own."""
    generator = np.random.default_rng((_SEED, SPLITS.index(chunk.split), chunk.first))
    speaker, voices, accents = espeak.Speaker(), _speakers(chunk.split), espeak.accents()
    noises = [_noise(generator, colour) for colour in _NOISE_COLOURS]
    texts = {}
    for number in range(chunk.first, chunk.first + chunk.count):
        digits = generator.integers(0, len(DIGITS), generator.integers(1, _MOST_DIGITS + 1))
        manner = espeak.Manner(
            accent=str(generator.choice(accents)),
            voice=str(generator.choice(voices)),
            speed=int(generator.integers(*_SPEEDS)),
            pitch=int(generator.integers(*_PITCHES)),
            melody=int(generator.integers(*_MELODIES)),
        )
        text = " ".join(DIGITS[digit] for digit in digits)
        spoken = resample(speaker.say(text, manner), SAMPLE_RATE / speaker.rate)
        sound = _recorded(generator, spoken, noises)
        name, accent = (text_.replace(" ", "_") for text_ in (manner.voice, manner.accent))
        file = folder / chunk.split / name / accent / f"{name}-{accent}-{number:05}.flac"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(_flac(sound))
        texts[file] = text
    return texts


def _flac(sound: Sound) -> bytes:
    """A sound as a file's content: on a full disk libsndfile would say "System error" alone."""
    import soundfile

    content = io.BytesIO()
    soundfile.write(
        content, sound, SAMPLE_RATE, "PCM_16", format="FLAC", compression_level=_FASTEST
    )
    return content.getvalue()


def _noise(generator: np.random.Generator, colour: float) -> Sound:
    """Noise of power 1 whose amplitude falls with the frequency to the power of ``colour``."""
    spectrum = np.fft.rfft(generator.standard_normal(_NOISE_SECONDS * SAMPLE_RATE))
    spectrum *= (np.arange(len(spectrum)) + float(_LOWEST_BINS)) ** -colour
    noise = np.fft.irfft(spectrum)
    even: Sound = (noise / np.sqrt(np.square(noise).mean())).astype(np.float32)
    return even


def _recorded(generator: np.random.Generator, spoken: Sound, noises: Sequence[Sound]) -> Sound:
    """Speech in noise, at some level."""
    noise = noises[int(generator.integers(len(noises)))]
    start = generator.integers(len(noise))
    noise = np.resize(np.roll(noise, -start), len(spoken))
    share = 10 ** (-generator.uniform(*_SNR_DB) / 20)
    mixed = spoken + share * np.sqrt(np.square(spoken).mean()) * noise
    level = 10 ** (generator.uniform(*_PEAK_DB) / 20) / max(float(np.abs(mixed).max()), 1e-6)
    found: Sound = (level * mixed).astype(np.float32)
    return found


def _write_transcripts(parts: Sequence[Mapping[Path, str]]) -> None:
    lines = defaultdict(list)
    for part in parts:
        for file, text in part.items():
            lines[file.parent].append(f"{file.stem} {text.upper()}\n")
    for folder, found in lines.items():
        chapter = f"{folder.parent.name}-{folder.name}.trans.txt"
        (folder / chapter).write_text("".join(sorted(found)), encoding="utf-8")
