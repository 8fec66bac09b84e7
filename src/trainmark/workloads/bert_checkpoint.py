"""Published checkpoints of BERT as first weights: transformers' and the MLPerf reference's.

The benchmark starts from phase 1 of the pre-training, which the reference publishes as a TensorFlow
checkpoint (``tf1_ckpt/model.ckpt-28252``). It is read as it is; so are its conversions to PyTorch
under the names of transformers' ``BertForPreTraining``.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from trainmark.training.data import tf_checkpoint
from trainmark.types import UsageError

__all__ = ["load_checkpoint", "reference_names"]

_EMBEDDING = "bert.embeddings.word_embeddings.weight"
_BIAS = "cls.predictions.bias"
# The projection is the embedding again, and its bias has two names: one tensor each.
_SAME = {"cls.predictions.decoder.weight": _EMBEDDING, "cls.predictions.decoder.bias": _BIAS}
_OLD_NAMES = {".gamma": ".weight", ".beta": ".bias"}
_REFERENCE_NAMES = {
    _EMBEDDING: "bert/embeddings/word_embeddings",
    _BIAS: "cls/predictions/output_bias",
    "cls.seq_relationship.weight": "cls/seq_relationship/output_weights",
    "cls.seq_relationship.bias": "cls/seq_relationship/output_bias",
}


def reference_names(network: nn.Module) -> tuple[str, ...]:
    """What the reference, and the rules of rounds 1.1 to 2.1, call the tensors of a network."""
    names = (name for name in network.state_dict() if name not in _SAME)
    return tuple(_reference_name(name) for name in names)


def load_checkpoint(network: nn.Module, file: Path) -> None:
    """Put published weights into a network.

    Args:
        network: transformers' ``BertForPreTraining``; all of its weights are replaced.
        file: ``model.safetensors`` or ``pytorch_model.bin`` with its names, or the ``.index`` of a
            TensorFlow checkpoint with those of the MLPerf reference.

    Raises:
        UsageError: The file cannot be read, or is of another model.
    """
    wanted: Mapping[str, Tensor] = {
        name: tensor for name, tensor in network.state_dict().items() if name not in _SAME
    }
    found = _reference(file, wanted) if file.suffix == ".index" else _state_dict(file)
    for name, tensor in wanted.items():
        if name not in found or found[name].shape != tensor.shape:
            has = tuple(found[name].shape) if name in found else "missing"
            raise UsageError(
                f"{file} is a checkpoint of another model: {name} is {has}, "
                f"not {tuple(tensor.shape)}",
                hint="It must be the published one of BERT-Large with both heads.",
            )
    weights = {name: found[name] for name in wanted}
    network.load_state_dict(weights | {name: found[same] for name, same in _SAME.items()})


def _state_dict(file: Path) -> dict[str, Tensor]:
    """A state dict with transformers' names; older ones call a norm's weights gamma and beta."""
    try:
        found = _read(file)
        tensors = {name: value for name, value in found.items() if isinstance(value, Tensor)}
    except Exception as error:  # safetensors and pickle have no common error for damaged bytes
        raise UsageError(
            f"cannot read {file}: {(str(error) or type(error).__name__).splitlines()[0]}",
            hint="It must be a state dict: safetensors, or PyTorch's own format with nothing but "
            "tensors in it.",
        ) from error
    for old, new in _OLD_NAMES.items():
        tensors = {
            name.removesuffix(old) + new if name.endswith(old) else name: value
            for name, value in tensors.items()
        }
    return tensors


def _read(file: Path) -> Any:
    if file.suffix == ".safetensors":
        from safetensors.torch import load_file

        return load_file(file)
    return torch.load(file, map_location="cpu", weights_only=True)


def _reference(file: Path, wanted: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The wanted tensors from a checkpoint of the reference, where kernels lie transposed."""
    tensors = tf_checkpoint.index(file)
    found = {}
    for name in wanted:
        theirs = _reference_name(name)
        if theirs in tensors:
            value = torch.from_numpy(tf_checkpoint.read(file, tensors[theirs]).copy())
            found[name] = value.T.contiguous() if theirs.endswith("/kernel") else value
    return found


def _reference_name(name: str) -> str:
    """What the reference calls a tensor of transformers."""
    if name in _REFERENCE_NAMES:
        return _REFERENCE_NAMES[name]
    *place, kind = name.replace("encoder.layer.", "encoder.layer_").split(".")
    if place[-1] == "LayerNorm":
        place.append({"weight": "gamma", "bias": "beta"}[kind])
    elif not place[-1].endswith("_embeddings"):  # a table has no further name
        place.append({"weight": "kernel", "bias": "bias"}[kind])
    return "/".join(place)
