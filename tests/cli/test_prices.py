"""``trainmark prices``: what it prints, writes and refuses."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.catalogue.priced import row
from tests.cli.calls import Call, calls
from trainmark.catalogue.figures.tables import own_file

ADD = (
    "add",
    *("--product", "IPU-POD64"),
    *("--amount", "450000"),
    *("--accelerator", "Graphcore GC200"),
    *("--accelerators", "64"),
    *("--system", "pod64"),
    *("--source", "an offer"),
    *("--date", "2022-01"),
)


@pytest.fixture
def prices(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    return calls("prices", monkeypatch, capsys)


def test_the_list_has_every_kind(prices: Call) -> None:
    status, out, err = prices("list")
    assert (status, err) == (0, "")
    assert prices()[1] == out  # list is what the verb does without a subcommand
    lines = out.splitlines()
    assert lines[0] == "Prices"
    for title in ("Space in a rack", "Rated power: the greatest, by datasheet, never measured"):
        assert title in lines
    pod = next(line for line in lines if line.startswith("ipu-pod16 "))
    assert " ".join(pod.split()) == (
        "ipu-pod16 149,995 USD IPU-POD16 16 GC200-IPU 2021-06-30 high list"
    )
    h100 = next(line for line in lines if line.startswith("H100-SXM-80GB "))
    assert " ".join(h100.split()[1:]) == "67 494 989 989 1,979 80 3,350 700 2022 NVIDIA"


def test_the_list_by_kind_and_text(prices: Call) -> None:
    out = prices("list", "bow", "--kind", "space")[1]
    assert [line.split()[0] for line in out.splitlines() if line][1:3] == ["id", "bow-pod16-space"]
    assert "ipu-pod16-space" not in out
    data = json.loads(prices("list", "MI3", "--kind", "hardware", "--json")[1])
    assert [one["id"] for one in data["entries"]] == ["MI300X", "MI325X", "MI350X", "MI355X"]
    assert data["entries"][0]["figures"]["bf16"]["value"] == 1307
    status, out, err = prices("list", "no such thing")
    assert (status, out) == (1, "")
    assert "nothing is named like 'no such thing'" in err
    assert json.loads(prices("list", "no such thing", "--json")[1]) == {"entries": []}


def test_a_price_is_shown_with_its_source_and_results(prices: Call) -> None:
    status, out, err = prices("show", "ipu-pod16")
    assert (status, err) == (0, "")
    for text in (
        "149,995 USD, list",
        "Graphcore, Raising the bar: Graphcore's first MLPerf results (2021-06-30)",
        "https://www.graphcore.ai/posts/raising-the-bar-graphcores-first-mlperf-results",
        "confidence: high (the primary document was read)",
        "of 16 GC200-IPU, named pod16",
        "v1.0/Graphcore/ipu-pod16-TF1/resnet",
    ):
        assert f"  {text}\n" in out
    data = json.loads(prices("show", "ipu-pod16", "--json")[1])
    assert data["entry"]["value"] == 149_995
    assert "v1.1/Graphcore/ipu-pod16-TF1/resnet" in data["results"]
    assert not any("pod64" in name or "dgx" in name for name in data["results"])


def test_an_accelerator_is_shown_by_provenance(prices: Call) -> None:
    out = prices("show", "NVIDIA A100-SXM4-80GB")[1]
    assert out.startswith("A100-SXM-80GB: NVIDIA Ampere, 2020\n  fp32 dense 19.5 TFLOP/s, tf32 ")
    assert "  power 400 W\n" in out
    assert "some servers run it at 500 W" in out
    assert "more; --json has all" in out
    assert out.count("    confidence: ") == 2  # one for the power with its note


def test_an_instance_and_a_part(prices: Call) -> None:
    instance = prices("show", "gcp-tpu-v4")[1]
    assert "3.22 USD/hour for one accelerator" in instance
    assert "v2.0/Google/cloud-tpu-v4-8192-TF/bert" in instance
    part = prices("show", "ipu-m2000")[1]
    assert "no result is about it" in part


def test_an_unknown_entry(prices: Call) -> None:
    status, out, err = prices("show", "ipu-pod15")
    assert (status, out) == (2, "")
    assert "there is no figure or accelerator 'ipu-pod15'" in err
    assert "Near it: ipu-pod16" in err


def test_a_price_of_ones_own_is_added(prices: Call) -> None:
    status, out, err = prices(*ADD)
    assert (status, err) == (0, "")
    assert out.startswith(f"Added to {own_file()}:\nipu-pod64: IPU-POD64\n  450,000 USD, list\n")
    assert "your own figure; medium" in out
    assert "  v1.0/Graphcore/ipu-pod64-TF1/resnet\n" in out
    assert 'accelerator = "GC200-IPU"' in own_file().read_text()
    assert "  own" in prices("list", "pod64")[1]
    assert prices("check")[1] == (f"{own_file()}: fine; figures of products: 1, accelerators: 0\n")
    status, _, err = prices(*ADD)
    assert status == 2
    assert "has a row 'ipu-pod64' already" in err


def test_each_kind_can_be_added_to_a_file_of_its_own(prices: Call, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    common = (
        *("--product", "Box", "--accelerator", "none", "--accelerators", "0", "--source", "me"),
        *("--prices", path, "--json"),
    )
    made = [
        prices("add", *common, "--rack-units", "2", "--system", "box"),
        prices("add", *common, "--watts", "700", "--system", "box"),
        prices("add", *common, "--amount", "9", "--basis", "estimate", "--system", "box"),
        prices("add", *common, "--amount", "1", "--basis", "hour", "--system", "box", "--id", "h"),
    ]
    found = [json.loads(out)["entry"] for _, out, _ in made]
    assert [status for status, *_ in made] == [0, 0, 0, 0]
    assert [(one["id"], one["unit"], one["basis"]) for one in found] == [
        ("box-space", "U", "datasheet"),
        ("box-power", "W", "datasheet"),
        ("box", "USD", "estimate"),
        ("h", "USD/hour", "cloud on demand per hour"),
    ]
    assert not own_file().exists()


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (("--amount", "-5"), "amount is -5; allowed: a number above 0"),
        (("--amount", "nan"), "amount is nan"),
        (("--amount", "-inf"), "amount is -inf"),
        (("--amount", "0"), "amount is 0; allowed: a number above 0"),
        (("--currency", "EUR"), "only USD"),
        (("--date", "soon"), "date is 'soon'"),
        (("--accelerators", "-1"), "accelerators is -1"),
        (("--watts", "5"), "give one number"),
        (("--id", "a b"), "id is 'a b'"),
        (("--note", "a\x1b[31m"), "characters that cannot be printed"),
    ],
)
def test_a_wrong_figure_is_refused(prices: Call, changed: tuple[str, str], told: str) -> None:
    status, out, err = prices(*ADD, *changed)
    assert (status, out) == (2, "")
    assert told in err
    assert "\x1b" not in err
    assert not own_file().exists()


def test_a_price_to_buy_needs_the_systems_name(prices: Call) -> None:
    place = ADD.index("--system")
    status, _, err = prices(*ADD[:place], *ADD[place + 2 :])
    assert status == 2
    assert "say which systems it is about" in err


def test_a_strange_accelerator_is_noted(prices: Call) -> None:
    status, _, err = prices(*ADD, "--accelerator", "H100")
    assert status == 0
    assert "note: ipu-pod64: no accelerator is called 'H100' here; known: H100-NVL-94GB" in err
    data = json.loads(prices("check", "--json")[1])
    assert (data["ok"], len(data["notes"])) == (True, 1)


def test_a_wrong_file_fails_the_check_and_other_verbs(prices: Call, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(row(amount="-1"))
    status, out, err = prices("check", path)
    assert (status, out) == (1, "")
    assert f"{path}, line 4: list 'mine': amount is -1" in err
    status, out, err = prices("check", path, "--json")
    assert status == 1
    data = json.loads(out)
    assert data["ok"] is False
    assert "amount is -1" in data["problem"]
    assert prices("list", "--prices", path)[0] == 2
    assert prices("check", tmp_path / "absent")[0] == 2


def test_nothing_of_ones_own_to_check_is_told(prices: Call) -> None:
    status, _, err = prices("check")
    assert status == 2
    assert "no figures of your own" in err
    assert "trainmark prices add" in err


def test_text_of_a_file_reaches_the_terminal_as_text(prices: Call, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(row(product=r'"\u001b[31mred\nline"', note=r'"\u202e"'))
    for arguments in (("list",), ("show", "mine"), ("check", path)):
        rest = () if arguments[0] == "check" else ("--prices", path)
        status, out, err = prices(*arguments, *rest)
        assert status == 0
        assert not {"\x1b", "\u202e"} & set(out + err)


def test_compare_takes_the_prices_of_a_day(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compare = calls("compare", monkeypatch, capsys)
    pair = ("v1.0/Graphcore/ipu-pod16-TF1/resnet", "v1.0/NVIDIA/dgxa100_ngc21.05_mxnet/resnet")
    now = compare(*pair)[1]
    assert "per dollar of list price" in now
    before = compare(*pair, "--date", "2021-01")[1]
    assert "per dollar of list price  " not in before
    status, _, err = compare(*pair, "--date", "soon")
    assert status == 2
    assert "'soon' is no date" in err


def test_it_starts_without_the_database(tmp_path: Path) -> None:
    """Listing needs no results, and must not pay for what reads them."""
    found = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "trainmark", "prices", "list"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "XDG_CONFIG_HOME": str(tmp_path)},
    )
    loaded = {line.rsplit("|", 1)[-1].strip() for line in found.stderr.splitlines()}
    assert "trainmark.catalogue.figures.tables" in loaded
    assert not loaded & {"rich", "orjson", "yaml", "numpy", "jinja2"}
