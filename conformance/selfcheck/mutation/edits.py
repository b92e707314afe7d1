"""Our own operators of mutation: mistakes that engines make and a general library does not know.

Each is a function from a node of the syntax tree to the pieces of source that it replaces.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["Edit", "edits_of"]


@dataclass(frozen=True, slots=True)
class Edit:
    """A piece of a module's source, from `start` to `end` in characters, and what replaces it."""

    operator: str
    start: int
    end: int
    line: int
    column: int
    text: str


#: A node, and the text of any node, to (the node that is replaced, the text instead).
_Rule = Callable[[ast.AST, Callable[[ast.AST], str]], Iterator[tuple[ast.AST, str]]]


def edits_of(source: str, tree: ast.Module) -> Iterator[Edit]:
    """Every edit that an operator of ours makes in a module, in the order of the tree's walk."""
    text = _Text(source)
    for node in ast.walk(tree):
        for operator, rule in _RULES.items():
            for target, replacement in rule(node, text.of):
                start, end = text.span(target)
                line, column = target.lineno, target.col_offset  # type: ignore[attr-defined]
                yield Edit(operator, start, end, line, column, replacement)


class _Text:
    """A module's text, addressed by nodes: their columns count bytes of UTF-8."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = source.splitlines(keepends=True)
        self.starts = [0, *itertools.accumulate(map(len, self.lines))]

    def span(self, node: ast.AST) -> tuple[int, int]:
        return (
            self._offset(node.lineno, node.col_offset),  # type: ignore[attr-defined]
            self._offset(node.end_lineno, node.end_col_offset),  # type: ignore[attr-defined]
        )

    def of(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.source[start:end]

    def _offset(self, line: int, column: int) -> int:
        head = self.lines[line - 1].encode()[:column].decode()
        return self.starts[line - 1] + len(head)


def _axis_off_by_one(
    node: ast.AST, text: Callable[[ast.AST], str]
) -> Iterator[tuple[ast.AST, str]]:
    """`axis=a` becomes `axis=(a) - 1`, in calls; so does an argument that is named for an axis."""
    if not isinstance(node, ast.Call):
        return
    for keyword in node.keywords:
        is_none = isinstance(keyword.value, ast.Constant) and keyword.value.value is None
        if keyword.arg in {"axis", "dim"} and not is_none:
            yield keyword.value, f"({text(keyword.value)}) - 1"
    for argument in node.args:
        if isinstance(argument, ast.Name) and argument.id in {"axis", "dim"}:
            yield argument, f"{argument.id} - 1"


def _default_dtype(node: ast.AST, _: Callable[[ast.AST], str]) -> Iterator[tuple[ast.AST, str]]:
    """`dtype=…` of a call becomes `dtype=None`: another dtype accumulates, or comes out."""
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg == "dtype":
                yield keyword.value, "None"


def _dropped_control_inputs(
    node: ast.AST, _: Callable[[ast.AST], str]
) -> Iterator[tuple[ast.AST, str]]:
    """`control_dependencies(x)` and `control_inputs=x` become empty."""
    if not isinstance(node, ast.Call):
        return
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    name = node.func.id if isinstance(node.func, ast.Name) else name
    if name == "control_dependencies" and len(node.args) == 1:
        yield node.args[0], "[]"
    for keyword in node.keywords:
        if keyword.arg == "control_inputs":
            yield keyword.value, "[]"


def _swapped_arguments(
    node: ast.AST, text: Callable[[ast.AST], str]
) -> Iterator[tuple[ast.AST, str]]:
    """The first argument of a call replaces the second."""
    if isinstance(node, ast.Call) and len(node.args) > 1:
        first, second = node.args[:2]
        # What a message says is for people.
        is_text = isinstance(second, ast.Constant) and " " in str(second.value)
        if not is_text and not any(isinstance(one, ast.Starred) for one in (first, second)):
            yield second, text(first)


def _lost_copy(node: ast.AST, text: Callable[[ast.AST], str]) -> Iterator[tuple[ast.AST, str]]:
    """`x.copy()` becomes `x`, `xp.array(x)` the same array."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="copy"), args=[]):
            yield node, f"({text(value)})"
        case ast.Call(func=ast.Attribute(value=value, attr="array") as function, args=[array, *_]):
            if not isinstance(array, ast.List | ast.Tuple | ast.ListComp | ast.Constant):
                yield function, f"{text(value)}.asarray"


def _dropped_call(node: ast.AST, _: Callable[[ast.AST], str]) -> Iterator[tuple[ast.AST, str]]:
    """A statement that only calls does nothing."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield node, "None"


def _uncaught_error(node: ast.AST, _: Callable[[ast.AST], str]) -> Iterator[tuple[ast.AST, str]]:
    """`except E:` catches nothing."""
    if isinstance(node, ast.ExceptHandler) and node.type is not None:
        yield node.type, "()"


def _dropped_conjugate(
    node: ast.AST, text: Callable[[ast.AST], str]
) -> Iterator[tuple[ast.AST, str]]:
    """`conj(x)` becomes `x`."""
    if isinstance(node, ast.Call) and len(node.args) == 1:
        name = text(node.func).rpartition(".")[2]
        if name.lstrip("_") in {"conj", "conjugate"}:
            yield node, f"({text(node.args[0])})"


def _first_of_several(
    node: ast.AST, text: Callable[[ast.AST], str]
) -> Iterator[tuple[ast.AST, str]]:
    """Of two values that a function returns, the first is returned twice."""
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple | ast.List):
        elements = node.value.elts
        if len(elements) > 1 and not any(isinstance(e, ast.Starred) for e in elements[:2]):
            yield elements[1], text(elements[0])


_RULES: Final[dict[str, _Rule]] = {
    "AxisOffByOne": _axis_off_by_one,
    "DefaultDtype": _default_dtype,
    "DroppedControlInputs": _dropped_control_inputs,
    "SwappedArguments": _swapped_arguments,
    "LostCopy": _lost_copy,
    "DroppedCall": _dropped_call,
    "UncaughtError": _uncaught_error,
    "DroppedConjugate": _dropped_conjugate,
    "FirstOfSeveral": _first_of_several,
}
