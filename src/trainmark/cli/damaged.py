"""What is damaged in the catalogue, told on standard error by every verb that reads it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from trainmark.types import Finding

__all__ = ["warn"]


def warn(findings: "Iterable[Finding]") -> None:
    """Print a line for each finding."""
    from trainmark.types import printable

    for one in findings:
        click.echo(printable(f"trainmark: {one.path}: {one.message}. {one.fix}"), err=True)
