"""TGN in PyTorch: the step, the memory of a run, the evaluation. See ``tgn.py``."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from trainmark.mllog import keys
from trainmark.training.average_precision import mean_average_precision
from trainmark.training.data import college_messages, interactions, jodie
from trainmark.training.data.background import in_background
from trainmark.training.data.interactions import History, Interactions
from trainmark.training.data.link_batches import (
    LinkBatch,
    LinkBatches,
    Training,
    chance_destinations,
    training_batches,
)
from trainmark.training.frameworks.torch import count_flop
from trainmark.training.frameworks.torch_task import TorchTask
from trainmark.training.optim import linear_warmup_polynomial_decay
from trainmark.training.task import TaskRequest
from trainmark.workloads.tgn import WIKIPEDIA_FILE, WIKIPEDIA_PAGES, WIKIPEDIA_USERS, TgnSettings
from trainmark.workloads.tgn_layers import Shape
from trainmark.workloads.tgn_model import DeviceBatch, Memory, Tgn, to_device

__all__ = ["DeskTask", "FullTask", "TgnTask"]

EVALUATION_SEED = 2  # the paper's code draws its test links from the same
_NOISE_LENGTH = 20_000
_NOISE_SEED = 1

_Scores = tuple[Tensor, Tensor, Tensor]


class TgnTask(TorchTask):
    """One run of either scale; the subclasses differ in where the stream comes from."""

    settings: TgnSettings
    users: int
    items: int
    features: int

    def __init__(self, request: TaskRequest) -> None:
        super().__init__(request)
        settings = self.settings
        self.hyperparameters = {
            keys.GLOBAL_BATCH_SIZE: settings.global_batch_size,
            keys.GRADIENT_ACCUMULATION_STEPS: settings.gradient_accumulation_steps,
            "opt_name": "adam",
            "opt_base_learning_rate": settings.learning_rate,
            "opt_end_learning_rate": settings.end_learning_rate,
            "opt_learning_rate_warmup_steps": settings.warmup_steps,
        }
        self._memory: Memory | None = None
        self._trained = 0  # place in the stream up to which it was trained in this epoch
        self._test: tuple[int, list[DeviceBatch]] = (-1, [])

    def read_stream(self) -> Interactions:
        """The whole stream; called within the clock."""
        raise NotImplementedError

    def make_model(self) -> nn.Module:
        """See ``tgn_model``."""
        settings = self.settings
        return Tgn(
            Shape(
                memory=settings.memory,
                time=settings.time,
                features=self.features,
                heads=settings.heads,
                dropout=settings.dropout,
                directed=settings.directed,
                meetings=settings.meetings,
                logarithmic=settings.logarithm,
            )
        )

    def build(self) -> None:
        """Make model and optimizer; every batch touches another number of nodes."""
        super().build()
        if self.settings.compile:
            self.forward = torch.compile(self.model, dynamic=True)

    def make_optimizer(self, model: nn.Module) -> torch.optim.Optimizer:
        """Adam."""
        return torch.optim.Adam(model.parameters(), self.settings.learning_rate, fused=True)

    def learning_rate(self, samples: int) -> float:
        """A straight line up, then one down; at full scale constant."""
        size = self.settings.global_batch_size
        return linear_warmup_polynomial_decay(
            samples // size,
            base=self.settings.learning_rate,
            end=self.settings.end_learning_rate,
            warmup_steps=self.settings.warmup_steps,
            total_steps=self.spec.max_samples // size,
            power=1.0,
        )

    def flop_per_sample(self) -> float:
        """Floating-point operations of one training step divided by its samples.

        Counted on a whole batch: its links share nodes, whose memory is updated once.
        """
        samples = self.settings.micro_batch
        batch = self.synthetic_batch(samples)

        def step() -> None:
            with self.autocast:
                loss = self.loss(self.model, batch)
            loss.backward()

        with self._untouched():
            return count_flop(step) / samples

    def loss(self, model: Callable[[DeviceBatch], _Scores], batch: DeviceBatch) -> Tensor:
        """Cross-entropy of the real links, plus that of the chance links; moves the memory on."""
        if batch.first:
            batch.memory.values.zero_()
        real, chance, new = model(batch)
        _write(batch, new)
        if batch.memory is self._memory:
            self._trained = batch.end
        self.tally(places=batch.places, padding=batch.padding)
        return (
            functional.softplus(-real.float()).mean() + functional.softplus(chance.float()).mean()
        )

    def batches(self) -> Iterator[DeviceBatch]:
        """The training part of the stream again and again, in the order of time."""
        stream, settings = self.read_stream(), self.settings
        self._history = History(stream)
        self._memory = self._make_memory(stream)
        size = settings.micro_batch
        training = Training(
            batches=self._batches(self._history, np.arange(len(stream)) // size * size),
            train=self.spec.train_samples,
            micro_batch=size,
            group=settings.global_batch_size,
            seed=self.seed,
        )
        made: Iterator[LinkBatch] = training_batches(training)
        if self.device.type != "cpu":  # there a second process would take its time from the step
            made = in_background(partial(training_batches, training), _same, pin=False)
        memory = self._memory
        return (to_device(batch, memory) for batch in made)

    @torch.no_grad()
    def evaluate(self) -> float:
        """Average precision on the test part, the mean over its batches, 0 to 1.

        The memory goes on from where training stands, through all that lies between, and is then
        put back.
        """
        assert self._memory is not None, "batches() opens the data"
        memory, trained = self._memory, self._trained
        if self._test[0] != trained:
            self._test = trained, list(self._evaluation(memory, trained))
        values = memory.values.clone()
        scores = self._score(self._test[1])
        memory.values.copy_(values)
        return mean_average_precision(scores, self.settings.evaluation_batch_size)

    def warm_up_evaluation(self) -> None:
        """One batch of the evaluation."""
        self._score([self.synthetic_batch(self.settings.evaluation_batch_size)])

    def synthetic_batch(self, samples: int) -> DeviceBatch:
        """The last links of a stream of chance."""
        stream = interactions.noise(
            users=self.users,
            items=self.items,
            length=max(_NOISE_LENGTH, 2 * samples),
            features=self.features,
            seed=_NOISE_SEED,
        )
        return next(self.noise_batches(stream, samples, len(stream) - samples))

    def noise_batches(self, stream: Interactions, size: int, first: int) -> Iterator[DeviceBatch]:
        """Batches of a stream of chance, with a memory of their own.

        Args:
            stream: The stream.
            size: Links of a batch.
            first: Where the first batch starts.
        """
        places = np.arange(len(stream))
        starts = np.maximum(first + (places - first) // size * size, 0)
        batches = self._batches(History(stream), starts)
        memory = self._make_memory(stream)
        memory.values.normal_()
        generator = np.random.default_rng(_NOISE_SEED)
        for start in range(first, len(stream) - size + 1, size):
            chance = _chance(stream, size, generator)
            yield to_device(batches.links(start, start + size, chance), memory)

    @torch.no_grad()
    def _score(
        self, batches: list[DeviceBatch]
    ) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        """Scores of real and chance links of those batches that have any, (2, links)."""
        self.model.eval()
        found = []
        for batch in batches:
            with self.autocast:
                if len(batch.queries):
                    real, chance, new = self.forward(batch)
                    found.append(torch.stack([real, chance]))
                else:
                    new = self.model.remember(batch)[batch.written_rows]  # type: ignore[operator]
            _write(batch, new)
        self.model.train()
        scores: np.ndarray[tuple[int, ...], np.dtype[np.float32]]
        scores = torch.cat(found, dim=1).float().cpu().numpy()
        return scores

    def _evaluation(self, memory: Memory, trained: int) -> Iterator[DeviceBatch]:
        """What lies between training and test, for the memory alone, then the test links."""
        stream, size = self._history.stream, self.settings.evaluation_batch_size
        test = len(stream) - self.spec.eval_samples
        places = np.arange(len(stream))
        micro = self.settings.micro_batch
        starts = np.select(
            [places < trained, places < test],
            [places // micro * micro, trained + (places - trained) // size * size],
            test + (places - test) // size * size,
        )
        batches = self._batches(self._history, starts)
        for start in range(trained, test, size):
            yield to_device(batches.passing(start, min(start + size, test)), memory)
        generator = np.random.default_rng(EVALUATION_SEED)
        chance = _chance(stream, self.spec.eval_samples, generator)
        for start in range(test, len(stream), size):
            end = min(start + size, len(stream))
            yield to_device(batches.links(start, end, chance[start - test : end - test]), memory)

    def _batches(self, history: History, starts: interactions.Ints) -> LinkBatches:
        seconds = self.settings.clock == "seconds"
        return LinkBatches(
            history=history,
            starts=starts,
            clock=history.stream.times if seconds else history.earlier.astype(np.float64),
            neighbours=self.settings.neighbours,
            see_own_batch=self.settings.own_batch,
        )

    def _make_memory(self, stream: Interactions) -> Memory:
        return Memory(
            values=torch.zeros(stream.nodes, self.settings.memory, device=self.device),
            features=torch.from_numpy(stream.features).to(self.device),
        )


def _write(batch: DeviceBatch, new: Tensor) -> None:
    values = batch.memory.values
    values.index_copy_(0, batch.written, new.to(values.dtype))


def _chance(stream: Interactions, number: int, generator: np.random.Generator) -> interactions.Ints:
    return chance_destinations(stream.destinations, number, generator)


def _same(batch: LinkBatch) -> LinkBatch:
    return batch


class DeskTask(TgnTask):
    """Messages that ship in a package."""

    users, items, features = 1000, college_messages.PEOPLE - 1000, 0

    def data_files(self) -> Iterator[Path]:
        """The packaged table."""
        yield college_messages.messages_file()

    def read_stream(self) -> Interactions:
        """The messages."""
        return college_messages.read_messages(college_messages.messages_file())


class FullTask(TgnTask):
    """The JODIE Wikipedia stream."""

    users, items, features = WIKIPEDIA_USERS, WIKIPEDIA_PAGES, 172

    def __init__(self, request: TaskRequest) -> None:
        super().__init__(request)
        if self.data is not None:
            self.features = jodie.scan_table(self._file).features

    def data_files(self) -> Iterator[Path]:
        """The table."""
        yield self._file

    def read_stream(self) -> Interactions:
        """The edits."""
        return jodie.read_table(jodie.scan_table(self._file))

    @property
    def _file(self) -> Path:
        assert self.data is not None, "spec() asks for --data"
        return self.data / WIKIPEDIA_FILE
