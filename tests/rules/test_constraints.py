import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainmark.rules.constraints import AllOf, Compare, Expression, limits_a_number
from trainmark.rules.language import compile_expression, parse_expression
from trainmark.rules.shapes import constraint_of
from trainmark.rules.subjects import Subject, named, show
from trainmark.rules.tables import known_tables, load_table
from trainmark.rules.vocabulary import Record, Scope
from trainmark.types import Event

VALUE = Subject(part="value")

# A snippet, the sentence it becomes, and a value for which it holds and one for which it does not.
SHAPES = [
    ("v['value'] > 0", "the value is more than 0", 1, 0),
    ("0 < v['value']", "the value is more than 0", 1, 0),
    ("v['value'] != ''", "the value is not empty", "x", ""),
    ("v['value'] == True", "the value is true", True, False),
    ("v['value'] == -1", "the value is -1", -1, 1),
    ("v['value'] in ['sgd', 'lars']", 'the value is one of "sgd", "lars"', "sgd", "adam"),
    (
        "v['value'] >= 0.759 and v['value'] < 1.0",
        "the value is at least 0.759 and less than 1",
        0.76,
        1.0,
    ),
    ("0.0 <= v['value'] <= 1.0", "the value is at least 0 and at most 1", 0.5, 1.5),
    (
        "v['value'] == 2e-5 or v['value'] == 3e-5",
        "the value is 2e-05 or the value is 3e-05",
        2e-5,
        4e-5,
    ),
    ("'BBOX' in v['value']", 'the value has "BBOX"', {"BBOX": 1}, {}),
    (
        "v['value']['BBOX'] >= 0.3 and v['value']['SEGM'] < 1",
        'the value["BBOX"] is at least 0.3 and the value["SEGM"] is less than 1',
        {"BBOX": 0.4, "SEGM": 0.1},
        {"BBOX": 0.4, "SEGM": 2},
    ),
    ("is_integer(v['value'])", "the value is a whole number", 3.000001, 3.1),
    ("is_integer(v['value'] / 0.001)", "the value is a whole multiple of 0.001", 0.5, 0.0005),
    (
        "is_integer(math.log2(v['value'] / 0.0001))",
        "the value is 0.0001 times a power of two",
        0.0004,
        0.0003,
    ),
    ("len(v['value']) == 2", "the value has 2 items", [1, 2], [1]),
    ("len(v['value']) == 1", "the value has 1 item", [1], [1, 2]),
    ("isinstance(v['value'], int)", "the value is a whole number, not in quotes", 3, 3.5),
    ("type(v['value'])==bool", "the value is true or false, not in quotes", True, 1),
    ("v['value']", "the value is neither empty, 0 nor false", 1, 0),
    ("v['value'] == s['n']", "the value is the n of the log", 5, 6),
    ("s['n'] <= v['value']", "the value is at least the n of the log", 5, 4),
    ("v['value'] == s['n'] + 1", "the value is the n of the log, plus 1", 6, 5),
    ("v['value'] == 12 - s['n']", "the value is 12 minus the n of the log", 7, 8),
    ("is_integer(0.02 / v['value'])", "0.02 is a whole multiple of the value", 0.01, 0.03),
    ("math.isclose(v['value'], 1e-06)", "the value is 1e-06, but for rounding", 1e-6, 2e-6),
    (
        "v['value'] in [1, float('inf')]",
        "the value is one of 1, infinity",
        float("inf"),
        2,
    ),
    ("v['value'] in {'PT', 'PQ'}", 'the value is one of "PT", "PQ"', "PQ", "PX"),
    ("abs(v['value'] - 1) < 1e-9", "the value differs from 1 by less than 1e-09", 1, 2),
]


def scope(value: object, metadata: object = None, **state: object) -> Scope:
    record = Record(600_000.0, "key", {"value": value, "metadata": metadata or {}}, 7)
    return Scope([record], dict(state), record)


@pytest.mark.parametrize(("source", "sentence", "good", "bad"), SHAPES)
def test_a_shape_has_a_sentence_and_a_truth(
    source: str, sentence: str, good: object, bad: object
) -> None:
    constraint = constraint_of(source)
    assert constraint.sentence() == sentence
    assert constraint.holds(scope(good, n=5))
    assert not constraint.holds(scope(bad, n=5))
    assert constraint.found(scope(bad, n=5))
    assert constraint.fix("key").endswith(".")


@pytest.mark.parametrize(
    ("source", "metadata", "sentence"),
    [
        ("'epoch_num' in v['metadata']", {"epoch_num": 1}, 'metadata has "epoch_num"'),
        (
            "('a' in v['metadata']) | ('b' in v['metadata'])",
            {"b": 1},
            'metadata has "a" or metadata has "b"',
        ),
        (
            "v['metadata']['n'] > 0 if 'n' in v['metadata'] else True",
            {"n": 1},
            'metadata["n"] is more than 0 (if metadata has "n")',
        ),
        (
            "v['metadata']['n'] > 0 if 'n' in v['metadata'] else 'm' in v['metadata']",
            {"m": 1},
            'metadata["n"] is more than 0 (if metadata has "n"), else metadata has "m"',
        ),
    ],
)
def test_metadata(source: str, metadata: object, sentence: str) -> None:
    constraint = constraint_of(source)
    assert constraint.sentence() == sentence
    assert constraint.holds(scope(None, metadata))
    assert "m" not in str(metadata) or not constraint.holds(scope(None, {"x": 1}))


@pytest.mark.parametrize(
    ("source", "sentence", "good", "bad"),
    [
        ("s['n'] < 16", "the n of the log is less than 16", {"n": 5}, {"n": 16}),
        ("s['n'] == s['m']", "the n of the log is the m", {"n": 5, "m": 5}, {"n": 5, "m": 6}),
        ("s['kind'] == 'x'", 'the kind of the log is "x"', {"kind": "x"}, {"kind": "y"}),
    ],
)
def test_what_was_logged_before(
    source: str, sentence: str, good: dict[str, object], bad: dict[str, object]
) -> None:
    constraint = constraint_of(source)
    assert constraint.sentence() == sentence
    assert constraint.holds(scope(0, **good))
    assert not constraint.holds(scope(0, **bad))
    assert str(next(iter(bad.values()))) in constraint.found(scope(0, **bad))
    assert not constraint.stateless


def test_a_record_has_both_parts() -> None:
    constraint = constraint_of("'value' in v")
    assert constraint.sentence() == "there is a value"
    assert constraint.holds(scope(None))
    made = Record(1.0, "key", {"metadata": {}}, -1)
    where = Scope([made])
    where.here = made
    assert not constraint.holds(where)


@pytest.mark.parametrize(
    ("source", "stateless"),
    [
        ("v['value'] > 0 and 'x' in v['metadata']", True),
        ("v['value'] > 0 and s['n']", False),
        ("v['value'] > 0 if 'x' in v['metadata'] else s['n']", False),
        ("abs(v['value'] - 1) < 1e-9", True),
        ("abs(v['value'] - s['n']) < 1e-9", False),
        ("len(loglines) > 1", False),
        ("ll.timestamp - s['n'] < 20*60*1e3", False),
    ],
)
def test_which_constraints_look_at_the_record_alone(source: str, stateless: bool) -> None:
    assert constraint_of(source).stateless is stateless


def test_an_expression_tells_what_it_was_made_of() -> None:
    constraint = constraint_of("v['value'] * 2 == s['n'] * v['metadata']['k']")
    where = scope(3, {"k": 4}, n=5)
    assert constraint.found(where) == 'the value is 3, metadata is {"k": 4}, n is 5'


def test_order() -> None:
    after, before = constraint_of("s['init_stopped']"), constraint_of("not s['run_started']")
    assert after == constraint_of("( s['init_stopped'] == True )")
    assert after.sentence() == "init_stop comes before it"
    assert before.sentence() == "run_start comes after it"
    assert after.holds(scope(0, init_stopped=True))
    assert not before.holds(scope(0, run_started=True))
    assert after.fix("run_start") == "Log run_start after init_stop."


@pytest.mark.parametrize(
    "source",
    [
        "ll.timestamp - s['first_init_start'] < (20*60*1e3)",
        "ll.timestamp - s['first_init_start'] < (s['compile_time_mins']*60*1e3)",
    ],
)
def test_a_time_limit_says_by_how_much(source: str) -> None:
    constraint = constraint_of(source)
    late = Scope(
        [],
        {"first_init_start": 0.0, "compile_time_mins": 20},
        Record(25.5 * 60e3, "init_stop", {"value": None, "metadata": {}}, 3),
    )
    assert constraint.kind == "time"
    assert not constraint.holds(late)
    assert constraint.found(late) == "it took 25.50 minutes, 5.50 over the limit of 20"
    late.state["first_init_start"] = 10 * 60e3
    assert constraint.holds(late)


def test_collected_items_are_compared_in_any_order() -> None:
    constraint = constraint_of("sorted(s['seen']) == sorted(['b', 'a'])")
    assert constraint.holds(Scope([], {"seen": ["b", "a"]}))
    short = Scope([], {"seen": ["b", "c"]})
    assert not constraint.holds(short)
    assert constraint.found(short) == '2 items, missing: "a", not in the list: "c"'
    twice = Scope([], {"seen": ["b", "a", "a"]})
    assert constraint.found(twice) == "3 items, some of them more than once"


def test_constraints_compare_by_meaning() -> None:
    assert constraint_of("v['value'] >= 0.759") == constraint_of(" (v['value'] >= 0.7590) ")
    assert constraint_of("v['value'] >= 0.759") != constraint_of("v['value'] >= 0.749")
    assert constraint_of("abs(v['value']) < 1") == constraint_of("abs( v['value'] )<1")
    assert constraint_of("v['value'] > 0 and v['value'] < 1") == AllOf(
        (Compare(VALUE, ">", 0), Compare(VALUE, "<", 1))
    )
    assert hash(constraint_of("v['value'] > 0")) == hash(constraint_of("v['value']>0"))


def test_a_sentence_can_name_the_key() -> None:
    constraint = constraint_of("v['value'] >= 0.72 and v['value'] < 1")
    assert named(constraint, "eval_accuracy") == "eval_accuracy is at least 0.72 and less than 1"


@pytest.mark.parametrize(
    ("source", "number"),
    [
        ("v['value'] > 0", True),
        ("v['value'] > 0 and v['value'] < 1", True),
        ("v['value'] == True", False),
        ("v['value'] != ''", False),
        ("is_integer(v['value'])", True),
        ("'x' in v['metadata']", False),
    ],
)
def test_which_constraints_mean_a_number(source: str, number: bool) -> None:
    assert limits_a_number(constraint_of(source)) is number


def test_shown_values_are_short_and_safe() -> None:
    assert show("a\x1b[31m\n") == '"a\\u001b[31m\\n"'
    assert len(show("x" * 1000)) == 80
    assert show({1, 2}) in ("{1, 2}", "{2, 1}")


def _snippets() -> list[str]:
    """Every distinct CHECK of the installed tables, as its constraint prints its source."""
    import yaml

    found: dict[str, None] = {}
    for name, path in known_tables().items():
        assert load_table(name)
        for entry in yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CBaseLoader) or []:
            for field in ("CHECK", "FIRST_CHECK", "ATLEAST_ONE_CHECK"):
                tests = entry.get("KEY", {}).get(field, [])
                found |= dict.fromkeys([tests] if isinstance(tests, str) else tests)
    return list(found)


SNIPPETS = _snippets()
_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 9000),
    st.floats(),
    st.text(max_size=3),
    st.sampled_from([0.0001, 0.759, 0.9, 1e-8, "closed", "lars", "adamw", 8192, 2.0]),
)
_NAMES = ["BBOX", "SEGM", "FID", "CLIP", "epoch_num", "samples_count", "epoch_count", "status"]
_VALUES = st.one_of(
    _SCALARS, st.lists(_SCALARS, max_size=2), st.dictionaries(st.sampled_from(_NAMES), _SCALARS)
)
_FLAGS = ["init_started", "init_stopped", "run_started", "in_epoch", "in_block"]
_NUMBERS = [
    "global_batch_size",
    "first_init_start",
    "compile_time_mins",
    "last_epoch",
    "last_eval",
    "opt_learning_rate_warmup_steps",
    "block_first_epoch",
    "sgd",
    "sgd_decay",
]
_STATES = st.fixed_dictionaries(
    {},
    optional={name: st.booleans() for name in _FLAGS}
    | {name: st.integers(0, 40) for name in _NUMBERS},
)


def _outcome(run: object, where: Scope) -> object:
    """True, False, or that it cannot be evaluated."""
    assert callable(run)
    try:
        return bool(run(where))
    except (TypeError, KeyError, IndexError, ArithmeticError, ValueError, AttributeError):
        return "cannot"


@settings(max_examples=400, deadline=None)
@given(
    source=st.sampled_from(SNIPPETS),
    value=_VALUES,
    metadata=st.dictionaries(st.sampled_from(_NAMES), _SCALARS),
    state=_STATES,
)
def test_a_typed_constraint_means_what_its_snippet_says(
    source: str, value: object, metadata: dict[str, object], state: dict[str, object]
) -> None:
    where = scope(value, metadata, **state)
    typed = _outcome(constraint_of(source).holds, where)
    plain = _outcome(compile_expression(parse_expression(source)), where)
    event = Event(key="key", value=value, metadata=metadata, time_ms=600_000.0, kind="", line_no=7)
    read = _outcome(constraint_of(source).holds, Scope([event], dict(state), event))
    assert read is typed
    # Python's `cannot` and `no` are the same verdict: the check fails.
    assert (typed is True) == (plain is True)


def test_few_snippets_have_no_shape() -> None:
    shapeless = [source for source in SNIPPETS if isinstance(constraint_of(source), Expression)]
    assert len(shapeless) < 0.04 * len(SNIPPETS)
