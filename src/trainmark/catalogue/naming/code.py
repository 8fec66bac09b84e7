"""What else of a submission tells of a system: its code's folders, files by other names.

    <submitter>/benchmarks/<benchmark>/implementations/<name>/...    most
    <submitter>/benchmarks/<benchmark>/implementation/<name>/...     0.7, some

A name is a framework's ("hugectr"), a system's ("XE8545x4A100-SXM-80GB"), or has both.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from trainmark.catalogue.naming import names
from trainmark.catalogue.naming.name_tables import table

__all__ = ["implementations_in", "other_system_file"]

_FOLDER = re.compile(r"([^/]+)/benchmarks/([^/]+)/implementations?/([^/]+)/", re.IGNORECASE)


def implementations_in(paths: Iterable[str]) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """The names of implementations by submitter's folder and official name of the benchmark.

    Args:
        paths: Every file of a repository.
    """
    folders = {
        match.groups()
        for path in paths
        if "/implementation" in path and (match := _FOLDER.match(path))
    }
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for submitter, benchmark, name in folders:
        found[submitter, names.benchmark(benchmark).name].add(name)
    return {key: tuple(sorted(implementations)) for key, implementations in found.items()}


def other_system_file(submitter: str, system: str) -> str:
    """The name, without ".json", of the system file of a folder that is called otherwise.

    Args:
        submitter: The submitter's folder.
        system: The system's folder, for which there is no file of its own name.

    Returns:
        "" where none is known (``tables/names/corrections.toml``).
    """
    rows = table("corrections")["file"]
    found = (row for row in rows if (row["submitter"], row["system"]) == (submitter, system))
    return next((row["file"] for row in found), "")
