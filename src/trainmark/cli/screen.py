"""The terminal as verbs print tables to it: text from outside is never taken for markup."""

from typing import NoReturn

from rich.console import Console

__all__ = ["Screen"]


_USUAL_WIDTH = 80


class Screen(Console):
    """Standard output without markup, emoji codes and guessed colours."""

    def __init__(self) -> None:
        super().__init__(highlight=False, markup=False, emoji=False)
        if self.width < 1:  # COLUMNS=0: nothing at all would be printed
            self.width = _USUAL_WIDTH

    def on_broken_pipe(self) -> NoReturn:
        """The reader has gone: told to the caller, where rich ends with status 1, "findings"."""
        raise BrokenPipeError
