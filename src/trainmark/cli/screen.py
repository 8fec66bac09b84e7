"""The terminal as verbs print tables to it: text from outside is never taken for markup."""

from typing import NoReturn

from rich.console import Console

__all__ = ["Screen"]


class Screen(Console):
    """Standard output without markup, emoji codes and guessed colours."""

    def __init__(self) -> None:
        super().__init__(highlight=False, markup=False, emoji=False)

    def on_broken_pipe(self) -> NoReturn:
        """The reader has gone: told to the caller, where rich ends with status 1, "findings"."""
        raise BrokenPipeError
