import os
import pty
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import click
import pytest

from tests.cli.commands import trainmark
from tests.logs import write_desk
from trainmark import __version__
from trainmark.cli.main import VERBS, command, main

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
    assert "there is no command 'runn'" in done.stderr
    assert "Did you mean 'run'? Valid: check," in done.stderr
    assert "Traceback" not in done.stderr


def test_the_version_is_the_packages() -> None:
    assert trainmark("--version").stdout.split()[-1] == __version__


@pytest.mark.parametrize(
    "arguments",
    [
        *("results --limit 0", "results --limit 0 --format csv", "results --limit 0 --json"),
        *("system", "--help", "check --help", "rules show --help", "--version"),
    ],
)
def test_a_reader_that_goes_away_is_neither_an_error_nor_a_verdict(arguments: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "trainmark", *arguments.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() == 141


@pytest.mark.parametrize(
    "arguments",
    ["results", "results --format csv", "results --json", "--help", "--version", "check --help"],
)
def test_an_output_that_is_full_is_told(arguments: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "trainmark", *arguments.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith("trainmark: cannot write the output: No space left on device\n")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("no_color", "escapes"), [("", True), ("1", False)])
def test_no_color_is_heeded_on_a_terminal(no_color: str, escapes: bool, tmp_path: Path) -> None:
    main_side, terminal = pty.openpty()
    subprocess.run(
        [sys.executable, "-m", "trainmark", "check", write_desk(tmp_path / "result_0.txt")],
        stdout=terminal,
        env={**os.environ, "NO_COLOR": no_color},
        check=True,
    )
    os.close(terminal)
    shown = os.read(main_side, 10_000)
    os.close(main_side)
    assert b"Valid" in shown
    assert (b"\x1b" in shown) is escapes


def test_control_characters_do_not_reach_the_terminal_through_an_error() -> None:
    done = trainmark("check", "absent\x1b[31m\x07")
    assert done.returncode == 2
    assert done.stderr.startswith("trainmark: there is no absent\ufffd[31m\ufffd\n")


def test_an_interrupted_verb_ends_as_shells_expect(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(ctx: click.Context) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "invoke", interrupted)
    monkeypatch.setattr(sys, "argv", ["trainmark", "results"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 130


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
@pytest.mark.parametrize("style", ["text", "json", "github", "sarif", "junit"])
def test_a_terminal_of_any_encoding_is_printed_to(
    style: str, encoding: str, tmp_path: Path
) -> None:
    folder = tmp_path / "\u65e5"
    folder.mkdir()
    (folder / "result_0.txt").write_text(":::MLLOG x", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "trainmark", "check", folder, "--format", style],
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": encoding},
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == b""
    assert done.stdout
    if style == "junit":
        suite = ElementTree.fromstring(done.stdout)[0]
        assert suite.attrib["name"] == str(folder)


def test_a_wrong_request_is_told_in_any_encoding() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "trainmark", "check", "\u65e5"],
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "latin-1"},
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(b"trainmark: there is no \\u65e5\n")
