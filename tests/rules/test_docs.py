import re
from pathlib import Path

from trainmark import mllog, rules
from trainmark.rules import constraints

_DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "checking.md"


def test_every_rule_is_documented() -> None:
    text = _DOCUMENT.read_text(encoding="utf-8")
    named: set[str] = set()
    for package in (rules, mllog):
        assert package.__file__ is not None
        for source in Path(package.__file__).parent.glob("*.py"):
            found = source.read_text(encoding="utf-8")
            named |= set(re.findall(r'"((?:run|log|folder|official)\.[a-z_]+)"', found))
    assert len(named) > 25
    assert {name for name in named if f"`{name}`" not in text} == set()


def test_every_kind_of_rule_is_documented() -> None:
    text = _DOCUMENT.read_text(encoding="utf-8")
    kinds = {
        kind
        for shape in vars(constraints).values()
        if isinstance(kind := getattr(shape, "kind", None), str)
    }
    assert len(kinds) > 8
    assert {kind for kind in kinds if f"`{kind}`" not in text} == set()
