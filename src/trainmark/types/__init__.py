"""The central types. Standard library only; imported by every other layer."""

from trainmark.types.dataset import DataFile, DataSet, Needs
from trainmark.types.errors import InterruptedRunError, TrainmarkError, UsageError, unknown_name
from trainmark.types.files import atomic_write
from trainmark.types.finding import Finding, Severity
from trainmark.types.log import Event, RunLog
from trainmark.types.run import Doubt, Evaluation, Result, Run
from trainmark.types.system import System
from trainmark.types.text import printable
from trainmark.types.workload import Direction, Target, WorkloadSpec

__all__ = [
    "DataFile",
    "DataSet",
    "Direction",
    "Doubt",
    "Evaluation",
    "Event",
    "Finding",
    "InterruptedRunError",
    "Needs",
    "Result",
    "Run",
    "RunLog",
    "Severity",
    "System",
    "Target",
    "TrainmarkError",
    "UsageError",
    "WorkloadSpec",
    "atomic_write",
    "printable",
    "unknown_name",
]
