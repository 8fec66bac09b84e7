"""What a workload is to the loop, and what a framework is to a workload.

A workload is one file that holds a ``Workload``: it names its scales and makes a ``Task``. The
task owns data, model, step and evaluation; the loop owns clock, schedule, stopping and logging.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from trainmark.training.prepared import Tell
from trainmark.training.settings import Settings
from trainmark.types import Finding, Needs, WorkloadSpec

__all__ = ["Framework", "Task", "TaskRequest", "Tell", "Workload"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRequest:
    """What a task is made from.

    Attributes:
        scale: "desk" or "full".
        spec: The workload's numbers.
        settings: The settings, every "auto" decided.
        seed: The run's seed.
        data: The data folder given by the user, None for data that ships in a package.
    """

    scale: str
    spec: WorkloadSpec
    settings: Settings
    seed: int
    data: Path | None


class Task(Protocol):
    """One model about to be trained.

    The loop calls, in this order: ``build`` and ``warm_up`` before the clock starts (neither may
    read data), then ``batches`` once and ``forward_backward``/``update``/``evaluate`` until the
    target is met.

    Attributes:
        spec: The workload's numbers.
        hyperparameters: Official log keys and their values.
        initialized_tensors: Names of the initialised tensors where rules of some round ask for
            them (ResNet-50 in 1.1 to 2.1), else empty.
    """

    spec: WorkloadSpec
    hyperparameters: Mapping[str, Any]
    initialized_tensors: tuple[str, ...]

    def build(self) -> None:
        """Make model and optimizer from the seed."""

    def warm_up(self) -> None:
        """Run step and evaluation on synthetic data, then put everything back as it was."""

    def synthetic_batch(self, samples: int) -> Any:
        """A batch of noise in the form that ``batches`` gives."""

    def flop_per_sample(self) -> float:
        """Floating-point operations of one training step divided by its samples."""

    def data_files(self) -> Iterator[Path]:
        """Files that the run will read: evicted from the page cache before the clock starts."""

    def batches(self) -> Iterator[Any]:
        """Training micro-batches without end. The first call may open the data."""

    def forward_backward(self, batch: Any) -> Any:
        """Add the gradient of one micro-batch to the step's.

        Returns:
            The loss, a scalar that ``float`` reads; the device need not have finished it.
        """

    def update(self, samples: int) -> None:
        """Take the optimizer step.

        Args:
            samples: Samples trained before this step, for the learning-rate schedule.
        """

    def evaluate(self) -> float:
        """The quality on the whole held-out set, in the target's metric."""

    def statistics(self) -> Mapping[str, float]:
        """What is worth knowing of the steps since the last call, by name, for the log.

        For example "padding_share": the share of the batches' places that held no data.
        """

    def close(self) -> None:
        """Stop workers and release files."""


class Workload(Protocol):
    """A benchmark that can be run; registered under the entry point ``trainmark.workloads``."""

    @property
    def name(self) -> str:
        """The name on the command line."""

    @property
    def title(self) -> str:
        """The name for people."""

    @property
    def framework(self) -> str:
        """The name of the framework that it is written in."""

    @property
    def scales(self) -> Mapping[str, type[Settings]]:
        """The settings of each scale."""

    @property
    def needs(self) -> Mapping[str, Needs]:
        """What each scale takes: data, memory, time."""

    @property
    def published(self) -> Mapping[str, WorkloadSpec]:
        """The numbers of a scale on its published data set, where ``spec`` reads a folder first.

        For those who want to know before they fetch it: ``trainmark workloads show``, benchmarks
        of the step.
        """

    def check_data(self, scale: str, data: Path) -> Iterator[Finding]:
        """What is wrong with a data folder beyond the table of files in ``needs``.

        Args:
            scale: "desk" or "full".
            data: The folder, which exists.
        """

    def prepare(self, scale: str, settings: Settings, data: Path | None, tell: Tell) -> None:
        """Make what must be there before anything is measured, as synthesised data; else nothing.

        What is made once is kept (``training.prepared``). ``spec`` is asked for afterwards.
        """

    def spec(self, scale: str, settings: Settings, data: Path | None) -> WorkloadSpec:
        """The workload's numbers.

        Raises:
            UsageError: The data is not there or not usable.
        """

    def task(self, request: TaskRequest) -> Task:
        """Make the task of one run."""


class Framework(Protocol):
    """What the loop needs of a framework; registered under ``trainmark.frameworks``."""

    name: str

    def prepare(self, settings: Settings, seed: int) -> None:
        """Seed every generator, set threads, choose the device.

        Raises:
            UsageError: The device or the precision is not to be had here.
        """

    def synchronize(self) -> None:
        """Wait until the device has finished what was asked of it."""

    def matmul_peak(self, precision: str) -> float:
        """Best measured matrix-multiplication rate of the device, FLOP/s."""

    def precisions(self) -> Mapping[str, str]:
        """Each precision, with the reason why it cannot be used here, "" if it can."""

    def thread_choices(self) -> tuple[int, ...]:
        """Thread counts worth measuring."""

    def environment(self) -> Mapping[str, Any]:
        """Versions, device, threads, for the log."""

    def gather(self, text: str) -> Sequence[str]:
        """The texts of all ranks, in their order; where there is one process, its own alone."""
