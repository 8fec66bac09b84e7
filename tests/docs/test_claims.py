import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.examples import DOCS


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def claims() -> ModuleType:
    return _load(DOCS / "make_claims.py")


def test_the_page_is_what_the_catalogue_gives(claims: ModuleType) -> None:
    page = (DOCS / "claims.md").read_text("utf-8")
    assert page == claims.render(), "write the page anew: make docs"


# What the reports' readers reckoned by hand from the published logs.
@pytest.mark.parametrize(
    "line",
    [
        "| 14.5 | 14.485 | comes out |",
        "**Open** division | 9 | 9.39 | comes out |",
        "| 9 | 11.08 | does **not** come out |",
        "| 1.6 | 1.550 | comes out |",
        "| 1.3 | 1.258 | comes out |",
        "| ResNet-50 per rack unit | 0.93 times |",
        "| BERT per rack unit | 0.75 times |",
        "| 24 | 23.66 | comes out |",
        "| 41 | 41.29 | comes out |",
        "| 31 | 31.55 | comes out when rounded down |",
        "| 31 | 46.09 | does **not** come out |",
        "| 31 | 27.88 | does **not** come out |",
        "| 37 | 36.83 | comes out |",
        "| 16 | 16.00 | comes out |",
        "and a host server of one | 5 | 5.00 | comes out |",
        "the system files have 1 for BERT, 4 for ResNet-50",
        "| 20.810 | 20.654 | 1.008 |",
        "| 6.740 | 6.703 | 1.006 |",
    ],
)
def test_what_comes_out(claims: ModuleType, line: str) -> None:
    assert line in claims.render()


@pytest.mark.parametrize(
    ("said", "found", "word"),
    [
        ("1.6", 1.55, "comes out"),
        ("1.6", 1.62, "comes out"),
        ("31", 31.55, "comes out when rounded down"),
        ("32", 31.4, "comes out when rounded up"),
        ("31", 32.1, "does **not** come out"),
        ("5.78", 5.879, "does **not** come out"),
    ],
)
def test_a_judgement_follows_from_the_two_numbers(
    claims: ModuleType, said: str, found: float, word: str
) -> None:
    assert claims.judged(said, found).endswith(f"| {word}")


def test_a_wrong_id_is_an_error(claims: ModuleType) -> None:
    with pytest.raises(KeyError, match="no/such/id"):
        claims.minutes("no/such/id")
