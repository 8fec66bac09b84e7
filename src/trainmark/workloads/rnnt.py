"""RNN-T: speech recognition, at desk and at full scale.

Model: Graves, "Sequence Transduction with Recurrent Neural Networks", 2012 (arXiv:1211.3711), with
frames joined inside the encoder as in Rao, Sak, Prabhavalkar 2018 (arXiv:1801.00841), in the form
of the MLPerf reference (github.com/mlcommons/training, retired_benchmarks/rnnt/pytorch): encoder of
2 and, at half the frame rate, 3 LSTM layers of 1,024, prediction network of an embedding and 2
layers of 512, joint network of 512, 1,023 pieces and blank. 49,006,080 parameters. Features: 80
log-mel, three frames side by side; see ``training/data/log_mel.py``.

Full scale is the MLPerf Training benchmark "rnnt" (rounds 1.0 to 3.1): LibriSpeech, the three
training sets (281,241 utterances, those of more than 16.7 s left out) and dev-clean (2,703), target
a word error rate of 0.058, evaluated every epoch by greedy decoding of the exponential average of
the weights. The default is the reference point of batch 512 of the official reference convergence
tables: LAMB, learning rate 6.2e-3, 1 epoch of warm-up, 11 of holding, then 0.915 for each epoch,
average 0.994; it converges in 37 to 52 epochs. Another data folder is labelled with an own target.

Desk scale is the same code with an encoder of 1 and 1 layers of 128, a prediction network of 1
layer of 64, 40 log-mel features and AdamW, on 3,600 utterances of one to five digits that
espeak-ng speaks here with 70 voices in 8 accents and noise (``training/data/spoken_digits.py``),
with 400 utterances of 17 other voices held out. Vocabulary: 27 pieces, the ten words among them.
Its target is a word error rate of 10 %; docs/workloads/rnnt.md has what simpler methods reach
(``tests/workloads/rnnt_baselines.py``).
"""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from trainmark.training.data.spoken_digits import VOCABULARY, Order
from trainmark.training.settings import PRECISIONS, Settings, setting
from trainmark.training.task import Task, TaskRequest, Tell
from trainmark.types import (
    DataSet,
    Direction,
    Finding,
    Needs,
    Target,
    UsageError,
    WorkloadSpec,
)
from trainmark.workloads import rnnt_data

__all__ = [
    "JOINED",
    "STACKED",
    "WORKLOAD",
    "DeskSettings",
    "FullSettings",
    "RnnTransducer",
    "RnntSettings",
    "parameter_count",
]

STACKED = 3  # frames side by side
JOINED = 2  # of those, within the encoder
DESK_TARGET = 0.1
FULL_TARGET = 0.058
_REFERENCE_EPOCHS = 41  # to the target at batch 512, the median of the reference points' runs
# Of at most 16.7 s, what fills steps of 512: as published logs of that batch size have it.
_LIBRISPEECH = rnnt_data.Survey(train=278_528, held_out=2_703, official=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class RnntSettings(Settings):
    """What both scales share. The defaults are those of full scale."""

    memory_format: str = setting(
        "contiguous", "layout of image tensors; means nothing here", choices=("contiguous",)
    )
    optimizer: str = setting("lamb", "optimizer", choices=("lamb", "adamw"))
    learning_rate: float = setting(6.2e-3, "learning rate after the warm-up", minimum=0)
    least_learning_rate: float = setting(
        1e-5, "learning rate below which it does not fall", minimum=0, fixed=True
    )
    warmup_epochs: float = setting(1.0, "epochs of linear warm-up", minimum=0)
    hold_epochs: float = setting(11.0, "epochs at the full learning rate", minimum=0)
    decay: float = setting(
        0.915, "factor of the learning rate for each epoch after them", minimum=0, maximum=1
    )
    epochs: int = setting(60, "epochs after which the run gives up", minimum=1)
    beta_1: float = setting(0.9, "decay of the first moment", minimum=0, maximum=0.9999)
    beta_2: float = setting(0.9985, "decay of the second moment", minimum=0, maximum=0.99999)
    weight_decay: float = setting(1e-3, "weight decay", minimum=0, fixed=True)
    clip_norm: float = setting(1.0, "largest norm of the gradient; 0: any", minimum=0, fixed=True)
    average: float = setting(
        0.994, "decay of the average of the weights that is evaluated", minimum=0, maximum=0.99999
    )
    weight_scale: float = setting(
        0.45, "what LSTM weights are multiplied by at the start", minimum=0.01
    )
    buckets: int = setting(1, "groups of like length that steps are drawn from", minimum=1)
    filters: int = setting(80, "log-mel features of a frame", minimum=4, maximum=256, fixed=True)
    encoder: int = setting(1024, "width of the encoder", minimum=4, fixed=True)
    layers_before: int = setting(2, "encoder layers at the full frame rate", minimum=1, fixed=True)
    layers_after: int = setting(3, "encoder layers at half of it", minimum=1, fixed=True)
    prediction: int = setting(512, "width of the prediction network", minimum=4, fixed=True)
    prediction_layers: int = setting(2, "layers of the prediction network", minimum=1, fixed=True)
    joint: int = setting(512, "width of the joint network", minimum=4, fixed=True)
    encoder_dropout: float = setting(
        0.1, "dropout of the encoder", minimum=0, maximum=0.9, fixed=True
    )
    prediction_dropout: float = setting(
        0.3, "dropout of the prediction network", minimum=0, maximum=0.9, fixed=True
    )
    joint_dropout: float = setting(
        0.3, "dropout of the joint network", minimum=0, maximum=0.9, fixed=True
    )
    mask_bands: int = setting(2, "masked bands of an utterance", minimum=0, fixed=True)
    mask_width: int = setting(20, "widest masked band, features", minimum=0, fixed=True)
    mask_spans: int = setting(10, "masked spans of an utterance", minimum=0, fixed=True)
    mask_length: float = setting(
        0.03, "longest masked span, share of the utterance", minimum=0, maximum=1, fixed=True
    )
    most_symbols: int = setting(
        300, "labels after which decoding of an utterance ends", minimum=1, fixed=True
    )

    def validate(self) -> None:
        """See ``Settings.validate``; compiling is of no use here."""
        Settings.validate(self)  # slots make a class anew, which super() does not know
        if self.compile:
            raise UsageError(
                "rnnt cannot be compiled",
                hint="The lengths of utterances differ from batch to batch: each would be "
                "compiled anew, within the clock. Leave compile=false.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskSettings(RnntSettings):
    """Desk scale: minutes on two CPU cores."""

    global_batch_size: int = setting(16, "utterances in one optimizer step", minimum=1)
    # So small a network gains nothing from 16 bits, and two threads little: not tried unasked.
    precision: str = setting("fp32", "number format", choices=("auto", *PRECISIONS))
    threads: int = setting(1, "CPU threads for the model; 0: measure", minimum=0)
    utterances: int = setting(
        3600, "utterances to learn from", minimum=50, maximum=100_000, fixed=True
    )
    held_out: int = setting(400, "utterances held out", minimum=10, maximum=10_000, fixed=True)
    optimizer: str = setting("adamw", "optimizer", choices=("lamb", "adamw"))
    learning_rate: float = setting(4e-3, "learning rate after the warm-up", minimum=0)
    warmup_epochs: float = setting(0.5, "epochs of linear warm-up", minimum=0)
    hold_epochs: float = setting(4.0, "epochs at the full learning rate", minimum=0)
    decay: float = setting(
        0.6, "factor of the learning rate for each epoch after them", minimum=0, maximum=1
    )
    epochs: int = setting(9, "epochs after which the run gives up", minimum=1)
    beta_2: float = setting(0.98, "decay of the second moment", minimum=0, maximum=0.99999)
    average: float = setting(
        0.99, "decay of the average of the weights that is evaluated", minimum=0, maximum=0.99999
    )
    weight_scale: float = setting(
        1.0, "what LSTM weights are multiplied by at the start", minimum=0.01
    )
    buckets: int = setting(40, "groups of like length that steps are drawn from", minimum=1)
    filters: int = setting(40, "log-mel features of a frame", minimum=4, maximum=256, fixed=True)
    encoder: int = setting(128, "width of the encoder", minimum=4, fixed=True)
    layers_before: int = setting(1, "encoder layers at the full frame rate", minimum=1, fixed=True)
    layers_after: int = setting(1, "encoder layers at half of it", minimum=1, fixed=True)
    prediction: int = setting(64, "width of the prediction network", minimum=4, fixed=True)
    prediction_layers: int = setting(1, "layers of the prediction network", minimum=1, fixed=True)
    joint: int = setting(64, "width of the joint network", minimum=4, fixed=True)
    prediction_dropout: float = setting(
        0.1, "dropout of the prediction network", minimum=0, maximum=0.9, fixed=True
    )
    joint_dropout: float = setting(
        0.1, "dropout of the joint network", minimum=0, maximum=0.9, fixed=True
    )
    mask_width: int = setting(10, "widest masked band, features", minimum=0, fixed=True)
    mask_spans: int = setting(4, "masked spans of an utterance", minimum=0, fixed=True)

    def order(self) -> Order:
        """The utterances to be made."""
        return Order(train=self.utterances, held_out=self.held_out)


@dataclass(frozen=True, slots=True, kw_only=True)
class FullSettings(RnntSettings):
    """Full scale: the published configuration, for any data in one of the two layouts."""

    global_batch_size: int = setting(512, "utterances in one optimizer step", minimum=1)
    micro_batch_size: int = setting(
        64, "utterances in one forward and backward pass; 0: the whole batch", minimum=0
    )
    pieces: int = setting(1023, "pieces of the vocabulary", minimum=10, fixed=True)
    max_duration: float = setting(
        16.7, "longest utterance to learn from, seconds", minimum=0.1, fixed=True
    )
    slowest: float = setting(0.85, "least speed of an utterance", minimum=0.1, fixed=True)
    fastest: float = setting(1.15, "greatest speed of an utterance", minimum=0.1, fixed=True)
    workers: int = setting(0, "processes that decode sound; 0: one per core", minimum=0)


def _desk_spec(settings: DeskSettings) -> WorkloadSpec:
    samples = settings.utterances
    _enough(samples, settings)
    return WorkloadSpec(
        name="rnnt",
        scale="desk",
        title="RNN-T, narrowed to width 128",
        task="speech recognition",
        dataset=f"{settings.utterances:,} spoken digit strings of 70 synthetic voices; "
        f"{settings.held_out:,} of 17 others held out",
        target=Target(
            metric="eval_error",
            value=DESK_TARGET,
            direction=Direction.LOWER,
            name="word error rate",
        ),
        train_samples=samples,
        eval_samples=settings.held_out,
        evaluate_every_samples=samples,
        max_samples=settings.epochs * samples,
        mlperf_name=None,
        parameters=parameter_count(settings, VOCABULARY),
        chance=0.9,
        typical_samples=6 * samples,
    )


def _full_spec(
    settings: FullSettings, found: rnnt_data.Survey, data: Path | None = None
) -> WorkloadSpec:
    _enough(found.train, settings)
    # As in the reference: what does not fill a step is left out of the epoch.
    samples = found.train - found.train % settings.global_batch_size
    return WorkloadSpec(
        name="rnnt",
        scale="full",
        title="RNN-T",
        task="speech recognition",
        dataset="LibriSpeech" if found.official else f"{found.train:,} utterances in {data}",
        # The official logs carry the error rate under this key.
        target=Target(
            metric="eval_accuracy",
            value=FULL_TARGET,
            direction=Direction.LOWER,
            name="word error rate",
        ),
        train_samples=samples,
        eval_samples=found.held_out,
        evaluate_every_samples=samples,
        max_samples=settings.epochs * samples,
        mlperf_name="rnnt" if found.official else None,
        ruleset="3.1" if found.official else "own",
        parameters=parameter_count(settings, settings.pieces),
        chance=1.0,
        typical_samples=_REFERENCE_EPOCHS * samples,
    )


def parameter_count(settings: RnntSettings, pieces: int) -> int:
    """Trainable parameters of the network.

    Args:
        settings: Its widths and layers.
        pieces: The vocabulary's; blank comes on top.
    """
    width, told, joint = settings.encoder, settings.prediction, settings.joint
    return (
        _lstm_parameters(STACKED * settings.filters, width, settings.layers_before)
        + _lstm_parameters(JOINED * width, width, settings.layers_after)
        + _lstm_parameters(told, told, settings.prediction_layers)
        + pieces * told
        + (width + 1 + told + 1) * joint
        + (joint + 1) * (pieces + 1)
    )


def _lstm_parameters(inputs: int, width: int, layers: int) -> int:
    """Four gates, each with two biases."""
    return 4 * width * (inputs + width + 2 + (layers - 1) * (2 * width + 2))


def _enough(utterances: int, settings: RnntSettings) -> None:
    if utterances < settings.global_batch_size:
        raise UsageError(
            f"{utterances} utterances to learn from are fewer than one step takes, "
            f"global_batch_size={settings.global_batch_size}",
            hint="Choose a smaller batch.",
        )


_NEEDS: Mapping[str, Needs] = {
    "desk": Needs(
        data=DataSet(
            name="spoken digit strings",
            url="https://pypi.org/project/espeakng-loader/",
            licence="made on this machine by espeak-ng (GPL-3.0, used as a separate tool)",
            size_bytes=0,
            layout="Nothing to do: made once in about 20 seconds and kept in the user's cache.",
        ),
        memory_bytes=700 << 20,
        memory_basis="resident memory of the process on a CPU",
        time="57 to 99 seconds on one busy core of an AMD EPYC (ten runs)",
    ),
    "full": Needs(
        data=DataSet(
            name="LibriSpeech",
            url="https://www.openslr.org/12/",
            licence="CC BY 4.0 (Panayotov, Chen, Povey, Khudanpur 2015)",
            # 100, 360, 500 hours, dev-clean: the sizes that Kaldi checks (download_and_untar.sh).
            size_bytes=6_387_309_499 + 23_049_477_885 + 30_593_501_606 + 337_926_286,
            layout="Unpack the four archives in DIR, so that DIR/LibriSpeech/train-clean-100/"
            "<speaker>/<chapter>/*.flac stand there, or keep the archives elsewhere: they are not "
            "read. Or tar archives of <name>.flac and <name>.txt pairs, listed in DIR/train.json "
            'and DIR/dev.json as {"shardlist": [{"url": PATH or http(s), "nsamples": N}, ...]}. '
            "Published archives: train-clean-100.tar.gz "
            "(md5 2a93770f6d5c6c964bc36631d331a522), train-clean-360.tar.gz "
            "(c0e676e450a7ff2f54aeade5171606fa), train-other-500.tar.gz "
            "(d1a0fd59409feb2c614ce4d30c387708), dev-clean.tar.gz "
            "(42e2234ba48799c1f50f24a7926300a1).",
        ),
        memory_bytes=40 << 30,
        memory_basis="estimated: 64 utterances of 16.7 s in one pass, all nodes of their lattices",
        time="trainmark results --benchmark rnnt shows what published systems take",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RnnTransducer:
    """The workload ``rnnt``."""

    name: str = "rnnt"
    title: str = "RNN-T"
    framework: str = "torch"
    scales: Mapping[str, type[Settings]] = dataclasses.field(
        default_factory=lambda: {"desk": DeskSettings, "full": FullSettings}
    )
    needs: Mapping[str, Needs] = dataclasses.field(default_factory=lambda: _NEEDS)
    published: Mapping[str, WorkloadSpec] = dataclasses.field(
        default_factory=lambda: {"full": _full_spec(FullSettings(), _LIBRISPEECH)}
    )

    def check_data(self, scale: str, data: Path) -> Iterator[Finding]:
        """What is damaged, what is missing, and numbers that are not LibriSpeech's."""
        if scale == "full":
            yield from rnnt_data.findings(data)

    def prepare(self, scale: str, settings: Settings, data: Path | None, tell: Tell) -> None:
        """Desk: the utterances. Full: the lengths of the user's, and the vocabulary."""
        if scale == "desk":
            rnnt_data.spoken(cast(DeskSettings, settings).order(), tell)
            return
        rnnt_data.folders(data, tell)
        assert data is not None, "folders() asks for data"
        rnnt_data.vocabulary(data, cast(FullSettings, settings).pieces, tell)

    def spec(self, scale: str, settings: Settings, data: Path | None) -> WorkloadSpec:
        """The workload's numbers; at full scale those of the data folder."""
        if scale == "desk":
            return _desk_spec(cast(DeskSettings, settings))
        full = cast(FullSettings, settings)
        return _full_spec(full, rnnt_data.survey(data, full.max_duration), data)

    def task(self, request: TaskRequest) -> Task:
        """Make the task of one run."""
        from trainmark.workloads.rnnt_torch import DeskTask, FullTask

        return DeskTask(request) if request.scale == "desk" else FullTask(request)


WORKLOAD = RnnTransducer()
