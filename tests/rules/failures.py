"""The failures that docs/failures.md shows: a log for each, and what the command says of it.

python -m tests.rules.failures     write the console blocks of the page anew
"""

import ast
import contextlib
import io
import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlperf_logging import compliance_checker

from tests.logs import Clock, RunShape, Text, write_resnet
from trainmark.cli.main import main
from trainmark.mllog import LogWriter, keys

PAGE = Path(__file__).resolve().parents[2] / "docs" / "failures.md"
_BLOCK = re.compile(r"(<!-- case: (?P<name>\w+) -->\n)```console\n(?P<text>.*?)```\n", re.DOTALL)
_RULES = Path(compliance_checker.__file__).parent


@dataclass(frozen=True)
class Case:
    """One failure: ``build`` writes result_0.txt into a folder; ``options`` are the command's."""

    build: Callable[[Path], None]
    options: tuple[str, ...]


def output_of(case: Case) -> str:
    """The command and what it prints, as a console block has it."""
    with tempfile.TemporaryDirectory() as folder:
        case.build(Path(folder, "result_0.txt"))
        arguments = ["check", "result_0.txt", *case.options]
        printed = io.StringIO()
        with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
            _run(arguments)
    return f"$ trainmark {' '.join(arguments)}\n{printed.getvalue()}"


def blocks(page: str) -> dict[str, str]:
    """The console blocks of a page by the name of their case."""
    return {match["name"]: match["text"] for match in _BLOCK.finditer(page)}


def rewritten(page: str) -> str:
    """The page with every block as it is today."""
    return _BLOCK.sub(
        lambda match: f"{match[1]}```console\n{output_of(CASES[match['name']])}```\n", page
    )


def _run(arguments: list[str]) -> None:
    before, sys.argv = sys.argv, ["trainmark", *arguments]
    try:
        main()
    except SystemExit:
        pass
    finally:
        sys.argv = before


def _tensors_missing(path: Path) -> None:
    text = Text.read(write_resnet(path, round_name="1.0"))
    text.drop("weights_initialization")
    text.write()


def _renamed_key(path: Path) -> None:
    text = Text.read(_write_bert(path))
    text.find("opt_lamb_epsilon")["key"] = "opt_epsilon"
    text.write()


def _aborted(path: Path) -> None:
    write_resnet(path, RunShape(status="aborted", qualities=(0.55, 0.70, 0.75, 0.7581)))


def _cut_short(path: Path) -> None:
    text = Text.read(write_resnet(path))
    text.records = text.records[: text.line_of("block_start", 3)]
    text.write()


def _broken_line(path: Path) -> None:
    text = Text.read(write_resnet(path))
    lines = text.lines()
    number = text.line_of("lars_opt_weight_decay")
    lines[number - 1] = lines[number - 1].replace('"metadata": {}', '"meta')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _slow_start(path: Path) -> None:
    write_resnet(path, RunShape(init_minutes=52.8))


def _no_log(path: Path) -> None:
    path.write_text("See the other folder for this run.\n", encoding="utf-8")


def _old(
    change: Callable[[list[str]], list[str]], benchmark: str = "resnet"
) -> Callable[[Path], None]:
    """A log of round 0.6 with its lines changed."""

    def build(path: Path) -> None:
        path.write_text("\n".join(change(_lines_0_6(benchmark))) + "\n", encoding="utf-8")

    return build


def _without(*names: str) -> Callable[[list[str]], list[str]]:
    return lambda lines: [line for line in lines if line.split()[2].rstrip(":") not in names]


def _replaced(name: str, old: str, new: str) -> Callable[[list[str]], list[str]]:
    def change(lines: list[str]) -> list[str]:
        changed = [one.replace(old, new) if f" {name}: " in one else one for one in lines]
        assert changed != lines, name
        return changed

    return change


def _overlapping(lines: list[str]) -> list[str]:
    """The first block is closed after the second one has begun."""
    stop = next(line for line in lines if " block_stop: " in line)
    rest = [line for line in lines if line is not stop]
    second = [number for number, line in enumerate(rest) if " block_start: " in line][1]
    return [*rest[: second + 1], stop, *rest[second + 1 :]]


def _write_bert(path: Path) -> Path:
    """A good log of closed BERT of round 2.1."""
    clock = Clock()
    with LogWriter(path, now_ms=clock) as log:
        for key, value in (_SUBMISSION | {"submission_benchmark": "bert"} | _BERT).items():
            log.point(key, value)
        log.point(keys.CACHE_CLEAR, True)
        log.start(keys.INIT_START)
        for tensor in _tensors("training_2.1.0/closed_bert.yaml"):
            log.point("weights_initialization", tensor=tensor)
        log.stop(keys.INIT_STOP)
        log.start(keys.RUN_START)
        for number, quality in enumerate((0.65, 0.7201), start=1):
            block = {"first_epoch_num": number, "epoch_count": 1}
            log.start(keys.BLOCK_START, **block)
            clock.wait(300)
            log.point(keys.EVAL_ACCURACY, quality, epoch_num=number * 150_000)
            log.stop(keys.BLOCK_STOP, first_epoch_num=number)
        log.stop(keys.RUN_STOP, status=keys.SUCCESS)
    return path


def _tensors(table: str) -> list[str]:
    """The tensors that a rule table wants initialised."""
    found = re.search(r"sorted\((\[.*?\])\)", _RULES.joinpath(table).read_text(), re.DOTALL)
    assert found is not None, table
    return list(ast.literal_eval(found[1]))


def _lines_0_6(benchmark: str) -> list[str]:
    """A good log in the form of round 0.6: seconds, the key, then JSON."""
    clock, lines = Clock(), []

    def log(key: str, value: str = "null", **metadata: Any) -> None:
        more = "".join(f', "{name}": {value}' for name, value in metadata.items())
        fields = f'{{"value": {value}, "metadata": {{"lineno": 1, "file": "train.py"{more}}}}}'
        lines.append(f":::MLL {clock.now_ms / 1000:.3f} {key}: {fields}")

    for key, text in (_SUBMISSION | {"submission_benchmark": benchmark}).items():
        log(key, f'"{text}"')
    log("submission_poc_name", '"A. Tester"')
    log("submission_entry", '"{}"')
    log("cache_clear", "true")
    log("init_start")
    for key, number in _SETTINGS_0_6[benchmark].items():
        log(key, number)
    log("init_stop")
    log("run_start")
    for epoch, quality in ((1, 0.55), (2, 0.75), (3, 0.7601)):
        log("block_start", first_epoch_num=epoch, epoch_count=1)
        log("epoch_start", epoch_num=epoch)
        clock.wait(200)
        log("epoch_stop", epoch_num=epoch)
        log("eval_start", epoch_num=epoch)
        log("eval_accuracy", str(quality), epoch_num=epoch)
        log("eval_stop", epoch_num=epoch)
        log("block_stop", first_epoch_num=epoch)
    log("run_stop", status='"success"')
    return lines


_SUBMISSION = {
    "submission_org": "tester",
    "submission_platform": "testbox",
    "submission_division": "closed",
    "submission_status": "onprem",
}
_BERT = {
    "global_batch_size": 448,
    "gradient_accumulation_steps": 1,
    "opt_name": "lamb",
    "opt_base_learning_rate": 0.00035,
    "opt_lamb_epsilon": 1e-6,
    "opt_learning_rate_training_steps": 8000,
    "opt_learning_rate_warmup_steps": 0,
    "num_warmup_steps": 0,
    "start_warmup_step": 0,
    "opt_lamb_beta_1": 0.9,
    "opt_lamb_beta_2": 0.999,
    "opt_lamb_weight_decay_rate": 0.01,
    "train_samples": 156_725_653,
    "eval_samples": 10_000,
    "seed": 1,
}
_SETTINGS_0_6 = {
    "resnet": {
        "global_batch_size": "256",
        "opt_name": '"sgd"',
        "opt_base_learning_rate": "0.4",
        "opt_learning_rate_warmup_epochs": "5",
        "opt_learning_rate_decay_boundary_epochs": "[30, 60]",
        "model_bn_span": "32",
    },
    "gnmt": {
        "global_batch_size": "2048",
        "opt_learning_rate_alt_decay_func": "true",
        "opt_base_learning_rate": "0.002",
        "opt_learning_rate_decay_interval": "300",
        "opt_learning_rate_decay_factor": "0.5",
        "opt_learning_rate_decay_steps": "4",
        "opt_learning_rate_remain_steps": "1500",
        "opt_learning_rate_alt_warmup_func": "false",
        "opt_learning_rate_warmup_steps": "200",
        "max_sequence_length": "75",
    },
}

_0_6 = ("--round", "0.6")
_4_0 = ("--round", "4.0")
CASES: Mapping[str, Case] = {
    "tensors": Case(_tensors_missing, ("--round", "1.1")),
    "renamed": Case(_renamed_key, ("--round", "2.1")),
    "missing": Case(_old(_without("submission_poc_name", "submission_entry")), _0_6),
    "order": Case(_old(_overlapping), _0_6),
    "value": Case(_old(_replaced("cache_clear", "true", "null")), _0_6),
    "aborted": Case(_aborted, _4_0),
    "epoch": Case(_old(_replaced("eval_accuracy", '"epoch_num": 2', '"epoch_num": 4')), _0_6),
    "choice": Case(_old(_replaced("opt_name", "sgd", "adam")), _0_6),
    "type": Case(
        _old(_replaced("opt_learning_rate_alt_decay_func", "true", '"True"'), "gnmt"), _0_6
    ),
    "cut_short": Case(_cut_short, _4_0),
    "broken_line": Case(_broken_line, _4_0),
    "slow_start": Case(_slow_start, _4_0),
    "no_log": Case(_no_log, _4_0),
}

if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
