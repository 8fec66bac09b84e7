from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.training.data.tf_checkpoint_files import write_checkpoint
from trainmark.training.data.tf_checkpoint import index, read
from trainmark.types import UsageError

TENSORFLOW = Path(__file__).with_name("tensorflow") / "model.ckpt.index"  # see README there


def test_a_checkpoint_that_tensorflow_wrote() -> None:
    found = index(TENSORFLOW)
    assert len(found) == 153
    table = read(TENSORFLOW, found["bert/embeddings/word_embeddings"])
    assert np.array_equal(table, np.arange(12).reshape(4, 3) / 8)
    assert read(TENSORFLOW, found["bert/embeddings/LayerNorm/gamma"]).tolist() == [1, 2, 3]
    assert read(TENSORFLOW, found["global_step"]) == 28252
    for number in range(150):
        name = f"a_longer_name_so_that_two_blocks_are_needed/variable_{number}"
        assert read(TENSORFLOW, found[name]).tolist() == [number]


def test_ours_for_tests_reads_the_same(tmp_path: Path) -> None:
    wanted = {"a": np.eye(3, dtype=np.float32), "b/c": np.array(5), "d": np.zeros((2, 0))}
    wanted["d"] = wanted["d"].astype(np.float32)
    path = write_checkpoint(tmp_path, wanted)
    found = index(path)
    assert {name: read(path, tensor).tolist() for name, tensor in found.items()} == {
        name: tensor.tolist() for name, tensor in wanted.items()
    }


def test_damaged_numbers_are_told(tmp_path: Path) -> None:
    path = write_checkpoint(tmp_path, {"a": np.ones(4, np.float32), "b": np.ones(4, np.float32)})
    data = path.with_suffix(".data-00000-of-00001")
    data.write_bytes(data.read_bytes()[:-1] + b"!")
    found = index(path)
    assert read(path, found["a"]).tolist() == [1] * 4
    with pytest.raises(UsageError, match="byte 16: the checksum of the tensor does not fit"):
        read(path, found["b"])
    data.unlink()
    with pytest.raises(UsageError, match=r"cannot read .*data-00000-of-00001"):
        read(path, found["a"])


@pytest.mark.parametrize(
    ("place", "why"),
    [(-1, "does not end as a table ends"), (3, "checksum of a block does not fit")],
)
def test_a_damaged_index_is_told(tmp_path: Path, place: int, why: str) -> None:
    path = write_checkpoint(tmp_path, {"a": np.ones(4, np.float32)})
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    with pytest.raises(UsageError, match=why):
        index(path)


def test_a_missing_index_is_a_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        index(tmp_path / "none.index")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.binary(max_size=100), st.booleans())
def test_any_bytes_are_an_index_or_a_users_mistake(tmp_path: Path, data: bytes, ends: bool) -> None:
    path = tmp_path / "x.index"
    path.write_bytes(data + TENSORFLOW.read_bytes()[-8:] if ends else data)
    with pytest.raises(UsageError):
        index(path)
