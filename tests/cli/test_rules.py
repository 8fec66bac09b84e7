import json

import pytest

from tests.cli.calls import Call, calls


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    return calls("rules", monkeypatch, capsys)


def test_the_list_names_rounds_and_benchmarks(rules: Call) -> None:
    status, out, err = rules("list")
    assert (status, err) == (0, "")
    assert "5.0     bert, dlrm_dcnv2, llama2_70b_lora, llama31_405b, retinanet, rgat, " in out
    assert "hpc-3.0 cosmoflow, deepcam, oc20, openfold" in out
    assert (
        "own     bert_desk, efficientnet_b4_desk, efficientnet_b4_full, resnet50_desk, rnnt_desk, "
        in out
    )
    assert rules()[1] == out  # list is what the verb does without a subcommand
    data = json.loads(rules("list", "--json")[1])
    assert data == json.loads(rules("--json")[1])
    assert "gpt3" in data["rounds"]["3.0"]["closed"]
    assert "gpt3" not in data["rounds"]["3.0"]["open"]
    assert out.count("not open: gpt3") == 2


def test_show_prints_sentences_by_key(rules: Call) -> None:
    status, out, err = rules("show", "3.0", "resnet")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "The rules of MLPerf Training round 3.0: resnet, closed"
    place = lines.index("  eval_accuracy")
    assert lines[place + 1 : place + 3] == [
        "    at least 1 eval_accuracy",
        "    in at least one record eval_accuracy is at least 0.759 and less than 1",
    ]
    assert 'closed_resnet_lars, when opt_name is "lars"' in lines
    assert "    it comes within 30 minutes of the first init_start" in lines


def test_show_in_json(rules: Call) -> None:
    status, out, _ = rules("show", "v4.0", "bert", "--division", "open", "--json")
    data = json.loads(out)
    assert status == 0
    assert (data["round"], data["benchmark"], data["division"]) == ("4.0", "bert", "open")
    by_key = {row["key"]: row for row in data["keys"]}
    assert by_key["init_stop"]["checks"] == ["it comes within 240 minutes of the first init_start"]


def test_diff_of_a_benchmark(rules: Call) -> None:
    status, out, err = rules("diff", "3.0", "3.1", "bert")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert "bert: 5 changed" in lines
    place = lines.index("  ~ eval_stop")
    assert lines[place + 1 : place + 3] == [
        '      - metadata has "epoch_num"',
        '      + metadata has "epoch_num" or metadata has "step_num"',
    ]


def test_diff_of_rounds_tells_shared_changes_once(rules: Call) -> None:
    status, out, _ = rules("diff", "4.1", "5.0")
    assert status == 0
    assert "benchmarks that are new: llama31_405b, retinanet, rgat" in out
    assert "benchmarks that are gone: gnn, gpt3, ssd" in out
    assert out.count("  - submission_platform") == 1
    assert (
        '      submission_benchmark: no longer allowed: "resnet", "ssd", "maskrcnn", "gpt3", '
        '"rnnt", "unet3d", "gnn"; newly allowed: "retinanet", "rgat", "llama31_405b"\n'
    ) in out
    assert "one of" not in out
    assert "no change beyond that: bert, dlrm_dcnv2, llama2_70b_lora, stable_diffusion" in out
    data = json.loads(rules("diff", "4.1", "5.0", "--json")[1])
    assert data["benchmarks_removed"] == ["gnn", "gpt3", "ssd"]
    assert [one["changes"] for one in data["benchmarks"]] == [[], [], [], []]


def test_diff_of_a_benchmark_that_only_one_round_has(rules: Call) -> None:
    status, out, _ = rules("diff", "5.0", "5.1", "bert")
    assert status == 0
    assert out.endswith("Only round 5.0 has bert: trainmark rules show 5.0 bert\n")
    out = rules("diff", "5.0", "5.1", "bert", "--division", "open")[1]
    assert out.endswith("has bert: trainmark rules show 5.0 bert --division open\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "4.1", "bertt"), "Did you mean 'bert'? Valid: bert, dlrm_dcnv2"),
        (("show", "4.9", "bert"), "Valid: 0.6, 0.7, 1.0"),
        (("show", "4.0", "bert", "--division", "close"), "Did you mean 'closed'?"),
        (("show", "4.0", "llama2_70b_lora", "--division", "open"), "Use --division closed."),
        (("diff", "4.0", "4.1", "\x1b[31mbert"), "there is no benchmark"),
        (("diff", "4.0", "4.1", "resnt"), "Did you mean 'resnet'? Valid: bert, dlrm_dcnv2, gnn"),
        (("show", "4.0"), "Missing argument"),
    ],
)
def test_wrong_names_list_the_right_ones(
    arguments: tuple[str, ...], said: str, rules: Call
) -> None:
    status, out, err = rules(*arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert "Traceback" not in err
    assert "\x1b" not in err
