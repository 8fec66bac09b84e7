"""Text from outside, made fit for a terminal."""

__all__ = ["printable"]


def printable(text: object) -> str:
    """The text on one line, each control or invisible character replaced by U+FFFD."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text))
