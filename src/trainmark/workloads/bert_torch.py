"""BERT in PyTorch: batches, step and evaluation at both scales.

What it is, and where each number comes from: ``trainmark.workloads.bert``.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from trainmark.training.data import bert_folder, bibles
from trainmark.training.data.background import in_background
from trainmark.training.data.bert_records import read_sequences
from trainmark.training.data.packing import Rows
from trainmark.training.data.sequence_streams import (
    micro_batches,
    mixed,
    over_files,
    text_sequences,
)
from trainmark.training.data.sequences import (
    Document,
    MaskedSequence,
    Recipe,
    make_sequences,
    masked,
)
from trainmark.training.data.wordpiece import SYNTHETIC, WordPiece
from trainmark.training.frameworks.torch_task import TorchTask
from trainmark.training.optim import decay_groups
from trainmark.training.task import TaskRequest
from trainmark.workloads.bert import DESK_EVAL
from trainmark.workloads.bert_checkpoint import load_checkpoint, reference_names
from trainmark.workloads.bert_model import PackedBert, look_around
from trainmark.workloads.bert_needs import OFFICIAL
from trainmark.workloads.bert_schedule import hyperparameters, learning_rate, mask_shares
from trainmark.workloads.bert_settings import BertSettings, DeskSettings, FullSettings
from trainmark.workloads.bert_vocabulary import vocabulary_file

__all__ = [
    "Batch",
    "BertTask",
    "DeskTask",
    "FullTask",
    "held_out_batches",
]

_EVAL_BATCH = 50
_EVAL_SEED = 20181011  # the held-out sequences are the same for every run of every machine
_CLIP_NORM = 1.0
_DESK_BUFFER = 2_000


class Batch(NamedTuple):
    """A micro-batch as tensors; the fields are those of ``packing.Rows``."""

    tokens: Tensor
    segments: Tensor
    positions: Tensor
    owners: Tensor
    starts: Tensor
    masked: Tensor
    random_next: Tensor
    labels: Tensor

    @classmethod
    def of(cls, rows: Rows) -> "Batch":
        """The same numbers, not copied."""
        return cls(*(torch.from_numpy(getattr(rows, name)) for name in cls._fields))

    def to(self, device: torch.device) -> "Batch":
        """The same on that device; a copy from page-locked memory is not waited for."""
        return Batch(*(tensor.to(device, non_blocking=True) for tensor in self))

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """What the network is given."""
        return self[:6]

    def never_single(self, *, rows: bool) -> tuple[Tensor, ...]:
        """The inputs with at least two of everything; what was added stands behind.

        A compiler takes a size of one for a constant and would compile anew for it.

        Args:
            rows: Whether there may be more than one row, else they are left alone.
        """
        row = (0, 0, 0, max(0, 2 - len(self.tokens)) if rows else 0)
        grids = (functional.pad(grid, row) for grid in (self.tokens, self.segments, self.positions))
        places = (
            functional.pad(place, (0, max(0, 2 - len(place))))
            for place in (self.starts, self.masked)
        )
        return *grids, functional.pad(self.owners, row, value=-1), *places


class BertTask(TorchTask):
    """One run of either scale; the subclasses differ in first weights and data."""

    settings: BertSettings
    clip_norm = _CLIP_NORM
    initial_range = 0.02
    vocabulary: int
    _held_out: Callable[[], Iterator[Batch]]

    def __init__(self, request: TaskRequest) -> None:
        super().__init__(request)
        self.hyperparameters = hyperparameters(self.settings)
        self._dynamic = self.settings.compile

    @property
    def eval_batch(self) -> int:
        """Samples in a batch of the evaluation."""
        raise NotImplementedError

    def make_model(self) -> nn.Module:
        """The network with its usual first weights."""
        settings = self.settings
        return PackedBert(
            vocabulary=self.vocabulary,
            length=settings.sequence_length,
            layers=settings.layers,
            width=settings.width,
            heads=settings.heads,
            inner=settings.inner,
            dropout=settings.dropout,
            initial_range=self.initial_range,
        )

    def make_optimizer(self, model: nn.Module) -> torch.optim.Optimizer:
        """LAMB or AdamW; biases and norms do not decay."""
        settings = self.settings
        groups = decay_groups(model, settings.weight_decay)
        betas = (settings.beta1, settings.beta2)
        if settings.optimizer == "lamb":
            from trainmark.training.lamb import Lamb

            return Lamb(groups, settings.learning_rate, betas=betas, eps=settings.epsilon)
        for group in groups:
            group.pop("scaled", None)
        return torch.optim.AdamW(
            groups, settings.learning_rate, betas=betas, eps=settings.epsilon, fused=True
        )

    def learning_rate(self, samples: int) -> float:
        """See the function of that name."""
        return learning_rate(self.settings, samples // self.settings.global_batch_size)

    def loss(self, model: Any, batch: Batch) -> Tensor:
        """Mean over the hidden tokens plus mean over the sequences."""
        self.tally(places=batch.owners.numel(), padding=int((batch.owners < 0).sum()))
        words, follows, on_device = self._heads(model, batch)
        return functional.cross_entropy(words, on_device.labels) + functional.cross_entropy(
            follows, on_device.random_next
        )

    def synthetic_lengths(self, samples: int) -> Iterable[int]:
        """Tokens in each of so many sequences of noise, as in the real data."""
        raise NotImplementedError

    def synthetic_batch(self, samples: int) -> Batch:
        """Random tokens in sequences as long as the real ones."""
        random = np.random.default_rng(samples)
        length = self.settings.sequence_length
        recipe = Recipe(length=length, vocabulary=self.vocabulary, special=SYNTHETIC)
        made = []
        for tokens in self.synthetic_lengths(samples):
            text = random.integers(0, self.vocabulary, tokens - 3).astype(np.int32)
            made.append(masked(text[: tokens // 2], text[tokens // 2 :], False, recipe, random))
        return next(self._batches(iter(made), samples))

    def warm_up_evaluation(self) -> None:
        """One batch of the evaluation."""
        self._correct([self.synthetic_batch(self.eval_batch)])

    def evaluate(self) -> float:
        """The share of all hidden tokens of the held-out set whose best guess is right."""
        correct, predictions = self._correct(self._held_out())
        return correct / predictions

    @torch.no_grad()
    def _correct(self, batches: Iterable[Batch]) -> tuple[int, int]:
        """Number of tokens guessed right, and of all."""
        correct = torch.zeros((), dtype=torch.int64, device=self.device)
        predictions = 0
        self.model.eval()
        for batch in batches:
            with self.autocast:
                words, _, on_device = self._heads(self.forward, batch)
            correct += (words.argmax(1) == on_device.labels).sum()
            predictions += len(batch.labels)
        self.model.train()
        return int(correct), predictions

    def _heads(self, model: Any, batch: Batch) -> tuple[Tensor, Tensor, Batch]:
        """What both heads say, and the batch on the device."""
        on_device = batch.to(self.device)
        if not self._dynamic:
            return *model(*on_device.inputs), on_device
        # The numbers of rows and of predictions vary: compiled once for all.
        inputs = on_device.never_single(rows=self.settings.micro_batch > 1)
        for tensor in inputs:
            torch._dynamo.mark_dynamic(tensor, list(range(tensor.dim())))
        words, follows = model(*inputs)
        return words[: len(batch.labels)], follows[: len(batch.starts)], on_device

    def _batches(self, sequences: Iterator[MaskedSequence], samples: int) -> Iterator[Batch]:
        for rows in micro_batches(
            sequences, samples, self.settings.sequence_length, packed=self.settings.packing
        ):
            yield Batch.of(rows)


class DeskTask(BertTask):
    """A small network on the Bible, from its own first weights."""

    settings: DeskSettings
    eval_batch = _EVAL_BATCH
    initial_range = 0.03

    @property
    def vocabulary(self) -> int:  # type: ignore[override]
        """Number of token ids."""
        return self.settings.vocabulary

    def make_model(self) -> nn.Module:
        """The network with heads that look at the neighbours."""
        model = super().make_model()
        assert isinstance(model, PackedBert)
        look_around(model)
        return model

    def synthetic_lengths(self, samples: int) -> Iterable[int]:
        """Verses fill the short sequences."""
        return [self.settings.sequence_length] * samples

    def data_files(self) -> Iterator[Path]:
        """The vocabulary and the packaged texts."""
        yield vocabulary_file(self.settings)
        yield from bibles.files()

    def batches(self) -> Iterator[Batch]:
        """Sequences of the training books without end."""
        words = WordPiece.read(vocabulary_file(self.settings))
        names = self.settings.translations.split(",")
        train = _documents(bibles.chapters(held_out=False, translations=names), words)
        held_out = list(held_out_batches(self.settings, words))
        self._held_out = lambda: iter(held_out)
        recipe = Recipe(
            length=self.settings.sequence_length, vocabulary=words.size, special=words.special
        )
        random, shares = np.random.default_rng(self.seed), mask_shares(self.settings)

        def sequences() -> Iterator[MaskedSequence]:
            while True:
                yield from make_sequences(train, recipe, random, shares)

        stream = mixed(sequences(), random, _DESK_BUFFER)
        return self._batches(stream, self.settings.micro_batch)


def held_out_batches(settings: DeskSettings, words: WordPiece) -> Iterator[Batch]:
    """The held-out sequences of the desk scale: the same for every run, masked as usual.

    Args:
        settings: Length and packing.
        words: The vocabulary.
    """
    random = np.random.default_rng(_EVAL_SEED)
    length = settings.sequence_length
    recipe = Recipe(length=length, vocabulary=words.size, special=words.special)
    documents = _documents(bibles.chapters(held_out=True), words)
    chosen = islice(make_sequences(documents, recipe, random), DESK_EVAL)
    for rows in micro_batches(chosen, _EVAL_BATCH, length, packed=settings.packing):
        yield Batch.of(rows)


class FullTask(BertTask):
    """BERT-Large on records or plain text, from the published checkpoint."""

    settings: FullSettings

    def __init__(self, request: TaskRequest) -> None:
        super().__init__(request)
        self._folder = None if self.data is None else bert_folder.scan(self.data)
        self._words = None if self._folder is None else WordPiece.read(self._folder.vocabulary)

    @property
    def vocabulary(self) -> int:  # type: ignore[override]
        """Number of token ids: BERT's own without a data folder."""
        return OFFICIAL["pieces in the vocabulary"] if self._words is None else self._words.size

    @property
    def eval_batch(self) -> int:
        """Samples in a batch of the evaluation: as in training, whose memory it fits."""
        return self.settings.micro_batch

    def synthetic_lengths(self, samples: int) -> Iterable[int]:
        """Spread evenly, so that half of the places would be padding, as in Wikipedia."""
        shares = (np.arange(samples) + 0.5) / samples
        return [max(5, round(share * self.settings.sequence_length)) for share in shares]

    def make_model(self) -> nn.Module:
        """The network; with its published weights, where the folder has them."""
        model = super().make_model()
        assert isinstance(model, PackedBert)
        folder = None if self._folder is None else self._folder.checkpoint
        file = None if folder is None else bert_folder.find_checkpoint(folder)
        if file is not None:
            load_checkpoint(model.network, file)
        self.initialized_tensors = reference_names(model.network)
        return model

    def data_files(self) -> Iterator[Path]:
        """Every shard and the held-out set."""
        assert self._folder is not None, "spec() asks for --data"
        yield from (*self._folder.train, self._folder.held_out)

    def batches(self) -> Iterator[Batch]:
        """Sequences without end, read and packed by a process in the background."""
        folder, settings = self._folder, self.settings
        assert folder is not None, "spec() asks for --data"
        self._held_out = self._evaluation(folder)
        rows = partial(
            _training_rows,
            folder,
            samples=settings.micro_batch,
            capacity=settings.sequence_length,
            packed=settings.packing,
            buffer=settings.shuffle_buffer,
            seed=self.seed,
        )
        return in_background(rows, Batch.of, pin=self.device.type == "cuda")

    def _evaluation(self, folder: bert_folder.BertFolder) -> Callable[[], Iterator[Batch]]:
        """The held-out sequences in their published order, read once, when first asked for."""
        read: list[Batch] = []

        def batches() -> Iterator[Batch]:
            if not read:
                sequences = read_sequences(
                    folder.held_out,
                    length=self.settings.sequence_length,
                    vocabulary=self.vocabulary,
                )
                read.extend(self._batches(sequences, self.eval_batch))
            return iter(read)

        return batches


def _training_rows(
    folder: bert_folder.BertFolder,
    *,
    samples: int,
    capacity: int,
    packed: bool,
    buffer: int,
    seed: int,
) -> Iterator[Rows]:
    """Micro-batches of the folder's records or texts without end."""
    random = np.random.default_rng(seed)
    words = WordPiece.read(folder.vocabulary)
    recipe = Recipe(length=capacity, vocabulary=words.size, special=words.special)

    def read(file: Path) -> Iterator[MaskedSequence]:
        if folder.records:
            return read_sequences(file, length=capacity, vocabulary=words.size)
        return text_sequences(file, words, recipe, random)

    stream = over_files(folder.train, read, random, buffer)
    return micro_batches(stream, samples, capacity, packed=packed)


def _documents(chapters: Iterable[list[str]], words: WordPiece) -> list[Document]:
    return [words.encode(chapter) for chapter in chapters]
