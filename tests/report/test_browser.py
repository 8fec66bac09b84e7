"""The page in a real browser: opens from disk, draws, sorts, asks the network for nothing."""

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.report.pages import Element, parse
from tests.report.results import published, result
from tests.report.sessions import SYSTEM, session_json, write_session
from trainmark import catalogue
from trainmark.report import load, render_html, write_html

_BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), "")
pytestmark = pytest.mark.skipif(not _BROWSER, reason="there is no chromium on PATH")

HOSTILE = "</script><script>console.error('ran')</script><b onclick=x>&lt;i&gt;"

# Runs in the page of a test only, to say what a reader of it would see.
_PROBE = """
<script>
addEventListener("error", (event) => { window.failed = String(event.message); });
setTimeout(() => {
  const texts = (query) => Array.from(document.querySelectorAll(query), (one) => one.textContent);
  const boxes = Array.from(document.querySelectorAll(".chart"), (one) => one.clientHeight);
  document.querySelectorAll("details").forEach((one) => { one.open = true; });
  const table = document.querySelector(".apart table.sortable");
  const button = Array.from(table.querySelectorAll("button"));
  const column = (i) => Array.from(table.tBodies[0].rows, (row) => row.cells[i].textContent);
  const minutes = button.findIndex((one) => one.textContent === "Minutes");
  const before = column(minutes);
  button[minutes].click();
  const up = column(minutes);
  button[minutes].click();
  const down = column(minutes);
  window.Plotly.Fx.hover("published-1-chart", [{ curveNumber: 0, pointNumber: 0 }]);
  parent.postMessage(JSON.stringify({
    tooltip: texts("#published-1-chart .hoverlayer tspan"),
    lines: document.querySelectorAll("#result-1-curve .scatterlayer .trace").length,
    points: document.querySelectorAll("#published-1-chart .scatterlayer .point").length,
    texts: texts(".chart text"),
    requests: performance.getEntriesByType("resource").map((one) => one.name),
    width: document.documentElement.scrollWidth, window: innerWidth,
    sorted: button[minutes].closest("th").getAttribute("aria-sort"),
    boxes, before, up, down, failed: window.failed || "",
  }), "*");
}, 500);
</script>
"""
# A window cannot be made narrower than 500 pixels; a frame in it can.
_FRAME = """<!DOCTYPE html>
<iframe src="probed.html" style="width: {width}px; height: 800px; border: 0"></iframe>
<pre id="probe"></pre>
<script>
addEventListener("message", (event) => {{
  document.getElementById("probe").textContent = event.data;
}});
</script>
"""


def _browse(tmp_path: Path, page: Path, width: int) -> tuple[Element, list[str]]:
    """The page as the browser leaves it, and what the console said."""
    profile = tmp_path / f"profile-{width}"
    done = subprocess.run(
        [
            _BROWSER,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--enable-logging=stderr",
            "--virtual-time-budget=10000",
            f"--window-size={width},900",
            f"--user-data-dir={profile}",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return parse(done.stdout), console


def _session(tmp_path: Path) -> Path:
    for number in (1, 2):
        when = f"2026-11-{number:02}T10:00:00+00:00"
        catalogue.record(result(id=f"own/{number}", recorded=when), [])
    info = session_json(title=HOSTILE, machine_title=HOSTILE, command=f"trainmark run {'x' * 300}")
    return write_session(
        tmp_path / "session", info=info, description=SYSTEM | {"system_name": HOSTILE}
    )


def test_the_page_as_it_is_opens_without_a_word_on_the_console(tmp_path: Path) -> None:
    folder = _session(tmp_path)
    write_html(load(folder), folder / "report.html")
    page, console = _browse(tmp_path, folder / "report.html", 1280)
    assert console == []
    drawn = [one for one in page.all("svg") if "main-svg" in one.attributes.get("class", "")]
    assert len(drawn) >= 3
    assert page.one("h1").text == HOSTILE


@pytest.mark.parametrize("width", [1280, 375])
def test_charts_are_drawn_rows_are_sorted_and_names_do_nothing(tmp_path: Path, width: int) -> None:
    session = load(_session(tmp_path))
    (entry,) = session.entries
    results = (
        published("1.0", HOSTILE, 8, 28.7, accelerator=HOSTILE),
        published("1.0", "large", 64, 9.5),
        published("2.0", "unscored", 64, None),
        published("2.0", "larger", 4096, 0.19),
    )
    text = render_html(replace(session, entries=(replace(entry, published=results),)))
    # The probe is a third script, which the page's own policy would rightly refuse.
    start, end = text.index("<meta http-equiv"), text.index('<meta name="viewport"')
    page = tmp_path / "probed.html"
    page.write_text(text[:start] + text[end:].replace("</body>", f"{_PROBE}</body>"))
    frame = tmp_path / "frame.html"
    frame.write_text(_FRAME.format(width=width))
    tree, console = _browse(tmp_path, frame, 1400)
    assert console == []
    seen = json.loads(tree.one("pre", id="probe").text)
    assert seen["failed"] == ""
    assert seen["lines"] == 3
    assert seen["points"] == 3
    assert seen["requests"] == []
    assert HOSTILE in seen["tooltip"]
    assert "target 97.5 %" in seen["texts"]
    assert all(height > 200 for height in seen["boxes"])
    assert seen["window"] == width
    assert seen["width"] <= width  # the page itself never scrolls sideways
    dash = "\N{EN DASH}"
    assert seen["before"] == ["9.500", "28.700", "0.190", dash]
    assert seen["up"] == ["0.190", "9.500", "28.700", dash]
    assert seen["down"] == ["28.700", "9.500", "0.190", dash]
    assert seen["sorted"] == "descending"


def test_a_script_that_is_not_ours_does_not_run(tmp_path: Path) -> None:
    folder = _session(tmp_path)
    text = render_html(load(folder))
    page = tmp_path / "page.html"
    page.write_text(text.replace("</main>", "<script>document.title = 'ran'</script></main>"))
    tree, console = _browse(tmp_path, page, 800)
    assert tree.one("title").text != "ran"
    assert any("Content Security Policy" in line for line in console)
