import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from trainmark import mllog, rules
from trainmark.rules import constraints
from trainmark.rules import explain as module
from trainmark.rules.explain import explain, explanations, find_explanation
from trainmark.types import TrainmarkError, UsageError

_AREAS = "run|log|folder|official|rcp|system|submission|power|rules"
_NAME = re.compile(rf"({_AREAS})(\.[a-z0-9_]*[a-z0-9])+")


def _literals(package: Path) -> Iterator[tuple[str, str]]:
    """Every text of a package's code that is a rule's name, with its file."""
    for file in package.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and _NAME.fullmatch(node.value)
                and not node.value.endswith((".json", ".txt", ".py", ".yaml"))
            ):
                yield node.value, file.name


def test_every_rule_has_an_explanation() -> None:
    named: dict[str, str] = {}
    for package in (rules, mllog):
        assert package.__file__ is not None
        named |= dict(_literals(Path(package.__file__).parent))
    assert len(named) > 60
    lacking = {name: file for name, file in named.items() if find_explanation(name) is None}
    assert lacking == {}


def test_every_kind_of_rule_has_an_explanation() -> None:
    kinds = {
        kind
        for shape in vars(constraints).values()
        if isinstance(kind := getattr(shape, "kind", None), str)
    } | {"missing", "repeated", "target", "code"}
    assert len(kinds) > 12
    assert {
        kind for kind in kinds if explain(f"rules.key.{kind}").rule != f"rules.*.{kind}"
    } == set()


@pytest.mark.parametrize("name", explanations())
def test_entries_are_fit_to_read(name: str) -> None:
    entry = explanations()[name]
    assert all(text.strip() for text in (entry.title, entry.why, entry.section, entry.fix))
    assert entry.title[-1] == "."
    assert len(entry.title) <= 110
    assert entry.why.count(".") >= 1
    assert entry.to_dict()["rule"] == name


def test_the_longest_pattern_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = "  why: w.\n  section: s\n  fix: f\n  official: {}\n"
    wide, narrow = body.format("true"), body.format("no")
    (tmp_path / "a.yaml").write_text(
        f"a.*.x:\n  title: wide\n{wide}a.b.*.x:\n  title: narrow\n{narrow}"
    )
    _use(tmp_path, monkeypatch)
    assert (explain("a.q.x").title, explain("a.q.x").official) == ("wide", True)
    assert (explain("a.b.q.x").title, explain("a.b.q.x").official) == ("narrow", False)
    assert explain("a.*.x").rule == "a.*.x"
    assert find_explanation("a.x") is None


def test_an_unknown_rule_names_near_ones() -> None:
    with pytest.raises(UsageError, match=r"there is no rule 'rules\.seed\.mising'") as caught:
        explain("rules.seed.mising")
    assert "Did you mean rules.*.missing" in caught.value.hint
    with pytest.raises(UsageError) as caught:
        explain("run.two_start")
    assert "Did you mean run.two_starts" in caught.value.hint
    with pytest.raises(UsageError) as caught:
        explain("nonsense")
    assert "Areas: folder, log, " in caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "[",
        "- a",
        "run.x: y",
        "run.x:\n  title: t",
        "run.x: {title: t, why: w, section: s, fix: f, x: y}",
    ],
)
def test_a_damaged_file_is_named(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    _use(tmp_path, monkeypatch)
    with pytest.raises(TrainmarkError, match=r"cannot read the explanations in bad\.yaml"):
        explain("run.x")


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """No test sees what another one has loaded from its own folder."""
    yield
    _forget()


def _use(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FOLDER", folder)
    _forget()


def _forget() -> None:
    module.explanations.cache_clear()
    module._patterns.cache_clear()


def test_the_explanations_are_part_of_the_package() -> None:
    """The wheel holds all that lies below the package's folder."""
    root = Path(__file__).resolve().parents[2]
    wheel = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert wheel["targets"]["wheel"] == {"packages": ["src/trainmark"]}
    files = sorted(module._FOLDER.glob("*.yaml"))
    assert len(files) >= 7
    assert all(file.is_relative_to(root / "src" / "trainmark") for file in files)
