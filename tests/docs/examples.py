"""The console blocks of the documentation, run: what stands there is what the command prints.

    python -m tests.docs.examples              write every marked block anew
    python -m tests.docs.examples docs/x.md    of these pages only

A block that is to be run has a mark in front of it:

    <!-- run -->
    ```console
    $ trainmark results v2.0/Graphcore/bow-pod16/resnet
    ...
    ```

Its commands run one after another in an empty folder, with nobody's own results and prices. Two
folders of logs, ``before`` and ``after`` an update, stand in ``runs/`` there. What goes to
standard error comes after the output; an exit status other than 0 is a line of its own.
"""

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.logs import RunShape, write_folder, write_resnet
from trainmark.cli.main import main

__all__ = ["DOCS", "MARK", "blocks", "output_of", "pages", "rewritten"]

DOCS = Path(__file__).resolve().parents[2] / "docs"
MARK = "<!-- run -->"
_BLOCK = re.compile(rf"({re.escape(MARK)}\n```console\n)(?P<text>.*?)```\n", re.DOTALL)
_COMMAND = "$ trainmark "
# Minutes of one machine's runs before an update and after it: 4 % less time.
_UPDATE: Mapping[str, Sequence[float]] = {
    "before": (30.0, 30.12, 29.91, 30.06, 29.97),
    "after": (28.8, 28.89, 28.74, 28.86, 28.77),
}


def pages() -> list[Path]:
    """The pages that hold a block to be run."""
    return [page for page in sorted(DOCS.rglob("*.md")) if MARK in page.read_text("utf-8")]


def blocks(page: str) -> list[str]:
    """The texts of the marked blocks of a page."""
    return [match["text"] for match in _BLOCK.finditer(page)]


def output_of(text: str) -> str:
    """The block with every command's output as it is today.

    Args:
        text: The block: lines that begin with "$ trainmark", each followed by its output.
    """
    commands = [line for line in text.splitlines() if line.startswith(_COMMAND)]
    with _empty_home():
        return "".join(f"{command}\n{_printed(command)}" for command in commands)


def rewritten(page: str) -> str:
    """The page with every marked block as it is today."""
    return _BLOCK.sub(lambda match: f"{match[1]}{output_of(match['text'])}```\n", page)


def _printed(command: str) -> str:
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        status = _run(shlex.split(command)[2:])
    lines = [*output.getvalue().splitlines(), *errors.getvalue().splitlines()]
    if status:
        lines.append(f"[exit status {status}]")
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _run(arguments: list[str]) -> int:
    before, sys.argv = sys.argv, ["trainmark", *arguments]
    try:
        main()
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 1
    finally:
        sys.argv = before
    return 0


@contextlib.contextmanager
def _empty_home() -> Iterator[None]:
    """An empty folder, and no results, prices and settings of whoever runs this."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        for variable in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
            os.environ[variable] = folder
        try:
            with contextlib.chdir(folder):
                _write_update()
                yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def _write_update() -> None:
    for name, minutes in _UPDATE.items():
        shapes = [RunShape(minutes=m, seed=n) for n, m in enumerate(minutes, start=1)]
        write_folder(Path("runs", name), shapes, write_resnet)


def _main(arguments: Sequence[str]) -> None:
    for page in [Path(name) for name in arguments] or pages():
        page.write_text(rewritten(page.read_text("utf-8")), encoding="utf-8")


if __name__ == "__main__":
    _main(sys.argv[1:])
