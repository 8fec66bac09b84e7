"""What methods without a recurrent network reach on the spoken digits of the workload ``rnnt``.

    python -m tests.workloads.rnnt_baselines

prints the table of docs/workloads/rnnt.md.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from trainmark.training import plugins
from trainmark.training.data.spoken_digits import DIGITS, SPLITS
from trainmark.training.prepared import quiet
from trainmark.training.task import TaskRequest
from trainmark.workloads.rnnt import WORKLOAD, DeskSettings
from trainmark.workloads.rnnt_data import spoken
from trainmark.workloads.rnnt_torch import DeskTask, word_error_rate

_RESAMPLED = 24
_CONTEXT = 10  # frames before and after
_EVERY = 3
_EPOCHS, _BATCH, _RATE = 25, 32, 1e-2


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """Features (frames, filters) and what is said, of both splits."""

    train: Sequence[tuple[Tensor, str]]
    held_out: Sequence[tuple[Tensor, str]]

    def rate(self, heard: Iterable[str]) -> float:
        """The word error rate on the held-out set."""
        return word_error_rate([text for _, text in self.held_out], list(heard))


def load() -> Spoken:
    """The data of the desk scale, made if it is not there."""
    settings = DeskSettings()
    plugins.framework("torch").prepare(settings, 1)
    WORKLOAD.prepare("desk", settings, None, quiet)
    spec = WORKLOAD.spec("desk", settings, None)
    request = TaskRequest(scale="desk", spec=spec, settings=settings, seed=1, data=None)
    folder = spoken(settings.order())
    train, held_out = (DeskTask(request).read(folder, split) for split in SPLITS)
    return Spoken(train=train, held_out=held_out)


def constant(data: Spoken) -> float:
    """The best of all answers of one or two words that never change."""
    answers = [
        " ".join(words) for count in (1, 2) for words in itertools.product(DIGITS, repeat=count)
    ]
    return min(data.rate([answer] * len(data.held_out)) for answer in answers)


def nearest(data: Spoken) -> float:
    """The text of the training utterance with the most alike features, stretched to one length."""

    def vectors(utterances: Sequence[tuple[Tensor, str]]) -> Tensor:
        stretched = [
            functional.interpolate(features.T[None], _RESAMPLED, mode="linear")[0].flatten()
            for features, _ in utterances
        ]
        lengths = torch.tensor([[np.log(len(features))] for features, _ in utterances])
        return torch.cat([torch.stack(stretched), 60 * lengths], 1)

    distances = torch.cdist(vectors(data.held_out), vectors(data.train))
    return data.rate(data.train[int(index)][1] for index in distances.argmin(1))


def linear(data: Spoken, seed: int = 1) -> float:
    """A linear layer on 21 frames, trained with CTC (Graves et al. 2006), the best path decoded."""
    torch.manual_seed(seed)
    blank = len(DIGITS)
    train = [(_windows(x), _numbers(text)) for x, text in data.train]
    layer = torch.nn.Linear(train[0][0].shape[1], blank + 1)
    steps = _EPOCHS * len(train) // _BATCH
    optimizer = torch.optim.AdamW(layer.parameters(), _RATE)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, steps)
    for _ in range(steps):
        batch = [train[int(i)] for i in torch.randint(len(train), (_BATCH,))]
        lengths = torch.tensor([len(x) for x, _ in batch])
        scores = layer(torch.nn.utils.rnn.pad_sequence([x for x, _ in batch])).log_softmax(2)
        loss = functional.ctc_loss(
            scores,
            torch.cat([said for _, said in batch]),
            lengths,
            torch.tensor([len(said) for _, said in batch]),
            blank=blank,
            zero_infinity=True,
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        return data.rate(_best_path(layer(_windows(x)), blank) for x, _ in data.held_out)


def _windows(features: Tensor) -> Tensor:
    padded = functional.pad(features, (0, 0, _CONTEXT, _CONTEXT))
    return padded.unfold(0, 2 * _CONTEXT + 1, _EVERY).flatten(1)


def _numbers(text: str) -> Tensor:
    return torch.tensor([DIGITS.index(word) for word in text.split()])


def _best_path(scores: Tensor, blank: int) -> str:
    best = [label for label, _ in itertools.groupby(scores.argmax(1).tolist())]
    return " ".join(DIGITS[label] for label in best if label != blank)


def main() -> None:
    """Print the table."""
    data = load()
    for name, rate in (
        ("the best answer that never changes", constant(data)),
        ("nearest training utterance", nearest(data)),
        ("linear layer with CTC", linear(data)),
    ):
        print(f"| {name} | {100 * rate:.1f} % |")


if __name__ == "__main__":
    main()
