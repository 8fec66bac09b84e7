"""The language of the rule tables: a small, checked part of Python, compiled to closures.

A rule table is YAML with snippets such as ``v['value'] > 0``. A snippet is parsed with ``ast`` and
every node is looked up in a table of node types that rules may use; a node, a name, a method or a
function outside these tables is refused when the table is compiled, so nothing that a rule file or
a log holds is ever given to ``eval`` or ``exec``.

Names that a snippet sees: ``s`` (the table's state), ``v`` (the record's value and metadata),
``ll`` (the record), ``loglines`` (all records), the functions below and what it assigned itself.
"""

import ast
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from trainmark.rules.vocabulary import (
    ATTRIBUTES,
    BINARY,
    COMPARE,
    FUNCTIONS,
    MATH,
    METHODS,
    TYPES,
    UNARY,
    Record,
    Scope,
    add,
)
from trainmark.types import TrainmarkError

__all__ = [
    "RuleLanguageError",
    "compile_expression",
    "compile_statements",
    "parse_expression",
    "parse_statements",
]


class RuleLanguageError(TrainmarkError):
    """A snippet of a rule table is not in the language that rules may use."""


Evaluate = Callable[[Scope], Any]
Execute = Callable[[Scope], None]


def parse_expression(source: str) -> ast.expr:
    """The tree of an expression.

    Raises:
        RuleLanguageError: It is not one Python expression.
    """
    try:
        return ast.parse(source.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise _refused(f"is no expression ({error})", source) from error


def parse_statements(source: str) -> list[ast.stmt]:
    """The trees of one or more statements.

    Raises:
        RuleLanguageError: They are not Python statements.
    """
    try:
        return ast.parse(source.strip(), mode="exec").body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise _refused(f"is no code ({error})", source) from error


def compile_expression(node: ast.expr) -> Evaluate:
    """The closure of an expression tree.

    Evaluation raises what Python would raise (KeyError, TypeError, ...): a rule that cannot be
    evaluated is a rule that fails.

    Raises:
        RuleLanguageError: A node, name or function that rules may not use.
    """
    return _Compiler().expression(node)


def compile_statements(nodes: list[ast.stmt]) -> Execute:
    """The closure of several statements.

    Raises:
        RuleLanguageError: A node, name or function that rules may not use.
    """
    return _Compiler().block(nodes)


def _refused(what: str, source: str) -> RuleLanguageError:
    shown = " ".join(source.split())
    shown = shown if len(shown) <= 120 else shown[:119] + "…"
    return RuleLanguageError(
        f"rule snippet {shown!r} {what}",
        hint="The rule tables come from the package mlperf-logging and from trainmark itself; "
        "reinstall both, or report this snippet.",
    )


class _Compiler:
    """Turns trees into closures; knows which variables the snippet has assigned."""

    def __init__(self) -> None:
        self._assigned: set[str] = set()
        self._expressions: Mapping[type[ast.expr], Callable[[Any], Evaluate]] = {
            ast.Attribute: self._attribute,
            ast.BinOp: self._binary,
            ast.BoolOp: self._logic,
            ast.Call: self._call,
            ast.Compare: self._compare,
            ast.Constant: self._constant,
            ast.Dict: self._dict,
            ast.IfExp: self._choice,
            ast.List: self._list,
            ast.Name: self._name,
            ast.Set: self._set,
            ast.Subscript: self._subscript,
            ast.UnaryOp: self._unary,
        }
        self._statements: Mapping[type[ast.stmt], Callable[[Any], Execute]] = {
            ast.Assign: self._assign,
            ast.AugAssign: self._augment,
            ast.Expr: self._call_statement,
            ast.For: self._for,
            ast.If: self._if,
            ast.ImportFrom: self._import,
        }

    def expression(self, node: ast.expr) -> Evaluate:
        compiler = self._expressions.get(type(node))
        if compiler is None:
            raise _refused(f"uses {type(node).__name__}, which rules may not use", _text(node))
        return compiler(node)

    def block(self, nodes: list[ast.stmt]) -> Execute:
        steps = [self._statement(node) for node in nodes]

        def run(scope: Scope) -> None:
            for step in steps:
                step(scope)

        return run

    def _statement(self, node: ast.stmt) -> Execute:
        compiler = self._statements.get(type(node))
        if compiler is None:
            raise _refused(f"uses {type(node).__name__}, which rules may not use", _text(node))
        return compiler(node)

    # Expressions

    def _constant(self, node: ast.Constant) -> Evaluate:
        value = node.value
        if not isinstance(value, bool | int | float | str | None):
            raise _refused("has a constant of a kind that rules may not use", _text(node))
        return lambda scope: value

    def _name(self, node: ast.Name) -> Evaluate:
        name = node.id
        if name in self._assigned:
            return lambda scope: scope.names[name]
        if name in TYPES:
            kind = TYPES[name]
            return lambda scope: kind
        match name:
            case "s":
                return lambda scope: scope.state
            case "v":
                return Scope.both
            case "ll":
                return Scope.at
            case "loglines":
                return lambda scope: scope.records
        raise _refused(f"uses the name {name!r}, which rules do not have", name)

    def _attribute(self, node: ast.Attribute) -> Evaluate:
        base, attribute = self.expression(node.value), self._checked_attribute(node)
        if attribute == "key":  # the loop of stable diffusion asks every record of a log
            return lambda scope: base(scope).key
        return lambda scope: scope.read(base(scope), attribute)

    @staticmethod
    def _checked_attribute(node: ast.Attribute) -> str:
        if node.attr not in ATTRIBUTES:
            raise _refused(
                f"uses the attribute {node.attr!r}, which rules may not use", _text(node)
            )
        return node.attr

    def _subscript(self, node: ast.Subscript) -> Evaluate:
        match node:
            case ast.Subscript(value=ast.Name(id="v"), slice=ast.Constant(value="value")):
                return attrgetter("value")
            case ast.Subscript(value=ast.Name(id="v"), slice=ast.Constant(value="metadata")):
                return attrgetter("metadata")
            case ast.Subscript(
                value=ast.Attribute(value=record, attr="value"),
                slice=ast.Constant(value="value" | "metadata" as part),
            ):
                whose = self.expression(record)
                return lambda scope: scope.part(whose(scope), part)
            case ast.Subscript(slice=ast.Constant(value=str(name))):
                owner = self.expression(node.value)
                return lambda scope: owner(scope)[name]
        base, index = self.expression(node.value), self.expression(node.slice)
        return lambda scope: base(scope)[index(scope)]

    def _list(self, node: ast.List) -> Evaluate:
        items = [self.expression(item) for item in node.elts]
        return lambda scope: [item(scope) for item in items]

    def _set(self, node: ast.Set) -> Evaluate:
        items = [self.expression(item) for item in node.elts]
        return lambda scope: {item(scope) for item in items}

    def _dict(self, node: ast.Dict) -> Evaluate:
        if None in node.keys:
            raise _refused("unpacks a dictionary, which rules may not do", _text(node))
        keys = [self.expression(key) for key in node.keys if key is not None]
        items = list(zip(keys, [self.expression(value) for value in node.values], strict=True))
        return lambda scope: {key(scope): value(scope) for key, value in items}

    def _unary(self, node: ast.UnaryOp) -> Evaluate:
        function = _operator(UNARY, node.op, node)
        operand = self.expression(node.operand)
        return lambda scope: function(operand(scope))

    def _binary(self, node: ast.BinOp) -> Evaluate:
        function = _operator(BINARY, node.op, node)
        left, right = self.expression(node.left), self.expression(node.right)
        return lambda scope: function(left(scope), right(scope))

    def _logic(self, node: ast.BoolOp) -> Evaluate:
        parts = [self.expression(part) for part in node.values]
        stop_at = isinstance(node.op, ast.Or)
        if len(parts) == 2:
            first, second = parts
            if stop_at:
                return lambda scope: first(scope) or second(scope)
            return lambda scope: first(scope) and second(scope)

        def run(scope: Scope) -> Any:
            result = None
            for part in parts:
                result = part(scope)
                if bool(result) is stop_at:
                    return result
            return result

        return run

    def _compare(self, node: ast.Compare) -> Evaluate:
        functions = [_operator(COMPARE, op, node) for op in node.ops]
        first = self.expression(node.left)
        others = [self.expression(other) for other in node.comparators]
        if len(others) == 1:
            function, other = functions[0], others[0]
            return lambda scope: function(first(scope), other(scope))

        def run(scope: Scope) -> Any:
            left, result = first(scope), None
            for compare, next_one in zip(functions, others, strict=True):
                right = next_one(scope)
                result = compare(left, right)
                if not result:
                    return result
                left = right
            return result

        return run

    def _choice(self, node: ast.IfExp) -> Evaluate:
        test, yes, no = (self.expression(part) for part in (node.test, node.body, node.orelse))
        return lambda scope: yes(scope) if test(scope) else no(scope)

    def _call(self, node: ast.Call) -> Evaluate:
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise _refused("calls with named or unpacked arguments", _text(node))
        arguments = [self.expression(argument) for argument in node.args]
        match node.func:
            case ast.Name(id="enqueue_config") if len(arguments) == 1:
                return lambda scope: scope.enqueued.append(arguments[0](scope))
            case ast.Name(id="replace") if len(arguments) == 1:
                return lambda scope: scope.copy(arguments[0](scope))
            case ast.Name(id=name) if name in FUNCTIONS:
                function = FUNCTIONS[name]
            case ast.Attribute(value=ast.Name(id="math"), attr=name) if name in MATH:
                function = MATH[name]
            case ast.Attribute(value=ast.Constant(value=str(template)), attr="format"):
                if template.count("{") != template.count("{}"):
                    raise _refused("formats with more than {}", _text(node))
                function = template.format
            case ast.Attribute(value=base, attr=name) if name in METHODS:
                return _method(self.expression(base), name, arguments)
            case _:
                raise _refused(f"calls {_text(node.func)}, which rules may not call", _text(node))
        return lambda scope: function(*[argument(scope) for argument in arguments])

    # Statements

    def _call_statement(self, node: ast.Expr) -> Execute:
        if not isinstance(node.value, ast.Call):
            raise _refused("is an expression without effect", _text(node))
        return self._call(node.value)

    def _assign(self, node: ast.Assign) -> Execute:
        if len(node.targets) != 1:
            raise _refused("assigns to several targets", _text(node))
        value = self.expression(node.value)
        match node.targets[0]:
            case ast.Name(id=name):
                return self._assign_name(name, value, node)
            case ast.Subscript(value=base_node, slice=index_node):
                base, index = self.expression(base_node), self.expression(index_node)

                def store(scope: Scope) -> None:
                    base(scope)[index(scope)] = value(scope)

                return store
            case ast.Attribute(value=base_node) as target:
                owner, attribute = self.expression(base_node), self._checked_attribute(target)
                return lambda scope: setattr(_own(owner(scope)), attribute, value(scope))
        raise _refused("assigns to something that rules may not change", _text(node))

    def _assign_name(self, name: str, value: Evaluate, node: ast.AST) -> Execute:
        if name in {"s", "v", "ll", "loglines", "math", "replace", *FUNCTIONS, *TYPES}:
            raise _refused(f"assigns to {name!r}", _text(node))
        self._assigned.add(name)

        def store(scope: Scope) -> None:
            scope.names[name] = value(scope)

        return store

    def _augment(self, node: ast.AugAssign) -> Execute:
        function = _operator(BINARY, node.op, node)
        if not isinstance(node.target, ast.Subscript):
            raise _refused("changes something other than an entry of the state", _text(node))
        base, index = self.expression(node.target.value), self.expression(node.target.slice)
        value = self.expression(node.value)

        def run(scope: Scope) -> None:
            owner, key, more = base(scope), index(scope), value(scope)
            if function is add and isinstance(owner[key], list) and isinstance(more, list):
                owner[key].extend(more)
            else:
                owner[key] = function(owner[key], more)

        return run

    def _if(self, node: ast.If) -> Execute:
        test, yes, no = self.expression(node.test), self.block(node.body), self.block(node.orelse)
        return lambda scope: yes(scope) if test(scope) else no(scope)

    def _for(self, node: ast.For) -> Execute:
        if not isinstance(node.target, ast.Name) or node.orelse:
            raise _refused("loops in a way that rules may not", _text(node))
        over = self.expression(node.iter)
        name = node.target.id
        self._assign_name(name, over, node)
        body = self.block(node.body)

        def run(scope: Scope) -> None:
            items = over(scope)
            if not isinstance(items, list):
                raise TypeError("only a list can be walked")
            for item in list(items):
                scope.names[name] = item
                body(scope)

        return run

    @staticmethod
    def _import(node: ast.ImportFrom) -> Execute:
        names = [(alias.name, alias.asname) for alias in node.names]
        if node.module != "dataclasses" or node.level or names != [("replace", None)]:
            raise _refused("imports something", _text(node))
        return lambda scope: None  # ``replace`` is one of our functions


def _method(base: Evaluate, name: str, arguments: list[Evaluate]) -> Evaluate:
    owner_type = METHODS[name]

    def run(scope: Scope) -> Any:
        owner = base(scope)
        if not isinstance(owner, owner_type):
            raise TypeError(f"{name} is for {owner_type.__name__}, not {type(owner).__name__}")
        return getattr(owner, name)(*[argument(scope) for argument in arguments])

    return run


def _operator(
    known: Mapping[str, Callable[..., Any]], node: ast.AST, whole: ast.AST
) -> Callable[..., Any]:
    function = known.get(type(node).__name__)
    if function is None:
        raise _refused(f"uses the operator {type(node).__name__}", _text(whole))
    return function


def _own(value: Any) -> Record:
    if not isinstance(value, Record):
        raise TypeError("only a record that a rule made can be changed")
    return value


def _text(node: ast.AST) -> str:
    return ast.unparse(node)
