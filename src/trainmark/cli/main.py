"""The command ``trainmark``: a table of verbs, each loaded only when it is called."""

import errno
import importlib
import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click

from trainmark import __version__
from trainmark.cli.error_text import error_text
from trainmark.types import TrainmarkError, unknown_name

__all__ = ["VERBS", "Verb", "command", "main"]


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb: the module that holds its ``command``, and its line in ``--help``."""

    module: str
    help: str


VERBS: dict[str, Verb] = {
    "run": Verb("run", "Train a workload to its target and prove the time."),
    "check": Verb("check", "Check result logs against the rules of their round."),
    "score": Verb("score", "The official score of a folder of result logs."),
    "rules": Verb("rules", "The rules of a round as sentences; what changed between rounds."),
    "import": Verb("import_", "Read results repositories into the catalogue."),
    "results": Verb("results", "List published and own results."),
    "scaling": Verb("scaling", "Time by number of accelerators, and where efficiency goes."),
    "history": Verb("history", "What software gained on the same hardware, round by round."),
    "compare": Verb("compare", "Compare results: minutes, speed and its spread, per dollar."),
    "prices": Verb("prices", "Figures of hardware, prices, space and power; add your own."),
    "diff": Verb("diff", "Your runs before and after an update: slower beyond noise?"),
    "sql": Verb("sql", "Ask the catalogue in SQL, for reading only."),
    "report": Verb("report", "One HTML page: of all results, or of a folder of runs."),
    "system": Verb("system", "Describe this machine in the official form."),
    "workloads": Verb("workloads", "What can be run, and what each workload needs."),
    "data": Verb("data", "Check the data that a workload needs."),
    "plugins": Verb("plugins", "List plug-ins, and why one is broken."),
}


# What the system says when standard output cannot take more.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


class _LazyGroup(click.Group):
    """A group that knows its verbs by name and imports one when it is called."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _output_errors():  # --help is printed here
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        if os.environ.get("NO_COLOR"):  # https://no-color.org
            ctx.color = False
        with _output_errors():
            return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in VERBS and not args[0].startswith("-"):
            raise unknown_name("command", args[0], VERBS)
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        verb = VERBS.get(cmd_name)
        if verb is None:
            return None
        module = importlib.import_module(f"trainmark.cli.{verb.module}")
        loaded = module.command
        assert isinstance(loaded, click.Command), cmd_name
        return loaded

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl([(name, verb.help) for name, verb in VERBS.items()])


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit status: 0 fine, 1 findings or a run that failed, 2 a wrong request.",
)
@click.version_option(__version__, prog_name="trainmark")
def command() -> None:
    """How long a machine takes to train a real model to its quality target.

    Results that you make are unverified: MLCommons has not reviewed them.
    """


def main() -> None:
    """Run the command; an error that a user can act on becomes a text and an exit status."""
    _show_any_text()
    try:
        sys.exit(command.main(prog_name="trainmark", standalone_mode=False) or 0)
    except TrainmarkError as error:
        click.echo(error_text(error), err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:  # Ctrl-C
        sys.exit(128 + signal.SIGINT)


def _show_any_text() -> None:
    r"""Let what the terminal's encoding lacks be shown as ``\u65e5``, where Python would stop."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def _output_errors() -> Iterator[None]:
    """An output that takes no more becomes an exit status, and a text where that helps."""
    try:
        yield
    except BrokenPipeError:
        # The reader of our output (head, less) has gone: no error, but no verdict either.
        _drop_output()
        raise click.exceptions.Exit(128 + signal.SIGPIPE) from None
    except OSError as error:
        if error.filename is not None or error.errno not in _FULL:
            raise
        _drop_output()
        raise TrainmarkError(
            f"cannot write the output: {error.strerror}",
            hint="Free some space, or send the output to another place.",
        ) from error


def _drop_output() -> None:
    """Send what is still to be printed nowhere: at exit Python writes out its buffers."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
