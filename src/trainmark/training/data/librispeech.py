"""The folders of LibriSpeech, listed; needs no framework.

ROOT/<split>/<speaker>/<chapter>/<speaker>-<chapter>-<number>.flac, and beside the sounds one file
<speaker>-<chapter>.trans.txt with a line "<speaker>-<chapter>-<number> TEXT" for each. Panayotov,
Chen, Povey, Khudanpur, "LibriSpeech: an ASR corpus based on public domain audio books", ICASSP
2015 (openslr.org/12, CC BY 4.0).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from trainmark.training.data import speech
from trainmark.training.data.speech import Utterance
from trainmark.types import UsageError

__all__ = ["LAYOUT", "measured", "scan", "transcript_files"]

LAYOUT = "<split>/<speaker>/<chapter>/<speaker>-<chapter>.trans.txt and the .flac files beside it"
SUFFIX = ".flac"


def transcript_files(root: Path, split: str) -> tuple[Path, ...]:
    """The transcripts of a split, in the order of their names.

    Raises:
        UsageError: The split is not there or has none.
    """
    folder = root / split
    if not folder.is_dir():
        raise UsageError(f"{folder} is not there", hint=f"The layout is {LAYOUT}.")
    found = tuple(sorted(folder.glob("*/*/*.trans.txt")))
    if not found:
        raise UsageError(f"{folder} holds no transcripts", hint=f"The layout is {LAYOUT}.")
    return found


def scan(root: Path, splits: Sequence[str]) -> tuple[Utterance, ...]:
    """List utterances. Transcripts are read, of the sounds only the names.

    Args:
        root: The folder LibriSpeech.
        splits: Folders below it, for example "train-clean-100".

    Raises:
        UsageError: A split is missing, a line is none of a transcript, or a sound is not there.
    """
    return tuple(
        utterance
        for split in splits
        for file in transcript_files(root, split)
        for utterance in _chapter(file)
    )


def _chapter(transcripts: Path) -> Iterator[Utterance]:
    sounds = {file.name for file in transcripts.parent.iterdir()}
    for number, line in enumerate(_lines(transcripts), start=1):
        name, _, text = line.partition(" ")
        if not text.strip():
            raise UsageError(
                f"{transcripts}, line {number}: {line[:60]!r} is no name and text",
                hint="Each line is: <speaker>-<chapter>-<number> WORDS. Unpack the archive again.",
            )
        if name + SUFFIX not in sounds:
            raise UsageError(
                f"{transcripts}, line {number}: there is no {name[:60]}{SUFFIX} beside it",
                hint="Unpack the archive again.",
            )
        yield Utterance(file=transcripts.parent / (name + SUFFIX), text=text.strip().lower())


def _lines(transcripts: Path) -> list[str]:
    try:
        return transcripts.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read the transcripts {transcripts}: {error}",
            hint="Unpack the archive again.",
        ) from error


def measured(utterances: Sequence[Utterance]) -> Iterator[Utterance]:
    """The same with their lengths, from the sounds' headers.

    Raises:
        UsageError: A sound cannot be read.
    """
    for utterance in utterances:
        samples = speech.length(utterance.file, str(utterance.file))
        yield Utterance(file=utterance.file, text=utterance.text, samples=samples)
