"""What can be changed in a module's source: sites, and the source with one of them changed.

Operators of two kinds: those of cosmic-ray (arithmetic, comparisons, conditions, numbers, loops),
and our own for what goes wrong in an engine (`edits.py`). Annotations, signatures, decorators,
what an error says and what is logged stay as they are.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sessrun.conformance.selfcheck.mutation.edits import Edit, edits_of
from sessrun.conformance.selfcheck.mutation.functions import SourceFunction, source_of

__all__ = ["MissingLibraryError", "Site", "changed", "sites_of"]

#: The operators of cosmic-ray that make a plausible mistake; swaps such as `+` for `>>` do not.
_OPERATORS: Final = (
    "ReplaceBinaryOperator_Add_Sub",
    "ReplaceBinaryOperator_Sub_Add",
    "ReplaceBinaryOperator_Mul_Div",
    "ReplaceBinaryOperator_Div_Mul",
    "ReplaceBinaryOperator_FloorDiv_Mod",
    "ReplaceBinaryOperator_Mod_FloorDiv",
    "ReplaceBinaryOperator_Pow_Mul",
    "ReplaceBinaryOperator_BitOr_BitAnd",
    "ReplaceBinaryOperator_BitAnd_BitOr",
    "ReplaceBinaryOperator_BitXor_BitOr",
    "ReplaceBinaryOperator_LShift_RShift",
    "ReplaceBinaryOperator_RShift_LShift",
    "ReplaceComparisonOperator_Eq_NotEq",
    "ReplaceComparisonOperator_NotEq_Eq",
    "ReplaceComparisonOperator_Lt_LtE",
    "ReplaceComparisonOperator_LtE_Lt",
    "ReplaceComparisonOperator_Gt_GtE",
    "ReplaceComparisonOperator_GtE_Gt",
    "ReplaceComparisonOperator_Is_IsNot",
    "ReplaceComparisonOperator_IsNot_Is",
    "ReplaceUnaryOperator_USub_UAdd",
    "ReplaceUnaryOperator_Delete_Not",
    "AddNot",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak",
    "NumberReplacer",
    "ZeroIterationForLoop",
)


class MissingLibraryError(RuntimeError):
    """The mutation library is not installed."""


@dataclass(frozen=True, slots=True)
class Site:
    """One possible change.

    Attributes:
      operator: the operator's name.
      occurrence: which of the operator's positions in the module it is, from 0.
      line: where it begins.
      column: its first column.

    """

    operator: str
    occurrence: int
    line: int
    column: int


def sites_of(function: SourceFunction) -> tuple[Site, ...]:
    """The sites within a function, but not within functions nested in it."""
    inner = [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(_tree(function.path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and function.first < node.lineno
        and (node.end_lineno or node.lineno) <= function.last
        and not _is_the_function(node, function)
    ]
    return tuple(
        site
        for site in _sites(function.path)
        if function.first <= site.line <= function.last
        and not any(first <= site.line <= last for first, last in inner)
    )


def _is_the_function(
    node: ast.FunctionDef | ast.AsyncFunctionDef, function: SourceFunction
) -> bool:
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return first == function.first and node.end_lineno == function.last


def changed(path: Path, site: Site) -> str:
    """The source of a module with one site changed."""
    source = source_of(path)
    own = _edits(path)
    if site.operator in own:
        edit = own[site.operator][site.occurrence]
        return source[: edit.start] + edit.text + source[edit.end :]
    from cosmic_ray.mutating import mutate_code  # noqa: PLC0415 - an extra

    text: str | None = mutate_code(source, _library()[site.operator](), site.occurrence)
    assert text is not None, f"{path} has no such site: {site}"
    return text


@functools.cache
def _library() -> Any:
    try:
        from cosmic_ray.operators.provider import OperatorProvider  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingLibraryError(
            "cosmic-ray is not installed: pip install 'sessrun[selfcheck]'"
        ) from error
    return OperatorProvider()


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(source_of(path))


@functools.cache
def _edits(path: Path) -> dict[str, list[Edit]]:
    by_operator: dict[str, list[Edit]] = {}
    for edit in edits_of(source_of(path), _tree(path)):
        by_operator.setdefault(edit.operator, []).append(edit)
    return by_operator


@functools.cache
def _sites(path: Path) -> tuple[Site, ...]:
    hidden = _unseen(_tree(path))
    every = [*_library_sites(path), *_own_sites(path)]
    return tuple(
        site
        for site in every
        if not any(start <= (site.line, site.column) < end for start, end in hidden)
    )


def _library_sites(path: Path) -> Iterator[Site]:
    library = _library()
    from cosmic_ray.ast import ast_nodes, get_ast  # noqa: PLC0415 - an extra

    operators = {name: library[name]() for name in _OPERATORS}
    counts = dict.fromkeys(_OPERATORS, 0)
    for node in ast_nodes(get_ast(source_of(path))):
        for name, operator in operators.items():
            for (line, column), _ in operator.mutation_positions(node):
                yield Site(name, counts[name], line, column)
                counts[name] += 1


def _own_sites(path: Path) -> Iterator[Site]:
    for operator, edits in _edits(path).items():
        for occurrence, edit in enumerate(edits):
            yield Site(operator, occurrence, edit.line, edit.column)


#: Names of what is written for people.
_LOGS: Final = frozenset({"_LOGGER", "log_messages", "logging", "warnings"})

_Span = tuple[tuple[int, int], tuple[int, int]]


def _unseen(tree: ast.Module) -> list[_Span]:
    """The spans that are left as they are."""
    spans: list[_Span] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            spans.append((_span(node)[0], _span(node.body[0])[0]))  # the signature
        parts = [*_declarations(node), *_texts(node), *_same_either_way(node)]
        spans += [_span(part) for part in parts]
    return spans


def _declarations(node: ast.AST) -> list[ast.expr]:
    """Decorators and annotations."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return node.decorator_list
        case ast.AnnAssign():
            return [node.annotation]
    return []


def _texts(node: ast.AST) -> list[ast.AST]:
    """What only people read: errors' and log's arguments, formatted strings."""
    match node:
        case ast.Raise(exc=ast.Call(args=args, keywords=keywords)):
            return [*args, *(keyword.value for keyword in keywords)]
        case ast.Expr(value=ast.Call(func=function)) if _is_for_people(function):
            return [node]
        case ast.Call(func=function, args=args, keywords=keywords) if _is_for_people(function):
            return [*args, *(keyword.value for keyword in keywords)]
        case ast.JoinedStr():
            return [node]
    return []


def _same_either_way(node: ast.AST) -> list[ast.AST]:
    """What no change of changes anything: assertions, the one output of most operations, sizes."""
    match node:
        case ast.Assert():
            return [node]
        case ast.Call(func=ast.Name(id="zip"), keywords=keywords):
            return [keyword.value for keyword in keywords]  # `strict` only asserts
        case ast.Call(func=ast.Name(id="cast"), args=[first, *_]):
            return [first]
        case ast.Subscript(value=ast.Attribute(attr="outputs"), slice=ast.Constant(value=0)):
            return [node.slice]
        case ast.Call(func=ast.Attribute(attr="reshape"), args=args):
            sizes = [
                size for arg in args for size in (arg.elts if isinstance(arg, ast.Tuple) else [arg])
            ]
            # any number below 0 leaves a size open
            return [size.operand for size in sizes if isinstance(size, ast.UnaryOp)]
    return []


def _is_for_people(function: ast.expr) -> bool:
    """Whether a call makes an error that another statement raises, or logs."""
    match function:
        case ast.Name(id=name):
            return name.endswith("Error")
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            return name in _LOGS or attribute.endswith("Error")
        case ast.Attribute(value=ast.Call(func=ast.Attribute(attr="getLogger"))):
            return True
    return False


def _span(node: Any) -> _Span:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
