"""What the tasks of all PyTorch workloads share: device, precision, step, warm-up, averages.

A workload's task says what its model, its optimizer, its loss and its data are; everything that
would be the same for the next one stands here.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from trainmark.training.frameworks.torch import DTYPES, FRAMEWORK, count_flop, preserved
from trainmark.training.settings import Settings
from trainmark.training.task import TaskRequest

__all__ = ["TorchTask"]

_FLOP_SAMPLES = 2


class TorchTask:
    """One run of a workload in PyTorch.

    Attributes:
        hyperparameters: Official log keys and their values.
        initialized_tensors: See ``training.task.Task``.
        average_decay: Decay of the exponential average of the weights, which is then what is
            evaluated; 0 for none.
        clip_norm: Largest norm of the whole gradient; 0 for any.
        warm_up_steps: Steps on synthetic data before the clock.
        model: The network, on the device.
        forward: The network as it is called in training: compiled, if that was asked for.
        averaged: The exponential average of ``model``, None without one.
        optimizer: What takes the step.
    """

    hyperparameters: Mapping[str, Any]
    initialized_tensors: tuple[str, ...] = ()
    average_decay: float = 0.0
    clip_norm: float = 0.0
    warm_up_steps: int = 3
    model: nn.Module
    forward: Any
    averaged: AveragedModel | None = None
    optimizer: torch.optim.Optimizer

    def __init__(self, request: TaskRequest) -> None:
        self.settings: Any = request.settings
        self.spec = request.spec
        self.seed = request.seed
        self.data = request.data
        self.device = FRAMEWORK.device
        settings: Settings = request.settings
        dtype = DTYPES[settings.precision]
        self.autocast = torch.autocast(
            self.device.type, dtype=dtype, enabled=dtype is not torch.float32
        )
        self.layout = (
            torch.channels_last
            if settings.memory_format == "channels_last"
            else torch.contiguous_format
        )
        self._scaler = torch.amp.GradScaler(self.device.type, enabled=dtype is torch.float16)
        self._sums: dict[str, float] = {}

    # What a workload says.

    def make_model(self) -> nn.Module:
        """The network, on the CPU, its weights drawn from the run's seed."""
        raise NotImplementedError

    def make_optimizer(self, model: nn.Module) -> torch.optim.Optimizer:
        """The optimizer of that model's parameters."""
        raise NotImplementedError

    def learning_rate(self, samples: int) -> float:
        """The learning rate of the step that follows on that many samples."""
        raise NotImplementedError

    def loss(self, model: Any, batch: Any) -> Tensor:
        """The mean loss of a micro-batch, a scalar; called within autocast."""
        raise NotImplementedError

    def synthetic_batch(self, samples: int) -> Any:
        """A micro-batch of noise in the form that ``batches`` gives."""
        raise NotImplementedError

    def warm_up_evaluation(self) -> None:
        """Evaluate noise in the shapes of the real evaluation.

        So that the clock meets no shape first: a compiled model is compiled anew for each.
        """
        raise NotImplementedError

    def batches(self) -> Iterator[Any]:
        """Training micro-batches without end; opens the data."""
        raise NotImplementedError

    def evaluate(self) -> float:
        """The quality on the whole held-out set, in the target's metric."""
        raise NotImplementedError

    def data_files(self) -> Iterator[Path]:
        """Files that the run will read."""
        raise NotImplementedError

    # What all share.

    def build(self) -> None:
        """Make model, average and optimizer from the seed."""
        self.model = self.make_model().to(self.device)
        if self.layout is torch.channels_last:
            self.model = self.model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.forward = torch.compile(self.model) if self.settings.compile else self.model
        self.optimizer = self.make_optimizer(self.model)
        if self.average_decay:
            self.averaged = AveragedModel(
                self.model, multi_avg_fn=get_ema_multi_avg_fn(self.average_decay)
            )

    def warm_up(self) -> None:
        """Run step and evaluation on noise of their true shapes, then put everything back."""
        batch = self.synthetic_batch(self.settings.micro_batch)
        with self._untouched():
            for _ in range(self.warm_up_steps):
                for _ in range(self.settings.gradient_accumulation_steps):
                    self.forward_backward(batch)
                self.update(0)
            self.warm_up_evaluation()
        self._sums.clear()

    def flop_per_sample(self) -> float:
        """Floating-point operations of one training step divided by its samples."""
        batch = self.synthetic_batch(_FLOP_SAMPLES)

        def step() -> None:
            with self.autocast:
                loss = self.loss(self.model, batch)
            loss.backward()

        with self._untouched():
            return count_flop(step) / _FLOP_SAMPLES

    def forward_backward(self, batch: Any) -> Tensor:
        """Add the gradient of one micro-batch to the step's.

        Returns:
            The micro-batch's mean loss, not waited for.
        """
        with self.autocast:
            loss = self.loss(self.forward, batch)
        self._scaler.scale(loss / self.settings.gradient_accumulation_steps).backward()
        return loss.detach()

    def update(self, samples: int) -> None:
        """Take the optimizer step at the schedule's learning rate, and follow the average."""
        rate = self.learning_rate(samples)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        if self.clip_norm:
            self._scaler.unscale_(self.optimizer)
            nn.utils.clip_grad_norm_(self.model.parameters(), self.clip_norm)
        self._scaler.step(self.optimizer)
        self._scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        if self.averaged is not None:
            self.averaged.update_parameters(self.model)

    @property
    def evaluated_model(self) -> nn.Module:
        """What is evaluated: the average where there is one, else the model itself."""
        if self.averaged is not None:
            averaged: nn.Module = self.averaged.module
            return averaged
        return self.model

    def tally(self, **counts: float) -> None:
        """Count something of a batch; ``statistics`` gives the sums."""
        for name, number in counts.items():
            self._sums[name] = self._sums.get(name, 0.0) + number

    def statistics(self) -> Mapping[str, float]:
        """The padding share since the last call, where ``places`` and ``padding`` are tallied."""
        sums, self._sums = self._sums, {}
        places = sums.get("places", 0.0)
        return {"padding_share": sums.get("padding", 0.0) / places} if places else {}

    def close(self) -> None:
        """Release what the run holds; by default nothing."""

    def _untouched(self) -> Any:
        averaged: Iterable[nn.Module] = () if self.averaged is None else (self.averaged,)
        return preserved(self.model, self.optimizer, *averaged)
