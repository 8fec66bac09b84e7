"""The full-size EfficientNet-B4 training step at 380 x 380: ours against the usual one.

    python benchmarks/step_efficientnet_b4.py [--pairs 5] [--batch 8] [--steps 2]

"Usual" is EfficientNetForImageClassification of huggingface/transformers,
models/efficientnet/modeling_efficientnet.py, with B4's numbers, in an eager fp32 step on contiguous
tensors with PyTorch's RMSprop and its defaults in the environment as it is. Same pictures, same
batch; neither keeps an average of the weights here. ``--set normalisation=proxy --set
group_size=16`` measures the batch-independent variant. Goal: 1.5 times the usual step.
"""

from collections.abc import Callable

from steps import StepBenchmark, Usual, run

from trainmark.workloads.efficientnet_b4 import WORKLOAD, FullSettings

SIDE = FullSettings().side


def usual_step(usual: Usual) -> Callable[[], None]:
    """The step of transformers' model in a plain loop."""
    import torch
    from transformers import EfficientNetConfig, EfficientNetForImageClassification

    config = EfficientNetConfig(
        width_coefficient=1.4,
        depth_coefficient=1.8,
        hidden_dim=1792,
        image_size=SIDE,
        depthwise_padding=[6],
        dropout_rate=0.4,
        id2label=dict(enumerate(map(str, range(1000)))),
    )
    model: torch.nn.Module = EfficientNetForImageClassification(config)
    model.to(usual.device)
    optimizer = torch.optim.RMSprop(
        model.parameters(), 0.0005, alpha=0.9, eps=1e-3, weight_decay=1e-5, momentum=0.9
    )
    criterion = torch.nn.CrossEntropyLoss()
    images = torch.randn(usual.batch, 3, SIDE, SIDE, device=usual.device)
    labels = torch.arange(usual.batch, device=usual.device)

    def step() -> None:
        loss = criterion(model(images).logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


BENCHMARK = StepBenchmark(
    script=__file__,
    workload=WORKLOAD,
    spec=WORKLOAD.published["full"],
    samples="images",
    usual="the eager fp32 step of huggingface/transformers, EfficientNetForImageClassification",
    usual_step=usual_step,
    batch=8,
    steps=2,
    settings=("average_decay=0",),
)

if __name__ == "__main__":
    run(BENCHMARK, __doc__)
