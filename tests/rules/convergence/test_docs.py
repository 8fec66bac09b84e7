"""docs/convergence.md shows what the command prints, and names every rule."""

import re
from pathlib import Path

import pytest

from tests.rules.convergence.cases import ROUND_4, runs_of
from trainmark.rules.convergence import check_convergence, references_table
from trainmark.rules.explain import explanations

_PAGE = Path(__file__).parents[3] / "docs" / "convergence.md"


def block(name: str) -> list[str]:
    found = re.search(rf"```{name}\n(.*?)```", _PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1].splitlines()


def test_the_table_of_a_submission_is_what_is_printed() -> None:
    found = check_convergence(
        "folder",
        runs_of([30, 30, 30, 30, 31], batch_size=4000),
        ruleset=ROUND_4,
        benchmark="resnet",
        division="closed",
    )
    assert list(found.table) == block("convergence")


def test_the_table_of_references_is_what_is_printed() -> None:
    assert references_table(ROUND_4, "resnet") == block("references")


@pytest.mark.parametrize("rule", sorted(name for name in explanations() if name[:4] == "rcp."))
def test_every_rule_stands_in_the_page(rule: str) -> None:
    assert f"`{rule}`" in _PAGE.read_text(encoding="utf-8")


def test_every_rule_of_the_code_is_explained() -> None:
    import trainmark.rules.convergence as package

    sources = Path(str(package.__file__)).parent.glob("*.py")
    named = {
        name
        for source in sources
        for name in re.findall(r'"(rcp\.[a-z_]+)"', source.read_text(encoding="utf-8"))
    }
    assert len(named) > 10
    assert named == {name for name in explanations() if name.startswith("rcp.")}
