import os
import subprocess
import sys
from pathlib import Path

import pytest

from trainmark.rules import tablecache, tables
from trainmark.rules.codec import decode, decode_table, encode, encode_table
from trainmark.rules.constraints import Compare, OneOf
from trainmark.rules.keyrules import Table
from trainmark.rules.subjects import Subject
from trainmark.rules.tables import known_tables, load_table, wanted_keys
from trainmark.rules.yamltables import compile_table, key_names

SOURCES = ["here", [["a.yaml", 3, 99]]]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "trainmark" / "rules"


def test_what_is_stored_is_loaded(cache: Path) -> None:
    assert tablecache.load("one", SOURCES) is None
    stored = tablecache.store("one", SOURCES, {"x": [1, "ü", None], "y": 0.1})
    assert tablecache.load("one", SOURCES) == stored == {"x": '[1,"ü",null]'.encode(), "y": b"0.1"}
    assert [file.name for file in cache.iterdir()] == ["one.json"]


def test_other_sources_are_another_thing() -> None:
    tablecache.store("one", SOURCES, {"x": 1})
    assert tablecache.load("one", ["here", [["a.yaml", 3, 100]]]) is None
    assert tablecache.load("two", SOURCES) is None


@pytest.mark.parametrize("cut", [0, 1, 40, -1, -5])
def test_a_damaged_file_counts_as_none(cache: Path, cut: int) -> None:
    tablecache.store("one", SOURCES, {"x": [1, 2, 3], "y": "z"})
    whole = (cache / "one.json").read_bytes()
    (cache / "one.json").write_bytes(whole[:cut])
    assert tablecache.load("one", SOURCES) is None
    (cache / "one.json").write_bytes(whole.replace(b"[1,2,3]", b"[1,2,4]"))
    assert tablecache.load("one", SOURCES) is None


def test_something_other_than_a_file_counts_as_none(cache: Path) -> None:
    (cache / "one.json").mkdir(parents=True)
    assert tablecache.load("one", SOURCES) is None
    assert tablecache.store("one", SOURCES, {"x": 1}) == {"x": b"1"}
    os.mkfifo(cache / "two.json")
    assert tablecache.load("two", SOURCES) is None


def test_what_json_cannot_hold_is_left_out() -> None:
    stored = tablecache.store("one", SOURCES, {"big": 1 << 70, "inf": float("inf"), "ok": 1})
    assert stored == {"ok": b"1"} == tablecache.load("one", SOURCES)


def test_a_cache_that_cannot_be_written_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert tablecache.store("one", SOURCES, {"x": 1}) == {"x": b"1"}
    assert tablecache.load("one", SOURCES) is None


def test_without_a_home_there_is_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    monkeypatch.setattr(Path, "home", no_home)
    assert tablecache.load("one", SOURCES) is None
    assert tablecache.store("one", SOURCES, {"x": 1}) == {"x": b"1"}


@pytest.mark.parametrize("home", ["", "relative", "{tmp}/absent", "{tmp}/file"])
def test_a_home_that_is_none_is_not_made(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", home.format(tmp=tmp_path))
    monkeypatch.chdir(tmp_path)
    assert tablecache.store("one", SOURCES, {"x": 1}) == {"x": b"1"}
    assert tablecache.load("one", SOURCES) is None
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_a_file_that_others_can_have_written_counts_as_none(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tablecache.store("one", SOURCES, {"x": 1})
    (cache / "one.json").chmod(0o666)
    assert tablecache.load("one", SOURCES) is None
    (cache / "one.json").chmod(0o664)
    assert tablecache.load("one", SOURCES) == {"x": b"1"}
    user = os.stat_result((0o100644, 0, 0, 1, os.geteuid() + 1, 0, 3, 0, 0, 0))
    assert not tablecache._is_ours(user)


def test_a_path_that_is_no_utf_8_is_done_without(cache: Path) -> None:
    tablecache.store("one", SOURCES, {"x": 1})
    strange = ["/\udcff", []]
    assert tablecache.store("one", strange, {"x": 1}) == {"x": b"1"}
    assert tablecache.load("one", strange) is None


def test_what_makes_the_tables_makes_them_stale() -> None:
    code = (
        "import sys, trainmark.rules.yamltables, trainmark.rules.codec, trainmark.rules.tables\n"
        "names = [name.split('.') for name in sys.modules if 'trainmark.rules.' in name]\n"
        "print(*[name[2] for name in names])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    only_for_words = {"statenames", "tablecache", "words"}
    assert set(done.stdout.split()) - only_for_words == set(tablecache._MAKERS)


@pytest.mark.parametrize("name", sorted(known_tables()))
def test_every_table_comes_back_the_same(name: str) -> None:
    made = compile_table(name, known_tables()[name])
    loaded = load_table(name)
    assert dict(loaded.keys) == made.keys
    assert (loaded.begin, loaded.before_end, loaded.end) == (made.begin, made.before_end, made.end)
    assert loaded.requirements() == {key: rule.requirement for key, rule in made.keys.items()}


@pytest.mark.parametrize(
    "value",
    [
        None,
        "x",
        (1, 2.5, True, None),
        float("inf"),
        OneOf(Subject(part="value"), (1, float("inf"), "[]")),
        Compare(Subject(part="metadata", path=("a", 0)), ">=", -1),
    ],
)
def test_rules_are_encoded_and_decoded(value: object) -> None:
    assert decode(encode(value)) == value


@pytest.mark.parametrize("value", [object(), [1], {"a": 1}, b"x", Path("x")])
def test_only_rules_are_encoded(value: object) -> None:
    with pytest.raises(ValueError, match="not a part of a rule"):
        encode(value)


@pytest.mark.parametrize(
    "data", [["Popen", "true"], ["Path", "/"], ["Compare", 1], ["Compare", 1, 2, 3, 4], []]
)
def test_only_known_classes_are_decoded(data: object) -> None:
    with pytest.raises((KeyError, ValueError)):
        decode(data)


def test_a_spoilt_rule_comes_from_its_file() -> None:
    name = "training_4.0.0/closed_resnet.yaml"
    made = compile_table(name, known_tables()[name])
    data = encode_table(made)
    for rule in data[1]:
        rule[2:] = [["Popen", "true"]]
    table = decode_table(name, data, spoilt=lambda: made)
    assert dict(table.keys) == made.keys
    assert table.requirements() == made.requirements()


def test_the_wanted_keys_are_those_of_all_tables(cache: Path) -> None:
    expected = {key for name, path in known_tables().items() for key in key_names(name, path)}
    assert wanted_keys.__wrapped__() == expected
    assert (cache / "keys.json").is_file()
    assert wanted_keys.__wrapped__() == expected
    assert {"run_start", "eval_accuracy", "trainmark_target"} <= expected


def test_a_table_that_cannot_be_compiled_spoils_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "training_9.0.0"
    folder.mkdir()
    (folder / "common.yaml").write_text("- KEY: {NAME: a, REQ: EXACTLY_ONE}\n")
    (folder / "dead.yaml").symlink_to("nowhere")
    (folder / "bad.yaml").write_text("- KEY: {NAME: b, CHECK: \"open('x')\"}\n")
    monkeypatch.setattr(tables, "table_folders", lambda: (folder,))
    made = tables._folder.__wrapped__(folder)
    assert list(made) == ["common.yaml"]
    assert tables._folder.__wrapped__(folder) == made  # from the cache


def test_a_warm_start_parses_no_rules(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from trainmark.rules.engine import run_tables\n"
        "from trainmark.rules.tables import wanted_keys\n"
        "from trainmark.types import RunLog\n"
        "run_tables(RunLog(events=(), source=''), 'training_4.0.0/common.yaml')\n"
        "wanted_keys()\n"
        "names = ('yaml', 'mlperf_logging', 'trainmark.rules.language', 'platformdirs')\n"
        "print([name for name in names if name in sys.modules])\n"
    )
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    for expected in ("['yaml', 'trainmark.rules.language']", "[]"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == expected


def test_a_table_is_a_table() -> None:
    assert isinstance(load_table("own/common.yaml"), Table)
