import json
from pathlib import Path

import pytest

from trainmark.mllog import read

GOOD = (
    '{"namespace": "", "time_ms": 1, "event_type": "", "key": "seed", "value": 1, "metadata": {}}'
)


def _messages(tmp_path: Path, *records: str) -> list[str]:
    path = tmp_path / "result_0.txt"
    path.write_text("".join(f":::MLLOG {record}\n" for record in records), encoding="utf-8")
    return [finding.message for finding in read(path).findings]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ('{"key": "x",', "the line ends before its record does"),
        (GOOD[:-6], 'the line ends inside the quotes that begin at "metadata'),
        ('{"key": broken}', "expected a value where broken} stands"),
        ('{"key" "x"}', 'expected a colon where "x"} stands'),
        (
            '{"key": "x" "value": 1}',
            'expected a comma or a closing bracket where "value": 1} stands',
        ),
        ("{key: 1}", "expected a name in double quotes where key: 1} stands"),
        ('{"key": "a\tb"}', 'expected no control character where \ufffdb"} stands'),
        (r'{"key": "a\qb"}', r'expected no such escape where \qb"} stands'),
        (
            '{"key": "x", ' + "y" * 50 + "}",
            "expected a name in double quotes where " + "y" * 20 + "… stands",
        ),
        ("evaluation is done", "expected a value where evaluation is done stands"),
        ('{"value": ' + "9" * 5000 + "}", "a number has too many digits"),
        ("[" * 3000, "lists and objects are nested too deep"),
    ],
)
def test_what_is_no_json_is_told_with_its_place(record: str, message: str, tmp_path: Path) -> None:
    (found,) = _messages(tmp_path, record)
    assert found == f"not valid JSON after the token: {message}"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"time_ms": None}, "time_ms must be a number, this is null"),
        ({"time_ms": "12"}, 'time_ms must be a number, this is "12"'),
        ({"time_ms": True}, "time_ms must be a number, this is true"),
        (
            {"time_ms": float("nan")},
            "time_ms must be a time in milliseconds since 1970, this is NaN",
        ),
        ({"key": ["a", "b"]}, 'key must be text, this is ["a", "b"]'),
        ({"metadata": None}, "metadata must be an object, this is null"),
        ({"metadata": "x" * 99}, 'metadata must be an object, this is "' + "x" * 58 + "…"),
    ],
)
def test_what_a_record_holds_is_told_as_the_log_has_it(
    change: dict[str, object], message: str, tmp_path: Path
) -> None:
    assert _messages(tmp_path, json.dumps(json.loads(GOOD) | change)) == [message]


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        ("[1]", "a list"),
        ("7", "a number"),
        ('"x"', "text"),
        ("true", "true or false"),
        ("null", "null"),
    ],
)
def test_what_stands_in_an_objects_place_is_told(record: str, kind: str, tmp_path: Path) -> None:
    assert _messages(tmp_path, record) == [f"a record must be an object, this is {kind}"]


def test_what_a_record_lacks_is_told(tmp_path: Path) -> None:
    assert _messages(tmp_path, "{}") == ["the record lacks time_ms, key, value, metadata"]
