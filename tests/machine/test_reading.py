from pathlib import Path

import pytest

from tests.machine.machines import plant
from trainmark.machine.reading import children, cpu_list, fields, number, text


def test_text(tmp_path: Path) -> None:
    plant(tmp_path, {"a": " model \0\n"})
    assert text(tmp_path / "a") == "model"
    assert text(tmp_path / "absent") is None
    assert text(tmp_path) is None
    (tmp_path / "b").write_bytes(b"\xff")
    assert text(tmp_path / "b") == "\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    ("content", "value"), [("12\n", 12), ("-1", -1), ("0x1AE0\n", 0x1AE0), ("", None), ("x1", None)]
)
def test_number(tmp_path: Path, content: str, value: int | None) -> None:
    assert number(plant(tmp_path, {"a": content}) / "a") == value


def test_fields() -> None:
    assert dict(fields("a : 1\nb\nc: 2: 3\n", ":")) == {"a": "1", "c": "2: 3"}
    assert dict(fields("type  11\nempty\n")) == {"type": "11"}


def test_cpu_list() -> None:
    assert cpu_list("0-2,8\n") == {0, 1, 2, 8}
    assert cpu_list("") == frozenset()


def test_children_are_in_natural_order(tmp_path: Path) -> None:
    plant(tmp_path, {f"cpu{n}": "" for n in (10, 2, 1)} | {"cpufreq": ""})
    assert [p.name for p in children(tmp_path, "cpu[0-9]*")] == ["cpu1", "cpu2", "cpu10"]
    assert children(tmp_path / "absent") == []
