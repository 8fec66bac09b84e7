"""What lies in one benchmark folder: names and numbers of the logs, and what is no log."""

import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from trainmark.rules.subjects import few
from trainmark.rules.submission.tree import LOG_NAME
from trainmark.rules.submission.tree_listing import Listing, list_folder, walk
from trainmark.types import Finding, Severity

__all__ = [
    "RCP_BYPASS",
    "SEED_BYPASS",
    "check_benchmark_folder",
    "check_parameters",
    "flags_in",
    "misplaced",
]

PARAMETERS = "package_checker_params"
_EXPECTED_FILES = frozenset({PARAMETERS, "scaling.json"})
_EXPECTED_FOLDERS = frozenset({"power", "pruned_results"})
_NUMBERED = re.compile(r"result_(0|[1-9][0-9]{0,8})\.txt")
RCP_BYPASS, SEED_BYPASS = "rcp-bypass", "seed-checker-bypass"
FLAGS = (RCP_BYPASS, SEED_BYPASS)
_MOST_PARAMETER_BYTES = 4096


def check_benchmark_folder(folder: Path) -> Iterator[Finding]:
    """Logs that are missing or oddly named, files that do not belong there, logs too deep.

    Args:
        folder: ``results/<system>/<benchmark>``.
    """
    listing = list_folder(folder)
    yield from listing.findings
    if listing.findings:
        return
    names = [*filter(LOG_NAME.fullmatch, (*listing.file_names, *listing.link_names))]
    if not names:
        yield _found(
            "submission.no_logs",
            folder,
            "there is no result log in the folder; expected result_0.txt, result_1.txt, ...",
            "Put the logs of the runs here, or take the folder away.",
            severity=Severity.ERROR,
        )
    yield from _numbering(folder, names)
    yield from _strays(listing)
    yield from _misplaced(listing)
    yield from check_parameters(listing, read=True)


def _numbering(folder: Path, names: Sequence[str]) -> Iterator[Finding]:
    """Logs that are not result_0.txt to result_N-1.txt."""
    odd = [name for name in names if not _NUMBERED.fullmatch(name)]
    numbers = {int(match[1]) for name in names if (match := _NUMBERED.fullmatch(name))}
    gaps = sorted(set(range(len(names))) - numbers)
    if odd:
        said = f"the logs are named {few(odd, 3)}"
    elif gaps:
        missing = few([f"result_{number}.txt" for number in gaps], 3)
        said = f"the logs are numbered {min(numbers)} to {max(numbers)}: {missing} missing"
    else:
        return
    expected = f"result_0.txt to result_{len(names) - 1}.txt" if len(names) > 1 else "result_0.txt"
    yield _found(
        "submission.numbering",
        folder,
        f"{said}; expected {expected}",
        "Number the logs from 0 without gaps or leading zeros, their power folders alike.",
    )


def _strays(listing: Listing) -> Iterator[Finding]:
    """What is neither a log nor belongs to one."""
    files = [
        one
        for one in (*listing.files, *listing.links, *listing.others)
        if not LOG_NAME.fullmatch(one.name) and one.name not in _EXPECTED_FILES
    ]
    stray = [*files, *(one for one in listing.folders if one.name not in _EXPECTED_FOLDERS)]
    if stray:
        count = "1 entry is" if len(stray) == 1 else f"{len(stray)} entries are"
        yield _found(
            "submission.stray_file",
            stray[0],
            f"{count} neither a result log nor one of {', '.join(sorted(_EXPECTED_FILES))}, power: "
            f"{few([one.name for one in stray])}",
            "Take it away, or name it result_<i>.txt if it is a log.",
        )


def _misplaced(listing: Listing) -> Iterator[Finding]:
    """Result logs below the benchmark folder, where no tool reads them."""
    for folder in listing.shown_folders():
        if folder.name in _EXPECTED_FOLDERS:
            continue
        for inner in walk(folder):
            logs = [*filter(LOG_NAME.fullmatch, inner.file_names)]
            if logs:
                yield misplaced(inner.folder, logs)


def misplaced(folder: Path, logs: Sequence[str]) -> Finding:
    """A finding about logs at a place where the official tools do not look."""
    count = "a result log" if len(logs) == 1 else f"{len(logs)} result logs"
    return _found(
        "submission.misplaced",
        folder,
        f"{count} where the official tools do not look: {few(logs, 3)}; expected in "
        "results/<system>/<benchmark>",
        "Move them to results/<system>/<benchmark>, or take them away.",
    )


def check_parameters(listing: Listing, *, read: bool) -> Iterator[Finding]:
    """A package_checker_params that has no effect, or switches a check off.

    The official package checker compares whole lines, line ends included, with "rcp-bypass" and
    "seed-checker-bypass": only a last line without a line end has an effect.

    Args:
        listing: The folder that may hold the file.
        read: Whether the official package checker reads the file in this folder.
    """
    if PARAMETERS not in listing.file_names:
        return
    file = listing.folder / PARAMETERS
    lines = _lines(file)
    effective = [line for line in lines if line in FLAGS]
    idle = [line.strip() for line in lines if line not in FLAGS and line.strip()]
    if not read:
        yield _found(
            "submission.params",
            file,
            "the official package checker does not read this file here",
            "Put it into results/<system> or results/<system>/<benchmark>.",
        )
    elif idle:
        yield _found(
            "submission.params",
            file,
            f"without effect on the official package checker: {few(idle, 3)}; expected "
            f"{' or '.join(FLAGS)}, without a line end after it",
            "Write the one flag alone, for example: printf rcp-bypass > package_checker_params",
        )
    if read and effective:
        yield _found(
            "submission.params",
            file,
            f"switches a check of the official package checker off: {few(effective)}",
            "Tell the results chair, and be ready to show in the review why the result stands.",
            severity=Severity.NOTE,
        )


def flags_in(folder: Path) -> frozenset[str]:
    """The checks that a folder's package_checker_params switches off in the official tool.

    Args:
        folder: ``results/<system>`` or ``results/<system>/<benchmark>``.
    """
    file = folder / PARAMETERS
    try:
        if not stat.S_ISREG(file.lstat().st_mode):
            return frozenset()
    except OSError:  # there is none, or the folder may not be searched
        return frozenset()
    return frozenset(_lines(file)) & set(FLAGS)


def _lines(file: Path) -> list[str]:
    """The lines as the official package checker sees them, line ends kept."""
    try:
        with file.open("rb") as stream:
            text = stream.read(_MOST_PARAMETER_BYTES).decode("latin-1")
    except OSError:
        return []
    return text.replace("\r\n", "\n").replace("\r", "\n").splitlines(keepends=True)


def _found(
    rule: str, path: Path, message: str, fix: str, *, severity: Severity = Severity.WARNING
) -> Finding:
    return Finding(rule=rule, severity=severity, message=message, fix=fix, path=str(path))
