"""The page of all results in a real browser, driven as a reader drives it."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report.chromium import BROWSER, Browser
from tests.report.results import published, result
from trainmark.report.browse import write_browser
from trainmark.report.subjects import Subject, subjects_of

pytestmark = pytest.mark.skipif(not BROWSER, reason="there is no chromium on PATH")

HOSTILE = (
    "</script><script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">"
    "<a href='javascript:1'><b>&lt;i&gt;\u202e"
)
SEEN = HOSTILE.replace("\u202e", "\ufffd")
FORMULA = '=HYPERLINK("http://example.org","x")'


_DRAWN = "document.getElementById('chart').getAttribute('aria-busy') === 'false'"
_FITS = """(() => {
  const [box, drawing] = ["#chart", "#chart .main-svg"].map((one) =>
    document.querySelector(one).getBoundingClientRect());
  return Math.abs(box.width - drawing.width) < 1 && Math.abs(box.height - drawing.height) < 1;
})()"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, whole: tuple[Subject, ...]) -> str:
    """A page of the whole catalogue, with own results and names that would do harm."""
    hostile = published(
        "2.0",
        HOSTILE,
        8,
        12.5,
        submitter=HOSTILE,
        accelerator=HOSTILE,
        framework=HOSTILE,
        repository="javascript:alert(1)//",
        commit="0" * 40,
        raw={"<b>": HOSTILE},
    )
    others = (
        hostile,
        published("2.0", FORMULA, 16, 9.0, submitter="-1", accelerator="Cell"),
        published("2.0", "Bow-Pod16", 16, 19.6, submitter="Graphcore", accelerator="Bow-IPU"),
        result(id="own/full", benchmark="resnet", accelerators=8, minutes=31.0, label="unverified"),
        result(id="own/desk"),
    )
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_browser((*whole, *subjects_of(others)), path)
    return path.as_uri()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory, address: str) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        browser.look(1280, 900)
        _open(browser, address)
        yield browser


@pytest.fixture
def page(browser: Browser) -> Browser:
    """The page with nothing asked for."""
    _show(browser, "")
    return browser


def _open(browser: Browser, address: str) -> None:
    browser.open(address)
    browser.wait(_DRAWN)


def _show(browser: Browser, fragment: str) -> None:
    """Put a fragment into the address, as a link or the reader would."""
    browser.evaluate(
        f"""new Promise((done) => {{
          const wanted = "#" + {json.dumps(fragment)};
          if (location.hash === wanted || location.hash + "#" === wanted) {{ done(); return; }}
          addEventListener("hashchange", () => setTimeout(done, 50), {{ once: true }});
          location.hash = wanted;
        }})"""
    )


def _click(browser: Browser, selector: str) -> None:
    browser.evaluate(f"document.querySelector({json.dumps(selector)}).click()")


def _pick(browser: Browser, value: str) -> None:
    """Press a value of a filter by its name."""
    browser.evaluate(
        f"""Array.from(document.querySelectorAll(".facet label, .flags label"))
          .find((one) => one.querySelector(".value").textContent === {json.dumps(value)})
          .querySelector("input").click()"""
    )


def _heading(browser: Browser, title: str) -> str:
    """Press a heading; the sorting that is told of it."""
    return str(
        browser.evaluate(
            f"""(() => {{
              const find = () => Array.from(document.querySelectorAll("#head th"))
                .find((one) => one.textContent === {json.dumps(title)});
              find().querySelector("button").click();
              return find().getAttribute("aria-sort");
            }})()"""
        )
    )


def _column(browser: Browser, title: str) -> list[str]:
    """The cells of one column on the page of the table that is shown."""
    found = browser.evaluate(
        f"""(() => {{
          const names = Array.from(document.querySelectorAll("#head th"), (one) => one.textContent);
          const at = names.indexOf({json.dumps(title)});
          return Array.from(document.querySelectorAll("#body tr"),
            (row) => row.cells[at].textContent);
        }})()"""
    )
    assert isinstance(found, list)
    return found


def _count(browser: Browser) -> str:
    return str(browser.evaluate("document.getElementById('count').textContent"))


def _state(browser: Browser) -> dict[str, Any]:
    """All that a permalink has to bring back."""
    browser.wait(_DRAWN)
    found = browser.evaluate(
        """({
          count: document.getElementById("count").textContent,
          rows: Array.from(document.querySelectorAll("#body tr"), (one) => one.textContent),
          head: Array.from(document.querySelectorAll("#head th"),
            (one) => one.textContent + one.getAttribute("aria-sort")),
          boxes: Array.from(document.querySelectorAll("input:checked"), (one) =>
            one.parentElement.textContent),
          fields: ["q", "min", "max"].map((id) => document.getElementById(id).value),
          active: document.getElementById("active").textContent,
          chart: [document.getElementById("chart-note").textContent,
            document.getElementById("chart-group").value, document.getElementById("chart-by").value,
            document.getElementById("chart").data.map((one) => [one.name, one.x.length])],
        })"""
    )
    assert isinstance(found, dict)
    return found


def _points(browser: Browser) -> int:
    browser.wait(_DRAWN)
    script = "document.querySelectorAll('#chart .scatterlayer .point').length"
    return int(browser.evaluate(script))


def test_it_opens_from_disk_without_a_word_and_without_a_request(
    browser: Browser, address: str
) -> None:
    assert browser.console == []
    assert browser.requests == [address]
    assert _count(browser) == "2,263 of 2,263 results, 2 of them own and unverified"
    assert _points(browser) > 100


def test_a_filter_changes_rows_counts_and_chart(page: Browser) -> None:
    before, drawn = _state(page), _points(page)
    _pick(page, "bert")
    assert _count(page) != before["count"]
    assert set(_column(page, "Benchmark")) == {"bert"}
    _pick(page, "H100-SXM-80GB")
    assert set(_column(page, "Accelerator")) == {"H100-SXM-80GB"}
    after = _state(page)
    number = int(after["count"].split()[0])
    assert 0 < number < 100
    assert after["rows"] != before["rows"]
    page.wait(f"document.querySelectorAll('#chart .point').length <= {number}")
    assert 0 < _points(page) < drawn
    names = [name for name, _ in after["chart"][3] if name is not None]
    assert names == ["Hopper"]
    # The counts of a filter follow the others, and not the filter itself.
    counts = page.evaluate(
        """Object.fromEntries(Array.from(
          document.querySelectorAll("#facets .facet:first-child li"), (one) =>
          [one.querySelector(".value").textContent, one.querySelector(".count").textContent]))"""
    )
    assert counts["bert"] == str(number)
    assert int(counts["resnet"]) > 0


def test_the_chart_shows_one_group_and_says_so(page: Browser) -> None:
    note = _state(page)["chart"][0]
    assert "groups whose minutes do not compare; this chart shows one of them" in note
    page.evaluate(
        """(() => { const box = document.getElementById("chart-group");
          box.value = Array.from(box.options, (one) => one.value).find((one) =>
            one.startsWith("BERT") && one.includes("5.0"));
          box.dispatchEvent(new Event("change")); })()"""
    )
    state = _state(page)
    assert "one of them, BERT" in state["chart"][0]
    assert "group=BERT" in page.evaluate("location.hash")
    assert state["count"].startswith("2,263 of")  # the table is as it was


def test_lines_of_equal_efficiency_have_the_slope_minus_one(page: Browser) -> None:
    page.wait(_DRAWN)
    lines = page.evaluate(
        """document.getElementById("chart").data.filter((one) => one.mode === "lines")
          .map((one) => one.x.map((x, i) => x * one.y[i]))"""
    )
    assert len(lines) >= 2
    for products in lines:
        assert products[0] == pytest.approx(products[-1])


@pytest.mark.parametrize(
    ("chart", "title", "says"),
    [
        ("price", "list price of the system, USD", "have no known price of this kind"),
        ("history", "round", "the best time of each round"),
    ],
)
def test_the_other_charts(page: Browser, chart: str, title: str, says: str) -> None:
    _show(page, "benchmark=resnet")
    _click(page, f"input[value={chart}]")
    assert says in _state(page)["chart"][0]
    shown = page.evaluate("document.getElementById('chart').layout.xaxis.title.text")
    assert shown == title
    assert f"chart={chart}" in page.evaluate("location.hash")


def test_the_kind_of_price_is_one_that_is_known_unless_the_reader_says(page: Browser) -> None:
    _show(page, "accelerator=H100-SXM-80GB&chart=price")
    assert _points(page) > 0
    title = "document.getElementById('chart').layout.xaxis.title.text"
    chosen = "document.getElementById('chart-price').value"
    assert page.evaluate(title) == "cost of one run at cloud prices, USD"
    assert page.evaluate(chosen) == "cloud"
    _show(page, "accelerator=H100-SXM-80GB&chart=price&price=list")
    assert _points(page) == 0
    assert page.evaluate(chosen) == "list"


def test_what_may_be_drawn_together_is_told_apart(page: Browser) -> None:
    _show(page, "benchmark=resnet")
    note = _state(page)["chart"][0]
    assert "Hollow: open division. With a dot: preview or research" in note
    symbols = page.evaluate(
        "document.getElementById('chart').data.flatMap((one) => one.marker?.symbol ?? [])"
    )
    assert any(one.endswith("-open") for one in symbols)
    assert any(one.endswith("-dot") for one in symbols)
    assert any("-" not in one for one in symbols)
    _show(page, "benchmark=resnet&division=closed&category=available")
    assert "Hollow" not in _state(page)["chart"][0]
    _show(page, "category=preview")
    assert all(cell.endswith("preview") for cell in _column(page, "System"))


def test_own_results_are_drawn_apart_and_marked(page: Browser) -> None:
    _show(page, "benchmark=resnet&by=round")
    assert ["own, unverified", 1] in _state(page)["chart"][3]
    _show(page, "origin=own")
    assert _column(page, "System") == ["deskown, unverified", "deskown, unverified"]
    # A desk task has a target of its own: it is a group alone.
    assert "2 groups" in _state(page)["chart"][0]


def test_a_machine_without_accelerators_is_drawn_by_its_system(page: Browser) -> None:
    _show(page, "benchmark=resnet50_desk&chart=history")
    assert ["desk", 1] in _state(page)["chart"][3]
    _show(page, "benchmark=resnet50_desk")
    state = _state(page)
    assert "1 without a number of accelerators are not drawn." in state["chart"][0]
    assert state["chart"][3] == []
    text = page.evaluate("document.querySelector('#chart .annotation').textContent")
    assert text == "Nothing to draw here"


def test_the_permalink_brings_everything_back(page: Browser) -> None:
    _pick(page, "resnet")
    _pick(page, "Hide carried over")
    page.evaluate("document.getElementById('min').value = '16'")
    page.evaluate("document.getElementById('min').dispatchEvent(new Event('change'))")
    page.evaluate("document.getElementById('q').value = 'sxm company'")
    page.evaluate("document.getElementById('q').dispatchEvent(new Event('input'))")
    page.wait("location.hash.includes('q=sxm')")
    _heading(page, "Chips")
    _heading(page, "Chips")
    _click(page, "#columns li:nth-child(2) input")
    _click(page, "input[value=price]")
    page.evaluate(
        """(() => { const box = document.getElementById("chart-by");
          box.value = "submitter"; box.dispatchEvent(new Event("change")); })()"""
    )
    state, link = _state(page), page.evaluate("location.href")
    assert int(state["count"].split()[0].replace(",", "")) > 50
    _click(page, "#next")
    page.evaluate("history.back()")
    page.wait(f"location.href === {json.dumps(link)}")
    assert _state(page) == state
    _open(page, link)
    assert _state(page) == state
    _show(page, "")
    assert _state(page) != state


def test_a_link_from_anybody_breaks_nothing(page: Browser) -> None:
    _show(page, "sort=constructor&page=99999&min=x&open=nowhere&chart=toString&columns=a b&by=q&%")
    assert _count(page).startswith("2,263 of")
    assert len(_column(page, "System")) == 2263 % 50
    _show(page, "benchmark=<b>no</b>")
    assert _count(page).startswith("0 of")
    assert "<b>no</b>" in page.evaluate("document.getElementById('active').textContent")
    assert "No result matches" in page.evaluate("document.getElementById('where').textContent")
    assert page.console == []


def test_rows_are_sorted_and_nothing_comes_last(page: Browser) -> None:
    _show(page, "benchmark=bert&round=2.0")

    def numbers() -> list[float]:
        texts = [cell.rstrip("*").replace(",", "") for cell in _column(page, "Minutes")]
        return [float(text) for text in texts if text != "\N{EN DASH}"]

    assert _heading(page, "Minutes") == "ascending"
    up = numbers()
    assert up == sorted(up)
    assert len(set(up)) > 3
    assert _heading(page, "Minutes") == "descending"
    assert numbers() == sorted(up, reverse=True)
    assert "sort=-minutes" in page.evaluate("location.hash")
    assert _heading(page, "Minutes") == "None"
    _show(page, "benchmark=bert&sort=-minutes&page=99")
    assert _column(page, "Minutes")[-1].rstrip("*") == "\N{EN DASH}"


def test_columns_are_chosen(page: Browser) -> None:
    assert "Nodes" not in "".join(_state(page)["head"])
    page.evaluate(
        """Array.from(document.querySelectorAll("#columns label"))
          .find((one) => one.textContent === "Nodes").querySelector("input").click()"""
    )
    assert all(cell != "" for cell in _column(page, "Nodes"))
    assert "columns=" in page.evaluate("location.hash")
    _click(page, "#usual")
    assert "columns=" not in page.evaluate("location.hash")


def test_all_facts_of_a_result_are_a_key_away_and_the_link_is_checked(page: Browser) -> None:
    _show(page, "benchmark=bert&round=2.0")
    page.evaluate("document.querySelector('#body .open').focus()")
    page.press("Enter", text="\r")
    page.wait("document.getElementById('detail').open")
    assert "open=" in page.evaluate("location.hash")
    words = page.evaluate("document.getElementById('detail').textContent")
    for expected in ("Batch size", "Runs (10)", "accelerator-minutes", "not known: ", "status: on"):
        assert expected in words
    link = page.evaluate("document.querySelector('#detail a').href")
    assert link.startswith("https://github.com/mlcommons/training_results_v2.0/tree/00000000")
    page.press("Escape")
    page.wait("!document.getElementById('detail').open && !location.hash.includes('open=')")
    assert page.evaluate("document.activeElement.className") == "open"
    assert page.console == []


def test_a_point_opens_its_result(page: Browser) -> None:
    _show(page, "submitter=-1")
    page.wait("document.querySelectorAll('#chart .point').length === 1")
    place = page.evaluate(
        """(() => { document.getElementById("chart").scrollIntoView({ block: "center" });
          const box = document.querySelector("#chart .point").getBoundingClientRect();
          return [box.x + box.width / 2, box.y + box.height / 2]; })()"""
    )
    mouse = {"x": place[0], "y": place[1], "button": "left", "clickCount": 1}
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        page.call("Input.dispatchMouseEvent", type=kind, **mouse)
    page.wait("document.getElementById('detail').open")
    assert page.evaluate("document.getElementById('detail-title').textContent") == FORMULA
    page.press("Escape")


def test_the_hostile_name_is_text_everywhere_and_does_nothing(page: Browser) -> None:
    _show(page, "q=onerror&by=accelerator")
    assert _count(page).startswith("1 of")
    assert _column(page, "System") == [SEEN]
    page.wait("document.querySelectorAll('#chart .point').length === 1")
    page.evaluate(
        """(() => { const data = document.getElementById("chart").data;
          const curve = data.findIndex((one) => one.mode === "markers");
          Plotly.Fx.hover("chart", [{ curveNumber: curve, pointNumber: 0 }]); })()"""
    )
    texts = "document.querySelectorAll('#chart .hoverlayer tspan')"
    page.wait(f"{texts}.length > 1")
    tooltip = page.evaluate(f"Array.from({texts}, (one) => one.textContent).join('')")
    assert "<img src=x" in tooltip
    assert "<b>&lt;i&gt;" in tooltip
    legend = page.evaluate("document.querySelector('#chart .legendtext').textContent")
    assert legend == SEEN
    _click(page, "#body .open")
    assert page.evaluate("document.getElementById('detail-title').textContent") == SEEN
    assert page.evaluate("document.querySelectorAll('img, #detail a, #detail b').length") == 0
    assert page.evaluate("document.querySelectorAll('#chart a').length") == 0
    assert "Time to train" in page.evaluate("document.title")
    assert page.console == []
    page.press("Escape")


def test_what_is_shown_is_saved_and_no_formula_is(page: Browser) -> None:
    page.evaluate(
        """(() => { const make = URL.createObjectURL;
          URL.createObjectURL = (blob) => { window.saved = blob; return make.call(URL, blob); };
        })()"""
    )
    _show(page, "round=2.0&benchmark=resnet&sort=-accelerators")
    _click(page, "#csv")
    rows = list(csv.DictReader(io.StringIO(page.evaluate("window.saved.text()"))))
    number = int(_count(page).split()[0])
    assert len(rows) == number > 0
    shown = _column(page, "Chips")
    assert [row["Chips"] for row in rows][: len(shown)] == [one.replace(",", "") for one in shown]
    (formula,) = (row for row in rows if "HYPERLINK" in row["System"])
    assert formula["System"] == f"'{FORMULA}"
    assert formula["Submitter"] == "'-1"
    assert {row["Standing"] for row in rows} == {
        "verified by MLCommons",
        "unverified; MLPerf procedure, own target",
    }
    (hostile,) = (row for row in rows if "onerror" in row["System"])
    assert hostile["System"] == SEEN


def test_the_keyboard_reaches_a_filter_and_space_sets_it(page: Browser) -> None:
    page.evaluate("document.getElementById('q').focus()")
    for _ in range(3):
        page.press("Tab")
        if page.evaluate("document.activeElement.type") == "checkbox":
            break
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    value = page.evaluate("document.activeElement.parentElement.textContent")
    page.press(" ", code="Space", text=" ")
    assert page.evaluate("document.activeElement.checked") is True
    assert value.startswith(_column(page, "Benchmark")[0])
    assert page.evaluate("document.getElementById('count').getAttribute('role')") == "status"
    page.press(" ", code="Space", text=" ")
    assert _count(page).startswith("2,263 of")


def test_the_usual_columns_fit_a_small_desktop_beside_a_scrollbar(page: Browser) -> None:
    beyond = (
        "(() => { const box = document.querySelector('#results .scroll');"
        " return box.scrollWidth - box.clientWidth; })()"
    )
    assert page.evaluate("innerWidth - document.documentElement.clientWidth") > 0
    for number in range(2, 47, 4):
        _show(page, f"page={number}")
        assert page.evaluate(beyond) == 0


def test_every_control_has_a_name(page: Browser) -> None:
    nameless = page.evaluate(
        """Array.from(document.querySelectorAll("input, select, button, summary"), (one) =>
            [one.labels?.[0]?.textContent || one.textContent || one.ariaLabel || "", one.outerHTML])
          .filter(([name]) => name.trim() === "").map(([, markup]) => markup)"""
    )
    assert nameless == []


def test_a_script_that_is_not_ours_does_not_run(browser: Browser, address: str) -> None:
    path = Path(address.removeprefix("file://"))
    changed = path.with_name("changed.html")
    changed.write_text(
        path.read_text().replace("</main>", "<script>document.title = 'ran'</script></main>")
    )
    browser.open(changed.as_uri())
    assert browser.evaluate("document.title") != "ran"
    assert any("Content Security Policy" in line for line in browser.console)


def test_a_tablet_held_upright_has_the_table_in_full(browser: Browser, address: str) -> None:
    browser.look(768, 1000)
    _open(browser, address)
    assert browser.evaluate("document.getElementById('filters').open") is False
    assert browser.evaluate(
        "(() => { const box = document.querySelector('#results .scroll');"
        " return box.scrollWidth <= box.clientWidth; })()"
    )
    browser.look(1024, 768)  # turned
    browser.wait("document.getElementById('filters').open")


def test_a_phone_needs_no_scrolling_sideways(browser: Browser, address: str) -> None:
    # The last of these tests: the page stays a phone's.
    browser.look(375, 800, dark=True)
    _open(browser, address)
    assert browser.evaluate("document.getElementById('filters').open") is False
    # Lists of other lengths, with a scrollbar and without, and legends of other heights.
    for fragment in ("q=no-such-thing", "chart=history", "benchmark=bert&round=2.0", ""):
        _show(browser, fragment)
        browser.wait(_DRAWN)
        browser.wait(_FITS)
        assert browser.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
    head = browser.evaluate(
        "Array.from(document.querySelectorAll('#head th'), (one) => one.textContent)"
    )
    assert head == ["Minutes", "System", "Round", "Accelerator", "Chips"]
    _click(browser, "#body .open")
    assert browser.evaluate(
        "document.getElementById('detail').scrollWidth <= "
        "document.getElementById('detail').clientWidth"
    )
