"""PyTorch as the loop sees it: device, seeds, threads, precision, measured peak."""

import contextlib
import copy
import math
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
import torch

from trainmark.training.settings import PRECISIONS, Settings
from trainmark.types import UsageError

__all__ = ["DTYPES", "FRAMEWORK", "Torch", "count_flop", "preserved"]

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
_PEAK_SIZES = {"cpu": (1024, 2048), "cuda": (4096, 8192)}
_PEAK_SECONDS = 0.4
# A 16-bit format that multiplies slower than fp32 has no instructions behind it on this device.
_USEFUL_SHARE_OF_FP32 = 1.0


class Torch:
    """The framework ``torch``. One device per process; the first in use unless asked otherwise."""

    name = "torch"

    def __init__(self) -> None:
        self.device = torch.device("cpu")
        self._precisions: dict[str, str] = {}

    def prepare(self, settings: Settings, seed: int) -> None:
        """Seed every generator, set threads, choose the device.

        Raises:
            UsageError: The device or the precision is not to be had here.
        """
        self.device = _device(settings.device)
        random.seed(seed)
        np.random.seed(seed % 2**32)
        torch.manual_seed(seed)
        if settings.threads:
            torch.set_num_threads(settings.threads)
        if settings.precision != "auto" and (why := self.precisions()[settings.precision]):
            usable = [name for name, reason in self.precisions().items() if not reason]
            raise UsageError(
                f"precision={settings.precision} cannot be used on this device: {why}",
                hint=f"Usable here: {', '.join(usable)}.",
            )
        if self.device.type == "cuda":
            torch.backends.cuda.matmul.allow_tf32 = settings.precision != "fp32"
            torch.backends.cudnn.benchmark = True

    def synchronize(self) -> None:
        """Wait until the device has finished what was asked of it."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def matmul_peak(self, precision: str) -> float:
        """Best measured matrix-multiplication rate of the device, FLOP/s.

        Square matrices of two sizes, each repeated for about 0.4 s; the better one counts.
        """
        return max(self._matmul(size, precision) for size in _PEAK_SIZES[self.device.type])

    def precisions(self) -> Mapping[str, str]:
        """Each precision, with the reason why it cannot be used here, "" if it can.

        Decided by measuring: a small multiplication in fp32 and in the 16-bit format.
        """
        if not self._precisions:
            fp32 = self._matmul(512, "fp32", seconds=0.05)
            for name in PRECISIONS:
                rate = self._matmul(512, name, seconds=0.05)
                slow = name != "fp32" and rate < _USEFUL_SHARE_OF_FP32 * fp32
                self._precisions[name] = (
                    f"it multiplies at {rate / 1e9:.3g} GFLOP/s where fp32 reaches "
                    f"{fp32 / 1e9:.3g}: no instructions for it"
                    if slow
                    else ""
                )
        return self._precisions

    def thread_choices(self) -> tuple[int, ...]:
        """Thread counts worth measuring: all cores, and half of them on a CPU."""
        cores = len(os.sched_getaffinity(0))
        if self.device.type != "cpu" or cores == 1:
            return (cores,)
        return (cores, cores // 2)

    def environment(self) -> Mapping[str, Any]:
        """Versions, device, threads, for the log."""
        found: dict[str, Any] = {
            "framework": "torch",
            "torch": str(torch.__version__),
            "device": str(self.device),
            "threads": torch.get_num_threads(),
        }
        if self.device.type == "cuda":
            found["device_name"] = torch.cuda.get_device_name(self.device)
            found["cuda"] = torch.version.cuda or torch.version.hip
            found["cudnn"] = torch.backends.cudnn.version()
        return found

    def gather(self, text: str) -> Sequence[str]:
        """The texts of all ranks of the process group, in their order; alone, its own."""
        if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
            return [text]
        texts = [""] * torch.distributed.get_world_size()
        torch.distributed.all_gather_object(texts, text)
        return texts

    def _matmul(self, size: int, precision: str, seconds: float = _PEAK_SECONDS) -> float:
        shape, dtype = (size, size), DTYPES[precision]
        left = torch.ones(shape, dtype=dtype, device=self.device)
        right = torch.ones(shape, dtype=dtype, device=self.device)
        out = torch.empty(shape, dtype=dtype, device=self.device)
        torch.mm(left, right, out=out)
        self.synchronize()
        count, started = 0, perf_counter()
        while (spent := perf_counter() - started) < seconds:
            torch.mm(left, right, out=out)
            self.synchronize()
            count += 1
        return 2.0 * size**3 * count / spent


FRAMEWORK = Torch()


@contextlib.contextmanager
def preserved(
    model: torch.nn.Module, optimizer: torch.optim.Optimizer, *others: torch.nn.Module
) -> Iterator[None]:
    """Put weights, statistics, optimizer state and generators back as they were.

    Warm-up on synthetic data must leave no trace in the run that follows.

    Args:
        model: The model that is trained.
        optimizer: Its optimizer, which has taken no step yet.
        others: Further modules that a step changes, as the average of the weights.
    """
    modules = (model, *others)
    states = [{name: value.clone() for name, value in m.state_dict().items()} for m in modules]
    # Some optimizers count their steps in the group.
    groups = [
        copy.deepcopy({name: value for name, value in group.items() if name != "params"})
        for group in optimizer.param_groups
    ]
    generator = torch.get_rng_state()
    device_generators = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    try:
        yield
    finally:
        for module, state in zip(modules, states, strict=True):
            module.load_state_dict(state)
        optimizer.state.clear()
        for group, before in zip(optimizer.param_groups, groups, strict=True):
            parameters = group["params"]
            group.clear()
            group.update(before, params=parameters)
        optimizer.zero_grad(set_to_none=True)
        torch.set_rng_state(generator)
        if device_generators:
            torch.cuda.set_rng_state_all(device_generators)


def count_flop(step: Callable[[], None]) -> float:
    """Floating-point operations of the multiplications in one call, by PyTorch's own counter."""
    from torch.utils.flop_counter import FlopCounterMode

    # PyTorch's count of a convolution's backward pass takes groups for one dense convolution.
    mapping = {torch.ops.aten.convolution_backward: _convolution_backward_flop}
    with FlopCounterMode(display=False, custom_mapping=mapping) as counter:
        step()
    return float(counter.get_total_flops())


def _convolution_backward_flop(
    out: Sequence[int], x: Sequence[int], weight: Sequence[int], *arguments: Any, **_: Any
) -> int:
    """As many as forward for the gradient of the input, and as many for that of the weights."""
    transposed, wanted = arguments[4], arguments[7]
    places = math.prod((x if transposed else out)[2:])
    return int(2 * x[0] * places * math.prod(weight) * sum(wanted[:2]))


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise UsageError(
            f"device={name!r} is not a device", hint="Allowed: auto, cpu, cuda, cuda:N."
        ) from error
    present = torch.cuda.device_count()
    if device.type == "cuda" and (device.index or 0) >= present:
        raise UsageError(
            f"device={name!r} is not there: this machine shows {present} CUDA devices to PyTorch",
            hint="Use --set device=cpu, or install the CUDA build of torch and the driver.",
        )
    if device.type not in _PEAK_SIZES:
        raise UsageError(f"device={name!r} is not supported", hint="Allowed: auto, cpu, cuda:N.")
    return device
