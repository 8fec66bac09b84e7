"""How a command says on a terminal what went wrong."""

from trainmark.types import TrainmarkError, printable

__all__ = ["error_text"]


def error_text(error: TrainmarkError) -> str:
    """The message behind the program's name, and below it what to do next."""
    lines = [f"trainmark: {error.message}"]
    if error.hint:
        lines.append(f"  {error.hint}")
    return "\n".join(printable(line) for text in lines for line in text.split("\n"))
