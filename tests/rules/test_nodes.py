import copy
import pickle
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from trainmark.rules.constraints import AllOf, Compare, Expression
from trainmark.rules.keyrules import Requirement
from trainmark.rules.nodes import Node, make_node
from trainmark.rules.subjects import Subject


class Point(Node):
    kind: ClassVar[str] = "point"
    x: int
    y: int = 2


class Named(Point):
    name: str = ""


def test_fields_come_in_order_inherited_ones_first() -> None:
    assert Named.fields_ == ("x", "y", "name")
    assert (Named(1, 3, "a").x, Named(1).y, Named(1, name="b").name) == (1, 2, "b")
    assert repr(Named(1)) == "Named(x=1, y=2, name='')"


def test_nodes_compare_and_hash_by_class_and_fields() -> None:
    assert Point(1) == Point(1, 2) != Point(2)
    assert hash(Point(1)) == hash(Point(1, 2))
    assert Point(1) != Named(1)
    assert Point(1) != (1, 2)


def test_a_node_cannot_be_changed() -> None:
    point = Point(1)
    with pytest.raises(AttributeError, match="cannot be changed"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del point.x
    assert not hasattr(point, "__dict__")


@pytest.mark.parametrize(
    ("values", "named", "reason"),
    [
        ((), {}, "needs x"),
        ((1, 2, 3), {}, "takes x, y"),
        ((1,), {"x": 2}, "has no x"),
        ((1,), {"z": 2}, "has no z"),
    ],
)
def test_wrong_fields_are_refused(
    values: tuple[int, ...], named: dict[str, int], reason: str
) -> None:
    with pytest.raises(TypeError, match=reason):
        Point(*values, **named)


def test_keyword_only_classes_take_names() -> None:
    with pytest.raises(TypeError, match="takes"):
        Requirement(1)  # type: ignore[call-arg]
    assert Requirement(least=1) == Requirement(least=1, once=False, alternatives=())


def test_patterns_match_fields() -> None:
    match Point(1, 5):
        case Point(x=1, y=five):
            assert five == 5
        case _:
            raise AssertionError
    match Point(1, 5):
        case Point(1, five):
            assert five == 5
        case _:
            raise AssertionError


def test_annotations_may_come_from_a_function() -> None:
    make: Callable[..., Any] = type(Node)
    late = make("Late", (Node,), {"__annotate_func__": lambda _: {"z": int}})
    assert late(3).z == 3


def test_nodes_can_be_sent_to_another_process() -> None:
    value = Subject(part="value")
    rule = AllOf((Compare(value, ">", 0), Expression("abs(v['value']) < 1")))
    assert pickle.loads(pickle.dumps(rule)) == rule
    assert copy.deepcopy(rule) == rule


def test_a_node_is_made_of_all_its_values() -> None:
    assert make_node(Point, [1, 2]) == Point(1, 2)
    with pytest.raises(ValueError, match="2 fields, not 1"):
        make_node(Point, [1])
