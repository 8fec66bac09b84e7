"""Snippets of no common shape in words: "the value" for ``v['value']``, and so on."""

import re

__all__ = ["in_words"]

_STEPS = r"(?P<steps>(?:\[(?:'[^']*'|\d+)\])*)"
_PLACES = (
    (re.compile(r"v\['value'\]" + _STEPS), "the value"),
    (re.compile(r"v\['metadata'\]" + _STEPS), "metadata"),
)
_REPLACEMENTS = (
    (re.compile(r"\bs\.get\('(\w+)'\)"), r"\1"),
    (re.compile(r"\bs\['(\w+)'\]"), r"\1"),
    (re.compile(r"\bll\.timestamp\b"), "its time"),
    (re.compile(r"\bmath\."), ""),
    (re.compile(r"\bfloat\('inf'\)"), "infinity"),
    (re.compile(r" is not None\b"), " is known"),
    (re.compile(r" is None\b"), " is not known"),
    (re.compile(r" == "), " is "),
    (re.compile(r" != "), " is not "),
    (re.compile(r" <= "), " is at most "),
    (re.compile(r" >= "), " is at least "),
    (re.compile(r" < "), " is less than "),
    (re.compile(r" > "), " is more than "),
    (re.compile(r" % "), " modulo "),
    (re.compile(r" \*\* 0\.5\b"), " to the power of 0.5"),
    (re.compile(r" \*\* "), " to the power of "),
    (re.compile(r" \* "), " times "),
    (re.compile(r" // | / "), " divided by "),
    (re.compile(r" - "), " minus "),
    (re.compile(r" \+ "), " plus "),
    (re.compile(r"\bis_integer\((.*)\)$"), r"\1 is whole"),
    (re.compile(r" in [\[{](.*?)[\]}]"), r" is one of \1"),
)


def in_words(source: str) -> str:
    """A snippet in words, on one line.

    Args:
        source: One expression or several statements of the rule language.
    """
    text = "; ".join(line.strip() for line in source.splitlines() if line.strip())
    for pattern, name in _PLACES:
        text = pattern.sub(rf"{name}\g<steps>", text)
    for pattern, words in _REPLACEMENTS:
        text = pattern.sub(words, text)
    return text
