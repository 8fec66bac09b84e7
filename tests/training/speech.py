"""Small recordings in the layouts of the full scale."""

import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import soundfile

from trainmark.training.data.speech import SAMPLE_RATE, Sound

WORDS = ("the cat sat", "a dog ran far", "it is late", "we saw the sea", "go on")


def tone(seconds: float, hertz: float = 440.0) -> Sound:
    """A sine of amplitude 0.3."""
    times = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    sound: Sound = (0.3 * np.sin(2 * np.pi * hertz * times)).astype(np.float32)
    return sound


def flac(sound: Sound, rate: int = SAMPLE_RATE) -> bytes:
    """The bytes of a FLAC file."""
    stream = io.BytesIO()
    soundfile.write(stream, sound, rate, format="FLAC")
    return stream.getvalue()


def write_librispeech(
    root: Path, splits: Mapping[str, int], *, seconds: tuple[float, float] = (0.3, 0.6)
) -> Path:
    """Write utterances of alternating lengths, five a chapter, in LibriSpeech's folders."""
    for part, (split, count) in enumerate(splits.items()):
        for number in range(count):
            speaker, chapter = 100 * (part + 1) + number // 5, 7
            folder = root / split / str(speaker) / str(chapter)
            folder.mkdir(parents=True, exist_ok=True)
            name = f"{speaker}-{chapter}-{number % 5:04}"
            length = seconds[number % 2]
            (folder / f"{name}.flac").write_bytes(flac(tone(length, 200 + 50 * number)))
            with (folder / f"{speaker}-{chapter}.trans.txt").open("a") as transcripts:
                transcripts.write(f"{name} {WORDS[number % len(WORDS)].upper()}\n")
    return root


def write_shards(folder: Path, split: str, shards: int, each: int) -> Path:
    """Write tar archives of flac and txt pairs with their list; the path of the list."""
    rows = []
    folder.mkdir(parents=True, exist_ok=True)
    for shard in range(shards):
        name = f"{split}-{shard:06}.tar"
        with tarfile.open(folder / name, "w") as archive:
            for number in range(each):
                text = f"{WORDS[number % len(WORDS)]} {'abcdefgh'[shard]}"
                for suffix, content in (
                    ("flac", flac(tone(0.3 + 0.1 * (number % 3)))),
                    ("txt", text.encode()),
                ):
                    member = tarfile.TarInfo(f"{shard}-{number:04}.{suffix}")
                    member.size = len(content)
                    archive.addfile(member, io.BytesIO(content))
        rows.append({"url": name, "nsamples": each})
    index = folder / f"{split}.json"
    index.write_text(json.dumps({"shardlist": rows}))
    return index
