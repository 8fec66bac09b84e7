"""What every page shares: packing, the policy, and how a page is written."""

import base64
import hashlib
import json
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmark.report import page
from trainmark.types import UsageError


@given(st.binary())
def test_what_is_packed_comes_back_and_holds_no_markup(data: bytes) -> None:
    packed = str(page.pack(data))
    assert zlib.decompress(base64.b64decode(packed, validate=True)) == data
    assert not set("<>&\"'") & set(packed)


@given(st.text())
def test_inert_json_says_the_same_and_holds_no_markup(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    inert = str(page.inert_json(json.dumps([text], ensure_ascii=False).encode()))
    assert json.loads(inert) == [text]
    assert not set("<>&\u2028\u2029") & set(inert)


def test_the_policy_names_each_script_and_forbids_the_rest() -> None:
    digest = base64.b64encode(hashlib.sha256(b"one()").digest()).decode()
    policy = page.policy("one()", "two()")
    assert f"'sha256-{digest}'" in policy
    assert policy.count("sha256-") == 2
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy.replace("style-src 'unsafe-inline'", "")


def test_the_chart_library_cannot_end_its_element() -> None:
    library = page.chart_library()
    assert "</script" not in library
    assert "\r" not in library
    assert "plotly.js" in library[:100]


def test_a_template_is_autoescaped_and_cleaned() -> None:
    made = page.environment().from_string("{{ name }}").render(name="<b>\x1b</b>")
    assert made == "&lt;b&gt;\ufffd&lt;/b&gt;"


def test_a_folder_is_no_page(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        page.write_page(tmp_path, "")


def test_a_page_needs_a_name_that_a_file_can_have(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        page.refuse_folder(tmp_path)
    with pytest.raises(UsageError, match="File name too long"):
        page.refuse_folder(tmp_path / ("long" * 100))
    page.refuse_folder(tmp_path / "new.html")
