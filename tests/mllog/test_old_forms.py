import pytest

from trainmark.mllog import read_bytes

GOOD = b':::MLL 1563477912.5 eval_accuracy: {"value": 0.5, "metadata": {"epoch_num": 4}}'


def test_a_record_of_round_0_6() -> None:
    log = read_bytes(b"noise\n[1,0]<stdout>:" + GOOD + b"\r\n", "log")
    (event,) = log.events
    assert log.form == "mll"
    assert log.findings == ()
    assert (event.key, event.value, event.metadata) == ("eval_accuracy", 0.5, {"epoch_num": 4})
    assert (event.time_ms, event.line_no) == (1563477912500.0, 2)


@pytest.mark.parametrize(
    ("line", "rule", "events"),
    [
        (b":::MLL 15.5 a: {'value': 1}", "log.json", 0),
        (b":::MLL 15.5 a: {", "log.json", 0),
        (b":::MLL 15.5 a: " + b"[" * 100_000, "log.json", 0),
        (b':::MLL 15.5 a: {"value": ' + b"[" * 200 + b"]" * 200 + b"}", "log.depth", 0),
        (b":::MLL 1.2.3 a: {}", "log.record", 0),
        (b":::MLL 15.5 a", "log.record", 0),
        (b":::MLL", "log.record", 0),
        (b":::MLLX 15.5 a: {}", "log.record", 0),
        (b":::MLL 15.5 a: 1", "log.metadata", 0),
        (b':::MLL 15.5 a: {"metadata": {}}', "log.metadata", 0),
        (b':::MLL 15.5 a: {"value": 1}', "log.metadata", 1),
        (b':::MLL 15.5 a: {"value": 1, "metadata": []}', "log.metadata", 1),
    ],
)
def test_what_is_wrong_is_said_and_the_rest_is_read(line: bytes, rule: str, events: int) -> None:
    log = read_bytes(b"\n".join([GOOD, line, GOOD]), "log")
    assert [(one.rule, one.line_no) for one in log.findings] == [(rule, 2)]
    assert [event.line_no for event in log.events] == [1, *[2] * events, 3]
    assert log.token_lines == 3


def test_numbers_and_letters_that_json_does_not_have() -> None:
    raw = GOOD.replace(b"0.5", '[NaN, "Müller"]'.encode("latin-1"))
    log = read_bytes(raw, "log")
    assert log.findings == ()
    assert log.events[0].value[1] == "Müller"


def test_only_wanted_keys_are_kept() -> None:
    log = read_bytes(GOOD + b"\n" + GOOD.replace(b"eval_accuracy", b"b"), "log", wanted=["b"])
    assert [event.key for event in log.events] == ["b"]
    assert log.dropped == {"eval_accuracy": 1}


def test_a_newer_record_anywhere_makes_it_a_newer_log() -> None:
    new = b':::MLLOG {"time_ms": 1, "key": "a", "value": 1, "metadata": {}}'
    filler = b"x\n" * (1 << 20)  # so that the two are not read in one piece
    for raw in (b":::MLPv0.5.0 x\n:::MLL broken\n" + filler + new, new + b"\n" + filler + GOOD):
        log = read_bytes(raw, "log")
        assert log.form == "mllog"
        assert log.findings == ()
        assert [event.key for event in log.events] == ["a"]


def test_round_0_5_is_named_once() -> None:
    raw = b"x\n:::MLPv0.5.0 resnet 1541635903.3 (a.py:1) run_start\n" * 3
    log = read_bytes(raw, "log")
    (finding,) = log.findings
    assert (log.form, log.events) == ("mlp", ())
    assert (finding.rule, finding.line_no) == ("log.round_0_5", 2)
    assert "no rules" in finding.message


def test_a_carriage_return_ends_a_record_of_round_0_6_too() -> None:
    raw = b"10%\r" + GOOD + b"\r20%\r0: " + GOOD.replace(b"0.5", b"0.6") + b"\r30%\n" + GOOD
    log = read_bytes(b"x\n" + raw, "log")
    assert [(event.value, event.line_no) for event in log.events] == [(0.5, 2), (0.6, 2), (0.5, 3)]
    assert log.findings == ()
