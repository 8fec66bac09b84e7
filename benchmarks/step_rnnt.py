"""The full-size RNN-T training step on utterances of 5 to 15 seconds: ours against the usual one.

    python benchmarks/step_rnnt.py [--pairs 5] [--batch 8] [--steps 2]

"Usual" is what mlcommons/training, retired_benchmarks/rnnt/pytorch (train.py, rnnt/model.py) does:
the joint network and the loss see the whole padded grid of frames x labels x classes. That
implementation's loss is CUDA code (warp-transducer); in its place stands the recursion of the paper
in PyTorch, a vector of the batch for each node, differentiated by autograd. Same network, same
utterances, same features, LAMB and average of the weights. Goal: at least 1.5 times the usual step.
"""

from collections.abc import Callable, Sequence
from typing import Any

from steps import StepBenchmark, Usual, run

from trainmark.workloads.rnnt import WORKLOAD, FullSettings

SECONDS = (5.0, 15.0)
LABELS_A_SECOND = 45 / 12.3  # as LibriSpeech has with 1,023 pieces


def utterances(count: int) -> tuple[list[int], list[list[int]]]:
    """Samples and labels of utterances whose lengths are spread evenly."""
    import numpy as np

    seconds = np.linspace(*SECONDS, count)
    lengths = [round(16_000 * length) for length in seconds]
    labels = [[1 + u % 1022 for u in range(round(LABELS_A_SECOND * s))] for s in seconds]
    return lengths, labels


def our_batches(task: Any, count: int) -> Sequence[Any]:
    """One batch of noise in those lengths."""
    import torch

    from trainmark.training.data.speech_loader import SpeechBatch, labels_of
    from trainmark.training.transducer import lattice

    lengths, labels = utterances(count)
    batch = SpeechBatch(
        inputs=0.1 * torch.randn(count, max(lengths)),
        lengths=tuple(lengths),
        labels=labels_of(labels),
        where=lattice([task.encoded_frames(n) for n in lengths], labels, task.sizes.blank),
        texts=("",) * count,
    )
    return [batch]


def usual_step(usual: Usual) -> Callable[[], None]:
    """The training step of the reference, on the padded grid."""
    import torch
    from torch import nn
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

    from trainmark.training.data.log_mel import LogMel, stacked
    from trainmark.training.data.speech_loader import labels_of
    from trainmark.training.lamb import Lamb
    from trainmark.workloads.rnnt_model import Transducer
    from trainmark.workloads.rnnt_torch import sizes

    device = torch.device(usual.device)
    settings = FullSettings()
    net = Transducer(sizes(settings, settings.pieces)).to(device)
    groups = [{"params": list(net.parameters()), "weight_decay": settings.weight_decay}]
    optimizer = Lamb(groups, settings.learning_rate, eps=1e-9)
    average = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(settings.average))
    log_mel = LogMel(filters=settings.filters, dither=1e-5, device=device)
    lengths, said = utterances(usual.batch)
    sound = 0.1 * torch.randn(usual.batch, max(lengths), device=device)
    labels = labels_of(said).to(device)
    frames = net.frames([-(-LogMel.frames(n) // 3) for n in lengths])

    def step() -> None:
        features = stacked(log_mel(sound, lengths), 3)
        encoded, predicted = net.encode(features), net.predict(labels)
        hidden = net.joint_dropout((encoded[:, :, None] + predicted[:, None]).relu())
        logits = net.output(hidden)
        loss = plain_loss(logits, labels, frames, [len(s) for s in said], net.sizes.blank).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), settings.clip_norm)
        optimizer.step()
        average.update_parameters(net)

    return step


def plain_loss(
    logits: Any, labels: Any, frames: Sequence[int], lengths: Sequence[int], blank: int
) -> Any:
    """The paper's forward recursion over the padded grid (B, T, U + 1, classes)."""
    import torch

    normed = logits.log_softmax(3)
    blanks = normed[..., blank]
    index = labels[:, None, :, None].expand(-1, normed.shape[1], -1, 1)
    says = normed[:, :, :-1].gather(3, index)[..., 0]
    reached: dict[tuple[int, int], Any] = {(0, 0): torch.zeros_like(blanks[:, 0, 0])}
    for t in range(normed.shape[1]):
        for u in range(normed.shape[2]):
            ways = []
            if t:
                ways.append(reached[t - 1, u] + blanks[:, t - 1, u])
            if u:
                ways.append(reached[t, u - 1] + says[:, t, u - 1])
            if ways:
                reached[t, u] = torch.logaddexp(*ways) if len(ways) == 2 else ways[0]
    ends = zip(frames, lengths, strict=True)
    return -torch.stack(
        [reached[t - 1, u][row] + blanks[row, t - 1, u] for row, (t, u) in enumerate(ends)]
    )


BENCHMARK = StepBenchmark(
    script=__file__,
    workload=WORKLOAD,
    spec=WORKLOAD.published["full"],
    samples="utterances",
    usual="the padded step of mlcommons/training, retired_benchmarks/rnnt/pytorch",
    usual_step=usual_step,
    batch=8,
    steps=2,
    batches=our_batches,
)

if __name__ == "__main__":
    run(BENCHMARK, __doc__)
