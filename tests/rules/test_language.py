import math

import pytest

from trainmark.rules.language import (
    RuleLanguageError,
    compile_expression,
    compile_statements,
    parse_expression,
    parse_statements,
)
from trainmark.rules.vocabulary import Record, Scope


def scope(value: object = None, **state: object) -> Scope:
    record = Record(1000.0, "key", {"value": value, "metadata": {}}, 1)
    return Scope([record], dict(state), record)


def evaluate(source: str, where: Scope) -> object:
    return compile_expression(parse_expression(source))(where)


def execute(source: str, where: Scope) -> None:
    compile_statements(parse_statements(source))(where)


EVIL_EXPRESSIONS = (
    "__import__('os').system('true')",
    "open('/etc/passwd').read()",
    "eval('1')",
    "exec('1')",
    "v.__class__",
    "v['value'].__class__.__mro__",
    "().__class__.__bases__[0].__subclasses__()",
    "getattr(v, 'x')",
    "(lambda: 1)()",
    "[x for x in v]",
    "(x := 1)",
    "f'{v}'",
    "'{0.__class__}'.format(v)",
    "'{!r}'.format(v)",
    "'{:>999999999}'.format(v)",
    "v['value'].format(1)",
    "math.factorial(999999)",
    "math.__loader__",
    "ll.__dict__",
    "s.clear()",
    "s.pop('x')",
    "globals()",
    "os",
    "10 << 99999999999",
    "sorted(v, key=print)",
    "max(*v)",
    "{**v}",
    "b'bytes'",
    "v[0:3]",
    "await x",
    "1 if",
    "",
    "x = 1",
    "ll.timestamp.real",
    "replace.__globals__",
    "is_integer",
)
EVIL_STATEMENTS = (
    "import os",
    "from os import system",
    "from dataclasses import *",
    "from dataclasses import replace as sorted",
    "def f(): pass",
    "class A: pass",
    "while True: pass",
    "del s['x']",
    "global s",
    "s = 1",
    "v = 1",
    "sorted = 1",
    "a = b = s['x']",
    "a, b = s['x']",
    "ll.__class__ = 1",
    "ll.timestamp += 1",
    "with s: pass",
    "try:\n    pass\nexcept Exception:\n    pass",
    "raise ValueError",
    "assert True",
    "for a, b in loglines: s['x'] = 1",
    "v['value']",
    "return 1",
    "later + 1",
)


@pytest.mark.parametrize("source", EVIL_EXPRESSIONS)
def test_an_expression_outside_the_language_is_refused(source: str) -> None:
    with pytest.raises(RuleLanguageError, match="rule snippet"):
        compile_expression(parse_expression(source))


@pytest.mark.parametrize("source", EVIL_STATEMENTS)
def test_a_statement_outside_the_language_is_refused(source: str) -> None:
    with pytest.raises(RuleLanguageError, match="rule snippet"):
        compile_statements(parse_statements(source))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("v['value'] == 3", True),
        ("1 < v['value'] <= 3", True),
        ("1 < v['value'] < 3", False),
        ("'value' in v and 'nothing' not in v", True),
        ("s.get('absent') is None", True),
        ("s.get('n') is not None", True),
        ("s['n'] * 2 + 1 - 2 ** 3", 3),
        ("7 % 4 / 2", 1.5),
        ("-v['value']", -3),
        ("not s['n']", False),
        ("(v['value'] > 1) | (v['value'] > 9)", True),
        ("v['value'] in {3, 4}", True),
        ("isinstance(v['value'], int)", True),
        ("type(v['value']) == bool", False),
        ("len(sorted([3, 1, 2])) == 3", True),
        ("is_integer(math.log2(s['n'] + 3))", True),
        ("is_integer(2.5)", False),
        ("'open' if s['n'] == 5 else 'closed'", "open"),
        ("'a/{}.yaml'.format('B'.lower())", "a/b.yaml"),
        ("ll.timestamp - 400", 600.0),
        ("float('inf') > 1", True),
        ("min(s['n'], 2)", 2),
        ("[] or {'a': 1}", {"a": 1}),
    ],
)
def test_values_are_pythons(source: str, expected: object) -> None:
    assert evaluate(source, scope(3, n=5)) == expected


@pytest.mark.parametrize(
    "source",
    [
        "v['value'] * 100000",  # text, a million times
        "v['value'] + 'x'",
        "[1] * 100000",
        "2 ** 100000",
        "v['value'] % 3",
        "v['value'] > 3",
        "v['absent']",
        "s['absent']",
        "v['value'].get('x')",
    ],
)
def test_what_does_not_fit_raises_and_costs_nothing(source: str) -> None:
    with pytest.raises((TypeError, KeyError, OverflowError)):
        evaluate(source, scope("text"))


def test_a_snippet_without_a_record_has_no_value() -> None:
    for source in ("v['value']", "v", "ll.timestamp"):
        with pytest.raises((NameError, AttributeError)):
            evaluate(source, Scope([]))


def test_statements_change_the_state() -> None:
    where = scope(3, items=[], count=1)
    execute(
        "s['items'] += [v['value']]\n"
        "s['items'].append(4)\n"
        "s['count'] += 2\n"
        "s.update({'new': math.ceil(1.2)})\n"
        "if v['value'] == 3: enqueue_config('a/{}.yaml'.format(v['value']))\n"
        "else: s['count'] = 0\n"
        "print('nothing is printed', s)",
        where,
    )
    assert where.state == {"items": [3, 4], "count": 3, "new": 2}
    assert where.enqueued == ["a/3.yaml"]


def test_records_can_be_made_from_records() -> None:
    where = scope(0.5)
    execute(
        "from dataclasses import replace\n"
        "made = {}\n"
        "for line in loglines:\n"
        "    copy = replace(line)\n"
        "    copy.key = 'sum'\n"
        "    copy.value = {'value': 1, 'metadata': {}}\n"
        "    made[line.key] = copy\n"
        "    made[line.key].timestamp = max(line.timestamp, 5)\n"
        "loglines.extend(made.values())",
        where,
    )
    assert [record.key for record in where.records] == ["key", "sum"]
    assert where.record is where.records[0]
    assert where.value == 0.5


def test_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    execute("print('x', math.floor(1.5))", scope())
    assert capsys.readouterr().out == ""


def test_nan_is_neither_above_nor_below() -> None:
    assert not evaluate("v['value'] >= 0 or v['value'] < 0", scope(math.nan))
