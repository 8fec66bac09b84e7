"""The full-size ResNet-50 training step at 224 x 224: ours against the usual one.

    python benchmarks/step_resnet50.py [--pairs 5] [--batch 16] [--steps 4]

"Usual" is what pytorch/examples, imagenet/main.py does: an eager fp32 step on contiguous tensors,
SGD with momentum, and PyTorch's defaults in the environment as it is. Same network, same batch.
Goal: at least 2 times the usual step where the CPU has bf16 instructions, 1.3 times where it has
none.
"""

from collections.abc import Callable

from steps import StepBenchmark, Usual, run

from trainmark.workloads.resnet50 import WORKLOAD


def usual_step(usual: Usual) -> Callable[[], None]:
    """The training step of pytorch/examples, imagenet/main.py."""
    import torch

    from trainmark.workloads.resnet50_torch import resnet50

    model = resnet50(width=64, in_channels=3, classes=1000, small=False).to(usual.device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
    criterion = torch.nn.CrossEntropyLoss()
    images = torch.randn(usual.batch, 3, 224, 224, device=usual.device)
    labels = torch.arange(usual.batch, device=usual.device)

    def step() -> None:
        loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


BENCHMARK = StepBenchmark(
    script=__file__,
    workload=WORKLOAD,
    spec=WORKLOAD.published["full"],
    samples="images",
    usual="the eager fp32 step of pytorch/examples, imagenet/main.py",
    usual_step=usual_step,
    batch=16,
)

if __name__ == "__main__":
    run(BENCHMARK, __doc__)
