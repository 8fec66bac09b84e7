"""Let a coverage-guided fuzzer look for bytes that break the reader or the checker.

    pip install atheris
    python tests/fuzz/guided.py [--seconds 600] FOLDER

FOLDER, which is made, keeps the inputs that reached new code, so that a later run goes on from
there. The first byte of an input chooses the rules; the rest is the log. What fails is written to
the folder that the command was started in, as ``crash-...``, and ``guided.py crash-...`` runs it
again.
"""

import argparse
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

_ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ROOT), str(_ROOT / "src")]

_LONGEST = 20_000


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=600, help="how long to look")
    parser.add_argument("place", help="folder of inputs, or one input to run again")
    args = parser.parse_args()
    try:
        atheris = importlib.import_module("atheris")
    except ImportError:
        print(
            "guided.py needs the fuzzer atheris, which trainmark does not install: "
            "pip install atheris. Without it: python tests/fuzz/long.py --minutes 10",
            file=sys.stderr,
        )
        return 2
    with atheris.instrument_imports(include=["trainmark"]):
        from tests.fuzz.corpus import corpus
        from tests.fuzz.properties import ROUNDS, check_holds
    look = _target(ROUNDS, check_holds)
    inputs = Path(args.place)
    if not inputs.is_file():
        inputs.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory() as folder:
            logs = [b"\n".join(lines) for lines in corpus(Path(folder))]
        _sow(inputs, logs, len(ROUNDS))
    options = [f"-max_total_time={args.seconds}", f"-max_len={_LONGEST}", "-timeout=30"]
    atheris.Setup([sys.argv[0], *options, str(inputs)], look)
    atheris.Fuzz()  # ends the process by itself
    return 0


def _target(
    rounds: tuple[str | None, ...], check: Callable[[bytes, str | None], object]
) -> Callable[[bytes], None]:
    """What the fuzzer calls with every input."""

    def look(data: bytes) -> None:
        if data:
            check(data[1:], rounds[data[0] % len(rounds)])

    return look


def _sow(folder: Path, logs: list[bytes], rounds: int) -> None:
    """The inputs to start from: good logs, each held to every round, shortened to what fits."""
    for number, log in enumerate(logs):
        for choice in range(rounds):
            Path(folder, f"good_{number}_{choice}").write_bytes(bytes([choice]) + log[:_LONGEST])


if __name__ == "__main__":
    sys.exit(main())
