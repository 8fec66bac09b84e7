import pytest

from trainmark.rules.actions import Statement
from trainmark.rules.constraints import Expression
from trainmark.rules.nodes import Node
from trainmark.rules.tables import known_tables, load_table
from trainmark.rules.words import in_words


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("v['value'] * 2 == s['batch'] + 1", "the value * 2 is batch + 1"),
        ("s.get('low') is not None", "low is known"),
        ("s['low'] <= v['value'] <= s['high']", "low <= the value <= high"),
        (
            "v['value'] < 1 and v['value'] > 0",
            "the value is less than 1 and the value is more than 0",
        ),
        ("int(v['metadata']['n']) != math.ceil(2.5)", 'metadata["n"] is not ceil(2.5)'),
        ("is_integer(10 * v['value'][1])", "10 * the value[1] is whole"),
        ("s['n'] = int(math.ceil(7 / v['value'])) * 2", "n becomes ceil(7 / the value) * 2"),
        ("s['n'] = int(v['value'] + 1) * 2", "n becomes (the value + 1) * 2"),
        (
            "abs(v['value'] - 0.1 * (s['batch'] / 256) ** 0.5) < 1e-9",
            "the value differs from 0.1 * the square root of (batch / 256) by less than 1e-9",
        ),
        (
            "v['metadata']['samples_count'] % s['every'] == 0",
            'metadata["samples_count"] is a whole multiple of every',
        ),
        ("v['metadata']['k'] in {'a', 'b'}", 'metadata["k"] is one of "a", "b"'),
        ("s['a'] = 2 * v['value']\ns['b'] += 1", "a becomes 2 * the value; b grows by 1"),
        ("if v['value'] == 'x':\n    s['a'] = 1", 'if the value is "x": a becomes 1'),
        (
            "enqueue_config('t/{}.yaml'.format(v['value'].lower()))",
            'the table "t/{}.yaml" with {} replaced by the value.lower() is checked next',
        ),
    ],
)
def test_a_snippet_in_words(source: str, words: str) -> None:
    assert in_words(source) == words


_CODE = ("v[", "s['", "ll.", "==", "\n", "loglines", " int(", "**", " % ")


def _shapeless(value: object) -> list[str]:
    """The words of everything in a rule that has no shape of its own."""
    match value:
        case Expression() | Statement():
            return [value.sentence()]
        case tuple():
            return [words for one in value for words in _shapeless(one)]
        case Node():
            return _shapeless(value.values_())
    return []


def test_no_code_is_left_in_the_words_of_the_installed_tables() -> None:
    for name in known_tables():
        table = load_table(name)
        rules = (table.begin, *table.keys.values(), table.before_end, *table.end)
        for words in _shapeless(rules):
            assert not any(code in words for code in _CODE)
