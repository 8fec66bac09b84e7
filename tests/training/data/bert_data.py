"""A data folder of BERT at full scale, tiny."""

from pathlib import Path

import numpy as np

from tests.training.data.tfrecord_files import bert_example, write_records

PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "one", "two", "three", "four", ".")


def write_folder(root: Path, *, records: bool = True, shards: int = 2) -> Path:
    """vocab.txt, eval_10k with 5 sequences, and shards of 6 sequences or 6 documents."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "vocab.txt").write_text("\n".join(PIECES) + "\n")
    random = np.random.default_rng(1)
    write_records(root / "eval_10k", [_record(random) for _ in range(5)])
    for shard in range(shards):
        name = f"part-{shard:05}-of-{shards:05}"
        if records:
            write_records(root / "tfrecord" / name, [_record(random) for _ in range(6)])
        else:
            (root / "results4").mkdir(exist_ok=True)
            (root / "results4" / name).write_text("one two three.\nfour four one.\n\n" * 6)
    return root


def _record(random: np.random.Generator) -> bytes:
    words = random.integers(5, 10, int(random.integers(4, 12))).tolist()
    tokens = [2, *words[:2], 3, *words[2:], 3]
    label = tokens[1]
    tokens[1] = 4
    return bert_example(tokens, 4, {1: label}, random_next=int(random.integers(2)))
