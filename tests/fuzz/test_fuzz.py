"""Any bytes get findings, never an exception. ``tests/fuzz/long.py`` does it for longer."""

import functools
from collections.abc import Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.corpus import corpus
from tests.fuzz.mutate import mutate_file, mutate_line
from tests.fuzz.properties import ROUNDS, check_holds, pieces_hold, read_holds

_QUICK = settings(
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
_SIZES = st.one_of(st.integers(1, 80), st.integers(1, 20_000))


@functools.cache
def logs() -> tuple[Sequence[bytes], ...]:
    with TemporaryDirectory() as folder:
        return tuple(corpus(Path(folder)))


def test_the_corpus_is_good() -> None:
    verdicts = [
        check_holds(b"\n".join(lines), name)
        for lines, name in zip(logs()[:3], ("own", "4.0", "5.1"), strict=True)
    ]
    assert all(verdict is not None and len(verdict.findings) < 3 for verdict in verdicts)
    assert len(read_holds(b"\n".join(logs()[3])).events) == 6


def test_a_key_is_shown_without_control() -> None:
    lines = b"\n".join(logs()[1]).replace(b'"lars_epsilon"', b'"lars_\\u202eepsilon"')
    verdict = check_holds(lines, "4.0")
    assert verdict is not None
    (finding,) = verdict.findings
    assert "lars_\N{REPLACEMENT CHARACTER}epsilon" in finding.message


@_QUICK
@given(data=st.binary(max_size=2_000))
def test_bytes_of_chance(data: bytes) -> None:
    check_holds(data, "4.0")
    check_holds(b":::MLLOG " + data, "own")


@_QUICK
@given(rng=st.randoms(use_true_random=False), round_name=st.sampled_from(ROUNDS))
def test_damaged_lines(rng: Random, round_name: str | None) -> None:
    lines = list(rng.choice(logs()))
    for place in rng.sample(range(len(lines)), min(8, len(lines))):
        lines[place] = mutate_line(rng, lines[place])
    check_holds(b"\n".join(lines), round_name)


@_QUICK
@given(rng=st.randoms(use_true_random=False), round_name=st.sampled_from(ROUNDS))
def test_damaged_files(rng: Random, round_name: str | None) -> None:
    check_holds(mutate_file(rng, rng.choice(logs()), rng.choice(logs())), round_name)


@_QUICK
@given(rng=st.randoms(use_true_random=False), size=_SIZES)
def test_a_log_in_pieces_is_the_same_log(rng: Random, size: int) -> None:
    pieces_hold(mutate_file(rng, rng.choice(logs()), rng.choice(logs())), size)
