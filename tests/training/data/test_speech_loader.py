from functools import partial
from pathlib import Path

import pytest
import torch

from tests.training.speech import WORDS, write_librispeech
from trainmark.training.data import librispeech
from trainmark.training.data.pieces import Pieces, train_pieces
from trainmark.training.data.speech_loader import Collate, folder_loader, in_order, labels_of
from trainmark.training.data.speech_order import Pick
from trainmark.types import UsageError


@pytest.fixture
def collate(tmp_path: Path) -> Collate:
    train_pieces([*WORDS] * 5, 20, tmp_path / "pieces.model")
    return Collate(
        pieces=Pieces(tmp_path / "pieces.model"), blank=20, frames=lambda length: length // 1000
    )


def test_a_batch_is_padded_and_knows_how_much(collate: Collate) -> None:
    batch = collate([(torch.ones(3000), "go on"), (torch.ones(2000), "it is late")])
    assert batch.inputs.shape == (2, 3000)
    assert not batch.inputs[1, 2000:].any()
    assert batch.lengths == (3000, 2000)
    assert batch.padding == (6000, 1000)
    assert batch.where.frames == (3, 2)
    assert collate.pieces.decode(batch.labels[0][: batch.where.labels[0]].tolist()) == "go on"


def test_a_batch_goes_to_a_device_whole(collate: Collate) -> None:
    batch = collate([(torch.ones(3000), "go on")])
    moved = batch.to(torch.device("meta"))
    assert {moved.inputs.device.type, moved.labels.device.type} == {"meta"}
    assert moved.where.cells.device.type == moved.where.speaks.device.type == "meta"
    assert moved.texts == batch.texts


def test_labels_are_padded() -> None:
    assert labels_of([[1, 2], [], [3]]).tolist() == [[1, 2], [0, 0], [3, 0]]
    assert labels_of([[], []]).shape == (2, 0)


def test_in_order_takes_every_utterance_once_longest_first() -> None:
    batches = in_order([3, 9, 5, 7, 1], 2)
    assert [[pick.index for pick in batch] for batch in batches] == [[1, 3], [2, 0], [4]]


@pytest.mark.parametrize("workers", [0, 2])
def test_files_are_decoded_at_their_speed(collate: Collate, tmp_path: Path, workers: int) -> None:
    root = write_librispeech(tmp_path, {"dev-clean": 4}, seconds=(0.5, 0.5))
    utterances = librispeech.scan(root, ["dev-clean"])
    picks = [[Pick(index=0), Pick(index=1, rate=1.25)], [Pick(index=3), Pick(index=2)]]
    loader = folder_loader(utterances, partial(list, picks), collate, workers=workers, pin=False)
    for _ in range(2):  # the second pass by the same workers
        first, second = loader
        assert first.lengths == pytest.approx((8000, 6400), rel=0.01)
        assert first.texts == (utterances[0].text, utterances[1].text)
        assert second.texts == (utterances[3].text, utterances[2].text)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_damaged_file_is_named_by_the_process_that_reads_it(
    collate: Collate, tmp_path: Path, workers: int
) -> None:
    root = write_librispeech(tmp_path, {"dev-clean": 2})
    utterances = librispeech.scan(root, ["dev-clean"])
    utterances[1].file.write_bytes(b"fLaC")
    picks = [[Pick(index=0), Pick(index=1)]]
    loader = folder_loader(utterances, partial(list, picks), collate, workers=workers, pin=False)
    with pytest.raises(UsageError) as caught:
        list(loader)
    assert caught.value.message.startswith(f"{utterances[1].file} is no sound file")
    assert "Traceback" not in caught.value.message
    assert caught.value.hint
