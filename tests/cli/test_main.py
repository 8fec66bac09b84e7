import subprocess
import sys

import pytest

from tests.cli.commands import trainmark
from trainmark import __version__
from trainmark.cli.main import VERBS

HEAVY = ("torch", "numpy", "duckdb", "rich", "plotly", "jinja2", "yaml", "orjson", "pandas")


def test_help_lists_every_verb_and_imports_none() -> None:
    script = (
        "import sys; sys.argv = ['trainmark', '--help']\n"
        "from trainmark.cli.main import main\n"
        "try: main()\n"
        f"finally: print('HEAVY', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "HEAVY []" in done.stdout
    assert all(f"  {name} " in done.stdout for name in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_and_json(verb: str) -> None:
    done = trainmark(verb, "--help")
    assert done.returncode == 0
    assert "--json" in done.stdout


def test_an_unknown_verb_is_a_wrong_request() -> None:
    done = trainmark("runn")
    assert done.returncode == 2
    assert "No such command" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_version_is_the_packages() -> None:
    assert trainmark("--version").stdout.split()[-1] == __version__


def test_a_closed_pipe_is_no_error() -> None:
    done = subprocess.run(
        f"{sys.executable} -m trainmark results --limit 0 --json | head -c 10",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
