"""Text from outside, made fit to be shown."""

__all__ = ["printable"]


def printable(text: object) -> str:
    """Text from a log, a system file or a folder name, on one line and without control.

    Control characters, line ends, surrogates and the invisible marks that reorder or hide text
    become U+FFFD; what can be seen stays as it is.

    Args:
        text: Anything; ``str()`` of it is taken.
    """
    plain = str(text)
    if plain.isprintable():
        return plain
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in plain)
