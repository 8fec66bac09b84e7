"""One training run and one result made of several."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from trainmark.types.workload import Target

__all__ = ["Doubt", "Evaluation", "Result", "Run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """One evaluation of a run.

    Attributes:
        minutes: Minutes since run_start.
        samples: Samples trained so far, None if the log does not say.
        quality: The measured quality, in the metric's unit.
        train_loss: Mean training loss since the evaluation before, None where the log does not
            say; the catalogue does not keep it.
    """

    minutes: float
    samples: float | None
    quality: float
    train_loss: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one result log says, in numbers. None stands for "the log does not say".

    Attributes:
        source: The log's path.
        benchmark: The log's submission_benchmark.
        division: The log's submission_division, as written.
        submitter: The log's submission_org, as written.
        platform: The log's submission_platform, as written.
        minutes: Time to train: run_start to run_stop, by the official rule (the last run_start
            before the first run_stop that follows one).
        init_minutes: First init_start to init_stop: the untimed part.
        status: "success", "aborted", ... as run_stop says; None without a run_stop.
        quality: The last quality measured before run_stop.
        target: The target that the log itself declares (our own logs do).
        samples_to_target: Samples trained when the run stopped with success.
        global_batch_size: Samples in one optimizer step.
        seed: The seed as logged.
        train_samples: Samples in one epoch.
        eval_samples: Samples in the held-out set.
        evaluations: Every evaluation inside the run.
        samples_per_second: Training throughput as the log states it.
        efficiency: Our own writer's measurements, keys as in ``mllog.keys``.
        settings: Our own writer's settings.
        environment: Our own writer's description of software and device.
        content: What identifies the log's bytes: git's object name of them, "" when unknown.
        available: Whether the log could be read; a listed log may be absent from its repository.
        energy_joules: Measured energy of the run, all nodes; None without a measurement.
    """

    source: str
    benchmark: str | None = None
    division: str | None = None
    submitter: str | None = None
    platform: str | None = None
    minutes: float | None = None
    init_minutes: float | None = None
    status: str | None = None
    quality: float | None = None
    target: Target | None = None
    samples_to_target: float | None = None
    global_batch_size: float | None = None
    seed: int | None = None
    train_samples: float | None = None
    eval_samples: float | None = None
    evaluations: tuple[Evaluation, ...] = ()
    samples_per_second: float | None = None
    efficiency: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    content: str = ""
    available: bool = True
    energy_joules: float | None = None

    @property
    def succeeded(self) -> bool:
        """Whether run_stop says success."""
        return self.status == "success"

    def to_dict(self) -> dict[str, Any]:
        """The run as plain data for ``--json``."""
        return asdict(self) | {"target": None if self.target is None else self.target.to_dict()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """What an import resolved by a rule, or could not resolve.

    Attributes:
        kind: One of few words, the same for all of its kind: "unknown accelerator".
        text: A sentence about this result, with the value as written.
        resolved: Whether a stated rule settled it; False where the value stays as written or
            unknown.
    """

    kind: str
    text: str
    resolved: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One line of a results table: a system, a benchmark, a score.

    Attributes:
        id: Stable name of the result: ``v2.0/Graphcore/bow-pod16/resnet`` or ``own/...``.
        origin: "published" (in a results repository of MLCommons), "imported" (somebody's
            submission that is not published there) or "own" (recorded on this machine).
        round: "1.0" ... for a published result, None for one's own.
        division: "closed" or "open".
        category: "available", "preview", "research", or as written.
        submitter: The organisation.
        system: The system's name.
        benchmark: The benchmark's official or own name.
        task: What is trained, whatever its benchmark was called in that round: "ssd" was SSD300
            up to 1.1 and RetinaNet from 2.0, "gnn" and "rgat" are one. Equal to the benchmark
            where nothing changed.
        accelerator: The accelerator's name, "" if none.
        accelerators: Number of accelerators, None if unknown.
        nodes: Number of nodes as the system file counts them, None if unknown.
        framework: Framework and version as written.
        run_minutes: Minutes of each run that counts, in file order.
        minutes: The score; None when there is none (``score_basis`` says why).
        score_basis: How ``minutes`` came about, for example "official: mean of 3 of 5 runs".
        scaling_factor: The factor in scaling.json, 1 without one.
        global_batch_size: Samples in one optimizer step.
        samples_to_target: Trimmed mean of the runs' samples to target.
        label: "verified by MLCommons" for a published one, else "unverified...".
        repository: Where it was published, "" for one's own.
        commit: Commit of that repository, "".
        path: Folder in the repository or on disk.
        machine: For an own result the machine's fingerprint, else "".
        recorded: ISO date and time of an own result, else "".
        samples_per_second: Median training throughput, None if unknown.
        carried_over: Whether the same logs were published before under another id: kept in
            lists, left out of statistics.
        raw: Values as written where this type holds a normalised one: "accelerator",
            "division", "status", "submitter", ...
        doubts: What was resolved by a rule, or could not be.
        accelerators_per_node: Accelerators in one node, None if unknown.
        hosts: Number of host servers where they are counted apart from the nodes (accelerators
            in appliances of their own); else the nodes. None if unknown.
        host_processors: Host processors in all hosts together, None if unknown.
        host_processor: The host processor's name, in one spelling; "" if unknown.
        interconnect: The link between the accelerators of a node, in one vocabulary; "" if none
            is named.
        framework_name: The framework in one vocabulary, "PyTorch"; "" if unknown.
        framework_version: Its version, "" if unknown.
        software: Other software and its versions as written, by name.
        energy_joules: Mean measured energy of the runs that the score counts, all nodes; None
            without a power measurement.
    """

    id: str
    origin: str
    round: str | None
    division: str
    category: str
    submitter: str
    system: str
    benchmark: str
    accelerator: str
    accelerators: int | None
    nodes: int | None
    framework: str
    run_minutes: tuple[float, ...]
    minutes: float | None
    score_basis: str
    scaling_factor: float
    global_batch_size: float | None
    samples_to_target: float | None
    label: str
    repository: str = ""
    commit: str = ""
    path: str = ""
    machine: str = ""
    recorded: str = ""
    samples_per_second: float | None = None
    carried_over: bool = False
    raw: Mapping[str, str] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()
    task: str = ""
    accelerators_per_node: int | None = None
    hosts: int | None = None
    host_processors: int | None = None
    host_processor: str = ""
    interconnect: str = ""
    framework_name: str = ""
    framework_version: str = ""
    software: Mapping[str, str] = field(default_factory=dict)
    energy_joules: float | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """The sentences of the doubts."""
        return tuple(doubt.text for doubt in self.doubts)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data for ``--json``."""
        return asdict(self)
