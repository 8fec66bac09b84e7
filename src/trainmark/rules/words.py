"""Snippets of no common shape in words: "the value" for ``v['value']``, and so on."""

import functools
import re

__all__ = ["in_words"]

_STEPS = r"(?P<steps>(?:\[(?:'[^']*'|\d+)\])*)"
_REPLACEMENTS = (
    (r"v\['value'\]" + _STEPS, r"the value\g<steps>"),
    (r"v\['metadata'\]" + _STEPS, r"metadata\g<steps>"),
    (r"\bs\.get\('(\w+)'\)", r"\1"),
    (r"\bs\['(\w+)'\]", r"\1"),
    (r"\bll\.timestamp\b", "its time"),
    (r"\bmath\.", ""),
    (r"\bfloat\('inf'\)", "infinity"),
    (r" is not None\b", " is known"),
    (r" is None\b", " is not known"),
    (r" == ", " is "),
    (r" != ", " is not "),
    (r" <= ", " is at most "),
    (r" >= ", " is at least "),
    (r" < ", " is less than "),
    (r" > ", " is more than "),
    (r" % ", " modulo "),
    (r" \*\* 0\.5\b", " to the power of 0.5"),
    (r" \*\* ", " to the power of "),
    (r" \* ", " times "),
    (r" // | / ", " divided by "),
    (r" - ", " minus "),
    (r" \+ ", " plus "),
    (r"\bis_integer\((.*)\)$", r"\1 is whole"),
    (r" in [\[{](.*?)[\]}]", r" is one of \1"),
)


def in_words(source: str) -> str:
    """A snippet in words, on one line.

    Args:
        source: One expression or several statements of the rule language.
    """
    text = "; ".join(line.strip() for line in source.splitlines() if line.strip())
    for pattern, words in _patterns():
        text = pattern.sub(words, text)
    return text


@functools.cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Compiled when first needed: a check without findings needs no words."""
    return [(re.compile(pattern), words) for pattern, words in _REPLACEMENTS]
