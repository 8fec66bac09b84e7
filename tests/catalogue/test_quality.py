import json
from typing import Any

from trainmark.catalogue.quality import KNOWN_FIELDS, lines, quality
from trainmark.types import Doubt, Result

_OPEN = Doubt(kind="unknown framework", text="the framework field names none", resolved=False)
_SETTLED = Doubt(kind="hosts counted apart", text="1 host server", resolved=True)


def _result(name: str, round_name: str | None = "2.0", **changes: Any) -> Result:
    fields: dict[str, Any] = {
        "id": name,
        "origin": "published",
        "round": round_name,
        "division": "closed",
        "category": "available",
        "submitter": "Dell",
        "system": "box",
        "benchmark": "bert",
        "accelerator": "A100-SXM-80GB",
        "accelerators": 8,
        "nodes": 1,
        "framework": "PyTorch",
        "run_minutes": (1.0,),
        "minutes": 1.0,
        "score_basis": "",
        "scaling_factor": 1.0,
        "global_batch_size": 64.0,
        "samples_to_target": 1000.0,
        "label": "",
        "hosts": 1,
        "host_processor": "AMD EPYC 7742",
        "framework_name": "PyTorch",
        "framework_version": "NGC 22.04",
    }
    return Result(**(fields | changes))


def _known(result: Result) -> set[str]:
    return {name for name, test in KNOWN_FIELDS.items() if test(result)}


def test_what_is_known_of_one_result() -> None:
    everything = set(KNOWN_FIELDS)
    assert _known(_result("a")) == everything
    assert _known(_result("a", accelerator="Wonder 9")) == everything - {"accelerator"}
    assert _known(_result("a", accelerator="V100")) == everything - {"accelerator"}
    assert _known(_result("a", accelerator="")) == everything - {"accelerator"}
    assert _known(_result("a", accelerator="", accelerators=0)) == everything
    assert _known(_result("a", division="ajar", minutes=None)) == everything - {"division", "score"}


def test_results_are_clean_or_settled_or_open() -> None:
    found = quality(
        [
            _result("a"),
            _result("b", doubts=(_SETTLED,)),
            _result("c", doubts=(_SETTLED, _OPEN)),
            _result("d", doubts=(_OPEN,)),
        ]
    )
    assert (found.results, found.clean, found.settled, found.open) == (4, 1, 1, 2)


def test_kinds_count_results_by_round_with_what_is_open_first() -> None:
    twice = Doubt(kind=_SETTLED.kind, text="another", resolved=True)
    found = quality(
        [
            _result("v10.0/x", "10.0", doubts=(_SETTLED,)),
            _result("v2.0/x", "2.0", doubts=(_SETTLED, twice)),
            _result("own/x", None, doubts=(_SETTLED, _OPEN)),
        ]
    )
    first, second = found.kinds
    assert (first.kind, first.resolved, first.results) == (_OPEN.kind, False, ("own/x",))
    assert second.by_round == {"2.0": 1, "10.0": 1, "own": 1}
    assert list(second.by_round) == ["2.0", "10.0", "own"]
    assert second.examples[0] == ("v2.0/x", "1 host server")


def test_a_kind_both_settled_and_open_is_two() -> None:
    both = Doubt(kind=_SETTLED.kind, text="unclear", resolved=False)
    found = quality([_result("a", doubts=(_SETTLED,)), _result("b", doubts=(both,))])
    assert [(kind.resolved, kind.results) for kind in found.kinds] == [
        (False, ("b",)),
        (True, ("a",)),
    ]


def test_shares_by_round() -> None:
    found = quality([_result("a", "1.0", framework_name=""), _result("b"), _result("c")])
    field = next(field for field in found.known if field.name == "framework")
    assert (field.known, field.results) == (2, 3)
    assert field.by_round == {"1.0": (0, 1), "2.0": (2, 2)}
    assert abs(field.share - 2 / 3) < 1e-9


def test_own_results_are_not_asked_what_only_submissions_say() -> None:
    own = _result("own/x", None, origin="own", hosts=None, category="", framework_name="")
    found = {field.name: field for field in quality([own, _result("a")]).known}
    assert (found["hosts"].known, found["hosts"].results) == (1, 1)
    assert found["category"].by_round == {"2.0": (1, 1)}
    assert (found["score"].known, found["score"].results) == (2, 2)


def test_the_text_fits_the_screen_and_hides_no_gap() -> None:
    results = [_result(f"v2.0/{n}") for n in range(2000)]
    results += [_result("v1.0/z", "1.0", framework_name="", doubts=(_OPEN, _SETTLED))]
    text = lines(quality(results), 78)
    assert max(map(len, text)) <= 78
    assert text[0].startswith("2001 results: 2000 without a doubt")
    assert any("framework" in line and "99.9 %" in line and "1.0 0 %" in line for line in text)
    assert text.index("Left open (results)") < text.index("Settled by a rule (results)")
    assert "       1  unknown framework   (1.0: 1)" in text
    assert "          v1.0/z: the framework field names none" in text


def test_text_from_files_cannot_control_the_terminal() -> None:
    wild = Doubt(kind="unknown framework", text="\x1b[2J\nboo", resolved=False)
    text = lines(quality([_result("\x1b[31m", doubts=(wild,))]), 200)
    assert all("\x1b" not in line and "\n" not in line for line in text)


def test_as_plain_data() -> None:
    plain = json.loads(json.dumps(quality([_result("a", doubts=(_OPEN,)), _result("b")]).to_dict()))
    assert (plain["results"], plain["clean"], plain["settled"], plain["open"]) == (2, 1, 0, 1)
    assert plain["doubts"] == [
        {
            "kind": "unknown framework",
            "resolved": False,
            "results": 1,
            "rounds": {"2.0": 1},
            "examples": [{"id": "a", "text": "the framework field names none"}],
            "ids": ["a"],
        }
    ]
    assert {field["field"] for field in plain["known"]} == set(KNOWN_FIELDS)
    assert plain["known"][0]["rounds"] == {"2.0": {"known": 2, "results": 2}}


def test_nothing_is_no_error() -> None:
    assert lines(quality([]), 80)[0].startswith("0 results")
    assert all(field.share == 1.0 for field in quality([]).known)
