"""A base for small immutable classes, of which the rules have dozens.

A class that derives from ``Node`` is what ``dataclass(frozen=True, slots=True)`` would make of
it, for readers and type checkers alike. It comes without generated code: making a dataclass costs
nearly a millisecond, which every start of the command would pay for each class.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, dataclass_transform

__all__ = ["Node", "make_node"]


@dataclass_transform(frozen_default=True)
class _NodeType(type):
    """Makes slots of the annotated fields, inherited ones first."""

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], *, kw_only: bool = False
    ) -> type:
        """The class; ``kw_only`` refuses positional values.

        Raises:
            TypeError: As any class statement.
        """
        notes = _annotations(namespace)
        own = tuple(field for field, kind in notes.items() if "ClassVar" not in str(kind))
        defaults = {field: namespace.pop(field) for field in own if field in namespace}
        namespace["__slots__"] = own
        inherited: tuple[str, ...] = getattr(bases[0], "fields_", ()) if bases else ()
        namespace["fields_"] = inherited + own
        namespace["defaults_"] = {
            **(getattr(bases[0], "defaults_", {}) if bases else {}),
            **defaults,
        }
        namespace["kw_only_"] = kw_only
        namespace["__match_args__"] = () if kw_only else inherited + own
        return super().__new__(mcs, name, bases, namespace)


def _annotations(namespace: Mapping[str, Any]) -> Mapping[str, Any]:
    """The annotations of a class body; from Python 3.14 on they are made by a function."""
    annotate = namespace.get("__annotate_func__")
    if annotate is not None:
        made: Mapping[str, Any] = annotate(1)  # 1: as values
        return made
    found: Mapping[str, Any] = namespace.get("__annotations__", {})
    return found


class Node(metaclass=_NodeType):
    """An immutable object with named fields that compares, hashes, prints and pickles by them."""

    fields_: ClassVar[tuple[str, ...]]
    defaults_: ClassVar[Mapping[str, Any]]
    kw_only_: ClassVar[bool]

    def __init__(self, *values: Any, **named: Any) -> None:
        fields = self.fields_
        if values:
            if len(values) > len(fields) or self.kw_only_:
                raise TypeError(f"{type(self).__name__} takes {', '.join(fields)}")
            set_all(self, fields, values)
            fields = fields[len(values) :]
        for field in fields:
            if field in named:
                object.__setattr__(self, field, named.pop(field))
            elif field in self.defaults_:
                object.__setattr__(self, field, self.defaults_[field])
            else:
                raise TypeError(f"{type(self).__name__} needs {field}")
        if named:
            raise TypeError(f"{type(self).__name__} has no {', '.join(named)}")

    def values_(self) -> tuple[Any, ...]:
        """The fields' values, in order."""
        return tuple(getattr(self, field) for field in self.fields_)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, Node)
        return self.values_() == other.values_()

    def __hash__(self) -> int:
        return hash((type(self), self.values_()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{field}={getattr(self, field)!r}" for field in self.fields_)
        return f"{type(self).__name__}({shown})"

    def __reduce__(self) -> tuple[Any, ...]:
        return make_node, (type(self), self.values_())


def set_all(node: Node, fields: tuple[str, ...], values: Sequence[Any]) -> None:
    """Fill the first fields of a node that is being made."""
    assign = object.__setattr__
    for field, value in zip(fields, values, strict=False):
        assign(node, field, value)


def make_node(kind: type[Node], values: Sequence[Any]) -> Node:
    """A node from all its values, in the order of its fields.

    Raises:
        ValueError: There are more or fewer values than fields.
    """
    fields = kind.fields_
    if len(values) != len(fields):
        raise ValueError(f"{kind.__name__} has {len(fields)} fields, not {len(values)}")
    node = kind.__new__(kind)
    set_all(node, fields, values)
    return node
