from pathlib import Path

import pytest

from tests.training.data.tfrecord_files import bert_example, example, write_records
from trainmark.training.data.bert_records import read_sequences
from trainmark.types import UsageError

TENSORFLOW = Path(__file__).with_name("tensorflow") / "records"


def test_records_that_tensorflow_wrote_lose_their_padding() -> None:
    first, second = read_sequences(TENSORFLOW, length=12, vocabulary=30_522)
    assert first.tokens.tolist() == [101, 7, 103, 30521, 102, 300, 103, 102]
    assert (first.first, first.random_next) == (5, True)
    assert first.positions.tolist() == [2, 6]
    assert first.labels.tolist() == [19, 4000]
    assert (second.first, second.random_next) == (3, False)
    assert second.labels.tolist() == [129]


def good(**changes: list[int] | list[float]) -> bytes:
    features: dict[str, list[int] | list[float]] = {
        "input_ids": [2, 7, 4, 3, 0],
        "input_mask": [1, 1, 1, 1, 0],
        "segment_ids": [0, 0, 1, 1, 0],
        "masked_lm_positions": [2, 0],
        "masked_lm_ids": [8, 0],
        "masked_lm_weights": [1.0, 0.0],
        "next_sentence_labels": [1],
    }
    return example({name: v for name, v in {**features, **changes}.items() if v})


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (good(segment_ids=[]), "it has no segment_ids"),
        (good(input_mask=[1, 1]), "input_ids, input_mask and segment_ids have different"),
        (good(masked_lm_ids=[8]), "masked_lm_positions, masked_lm_ids and .* different"),
        (good(next_sentence_labels=[1, 0]), "next_sentence_labels is not one number"),
        (good(input_mask=[0] * 5), "it has 0 tokens; 1 to 4 are allowed"),
        (good(input_mask=[1] * 5), "it has 5 tokens; 1 to 4 are allowed"),
        (good(input_mask=[1, 0, 1, 1, 0]), "its padding does not stand at the end"),
        (good(input_ids=[2, 7, 4, 10, 0]), "a token that the vocabulary of 10 does not have"),
        (good(masked_lm_ids=[-1, 0]), "a token that the vocabulary of 10 does not have"),
        (good(masked_lm_weights=[0.0, 0.0]), "no token to predict"),
        (good(masked_lm_positions=[4, 0]), "one beyond its end"),
    ],
)
def test_a_record_that_is_no_sequence_is_told_with_its_number(
    tmp_path: Path, record: bytes, why: str
) -> None:
    path = write_records(tmp_path / "part-0", [good(), record])
    with pytest.raises(UsageError, match=f"part-0: record 2: .*{why}"):
        list(read_sequences(path, length=4, vocabulary=10))


def test_the_helper_of_other_tests_writes_such_records(tmp_path: Path) -> None:
    record = bert_example([2, 7, 4, 3, 9, 3], 4, {2: 8}, random_next=1)
    (found,) = read_sequences(write_records(tmp_path / "r", [record]), length=16, vocabulary=10)
    assert found.tokens.tolist() == [2, 7, 4, 3, 9, 3]
    assert (found.first, found.labels.tolist(), found.random_next) == (4, [8], True)
