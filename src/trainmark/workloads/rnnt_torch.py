"""RNN-T in PyTorch: one run of either scale.

What it is, and where each number comes from: ``trainmark.workloads.rnnt``.
"""

import math
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import jiwer
import numpy as np
import torch
from torch import Tensor, nn

from trainmark.mllog import keys
from trainmark.training.data import librispeech, speech, speech_shards
from trainmark.training.data.log_mel import LogMel, SpecAugment, stacked
from trainmark.training.data.pieces import Pieces
from trainmark.training.data.speech_loader import (
    Collate,
    SpeechBatch,
    folder_loader,
    in_order,
    labels_of,
)
from trainmark.training.data.speech_order import epochs
from trainmark.training.data.spoken_digits import PIECES, SPLITS, VOCABULARY
from trainmark.training.frameworks.torch_task import TorchTask
from trainmark.training.lamb import Lamb
from trainmark.training.task import TaskRequest
from trainmark.training.transducer import lattice, transducer_loss
from trainmark.workloads import rnnt_data
from trainmark.workloads.rnnt import JOINED, STACKED, DeskSettings, FullSettings, RnntSettings
from trainmark.workloads.rnnt_model import Sizes, Transducer, greedy

__all__ = ["DeskTask", "FullTask", "RnntTask", "hyperparameters", "sizes", "word_error_rate"]

EPSILON = 1e-9
DITHER = 1e-5
MOST_AT_A_FRAME = 30
EVAL_BATCH = 100


def sizes(settings: RnntSettings, pieces: int) -> Sizes:
    """The network's form."""
    return Sizes(
        features=STACKED * settings.filters,
        encoder=settings.encoder,
        layers_before=settings.layers_before,
        layers_after=settings.layers_after,
        stack=JOINED,
        prediction=settings.prediction,
        prediction_layers=settings.prediction_layers,
        joint=settings.joint,
        classes=pieces + 1,
        encoder_dropout=settings.encoder_dropout,
        prediction_dropout=settings.prediction_dropout,
        joint_dropout=settings.joint_dropout,
        scale=settings.weight_scale,
    )


class RnntTask(TorchTask):
    """One run of either scale; the subclasses differ in where sound comes from."""

    settings: RnntSettings
    pieces: int
    typical_labels: int
    mel_frames: Callable[[int], int]  # frames of features of an input of that length
    vocabulary: Pieces

    def __init__(self, request: TaskRequest) -> None:
        super().__init__(request)
        self.hyperparameters = hyperparameters(self.settings)
        self.clip_norm = self.settings.clip_norm
        self.average_decay = self.settings.average
        self.sizes = sizes(self.settings, self.pieces)
        self.log_mel = LogMel(filters=self.settings.filters, dither=DITHER, device=self.device)
        self.masks = SpecAugment(
            bands=self.settings.mask_bands,
            widest_band=self.settings.mask_width,
            spans=self.settings.mask_spans,
            longest_span=self.settings.mask_length,
        )

    def features(self, batch: SpeechBatch) -> tuple[Tensor, tuple[int, ...]]:
        """Log-mel features (B, frames, filters) of a batch on the device, and valid frames."""
        raise NotImplementedError

    def noise(self, samples: int) -> Tensor:
        """Inputs of typical length without meaning."""
        raise NotImplementedError

    def eval_batches(self) -> Iterable[SpeechBatch]:
        """The held-out set once."""
        raise NotImplementedError

    @property
    def encoded_frames(self) -> Callable[[int], int]:
        """Encoder frames of an input of a length; worker processes can be sent it."""
        return partial(_encoded, self.mel_frames, self.sizes.stack)

    def collate(self) -> Collate:
        """What makes batches of sounds or features with their texts."""
        return Collate(pieces=self.vocabulary, blank=self.sizes.blank, frames=self.encoded_frames)

    def make_model(self) -> nn.Module:
        """See ``rnnt_model``."""
        return Transducer(self.sizes)

    def make_optimizer(self, model: nn.Module) -> torch.optim.Optimizer:
        """LAMB on all tensors alike, or AdamW."""
        chosen = self.settings
        groups = [{"params": list(model.parameters()), "weight_decay": chosen.weight_decay}]
        betas = (chosen.beta_1, chosen.beta_2)
        if chosen.optimizer == "lamb":
            return Lamb(groups, chosen.learning_rate, betas=betas, eps=EPSILON)
        return torch.optim.AdamW(groups, chosen.learning_rate, betas, EPSILON, fused=True)

    def learning_rate(self, samples: int) -> float:
        """A straight line up, a time of holding, then a factor for each epoch."""
        chosen, epoch_samples = self.settings, self.spec.train_samples
        step, epoch = samples // chosen.global_batch_size + 1, samples // epoch_samples + 1
        steps_an_epoch = epoch_samples / chosen.global_batch_size
        warmup_steps = chosen.warmup_epochs * steps_an_epoch
        held = chosen.warmup_epochs + chosen.hold_epochs
        if step < warmup_steps:
            share = (step + 1) / (warmup_steps + 1)
        elif step < held * steps_an_epoch:
            share = 1.0
        else:
            share = chosen.decay ** max(0.0, epoch - held)
        return max(share * chosen.learning_rate, chosen.least_learning_rate)

    def loss(self, model: Any, batch: SpeechBatch) -> Tensor:
        """The mean loss of the utterances, features masked at random."""
        batch = batch.to(self.device)
        with torch.autocast(self.device.type, enabled=False):
            features, frames = self.features(batch)
            valid = torch.tensor(frames, device=self.device)
            inputs = stacked(self.masks(features, valid), STACKED)
        logits = model(inputs, batch.labels, batch.where)
        return transducer_loss(logits, batch.where, self.sizes.blank).mean()

    def flop_per_sample(self) -> float:
        """Multiplications of a step, those within LSTM layers counted by their sizes.

        PyTorch's counter does not see into the LSTM of oneDNN and cuDNN.
        """
        batch = self.synthetic_batch(1)
        model = cast(Transducer, self.model)
        steps = (
            (model.before, -(-self.mel_frames(batch.lengths[0]) // STACKED)),
            (model.after, batch.where.frames[0]),
            (model.prediction, batch.where.labels[0] + 1),
        )
        return super().flop_per_sample() + sum(lstm_flop(*pair) for pair in steps)

    def synthetic_batch(self, samples: int) -> SpeechBatch:
        """Noise of typical length, its labels in turn."""
        labels = [
            [1 + (row + place) % (self.pieces - 1) for place in range(self.typical_labels)]
            for row in range(samples)
        ]
        noise = self.noise(samples)
        lengths = (noise.shape[1],) * samples
        frames = [self.encoded_frames(length) for length in lengths]
        return SpeechBatch(
            inputs=noise,
            lengths=lengths,
            labels=labels_of(labels),
            where=lattice(frames, labels, self.sizes.blank),
            texts=("",) * samples,
        )

    def warm_up_evaluation(self) -> None:
        """Decode a batch of noise."""
        self._heard(self.synthetic_batch(EVAL_BATCH))

    def evaluate(self) -> float:
        """Word error rate on the whole held-out set."""
        said: list[str] = []
        heard: list[str] = []
        for batch in self.eval_batches():
            said.extend(batch.texts)
            heard.extend(self.vocabulary.decode(found) for found in self._heard(batch))
        return word_error_rate(said, heard)

    def _heard(self, batch: SpeechBatch) -> list[list[int]]:
        model = cast(Transducer, self.evaluated_model).eval()
        batch = batch.to(self.device)
        features, frames = self.features(batch)
        with self.autocast:
            found = greedy(
                model,
                stacked(features, STACKED),
                [-(-count // STACKED) for count in frames],
                most_at_a_frame=MOST_AT_A_FRAME,
                most_symbols=self.settings.most_symbols,
            )
        model.train()
        return found

    def tallied(self, batches: Iterable[SpeechBatch]) -> Iterator[SpeechBatch]:
        """The same batches, their padding counted."""
        for batch in batches:
            places, padding = batch.padding
            self.tally(places=places, padding=padding)
            yield batch


def word_error_rate(said: list[str], heard: list[str]) -> float:
    """Words to be inserted, deleted and replaced, over all words said."""
    return float(jiwer.wer(said, heard))


def _encoded(mel_frames: Callable[[int], int], stack: int, length: int) -> int:
    """Encoder frames of an input of that length."""
    return math.ceil(math.ceil(mel_frames(length) / STACKED) / stack)


def lstm_flop(lstm: nn.LSTM, steps: int) -> float:
    """Operations of a training step for one sequence: two a weight forward, four backward."""
    matrices = [value for name, value in lstm.named_parameters() if name.startswith("weight")]
    return float(6 * steps * sum(matrix.numel() for matrix in matrices))


class DeskTask(RnntTask):
    """Spoken digits, read at the start and held in memory as features."""

    settings: DeskSettings
    pieces = VOCABULARY
    typical_labels = 3
    mel_frames = staticmethod(int)  # inputs are features
    _typical_frames = 90

    def noise(self, samples: int) -> Tensor:
        """Features of 0.9 seconds."""
        return torch.randn(samples, self._typical_frames, self.settings.filters)

    def features(self, batch: SpeechBatch) -> tuple[Tensor, tuple[int, ...]]:
        """As they are."""
        return batch.inputs, batch.lengths

    def data_files(self) -> Iterator[Path]:
        """Sounds, transcripts and vocabulary."""
        yield from (file for file in self._folder.rglob("*") if file.is_file())

    def batches(self) -> Iterator[SpeechBatch]:
        """Utterances of like length, without end."""
        folder, chosen = self._folder, self.settings
        self.vocabulary = Pieces(folder / PIECES)
        collate = self.collate()
        train, held_out = (self.read(folder, split) for split in SPLITS)
        order = in_order([len(features) for features, _ in held_out], EVAL_BATCH)
        self._held_out = [collate([held_out[pick.index] for pick in picks]) for picks in order]
        micro_batches = epochs(
            np.array([len(features) for features, _ in train]),
            step=chosen.global_batch_size,
            micro_batch=chosen.micro_batch,
            buckets=chosen.buckets,
            rates=(1.0, 1.0),
            seed=self.seed,
        )
        return self.tallied(collate([train[p.index] for p in picks]) for picks in micro_batches)

    def eval_batches(self) -> Iterable[SpeechBatch]:
        """The held-out set, made when ``batches`` opened the data."""
        return self._held_out

    def read(self, folder: Path, split: str) -> list[tuple[Tensor, str]]:
        """Features and text of every utterance of a split."""
        utterances = librispeech.scan(folder, [split])
        sounds = [speech.trimmed(speech.read(utterance.file)) for utterance in utterances]
        found: list[tuple[Tensor, str]] = [(torch.empty(0), "")] * len(sounds)
        for picks in in_order([len(sound) for sound in sounds], EVAL_BATCH):
            members = [pick.index for pick in picks]
            padded = torch.nn.utils.rnn.pad_sequence(
                [torch.from_numpy(sounds[i]) for i in members], batch_first=True
            )
            lengths = [len(sounds[i]) for i in members]
            features = self.log_mel(padded.to(self.device), lengths).cpu()
            for i, row, length in zip(members, features, lengths, strict=True):
                found[i] = row[: LogMel.frames(length)].clone(), utterances[i].text
        return found

    @property
    def _folder(self) -> Path:
        return rnnt_data.spoken_place(self.settings.order())


class FullTask(RnntTask):
    """LibriSpeech in folders or archives, decoded by worker processes."""

    settings: FullSettings
    # By the names that the rules of rounds 1.0 to 2.1 give them.
    initialized_tensors: tuple[str, ...] = (
        "pre_rnn",
        "post_rnn",
        "pred_embed",
        "dec_rnn",
        "joint_pred",
        "joint_enc",
        "joint_net",
    )
    # Means of LibriSpeech's training sets: 961 hours and 9.4 million words, 281,241 utterances.
    typical_labels = 45
    mel_frames = staticmethod(LogMel.frames)
    _typical_samples = round(12.3 * speech.SAMPLE_RATE)

    @property
    def pieces(self) -> int:  # type: ignore[override]
        """Pieces of the vocabulary."""
        return self.settings.pieces

    def noise(self, samples: int) -> Tensor:
        """Sound of 12.3 seconds."""
        return 0.1 * torch.randn(samples, self._typical_samples)

    def features(self, batch: SpeechBatch) -> tuple[Tensor, tuple[int, ...]]:
        """Log-mel features of sound."""
        features = self.log_mel(batch.inputs, batch.lengths)
        return features, tuple(map(LogMel.frames, batch.lengths))

    def data_files(self) -> Iterator[Path]:
        """Every sound, or every archive on this machine."""
        yield from rnnt_data.files(self._root)

    def batches(self) -> Iterator[SpeechBatch]:
        """Utterances at random speeds, without end."""
        self.vocabulary = Pieces(rnnt_data.vocabulary(self._root, self.pieces))
        found = rnnt_data.folders(self._root)
        made = self._archive_loaders() if found is None else self._folder_loaders(found)
        self._loaders = made
        return self.tallied(made[0])

    def eval_batches(self) -> Iterable[SpeechBatch]:
        """The held-out set once, decoded anew."""
        return self._loaders[1]

    def close(self) -> None:
        """Let the processes that decode sound end."""
        self._loaders = ()

    def _folder_loaders(self, found: rnnt_data.Folders) -> tuple[Iterable[SpeechBatch], ...]:
        chosen, common = self.settings, self._loading
        train = found.short(chosen.max_duration)
        order = partial(
            epochs,
            np.array([utterance.samples for utterance in train]),
            step=chosen.global_batch_size,
            micro_batch=chosen.micro_batch,
            buckets=chosen.buckets,
            rates=(chosen.slowest, chosen.fastest),
            seed=self.seed,
        )
        lengths = [utterance.samples for utterance in found.held_out]
        once = partial(in_order, lengths, EVAL_BATCH)
        collate = self.collate()
        return (
            folder_loader(train, order, collate, **common),
            folder_loader(found.held_out, once, collate, **common),
        )

    def _archive_loaders(self) -> tuple[Iterable[SpeechBatch], ...]:
        chosen, common, collate = self.settings, self._loading, self.collate()
        train, held_out = rnnt_data.archives(self._root)
        trained = speech_shards.Stream(
            index=train,
            micro_batch=chosen.micro_batch,
            most_samples=round(chosen.max_duration * speech.SAMPLE_RATE),
            rates=(chosen.slowest, chosen.fastest),
            seed=self.seed,
        )
        once = speech_shards.Stream(index=held_out, micro_batch=EVAL_BATCH)
        return (
            speech_shards.loader(trained, collate, **common),
            speech_shards.loader(once, collate, **common),
        )

    @property
    def _loading(self) -> dict[str, Any]:
        workers = self.settings.workers or len(os.sched_getaffinity(0))
        return {"workers": workers, "pin": self.device.type == "cuda"}

    @property
    def _root(self) -> Path:
        assert self.data is not None, "spec() asks for --data"
        return self.data


def hyperparameters(settings: RnntSettings) -> dict[str, Any]:
    """The log keys that the closed rules of "rnnt" ask for, with their values."""
    found: dict[str, Any] = {
        keys.GLOBAL_BATCH_SIZE: settings.global_batch_size,
        keys.GRADIENT_ACCUMULATION_STEPS: settings.gradient_accumulation_steps,
        "opt_name": settings.optimizer,
        "opt_base_learning_rate": settings.learning_rate,
        "opt_learning_rate_warmup_epochs": settings.warmup_epochs,
        "opt_weight_decay": settings.weight_decay,
        "opt_gradient_clip_norm": settings.clip_norm or math.inf,
        "opt_learning_rate_alt_decay_func": True,
        "opt_learning_rate_alt_warmup_func": True,
        "data_train_num_buckets": settings.buckets,
        "data_spec_augment_freq_n": settings.mask_bands,
        "data_spec_augment_freq_min": 0,
        "data_spec_augment_freq_max": settings.mask_width,
        "data_spec_augment_time_n": settings.mask_spans,
        "data_spec_augment_time_min": 0,
        "data_spec_augment_time_max": settings.mask_length,
        "model_eval_ema_factor": settings.average,
        "model_weights_initialization_scale": settings.weight_scale,
        "eval_max_prediction_symbols": settings.most_symbols,
    }
    name = f"opt_{settings.optimizer}"
    found |= {
        f"{name}_epsilon": EPSILON,
        f"{name}_beta_1": settings.beta_1,
        f"{name}_beta_2": settings.beta_2,
        f"{name}_learning_rate_hold_epochs": settings.hold_epochs,
        f"{name}_learning_rate_decay_poly_power": settings.decay,
        f"{name}_learning_rate_min": settings.least_learning_rate,
    }
    if isinstance(settings, FullSettings):
        found |= {
            "data_train_max_duration": settings.max_duration,
            "data_speed_perturbaton_min": settings.slowest,
            "data_speed_perturbaton_max": settings.fastest,
        }
    return found
