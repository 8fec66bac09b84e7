"""The page of all results as a file: complete, small, and without a way out."""

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import pytest

from tests.report import synthetic
from tests.report.pages import Element, parse
from tests.report.results import published, result
from trainmark.report import browse
from trainmark.report import page as page_module
from trainmark.report.browse import render_browser, write_browser
from trainmark.report.columns import encode
from trainmark.report.fields import FIELDS
from trainmark.report.subjects import Subject, subjects_of
from trainmark.types import UsageError

HOSTILE = "</script></noscript><script>run()</script><b onclick=x>\u202e&lt;"
_TEMPLATES = Path(browse.__file__).parent / "templates"


@pytest.fixture(scope="module")
def page(whole: tuple[Subject, ...]) -> str:
    return render_browser(whole)


@pytest.fixture(scope="module")
def tree(page: str) -> Element:
    return parse(page)


def _unpacked(tree: Element, name: str) -> bytes:
    return zlib.decompress(base64.b64decode(tree.one("script", id=name).text))


def _facts(page: str) -> dict[str, Any]:
    facts = json.loads(_unpacked(parse(page), "facts"))
    assert isinstance(facts, dict)
    return facts


def test_the_whole_catalogue_is_under_6_mb(page: str) -> None:
    assert len(page.encode()) < 6_000_000


def test_the_page_holds_every_fact(tree: Element, whole: tuple[Subject, ...]) -> None:
    facts = json.loads(_unpacked(tree, "facts"))
    look = facts.pop("look")
    assert facts == json.loads(json.dumps(encode(FIELDS, whole)))
    assert len(look["colours"]) == len(look["markers"])


def test_the_library_is_the_installed_one(tree: Element) -> None:
    assert _unpacked(tree, "library").decode() == page_module.chart_library()


def test_the_policy_allows_the_two_scripts_of_the_page(page: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)
    assert script is not None
    expected = page_module.policy(script[1], page_module.chart_library())
    assert policy[1].replace("&#39;", "'") == expected


def test_nothing_in_the_page_is_loaded_from_elsewhere(tree: Element) -> None:
    assert [one for one in tree.all() if "src" in one.attributes] == []
    assert tree.all("link") == []
    links = [one.attributes["href"] for one in tree.all("a")]
    assert all(link.startswith("#") for link in links)


def test_without_scripts_every_result_is_a_row(tree: Element) -> None:
    rows = tree.one("noscript").all("tr")
    assert len(rows) == 1 + synthetic.SIZE
    rounds = [row.all("td")[0].text for row in rows[1:]]
    assert rounds[0] == "5.1"
    assert rounds == sorted(rounds, key=float, reverse=True)


def test_the_head_counts_what_is_there() -> None:
    mixed = subjects_of([published("2.0", "a", 8, 1.0), result(), result(id="own/2")])
    words = parse(render_browser(mixed, asked="benchmark resnet")).text
    assert "Time to train: 3 results" in words
    assert "1 published in the rounds of MLPerf Training and 2 of one's own, unverified." in words
    assert "Asked for: benchmark resnet." in words
    assert "own, unverified" in words


def test_a_hostile_name_is_text_wherever_it_stands() -> None:
    hostile = published(
        "2.0",
        HOSTILE,
        8,
        1.0,
        submitter=HOSTILE,
        accelerator=HOSTILE,
        benchmark=HOSTILE,
        raw={HOSTILE: HOSTILE},
        path=HOSTILE,
        id=HOSTILE,
    )
    page = render_browser(subjects_of([hostile]), asked=HOSTILE)
    assert "run()</script>" not in page
    assert "<b onclick" not in page
    tree = parse(page)
    shown = HOSTILE.replace("\u202e", "\ufffd")
    assert shown in [cell.text for cell in tree.one("noscript").all("td")]
    facts = _facts(page)
    (system,) = (one for one in facts["fields"] if one["name"] == "system")
    assert system["words"] == [shown]


def test_every_script_is_in_the_page_and_none_makes_markup_of_text() -> None:
    files = sorted((_TEMPLATES / "browse").glob("*.js"))
    assert {file.stem for file in files} == set(browse.SCRIPTS)
    for file in files:
        text = file.read_text(encoding="utf-8")
        for banned in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert banned not in text, file.name


def test_an_empty_page_can_be_made() -> None:
    assert "No result." in parse(render_browser(())).text


def test_the_page_is_written_where_it_is_asked_for(tmp_path: Path) -> None:
    write_browser((), tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")
    with pytest.raises(UsageError, match="cannot create"):
        write_browser((), tmp_path / "no" / "page.html")
