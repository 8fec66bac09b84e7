"""espeak-ng as a speaker: text to sound in this process, through ctypes.

The library comes with the package espeakng-loader. espeak-ng is licensed under the GPL, version 3:
it is called as a separate tool while data is made; nothing of it is copied here. Functions and
numbers are those of its public header, speak_lib.h.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trainmark.training.data.speech import Sound
from trainmark.types import TrainmarkError

__all__ = ["Manner", "Speaker", "accents", "version", "voices"]

_SYNCHRONOUS = 2  # AUDIO_OUTPUT_SYNCHRONOUS: sound goes to the callback, Synth returns when done
_DO_NOT_EXIT = 0x8000
_RATE, _PITCH, _RANGE = 1, 3, 4  # espeak_PARAMETER
_UTF8 = 1
_BUFFER_MS = 500
_ROBOTS = frozenset(
    ("AnxiousAndy", "Demonic", "Tweaky", "UniRobot", "anikaRobot", "croak", "kaukovalta")
)
_NO_PEOPLE = ("robosoft", "whisper")
_SHAVIAN = "en-Shaw"  # another alphabet for the accent "en"
_SHORT_AS_FULL_SCALE = np.float32(1 / 32768)
_Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How something is said.

    Attributes:
        accent: One of ``accents``.
        voice: One of ``voices``.
        speed: Words a minute.
        pitch: 0 to 99.
        melody: Range of the pitch, 0 to 99.
    """

    accent: str
    voice: str
    speed: int
    pitch: int
    melody: int


class Speaker:
    """The library, once a process: it keeps its state in global variables.

    Raises:
        TrainmarkError: It cannot be started.
    """

    def __init__(self) -> None:
        import espeakng_loader

        self._library = ctypes.CDLL(espeakng_loader.get_library_path())
        data = str(espeakng_loader.get_data_path())
        self.rate: int = self._library.espeak_Initialize(
            _SYNCHRONOUS, _BUFFER_MS, data.encode(), _DO_NOT_EXIT
        )
        if self.rate <= 0:
            raise TrainmarkError(
                f"espeak-ng does not start with its data in {data}",
                hint="Install its package anew: pip install --force-reinstall espeakng-loader",
            )
        self._parts: list[Any] = []
        self._callback = _Callback(self._take)  # kept: the library has but its address
        self._library.espeak_SetSynthCallback(self._callback)

    def say(self, text: str, manner: Manner) -> Sound:
        """The sound of a text, ``rate`` samples a second, -1 to 1.

        Raises:
            TrainmarkError: There is no such voice, or nothing was said.
        """
        self._parts.clear()
        name = f"{manner.accent}+{manner.voice}"
        bad = self._library.espeak_SetVoiceByName(name.encode())
        for what, value in (
            (_RATE, manner.speed),
            (_PITCH, manner.pitch),
            (_RANGE, manner.melody),
        ):
            bad = bad or self._library.espeak_SetParameter(what, value, 0)
        said = text.encode() + b"\0"
        bad = bad or self._library.espeak_Synth(said, len(said), 0, 0, 0, _UTF8, None, None)
        if bad or not self._parts:
            raise TrainmarkError(f"espeak-ng does not say {text!r} with the voice {name!r}")
        return np.concatenate(self._parts).astype(np.float32) * _SHORT_AS_FULL_SCALE

    def _take(self, samples: Any, count: int, _: Any) -> int:
        if samples and count > 0:
            self._parts.append(np.ctypeslib.as_array(samples, (count,)).copy())
        return 0


def version() -> str:
    """The version of the package that brings the library."""
    from importlib.metadata import version as installed

    return installed("espeakng-loader")


def voices() -> Sequence[str]:
    """Voices that sound like people, in the order of their names."""
    names = sorted(file.name for file in (_data() / "voices" / "!v").iterdir())
    return [n for n in names if n not in _ROBOTS and not n.startswith(_NO_PEOPLE)]


def accents() -> Sequence[str]:
    """Accents of English, in the order of their names."""
    names = sorted(file.name for file in (_data() / "lang" / "gmw").glob("en*"))
    return [name for name in names if name != _SHAVIAN]


def _data() -> Path:
    import espeakng_loader

    return Path(espeakng_loader.get_data_path())
