from pathlib import Path

import pytest

from tests.docs.examples import DOCS, MARK, blocks, output_of, pages, rewritten

_CASES = [(page, place) for page in pages() for place in range(len(blocks(page.read_text())))]


@pytest.mark.parametrize(
    ("page", "place"), _CASES, ids=[f"{page.relative_to(DOCS)}-{n + 1}" for page, n in _CASES]
)
def test_the_page_shows_what_the_command_prints(page: Path, place: int) -> None:
    text = blocks(page.read_text("utf-8"))[place]
    assert output_of(text) == text, f"write the page anew: python -m tests.docs.examples {page}"


def test_every_mark_is_a_block() -> None:
    for page in pages():
        text = page.read_text("utf-8")
        assert len(blocks(text)) == text.splitlines().count(MARK), page


def test_a_block_shows_output_errors_and_status() -> None:
    page = f"before\n{MARK}\n```console\n$ trainmark nonsense\nold\n```\nafter\n"
    lines = rewritten(page).splitlines()
    assert lines[:4] == ["before", MARK, "```console", "$ trainmark nonsense"]
    assert lines[4].startswith("trainmark: ")
    assert lines[-3:] == ["[exit status 2]", "```", "after"]
    assert rewritten("\n".join(lines) + "\n") == "\n".join(lines) + "\n"


def test_the_runs_of_the_examples_are_there() -> None:
    text = output_of(
        "$ trainmark score runs/before --round 4.0\n$ trainmark score runs/after --round 4.0\n"
    )
    assert "exit status" not in text, text
    assert "30.01" in text
    assert "28.81" in text
