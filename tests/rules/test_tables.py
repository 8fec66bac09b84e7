from pathlib import Path

import pytest

from trainmark.rules import tables
from trainmark.rules.actions import Collect, Earliest, Enqueue, Remember, SetState
from trainmark.rules.constraints import Compare, OneOf
from trainmark.rules.language import RuleLanguageError
from trainmark.rules.programs import program_of
from trainmark.rules.subjects import Subject
from trainmark.rules.tables import Requirement, known_tables, load_table
from trainmark.types import TrainmarkError

VALUE = Subject(part="value")


@pytest.mark.parametrize("name", sorted(known_tables()))
def test_every_installed_table_compiles(name: str) -> None:
    table = load_table(name)
    assert table.name == name
    for key, rule in table.keys.items():
        assert rule.name == key
        for constraint in (*rule.checks, *rule.first):
            assert constraint.sentence()
            assert constraint.fix(key)
        for action in (*rule.before.actions, *rule.after.actions):
            assert action.sentence()


def test_every_round_has_its_first_table() -> None:
    rounds = {"0.6", "0.7", "1.0", "1.1", "2.0", "2.1", "3.0", "3.1", "4.0", "4.1", "5.0", "5.1"}
    assert {f"training_{name}.0/common.yaml" for name in rounds} <= known_tables().keys()
    assert {f"hpc_{name}.0/common.yaml" for name in ("1.0", "2.0", "3.0")} <= known_tables().keys()
    assert {"own/common.yaml", "own/generic.yaml", "own/resnet50_desk.yaml"} <= set(known_tables())


def test_a_table_is_typed() -> None:
    rules = load_table("training_4.0.0/closed_resnet.yaml").keys
    assert rules["global_batch_size"].requirement == Requirement(least=1, once=True)
    assert rules["global_batch_size"].checks == (Compare(VALUE, ">", 0),)
    assert rules["opt_name"].checks == (OneOf(VALUE, ("sgd", "lars")),)
    assert rules["opt_name"].after.actions == (
        Enqueue("training_3.1.0/closed_resnet_{}.yaml", VALUE),
    )
    assert rules["eval_accuracy"].target is not None
    assert rules["eval_accuracy"].target.sentence() == "the value is at least 0.759 and less than 1"


def test_actions_are_typed() -> None:
    source = (
        "s['a'] = True; s['b'] = v['value']; s['c'] += [v['metadata']['tensor']]; "
        "s['d'] = min(s['d'], ll.timestamp); enqueue_config('x.yaml')"
    )
    assert program_of(source).actions == (
        SetState("a", True),
        Remember("b", VALUE),
        Collect("c", Subject(part="metadata", path=("tensor",))),
        Earliest("d"),
        Enqueue("x.yaml"),
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("EXACTLY_ONE", "exactly one key"),
        ("AT_LEAST_ONE", "at least 1 key"),
        ("AT_LEAST(2)", "at least 2 key"),
        ("AT_LEAST_ONE_OR(b, a)", "at least one a or b or key"),
    ],
)
def test_requirements(
    text: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = _load(f"- KEY: {{NAME: key, REQ: '{text}'}}", tmp_path, monkeypatch).keys["key"]
    assert rule.requirement is not None
    assert rule.requirement.sentence("key") == sentence


def test_of_two_rules_for_a_key_the_last_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "- KEY: {NAME: a, REQ: EXACTLY_ONE}\n- KEY: {NAME: a, CHECK: \"v['value'] == 2\"}\n"
    rule = _load(text, tmp_path, monkeypatch).keys["a"]
    assert rule.requirement is None
    assert rule.checks == (Compare(VALUE, "==", 2),)


def test_an_empty_table_asks_for_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _load("# nothing\n", tmp_path, monkeypatch).keys == {}


@pytest.mark.parametrize(
    "text",
    [
        "- KEY: {NAME: a, CHECK: \"__import__('os').system('true')\"}",
        "- KEY: {NAME: a, POST: \"open('x', 'w')\"}",
        "- KEY: {NAME: a, PRE: 'import os'}",
        "- KEY: {NAME: a, ATLEAST_ONE_CHECK: 'v.__class__'}",
        "- KEY: {NAME: a, FIRST_CHECK: 'globals()'}",
        "- BEGIN: {CODE: 'while True: pass'}",
        "- END: {CHECK: 'exec(\"1\")'}",
    ],
)
def test_an_evil_snippet_is_refused(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RuleLanguageError):
        _load(text, tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: [", "cannot read the rule table own/common.yaml"),
        ("a: 1", "not a list"),
        ("- RULE: {NAME: a}", "not a BEGIN, KEY or END"),
        ("- KEY: text", "has no fields"),
        ("- KEY: {REQ: EXACTLY_ONE}", "fields"),
        ("- KEY: {NAME: a, WHATEVER: b}", "WHATEVER"),
        ("- KEY: {NAME: a, REQ: SOMETIMES}", "'SOMETIMES'"),
        ("- BEGIN: {CODE: 's.update({})'}\n- BEGIN: {CODE: 's.update({})'}", "more than one"),
        ("- !!python/object/apply:os.system ['true']", "not a BEGIN"),
    ],
)
def test_a_broken_table_is_named(
    text: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TrainmarkError, match=reason):
        _load(text, tmp_path, monkeypatch)


def test_without_the_official_package_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(TrainmarkError, match="not there") as caught:
        tables.table_folders.__wrapped__()
    assert "pip install mlperf-logging" in caught.value.hint


def _load(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tables.Table:
    """The table of that text, loaded as any other."""
    file = folder / "common.yaml"
    file.write_text(text, encoding="utf-8")
    monkeypatch.setattr(tables, "known_tables", lambda: {"own/common.yaml": file})
    return load_table.__wrapped__("own/common.yaml")
