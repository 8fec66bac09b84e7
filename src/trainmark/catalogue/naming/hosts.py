"""Host processors in one spelling: "Intel(R) Xeon(R) Platinum 8480C CPU @ 2.00GHz" and others."""

import re
from dataclasses import dataclass

from trainmark.catalogue.naming.name_tables import LONGEST
from trainmark.rules.submission.systems_fields import is_placeholder

__all__ = ["HostProcessor", "host_processor"]

_NONE = re.compile(r"^(n/?a|none|-|cpuname)?$", re.IGNORECASE)
_NUMBER = re.compile(r"^([1-9]\d?) ?x (?=\D)", re.IGNORECASE)
# What a name may carry that says nothing of the model: marks, clock, cores, the word CPU.
_NOISE = re.compile(
    r"\((?:r|tm)\)|[®™]|\bcpu\b|@ ?\d+(?:\.\d+)? ?ghz|\b\d+-core\b(?: processor)?|\bprocessor$",
    re.IGNORECASE,
)
_MISSPELT = {"eypc": "EPYC"}
_BRANDS = {
    word.lower(): word
    for word in ("AMD", "EPYC", "Rome", "Intel", "Xeon", "Platinum", "Gold", "Silver", "Neoverse")
}


@dataclass(frozen=True, slots=True)
class HostProcessor:
    """A processor as a system file names it.

    Attributes:
        name: The name in one spelling, "Intel Xeon Platinum 8480C"; "" if none is named.
        number: How many the name itself counts ("2x Intel ..."), None if it does not.
    """

    name: str
    number: int | None


def host_processor(raw: str) -> HostProcessor:
    """The host processor that a text names.

    Args:
        raw: host_processor_model_name as written, or the field "cpu" of the early rounds.
    """
    text = raw.strip()[:LONGEST]
    if _NONE.match(text) or is_placeholder(text):
        return HostProcessor("", None)
    match = _NUMBER.match(text)
    name = _cleaned(text)
    while (again := _cleaned(name)) != name:  # what was left out may have parted more of it
        name = again
    return HostProcessor(name, int(match[1]) if match else None)


def _cleaned(text: str) -> str:
    return " ".join(map(_word, _NOISE.sub(" ", _NUMBER.sub("", text)).split()))


def _word(word: str) -> str:
    """One word; brands have one spelling, models keep theirs."""
    return _MISSPELT.get(word.lower()) or _BRANDS.get(word.lower(), word)
