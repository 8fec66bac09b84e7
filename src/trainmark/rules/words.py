"""Snippets of no common shape in words: "the value" for ``v['value']``, and so on."""

import functools
import re

__all__ = ["in_words"]

_PLACES = (
    (r"v\['value'\]", "the value"),
    (r"v\['metadata'\]", "metadata"),
    (r"\bs\.get\('(\w+)'\)", r"\1"),
    (r"\bs\['(\w+)'\]", r"\1"),
    (r"\bll\.timestamp\b", "its time"),
    (r"\bmath\.", ""),
    (r"\bfloat\('inf'\)", "infinity"),
    (r"\.format\((.*)\)", r" with {} replaced by \1"),
    (r"\benqueue_config\((.*)\)", r"the table \1 is checked next"),
    (r"(?<=\w) = ", " becomes "),
    (r"(?<=\w) \+= ", " grows by "),
    (r" is not None\b", " is known"),
    (r" is None\b", " is not known"),
    (r" in [\[{](.*?)[\]}]", r" is one of \1"),
    (r"\bis_integer\((.*)\)$", r"\1 is whole"),
    (r"(\([^()]*\)) \*\* 0\.5\b", r"the square root of \1"),
    (r"^abs\(([^()]*?) - (.*)\) < ([\w.-]+)$", r"\1 differs from \2 by less than \3"),
    (r"^([^ ]*) % (\w+) == 0$", r"\1 is a whole multiple of \2"),
    (r"'", '"'),
)
_COMPARISONS = {
    "==": "is",
    "!=": "is not",
    "<=": "is at most",
    ">=": "is at least",
    "<": "is less than",
    ">": "is more than",
}
_COMPARISON = r" (==|!=|<=|>=|<|>) "
_MADE_KEY = r"\.key = '(\w+)'"


def in_words(source: str) -> str:
    """A snippet in words, on one line.

    Args:
        source: One expression or several statements of the rule language.
    """
    if "loglines.extend(" in source:
        made = re.findall(_MADE_KEY, source)
        return f"records {', '.join(made)} are made of others and join the log"
    text = "; ".join(line.strip() for line in source.splitlines() if line.strip())
    text = _without_int(text.replace(":; ", ": "))
    for pattern, words in _patterns():
        text = pattern.sub(words, text)
    compared = re.findall(_COMPARISON, text)
    if len(compared) > 1 and not re.search(r"\b(and|or|if)\b", text):
        return text  # a <= b <= c reads best as it is
    return re.sub(_COMPARISON, lambda match: f" {_COMPARISONS[match[1]]} ", text)


def _without_int(text: str) -> str:
    """The text without conversions to a whole number: what is converted stays."""
    for match in reversed(list(re.finditer(r"\bint(?=\()", text))):
        depth, parts = 0, False
        for end in range(match.end(), len(text)):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            parts |= depth == 1 and text[end] == " "
            if depth == 0:
                inner = text[match.end() : end + 1]
                text = f"{text[: match.start()]}{inner if parts else inner[1:-1]}{text[end + 1 :]}"
                break
    return text


@functools.cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Compiled when first needed: a check without findings needs no words."""
    return [(re.compile(pattern), words) for pattern, words in _PLACES]
