"""Results, published and own: read, stored and queried in DuckDB over Parquet."""

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
