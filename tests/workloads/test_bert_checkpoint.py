from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import torch
from safetensors.torch import save_file

from tests.training.data.tf_checkpoint_files import write_checkpoint
from tests.workloads.test_bert_model import small
from trainmark.training.data.bert_folder import find_checkpoint
from trainmark.types import UsageError
from trainmark.workloads.bert_checkpoint import load_checkpoint
from trainmark.workloads.bert_model import PackedBert

# The names of the MLPerf reference, for one layer and the heads, with a transposed shape or not.
LAYER = {
    "attention/self/query": ("attention.self.query", True),
    "attention/self/key": ("attention.self.key", True),
    "attention/self/value": ("attention.self.value", True),
    "attention/output/dense": ("attention.output.dense", True),
    "attention/output/LayerNorm": ("attention.output.LayerNorm", False),
    "intermediate/dense": ("intermediate.dense", True),
    "output/dense": ("output.dense", True),
    "output/LayerNorm": ("output.LayerNorm", False),
}


def weights(model: PackedBert) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in model.network.state_dict().items()}


def same(one: PackedBert, other: PackedBert) -> bool:
    theirs = weights(other)
    return all(torch.equal(value, theirs[name]) for name, value in weights(one).items())


def for_tensorflow(model: PackedBert) -> dict[str, npt.NDArray[np.float32]]:
    state = weights(model)
    found: dict[str, npt.NDArray[np.float32]] = {}

    def put(theirs: str, ours: str, kernel: bool) -> None:
        names = ("kernel", "bias") if kernel else ("gamma", "beta")
        weight = state[f"{ours}.weight"].numpy()
        found[f"{theirs}/{names[0]}"] = weight.T if kernel else weight
        found[f"{theirs}/{names[1]}"] = state[f"{ours}.bias"].numpy()

    for table in ("word", "position", "token_type"):
        name = f"embeddings/{table}_embeddings"
        found[f"bert/{name}"] = state[f"bert.{name.replace('/', '.')}.weight"].numpy()
    put("bert/embeddings/LayerNorm", "bert.embeddings.LayerNorm", False)
    for number in range(2):
        for theirs, (ours, kernel) in LAYER.items():
            put(
                f"bert/encoder/layer_{number}/{theirs}",
                f"bert.encoder.layer.{number}.{ours}",
                kernel,
            )
    put("bert/pooler/dense", "bert.pooler.dense", True)
    put("cls/predictions/transform/dense", "cls.predictions.transform.dense", True)
    put("cls/predictions/transform/LayerNorm", "cls.predictions.transform.LayerNorm", False)
    found["cls/predictions/output_bias"] = state["cls.predictions.bias"].numpy()
    found["cls/seq_relationship/output_weights"] = state["cls.seq_relationship.weight"].numpy()
    found["cls/seq_relationship/output_bias"] = state["cls.seq_relationship.bias"].numpy()
    found |= {f"{name}/adam_m": np.zeros_like(value) for name, value in list(found.items())}
    return found


def changed() -> PackedBert:
    """A network none of whose tensors is constant."""
    model = small(seed=2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter))
    return model


def test_the_references_checkpoint_is_read_without_tensorflow(tmp_path: Path) -> None:
    published, model = changed(), small()
    write_checkpoint(tmp_path, for_tensorflow(published))
    file = find_checkpoint(tmp_path)
    assert file is not None
    assert file.name == "model.ckpt-7.index"
    assert not same(model, published)
    load_checkpoint(model.network, file)
    assert same(model, published)


@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin"])
def test_conversions_to_pytorch_are_read(tmp_path: Path, name: str) -> None:
    published, model = changed(), small()
    state = weights(published)
    if name.endswith(".bin"):
        state = {
            key.replace("LayerNorm.weight", "LayerNorm.gamma"): value
            for key, value in state.items()
        }
        torch.save(state, tmp_path / name)
    else:
        save_file(
            {k: v.contiguous() for k, v in state.items() if "decoder" not in k}, tmp_path / name
        )
    load_checkpoint(model.network, tmp_path / name)
    assert same(model, published)


def test_another_models_weights_are_refused(tmp_path: Path) -> None:
    state = weights(small())
    torch.save(state | {"bert.pooler.dense.bias": torch.zeros(3)}, tmp_path / "a.bin")
    with pytest.raises(
        UsageError, match=r"another model: bert.pooler.dense.bias is \(3,\), not \(16,\)"
    ):
        load_checkpoint(small().network, tmp_path / "a.bin")
    state.pop("cls.seq_relationship.bias")
    torch.save(state, tmp_path / "b.bin")
    with pytest.raises(UsageError, match=r"cls.seq_relationship.bias is missing, not"):
        load_checkpoint(small().network, tmp_path / "b.bin")


@pytest.mark.parametrize("name", ["x.bin", "x.safetensors", "x.index"])
@pytest.mark.parametrize("content", [b"", b"no checkpoint", bytes(100)])
def test_what_is_no_checkpoint_is_a_users_mistake(
    tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=f"cannot read .*{name}"):
        load_checkpoint(small().network, tmp_path / name)


def test_code_in_a_checkpoint_is_not_run(tmp_path: Path) -> None:
    torch.save({"a": Path("x")}, tmp_path / "x.bin")  # a pickled object that is no tensor
    with pytest.raises(UsageError, match="cannot read"):
        load_checkpoint(small().network, tmp_path / "x.bin")


def test_a_folder_without_one(tmp_path: Path) -> None:
    assert find_checkpoint(tmp_path) is None
