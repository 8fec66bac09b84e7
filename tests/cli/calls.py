"""A verb called in this process, as a user's shell does."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from trainmark.cli.main import main

Call = Callable[..., tuple[int, str, str]]


def calls(verb: str, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> Call:
    """Runs the verb: exit status, standard output, standard error."""

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        patch.setattr(sys, "argv", ["trainmark", verb, *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capture.readouterr()
        assert isinstance(left.value.code, int)
        return left.value.code, out, err

    return call
