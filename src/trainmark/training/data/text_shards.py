"""Plain text shards: one sentence a line, a blank line between documents, UTF-8.

The form in which the MLPerf reference and BERT's own code hold Wikipedia before it is cut into
sequences (``part-00000-of-00500``).
"""

from collections.abc import Iterator
from pathlib import Path

from trainmark.types import UsageError

__all__ = ["read_documents"]


def read_documents(file: Path) -> Iterator[list[str]]:
    """The documents of a shard in order, each a list of sentences; none is empty.

    Raises:
        UsageError: The file cannot be read or is no UTF-8 text.
    """
    document: list[str] = []
    number = 0
    try:
        with file.open("rb") as lines:
            for line in lines:
                number += 1
                sentence = line.decode("utf-8").strip()
                if sentence:
                    document.append(sentence)
                elif document:
                    yield document
                    document = []
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{file}: line {number} is no UTF-8 text: {error.reason}",
            hint="A text shard holds one sentence a line and a blank line between documents.",
        ) from error
    except OSError as error:
        raise UsageError(
            f"cannot read {file}: {error}", hint="Is the disk or the network share still there?"
        ) from error
    if document:
        yield document
