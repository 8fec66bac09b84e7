"""Results, published and own: read, stored and queried in DuckDB over Parquet.

What stands here is loaded when it is first used: names and tables need no database.
"""

from typing import TYPE_CHECKING

from trainmark.types.lazy import lazily

if TYPE_CHECKING:
    from trainmark.catalogue.own import default_folder, record
    from trainmark.catalogue.search import (
        SORTS,
        Filters,
        choices,
        own_results,
        published,
        query,
        runs_of,
    )

__all__ = [
    "SORTS",
    "Filters",
    "choices",
    "default_folder",
    "own_results",
    "published",
    "query",
    "record",
    "runs_of",
]

__getattr__ = lazily(
    __name__,
    {
        "own": ("default_folder", "record"),
        "search": (
            "SORTS",
            "Filters",
            "choices",
            "own_results",
            "published",
            "query",
            "runs_of",
        ),
    },
)
