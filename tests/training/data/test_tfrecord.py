from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.training.data.tfrecord_files import example, field, write_records
from trainmark.training.data.tfrecord import examples, records
from trainmark.types import UsageError

TENSORFLOW = Path(__file__).with_name("tensorflow") / "records"  # see README there


def test_records_of_any_length_come_back(tmp_path: Path) -> None:
    wanted = [b"", b"a", bytes(5000)]
    assert list(records(write_records(tmp_path / "r", wanted))) == wanted


def test_a_file_that_tensorflow_wrote() -> None:
    first, second = examples(TENSORFLOW)
    assert first["input_ids"].tolist() == [101, 7, 103, 30521, 102, 300, 103, 102, 0, 0, 0, 0]
    assert first["masked_lm_weights"].tolist() == [1, 1, 0]
    assert second["masked_lm_ids"].tolist() == [129, 0, 0]
    assert second["next_sentence_labels"].tolist() == [0]


def test_every_kind_of_feature(tmp_path: Path) -> None:
    texts = field(1, field(1, b"words") + field(2, field(1, field(1, b"one") + field(1, b"two"))))
    single = field(1, field(1, b"n") + field(2, field(3, b"\x08\x96\x01")))  # not packed
    empty = field(1, field(1, b"none") + field(2, b""))
    record = field(1, texts + single + empty) + example({"f": [0.5]})
    (found,) = examples(write_records(tmp_path / "r", [record]))
    assert found["words"].tolist() == [b"one", b"two"]
    assert found["n"].tolist() == [150]
    assert found["none"].tolist() == []
    assert found["f"].tolist() == [0.5]


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda data: data[:-1], "byte 17: the file ends within a record"),
        (lambda data: data[:20], "byte 17: the file ends within a record"),
        (lambda data: data[:-5] + b"?" + data[-4:], "byte 17: the checksum of the record does"),
        (lambda data: b"\x09" + data[1:], "byte 0: the checksum of the record's length"),
    ],
)
def test_damage_is_told_with_its_place(tmp_path: Path, damage: object, why: str) -> None:
    path = write_records(tmp_path / "r", [b"a", b"bcdef"])
    assert callable(damage)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(UsageError, match=why) as caught:
        list(records(path))
    assert str(path) in caught.value.message
    assert caught.value.hint


def test_a_record_that_is_no_example_is_told_with_its_number(tmp_path: Path) -> None:
    path = write_records(tmp_path / "r", [example({"a": [1]}), b"\x0a\x7f"])
    with pytest.raises(UsageError, match=r"record 2 is no tf.train.Example: it ends within"):
        list(examples(path))


def test_a_missing_file_is_a_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        list(records(tmp_path / "none"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.binary(max_size=60))
def test_any_record_is_an_example_or_a_users_mistake(tmp_path: Path, data: bytes) -> None:
    path = write_records(tmp_path / "r", [data])
    with suppress(UsageError):
        list(examples(path))
