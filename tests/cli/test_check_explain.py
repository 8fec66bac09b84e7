import json

import pytest

from tests.cli.calls import Call, calls


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    return calls("check", monkeypatch, capsys)


def test_a_rule_is_explained(check: Call) -> None:
    status, out, err = check("--explain", "rules.seed.missing")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "rules.seed.missing"
    assert lines[1].strip().startswith("A record that every log must have")
    assert "  What to do: Log the key" in out
    assert "  Source: Training rules, section" in out
    assert "The official tools find this as well." in out
    assert max(map(len, lines)) <= 92


def test_a_round_and_a_benchmark_bring_their_sentences(check: Call) -> None:
    asked = ("--explain", "rules.eval_accuracy.target", "--round", "3.0", "--benchmark", "resnet")
    status, out, _ = check(*asked)
    assert status == 0
    place = out.index("Round 3.0, closed resnet (closed_resnet):")
    assert "in at least one record eval_accuracy is at least 0.759 and less than 1" in out[place:]
    data = json.loads(check(*asked, "--json")[1])
    assert (data["rule"], data["asked_for"]) == ("rules.*.target", "rules.eval_accuracy.target")
    assert [row["key"] for row in data["rules"]] == ["eval_accuracy"]
    opened = check(*asked, "--division", "open")[1]
    assert "Round 3.0, open resnet" in opened
    assert "0.759" not in opened


def test_a_round_without_a_rule_about_the_key_is_told(check: Call) -> None:
    asked = ("--round", "5.0", "--benchmark", "bert")
    out = check("--explain", "rules.seed.missing", *asked)[1]
    assert out.endswith("\n\nRound 5.0, closed bert: no rule about seed\n")
    for general in ("rules.*.missing", "rules.table", "run.status"):
        assert "no rule about" not in check("--explain", general, *asked)[1]


def test_the_references_of_a_round(check: Call) -> None:
    status, out, err = check("--rcp-table", "bert", "--round", "3.0")
    assert (status, err) == (0, "")
    assert "2,549,220" in out
    data = json.loads(check("--rcp-table", "bert", "--round", "v3.0", "--json")[1])
    assert data["round"] == "3.0"
    assert (data["benchmark"], data["unit"]) == ("bert", "samples")
    assert (data["runs"], data["left_out"]) == (10, 1)
    assert len(data["points"]) == out.count("\n") - 4
    first = data["points"][0]
    assert (first["batch_size"], first["runs"], first["pruned"]) == (256, 20, True)
    assert first["mean"] == pytest.approx(2_549_220)
    assert 2_390_000 < first["least_acceptable"] < first["mean"] - first["deviation"] / 2
    assert any("2,549,220" in line for line in data["table"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--explain", "run.two_start"), "Did you mean run.two_starts"),
        (("--explain", "run.two_starts", "somewhere"), "Leave out PATH"),
        (("--explain", "run.two_starts", "--rcp-table", "bert"), "one question at a time"),
        (("--rcp-table", "bert"), "--rcp-table bert --round 5.0"),
        (("--rcp-table", "bert", "--round", "9.9"), "no rules for round '9.9'"),
        (("--rcp-table", "bert", "--round", "0.7"), "from round 1.0 on"),
        (("--rcp-table", "bertt", "--round", "3.0"), "bert"),
        (("--rcp-table", "bert", "--round", "0.6"), "in the rules of MLPerf Training round 0.6"),
        (("--explain", "rules.seed.missing", "--round", "3.0", "--benchmark", "x"), "no benchmark"),
        (("--json", "--format", "sarif", "x"), "contradict each other"),
        (("--format", "yaml", "x"), "yaml"),
        (("--jobs", "0", "x"), "0"),
        ((), "no PATH is given"),
    ],
)
def test_wrong_requests(arguments: tuple[str, ...], said: str, check: Call) -> None:
    status, out, err = check(*arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert "Traceback" not in err
