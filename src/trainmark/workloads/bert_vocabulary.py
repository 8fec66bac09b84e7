"""The WordPiece vocabulary of BERT at desk scale: learnt once from the training books, then kept.

The full scale comes with a published vocabulary; this one takes its place, so it is made before
anything is measured. Reading the texts and cutting them into its pieces is within the clock.
"""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from trainmark.training.data import bibles
from trainmark.training.data.wordpiece import train_vocabulary
from trainmark.training.prepared import Tell, place_of, prepared
from trainmark.types import UsageError
from trainmark.workloads.bert_settings import DeskSettings

__all__ = ["prepare_vocabulary", "vocabulary_file"]

_NAME = "bert-vocabulary"


def vocabulary_file(settings: DeskSettings) -> Path:
    """Where the vocabulary of the desk scale lies once it is prepared."""
    return place_of(_NAME, _inputs(settings)) / "vocab.txt"


def _inputs(settings: DeskSettings) -> dict[str, object]:
    """Everything that the vocabulary depends on."""
    packages = ["tokenizers", *(f"pythonbible-{name}" for name in bibles.TRANSLATIONS)]
    try:
        versions = {package: version(package) for package in packages}
    except PackageNotFoundError as error:
        raise UsageError(
            f"bert at desk scale needs the package {error.name}, which is not installed",
            hint="Install it: pip install 'trainmark[bert]'",
        ) from error
    return {
        "versions": versions,
        "held_out": sorted(bibles.HELD_OUT),
        "translations": settings.translations,
        "pieces": settings.vocabulary,
        "verses": settings.vocabulary_verses,
    }


def prepare_vocabulary(settings: DeskSettings, tell: Tell) -> None:
    """Learn the vocabulary, unless it is kept already.

    Args:
        settings: Its size and what it is learnt from.
        tell: Told how far it is.

    Raises:
        UsageError: A package is not installed, or the cache folder cannot be written.
    """

    def make(folder: Path, tell: Tell) -> None:
        tell("learning the WordPiece vocabulary", 0.0)
        verses = [
            verse
            for chapter in bibles.chapters(
                held_out=False, translations=settings.translations.split(",")
            )
            for verse in chapter
        ]
        chosen = verses[:: max(1, len(verses) // settings.vocabulary_verses)]
        pieces = train_vocabulary(chosen[: settings.vocabulary_verses], settings.vocabulary)
        (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
        tell("learning the WordPiece vocabulary", 1.0)

    prepared(_NAME, _inputs(settings), make, tell)
