"""Result logs, read and written. The only code that knows the token ``:::MLLOG``."""

from trainmark.mllog.batch import forget
from trainmark.mllog.excerpts import excerpts
from trainmark.mllog.ranks import count_ranks, first_rank
from trainmark.mllog.reader import iter_log, read, read_bytes
from trainmark.mllog.scan import scan
from trainmark.mllog.summary import run_interval, summarize
from trainmark.mllog.writer import LogWriter, steady_time_ms

__all__ = [
    "LogWriter",
    "count_ranks",
    "excerpts",
    "first_rank",
    "forget",
    "iter_log",
    "read",
    "read_bytes",
    "run_interval",
    "scan",
    "steady_time_ms",
    "summarize",
]
