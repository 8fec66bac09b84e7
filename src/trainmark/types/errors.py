"""The exception tree: every error that trainmark raises on purpose.

    TrainmarkError            exit status 1: the work was asked for rightly and did not succeed
    ├── UsageError            exit status 2: the request itself cannot be carried out as put
    └── InterruptedRunError   exit status 130 or 143: somebody stopped the run (128 + signal)

A message says what was wrong, where, and what is allowed; ``hint`` says what to do next.
"""

from collections.abc import Iterable

__all__ = ["InterruptedRunError", "TrainmarkError", "UsageError", "unknown_name"]


class TrainmarkError(Exception):
    """Something that a user can understand and act on; shown without a traceback.

    Args:
        message: What was wrong and where, with the bad value.
        hint: What to do next: a command, a setting, a list of valid values. May be empty.
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(TrainmarkError, ValueError):
    """The request is wrong: an unknown name, a missing folder, a setting out of its range."""

    exit_code = 2


class InterruptedRunError(TrainmarkError):
    """A run was stopped by a signal; its log ends with status "aborted".

    Args:
        message: Which run was stopped, and where its log lies.
        signal_number: The signal, for the exit status 128 + signal.
        hint: What to do next.
    """

    def __init__(self, message: str, *, signal_number: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.exit_code = 128 + signal_number


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """The error for a misspelt name: lists the valid ones, nearest first.

    Args:
        kind: What the name names, for example "workload".
        name: The name as given.
        known: The valid names.
    """
    import difflib  # not at every start

    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    return UsageError(
        f"there is no {kind} {name!r}",
        hint=f"{hint}Valid: {', '.join(names) if names else 'none'}.",
    )
