"""One line on a terminal that says what is going on, gone when it is done."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from trainmark.types import printable

__all__ = ["told"]

_LONGEST = 70  # the line is erased, so it must not be folded


@contextmanager
def told(text: str) -> Iterator[None]:
    """Within it, a terminal shows the text on standard error; nothing happens in a pipe.

    Args:
        text: What is being done.
    """
    if not sys.stderr.isatty():
        yield
        return
    click.echo(printable(text)[:_LONGEST], err=True, nl=False)
    try:
        yield
    finally:
        click.echo("\r\x1b[K", err=True, nl=False)
