import io
import itertools
import json
import tarfile
import threading
from collections import Counter
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.training.speech import WORDS, flac, tone, write_shards
from trainmark.training.data import speech_shards
from trainmark.training.data.pieces import Pieces, train_pieces
from trainmark.training.data.speech_loader import Collate
from trainmark.training.data.speech_shards import Stream, read_index
from trainmark.types import UsageError

SHARDS, EACH = 4, 16


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return write_shards(tmp_path / "shards", "train", SHARDS, EACH)


@pytest.fixture
def collate(tmp_path: Path) -> Collate:
    texts = [f"{words} {letter}" for words in WORDS for letter in "abcdefgh"]
    train_pieces(texts, 26, tmp_path / "pieces.model")
    return Collate(
        pieces=Pieces(tmp_path / "pieces.model"), blank=26, frames=lambda length: length // 1000
    )


def read_texts(stream: Stream, collate: Collate, batches: int, workers: int = 0) -> list[str]:
    loader = speech_shards.loader(stream, collate, workers=workers, pin=False)
    found = [text for batch in itertools.islice(loader, batches) for text in batch.texts]
    del loader
    return found


def test_the_list_tells_archives_and_sentences(index: Path) -> None:
    found = read_index(index)
    assert found.samples == SHARDS * EACH
    assert [Path(url).name for url in found.urls][:2] == ["train-000000.tar", "train-000001.tar"]
    assert sum(1 for _ in speech_shards.texts(found, most=5)) == 5


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("", "is no list of archives"),
        ("[]", "is no list of archives"),
        ('{"shardlist": [{"url": "x"}]}', "is no list of archives"),
        ('{"shardlist": []}', "lists no sentences"),
        ('{"shardlist": [{"url": "none.tar", "nsamples": 3}]}', "lists 'none.tar', which is not"),
        ('{"shardlist": [{"url": "pipe:touch /x", "nsamples": 3}]}', "cannot be read from 'pipe:"),
        ('{"shardlist": [{"url": "s3://x", "nsamples": 3}]}', "cannot be read from 's3://x'"),
        (f'{{"shardlist": [{{"url": "{"x" * 5000}", "nsamples": 3}}]}}', "which is not there"),
    ],
)
def test_a_list_that_does_not_fit_is_a_text(tmp_path: Path, table: str, said: str) -> None:
    (tmp_path / "train.json").write_text(table)
    with pytest.raises(UsageError, match=said):
        read_index(tmp_path / "train.json")


def test_evaluation_reads_every_sentence_once_in_order(index: Path, collate: Collate) -> None:
    stream = Stream(index=read_index(index), micro_batch=5)
    texts = read_texts(stream, collate, batches=100)
    assert len(texts) == SHARDS * EACH
    assert texts[0] == f"{WORDS[0]} a"


@pytest.mark.parametrize(("shards", "workers"), [(3, 0), (3, 2), (4, 2)])
def test_each_pass_reads_every_archive_once_however_they_are_divided(
    tmp_path: Path, collate: Collate, workers: int, shards: int
) -> None:
    """No two workers read the same one, and none is read again before the pass has ended."""
    listed = read_index(write_shards(tmp_path / "odd", "train", shards, EACH))
    once = Counter(speech_shards.texts(listed, most=1000))
    stream = Stream(index=listed, micro_batch=4, seed=1)
    per_pass = shards * EACH // 4
    texts = read_texts(stream, collate, batches=3 * per_pass, workers=workers)
    for number in range(3):
        assert Counter(texts[number * shards * EACH : (number + 1) * shards * EACH]) == once
    evaluated = Stream(index=listed, micro_batch=4)
    assert Counter(read_texts(evaluated, collate, batches=100, workers=workers)) == once


def test_sentences_that_fill_no_batch_come_in_the_next_pass(index: Path, collate: Collate) -> None:
    """Two archives of 16 a worker, batches of 12: after three passes nothing is left over."""
    once = Counter(speech_shards.texts(read_index(index), most=1000))
    stream = Stream(index=read_index(index), micro_batch=12, seed=1)
    texts = read_texts(stream, collate, batches=3 * SHARDS * EACH // 12, workers=2)
    assert Counter(texts) == Counter({text: 3 * count for text, count in once.items()})


def test_few_sentences_make_a_batch_after_some_passes(index: Path, collate: Collate) -> None:
    stream = Stream(index=read_index(index), micro_batch=SHARDS * EACH * 2, seed=1)
    assert len(read_texts(stream, collate, batches=1)) == SHARDS * EACH * 2


def test_the_next_epoch_has_another_order_and_the_seed_decides(
    index: Path, collate: Collate
) -> None:
    def read(seed: int) -> list[str]:
        stream = Stream(index=read_index(index), micro_batch=8, seed=seed)
        return read_texts(stream, collate, batches=16)

    both = read(1)
    assert both == read(1)
    assert both != read(2)
    assert both[:64] != both[64:]
    assert Counter(both[:64]) == Counter(both[64:])


def test_long_sentences_are_left_out(index: Path, collate: Collate) -> None:
    stream = Stream(index=read_index(index), micro_batch=2, most_samples=7000, seed=1)
    loader = speech_shards.loader(stream, collate, workers=0, pin=False)
    lengths = {length for batch in itertools.islice(loader, 12) for length in batch.lengths}
    assert lengths == {4800, 6400}


def test_it_is_told_when_no_sentence_is_short_enough(index: Path, collate: Collate) -> None:
    stream = Stream(index=read_index(index), micro_batch=2, most_samples=10, seed=1)
    with pytest.raises(UsageError, match=r"no sentence of .* is short enough"):
        read_texts(stream, collate, batches=1)


@pytest.fixture
def server(index: Path) -> Iterator[str]:
    """The archives' folder over http."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=index.parent)) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_address[1]}"
        http.shutdown()


def test_archives_stream_over_http(tmp_path: Path, server: str, collate: Collate) -> None:
    rows = [{"url": f"{server}/train-{n:06}.tar", "nsamples": EACH} for n in range(SHARDS)]
    (tmp_path / "far.json").write_text(json.dumps({"shardlist": rows}))
    stream = Stream(index=read_index(tmp_path / "far.json"), micro_batch=8)
    assert len(read_texts(stream, collate, batches=100)) == SHARDS * EACH


@pytest.mark.parametrize("cut", [0, 100, 5000, 20_480])
def test_an_archive_cut_short_is_named(index: Path, collate: Collate, cut: int) -> None:
    second = index.parent / "train-000001.tar"
    second.write_bytes(second.read_bytes()[:cut])
    stream = Stream(index=read_index(index), micro_batch=2)
    for workers in (0, 1):
        with pytest.raises(UsageError, match=r"train-000001.tar") as caught:
            read_texts(stream, collate, batches=100, workers=workers)
        assert "Traceback" not in caught.value.message
        assert caught.value.hint


@pytest.mark.parametrize("members", [("txt",), ("flac",), ("flac", "wav", "txt")])
def test_a_sentence_is_one_sound_and_one_text(
    tmp_path: Path, collate: Collate, members: tuple[str, ...]
) -> None:
    content = {"txt": b"go on", "flac": flac(tone(0.1)), "wav": flac(tone(0.1))}
    with tarfile.open(tmp_path / "odd.tar", "w") as archive:
        for suffix in members:
            member = tarfile.TarInfo(f"a.{suffix}")
            member.size = len(content[suffix])
            archive.addfile(member, io.BytesIO(content[suffix]))
    (tmp_path / "odd.json").write_text('{"shardlist": [{"url": "odd.tar", "nsamples": 1}]}')
    stream = Stream(index=read_index(tmp_path / "odd.json"), micro_batch=1)
    with pytest.raises(UsageError, match="a has not one sound and one text"):
        read_texts(stream, collate, batches=1)


def test_a_text_in_another_encoding_is_named(tmp_path: Path, collate: Collate) -> None:
    with tarfile.open(tmp_path / "odd.tar", "w") as archive:
        for suffix, content in (("flac", flac(tone(0.1))), ("txt", b"\xff\xfeg")):
            member = tarfile.TarInfo(f"a.{suffix}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    (tmp_path / "odd.json").write_text('{"shardlist": [{"url": "odd.tar", "nsamples": 1}]}')
    stream = Stream(index=read_index(tmp_path / "odd.json"), micro_batch=1)
    with pytest.raises(UsageError, match=r"the text of .*odd\.tar: a is no UTF-8"):
        read_texts(stream, collate, batches=1)
