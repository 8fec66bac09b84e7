"""SchNet: energies of molecules from their geometry, at desk and at full scale.

Model: Schütt, Kindermans, Sauceda, Chmiela, Tkatchenko, Müller, "SchNet: A continuous-filter
convolutional neural network for modeling quantum interactions", 2017 (arXiv:1706.08566), and
"SchNet - a deep learning architecture for molecules and materials", 2018 (arXiv:1712.06113), in
the form of the authors' SchNetPack and of PyTorch Geometric: cosine cutoff, no activation after
the second layer of a filter. See ``workloads/schnet_model.py``.

Full scale is QM9 (133,885 molecules, 3,054 left out as published, 130,831 remain): internal energy
at 0 K (U0) relative to free atoms, 110,000 to train, 10,000 held out, target 14 meV mean absolute
error as published for 110,000 (arXiv:1712.06113, table of QM9). 128 features and filters, 6
interactions, 50 Gaussians up to 10 angstrom, as in SchNetPack's published QM9 models and PyTorch
Geometric's defaults: 455,809 parameters. Adam at 1e-3, times 0.96 every 100,000 steps, batch 32,
squared error, exponential average of the weights with decay 0.99, at most 5,000,000 steps
(arXiv:1706.08566 and the authors' scripts, github.com/atomistic-machine-learning/SchNet). A data
folder of other numbers is not QM9: its results have a name of their own, "schnet_full_custom".

Desk scale is the same code with 64 features, 3 interactions and a cutoff of 4 angstrom on 6,000
molecules of the package chemicals, whose energies come from a real semi-empirical calculation on
this machine (GFN2-xTB; ``training/data/molecules_xtb.py``): 5,200 to train, 800 held out. Its
target is 0.18 eV. On the same split the best energy for each element errs by 0.90 eV, with one for
each pair of elements at each distance by 0.26 eV, and kernel ridge regression on these by 0.21 eV.
"""

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from trainmark.training.settings import PRECISIONS, Settings, setting
from trainmark.training.task import Task, TaskRequest, Tell
from trainmark.types import (
    DataFile,
    DataSet,
    Direction,
    Finding,
    Needs,
    Target,
    UsageError,
    WorkloadSpec,
)

__all__ = ["WORKLOAD", "DeskSettings", "FullSettings", "SchNet", "SchNetSettings", "parameters"]

QM9_TRAIN, QM9_HELD_OUT, QM9_MOLECULES = 110_000, 10_000, 130_831
DESK_HELD_OUT_SHARE = 2 / 15
_EPOCHS_BETWEEN_EVALUATIONS = 2  # at full scale
_STEPS_A_DECAY = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SchNetSettings(Settings):
    """What both scales share."""

    global_batch_size: int = setting(32, "molecules in one optimizer step", minimum=1)
    # An energy of tens of eV to some meV needs more digits than 16 bits have: not tried unasked.
    precision: str = setting("fp32", "number format", choices=("auto", *PRECISIONS))
    memory_format: str = setting(
        "contiguous", "layout of image tensors; means nothing here", choices=("contiguous",)
    )
    width: int = setting(128, "features of an atom", minimum=2, fixed=True)
    filters: int = setting(128, "features of a filter", minimum=1, fixed=True)
    interactions: int = setting(6, "interaction blocks", minimum=1, fixed=True)
    gaussians: int = setting(50, "Gaussians that a distance becomes", minimum=2, fixed=True)
    cutoff: float = setting(10.0, "longest pair of atoms, angstrom", minimum=1, fixed=True)
    loss: str = setting(
        "squared", "error that is minimised", choices=("squared", "absolute", "huber")
    )
    learning_rate: float = setting(1e-3, "learning rate of Adam", minimum=0)
    average_decay: float = setting(
        0.99, "decay of the average of the weights, a step", minimum=0, maximum=0.99999
    )
    clip_norm: float = setting(0.0, "largest norm of the gradient; 0: any", minimum=0)

    @property
    def schedule_epochs(self) -> int:
        """Epochs after which the run gives up."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskSettings(SchNetSettings):
    """Desk scale: minutes on two CPU cores."""

    molecules: int = setting(
        6_000, "molecules made, 13 % of them held out", minimum=15, maximum=6_000, fixed=True
    )
    width: int = setting(64, "features of an atom", minimum=2, fixed=True)
    filters: int = setting(64, "features of a filter", minimum=1, fixed=True)
    interactions: int = setting(3, "interaction blocks", minimum=1, fixed=True)
    gaussians: int = setting(32, "Gaussians that a distance becomes", minimum=2, fixed=True)
    cutoff: float = setting(4.0, "longest pair of atoms, angstrom", minimum=1, fixed=True)
    loss: str = setting(
        "huber", "error that is minimised", choices=("squared", "absolute", "huber")
    )
    learning_rate: float = setting(2e-3, "learning rate of Adam after the warm-up", minimum=0)
    clip_norm: float = setting(1.0, "largest norm of the gradient; 0: any", minimum=0)
    warmup_epochs: float = setting(0.5, "epochs of linear warm-up", minimum=0)
    epochs: int = setting(
        12, "epochs of the schedule, half a cosine down; the run gives up after them", minimum=1
    )

    @property
    def schedule_epochs(self) -> int:
        """Epochs after which the run gives up."""
        return self.epochs

    def learning_rate_after(self, epochs: float) -> float:
        """The learning rate after so many epochs: a straight line up within half a cosine down."""
        up = min(1.0, epochs / self.warmup_epochs) if self.warmup_epochs else 1.0
        down = 0.5 * (1 + math.cos(math.pi * min(1.0, epochs / self.epochs)))
        return self.learning_rate * up * down

    @property
    def held_out(self) -> int:
        """Molecules held out."""
        return round(self.molecules * DESK_HELD_OUT_SHARE)


@dataclass(frozen=True, slots=True, kw_only=True)
class FullSettings(SchNetSettings):
    """Full scale: the published configuration on QM9."""

    decay: float = setting(
        0.96, "factor of the learning rate every 100,000 steps", minimum=0, maximum=1
    )
    epochs: int = setting(
        1455, "epochs after which the run gives up: 5,000,000 steps of 32", minimum=1
    )

    @property
    def schedule_epochs(self) -> int:
        """Epochs after which the run gives up."""
        return self.epochs

    def learning_rate_after(self, steps: int) -> float:
        """The learning rate after so many steps."""
        return float(self.learning_rate * self.decay ** (steps / _STEPS_A_DECAY))


def parameters(settings: SchNetSettings) -> int:
    """Number of trainable parameters of the network with those sizes."""
    width, filters = settings.width, settings.filters
    a_filter = settings.gaussians * filters + filters + filters * filters + filters
    interaction = a_filter + 2 * width * filters + width + width * width + width
    half = width // 2
    embedding, output = 100 * width, width * half + half + half + 1
    return embedding + settings.interactions * interaction + output


def full_split(molecules: int) -> tuple[int, int]:
    """Molecules to train on and held out: those of the publication, or the same shares."""
    train = round(molecules * QM9_TRAIN / QM9_MOLECULES)
    return train, max(1, round(molecules * QM9_HELD_OUT / QM9_MOLECULES))


def _desk_spec(settings: DeskSettings) -> WorkloadSpec:
    train = settings.molecules - settings.held_out
    return WorkloadSpec(
        name="schnet",
        scale="desk",
        title="SchNet, narrowed to 64 features and 3 interactions",
        task="energy of molecules",
        dataset=f"{settings.molecules:,} molecules of the package chemicals with GFN2-xTB "
        f"energies: {train:,} to train, {settings.held_out:,} held out",
        target=_target(0.18),
        train_samples=train,
        eval_samples=settings.held_out,
        evaluate_every_samples=train,
        max_samples=settings.epochs * train,
        mlperf_name=None,
        parameters=parameters(settings),
        typical_samples=9 * train,
        chance=0.9,  # the best energy for each element, which the network starts from
    )


def _full_spec(settings: FullSettings, found: int, data: Path | None = None) -> WorkloadSpec:
    train, held_out = full_split(found)
    return WorkloadSpec(
        name="schnet",
        scale="full",
        # The rules of "schnet_full" ask for QM9.
        variant="" if found == QM9_MOLECULES else "custom",
        title="SchNet",
        task="energy of molecules",
        dataset="QM9" if found == QM9_MOLECULES else f"{found:,} molecules in {data}",
        target=_target(0.014),
        train_samples=train,
        eval_samples=held_out,
        evaluate_every_samples=min(_EPOCHS_BETWEEN_EVALUATIONS, settings.epochs) * train,
        max_samples=settings.epochs * train,
        mlperf_name=None,
        parameters=parameters(settings),
        # What guessing reaches is not known before the data is: the run cannot be doomed by it.
        chance=None,
    )


def _molecules_in(data: Path | None) -> int:
    from trainmark.training.data.molecules import Molecules
    from trainmark.training.data.qm9 import prepared_molecules
    from trainmark.training.prepared import quiet

    return len(Molecules.load(prepared_molecules(_folder(data), quiet)))


def _target(value: float) -> Target:
    return Target(
        metric="eval_error",
        value=value,
        direction=Direction.LOWER,
        name="mean absolute error of the energy",
        unit="eV",
    )


def _folder(data: Path | None) -> Path:
    if data is None:
        raise UsageError(
            "schnet at full scale trains on QM9, which is to be fetched first",
            hint="Give its folder: --data DIR; trainmark workloads show schnet says where the two "
            "files come from. Without data: --scale desk.",
        )
    return data


_NEEDS: Mapping[str, Needs] = {
    "desk": Needs(
        data=DataSet(
            name="6,000 small molecules with GFN2-xTB energies",
            url="https://pypi.org/project/chemicals/",
            licence="compounds: the package chemicals (MIT, from PubChem, public domain); "
            "geometries by rdkit (BSD-3-Clause), energies by tblite (LGPL-3.0-or-later)",
            size_bytes=0,
            layout="Nothing to do: the first run makes them, about four minutes of one core spread "
            "over all, and keeps them in the user's cache folder.",
        ),
        memory_bytes=400 << 20,
        memory_basis="resident memory of the process on a CPU",
        time="61 to 110 seconds on one busy core of an AMD EPYC (ten runs)",
    ),
    "full": Needs(
        data=DataSet(
            name="QM9",
            url="https://doi.org/10.6084/m9.figshare.c.978904",
            licence="CC0 (Ramakrishnan, Dral, Rupp, von Lilienfeld 2014)",
            size_bytes=86_144_227 + 486_752,
            layout="DIR/dsgdb9nsd.xyz.tar.bz2 (https://ndownloader.figshare.com/files/3195389) and "
            "DIR/uncharacterized.txt (https://ndownloader.figshare.com/files/3195404), as they "
            "are: nothing is unpacked. The first run reads the archive once and keeps plain "
            "arrays in the user's cache folder.",
            files=(
                DataFile(
                    path="dsgdb9nsd.xyz.tar.bz2",
                    size_bytes=86_144_227,
                    digest="sha256:3a63848ac80691bdb8d41834b575afad"
                    "345b9300d7a2db0c38adb7f6eaa8360c",
                ),
                DataFile(
                    path="uncharacterized.txt",
                    size_bytes=486_752,
                    digest="sha256:3aa5115d540b356de94791d4a74c3bf1"
                    "ed91c469ecf52a4f5d7cc0506fe02e24",
                ),
            ),
        ),
        memory_bytes=2 << 30,
        memory_basis="estimated: QM9 and all pairs of its atoms in the host's memory",
        time="not measured; published trainings take days on one GPU",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SchNet:
    """The workload ``schnet``."""

    name: str = "schnet"
    title: str = "SchNet"
    framework: str = "torch"
    scales: Mapping[str, type[Settings]] = dataclasses.field(
        default_factory=lambda: {"desk": DeskSettings, "full": FullSettings}
    )
    needs: Mapping[str, Needs] = dataclasses.field(default_factory=lambda: _NEEDS)
    published: Mapping[str, WorkloadSpec] = dataclasses.field(
        default_factory=lambda: {"full": _full_spec(FullSettings(), QM9_MOLECULES)}
    )

    def check_data(self, scale: str, data: Path) -> Iterator[Finding]:
        """A list or an archive in another form, and numbers that are not QM9's."""
        if scale == "full":
            from trainmark.training.data.qm9_check import findings

            yield from findings(data)

    def prepare(self, scale: str, settings: Settings, data: Path | None, tell: Tell) -> None:
        """Desk: compute the molecules' energies. Full: read the archive into plain arrays."""
        if scale == "desk":
            from trainmark.training.data.molecules_xtb import made_molecules

            made_molecules(cast(DeskSettings, settings).molecules, tell)
        else:
            from trainmark.training.data.qm9 import prepared_molecules

            prepared_molecules(_folder(data), tell)

    def spec(self, scale: str, settings: Settings, data: Path | None) -> WorkloadSpec:
        """The workload's numbers; at full scale those of the data folder."""
        if scale == "desk":
            return _desk_spec(cast(DeskSettings, settings))
        return _full_spec(cast(FullSettings, settings), _molecules_in(data), data)

    def task(self, request: TaskRequest) -> Task:
        """Make the task of one run."""
        from trainmark.workloads.schnet_torch import DeskTask, FullTask

        return DeskTask(request) if request.scale == "desk" else FullTask(request)


WORKLOAD = SchNet()
