"""Ways to damage a result log: its bytes, its JSON, its lines. All chance comes from one source."""

import json
from collections.abc import Callable, Sequence
from random import Random

__all__ = ["mutate_file", "mutate_line", "wild_json"]

Mutator = Callable[[Random, bytes], bytes]

_TOKEN = b":::MLLOG "
_PIECES = (
    _TOKEN, b":::MLLOG", b":::MLL 1563477912.345 run_start: ", b":::MLPv0.5.0 ncf 1.5 (a.py:1)",
    b"\0", b"\r", b"\n", b"\r\n", b"\x1b[31m", b"\xff\xfe", b"\xef\xbb\xbf",
    b"\xc3", b"\xe2\x80\xae",
    b'"', b"\\", b"{", b"}", b"[", b"]", b":", b",", b"null", b"NaN", b"-Infinity", b"1e999",
    b"9" * 400, b"\\ud800", b"\\u0000", b"\\u202e", b'{"key"', b"[" * 120, b'{"a":' * 120,
)  # fmt: skip
_KEYS = (
    "run_start", "run_stop", "init_start", "init_stop", "eval_accuracy", "eval_error", "seed",
    "submission_benchmark", "submission_division", "submission_org", "global_batch_size",
    "block_start", "block_stop", "epoch_start", "eval_start", "tracked_stats", "opt_name",
    "train_samples", "trainmark_ruleset", "trainmark_target", "s", "",
)  # fmt: skip
_WORDS = (
    "resnet", "bert", "stable_diffusion", "llama2_70b_lora", "closed", "open", "Closed", "own",
    "../../x", "/etc/passwd", "success", "aborted", "4.0", "lars", "\ud800", "\u202e", "\x1b[2J",
    "a" * 5_000, ":::MLLOG {}", "0", "",
)  # fmt: skip
_NUMBERS = (
    0, -1, 1, 2, 0.5, 4096, 1e-310, 1e308, -1e308, 10**400, -(10**30), 2**53 + 1, 2**63, 2**64,
    float("nan"), float("inf"), float("-inf"), 1_700_000_000_000,
)  # fmt: skip
_FIELDS = ("namespace", "time_ms", "event_type", "key", "value", "metadata")
_PLACES = (
    "status",
    "epoch_num",
    "samples_count",
    "first_epoch_num",
    "epoch_count",
    "file",
    "lineno",
)


def wild_json(rng: Random, depth: int = 3) -> object:
    """Any JSON value, with a liking for what rules compare, divide and look up.

    Args:
        rng: The source of chance.
        depth: How many lists and objects may stand in one another.
    """
    kind = rng.randrange(6 if depth else 4)
    if kind == 0:
        return rng.choice((None, True, False))
    if kind == 1:
        return rng.choice(_NUMBERS)
    if kind == 2:
        return rng.uniform(-2, 2) if rng.random() < 0.5 else rng.randrange(-10, 10**6)
    if kind == 3:
        return rng.choice(_WORDS)
    inner = [wild_json(rng, depth - 1) for _ in range(rng.randrange(4))]
    if kind == 4:
        return inner
    return {rng.choice((*_PLACES, *_KEYS)): value for value in inner}


def mutate_line(rng: Random, line: bytes) -> bytes:
    """The line with one to three faults.

    Args:
        rng: The source of chance.
        line: A line of a log, without its end.
    """
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        line = rng.choice(_LINE_MUTATORS)(rng, line)
    return line


def mutate_file(rng: Random, lines: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """A log with one to twelve faults, in its lines and as a whole.

    Args:
        rng: The source of chance.
        lines: The lines of a log.
        others: Lines of other logs, to splice in.
    """
    mixed = list(lines)
    for _ in range(rng.choice((1, 1, 2, 3, 5, 12))):
        place = rng.randrange(len(mixed)) if mixed else 0
        match rng.randrange(8):
            case 0 | 1 | 2 if mixed:
                mixed[place] = mutate_line(rng, mixed[place])
            case 3:
                del mixed[place : place + rng.randrange(1, 4)]
            case 4 if mixed:
                mixed.insert(rng.randrange(len(mixed) + 1), mixed[place])
            case 5:
                other = rng.randrange(len(others))
                mixed[place:place] = others[other : other + rng.randrange(1, 6)]
            case 6 if mixed:
                mixed.append(mixed.pop(place))
            case _:
                mixed = mixed[place:] + mixed[:place] if rng.random() < 0.3 else mixed
    end = rng.choice((b"\n",) * 8 + (b"\r\n", b"\r", b"\n\r", b"", b"\n\n"))
    raw = end.join(mixed) + end
    return rng.choice(_FILE_MUTATORS)(rng, raw) if rng.random() < 0.4 else raw


def _flip(rng: Random, raw: bytes) -> bytes:
    """Some bytes are others."""
    changed = bytearray(raw)
    for _ in range(rng.randrange(1, 5)):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _cut_out(rng: Random, raw: bytes) -> bytes:
    begin, end = _range(rng, raw)
    return raw[:begin] + raw[end:]


def _double(rng: Random, raw: bytes) -> bytes:
    begin, end = _range(rng, raw)
    return raw[:end] + raw[begin:end] * rng.randrange(1, 4) + raw[end:]


def _truncate(rng: Random, raw: bytes) -> bytes:
    return raw[: rng.randrange(len(raw) + 1)]


def _insert(rng: Random, raw: bytes) -> bytes:
    place = rng.randrange(len(raw) + 1)
    return raw[:place] + rng.choice(_PIECES) + raw[place:]


def _prefix(rng: Random, raw: bytes) -> bytes:
    return rng.choice((b"0: ", b"7: [2024-01-01] ", b"\xff", b'"', b"{", b" ")) + raw


def _field(rng: Random, raw: bytes) -> bytes:
    """One field of the record is something else, or is gone."""
    head, token, body = raw.partition(_TOKEN)
    try:
        record = json.loads(body)
    except (ValueError, RecursionError):
        return _flip(rng, raw)
    if not isinstance(record, dict):
        return raw
    name = rng.choice(_FIELDS)
    match rng.randrange(5):
        case 0:
            record.pop(name, None)
        case 1:
            record["key"] = rng.choice(_KEYS)
        case 2 if isinstance(record.get("metadata"), dict):
            record["metadata"][rng.choice(_PLACES)] = wild_json(rng)
        case 3:
            record["value"] = wild_json(rng)
        case _:
            record[name] = wild_json(rng)
    return (
        head
        + token
        + json.dumps(record, ensure_ascii=rng.random() < 0.8).encode("utf-8", "surrogatepass")
    )


def _record(rng: Random, _raw: bytes) -> bytes:
    """A record made of nothing but chance."""
    return _TOKEN + json.dumps(wild_json(rng)).encode()


def _utf16(rng: Random, raw: bytes) -> bytes:
    return raw.decode("latin-1").encode(rng.choice(("utf-16", "utf-16-le", "utf-16-be")))


def _mixed_ends(rng: Random, raw: bytes) -> bytes:
    return b"".join(
        line + rng.choice((b"\n", b"\r", b"\r\n"))
        for line in raw.splitlines()
        if rng.random() < 0.9
    )


def _range(rng: Random, raw: bytes) -> tuple[int, int]:
    begin = rng.randrange(len(raw) + 1)
    return begin, min(len(raw), begin + rng.choice((1, 2, 8, 40)))


_LINE_MUTATORS: tuple[Mutator, ...] = (
    _flip, _cut_out, _double, _truncate, _insert, _prefix, _record, _field, _field, _field, _field,
)  # fmt: skip
_FILE_MUTATORS: tuple[Mutator, ...] = (
    _flip, _cut_out, _double, _truncate, _insert, _utf16, _mixed_ends,
)  # fmt: skip
