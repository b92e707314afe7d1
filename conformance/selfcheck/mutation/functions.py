"""The functions of a package's source: where they stand, and a hash that survives reformatting."""

from __future__ import annotations

import ast
import copy
import functools
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["SourceFunction", "functions_of", "source_of"]


@dataclass(frozen=True, slots=True)
class SourceFunction:
    """A function of a module.

    Attributes:
      path: the module's file.
      module: the path below the package's folder, `kernels/products.py`.
      name: the qualified name, without `<locals>`.
      first: the first line, that of its first decorator if it has any.
      last: the last line.

    """

    path: Path
    module: str
    name: str
    first: int
    last: int

    @property
    def id(self) -> str:
        """`module.py:name`."""
        return f"{self.module}:{self.name}"

    def digest(self) -> str:
        """SHA-256 of the function's code without comments, docstring and layout."""
        for function, node in _nodes(self.path, self.path.parents[self.module.count("/")]):
            if function == self:
                return hashlib.sha256(ast.unparse(_without_docstring(node)).encode()).hexdigest()
        raise LookupError(f"{self.path} has no function {self.name} in line {self.first}")


_Definition = ast.FunctionDef | ast.AsyncFunctionDef


def functions_of(folder: Path, below: str = "") -> tuple[SourceFunction, ...]:
    """Every function of the package in `folder`, by module and line.

    Args:
      folder: the package's folder.
      below: what the paths of the modules begin with, such as `kernels/`.

    Returns:
      The functions; those of generated modules are left out.

    """
    return tuple(
        function
        for path in sorted(folder.rglob("*.py"))
        if path.relative_to(folder).as_posix().startswith(below)
        if not source_of(path).lstrip('#" \n').lower().startswith("generated")
        for function, _ in _nodes(path, folder)
    )


@functools.cache
def source_of(path: Path) -> str:
    """The text of a module."""
    return path.read_text(encoding="utf-8")


@functools.lru_cache(maxsize=4)  # a syntax tree takes a hundred times the space of its text
def _nodes(path: Path, folder: Path) -> tuple[tuple[SourceFunction, _Definition], ...]:
    module = path.relative_to(folder).as_posix()
    return tuple(
        (
            SourceFunction(
                path,
                module,
                name,
                min([node.lineno, *(d.lineno for d in node.decorator_list)]),
                node.end_lineno or node.lineno,
            ),
            node,
        )
        for name, node in _definitions(ast.parse(source_of(path)), "")
    )


def _definitions(node: ast.AST, prefix: str) -> Iterator[tuple[str, _Definition]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Definition):
            yield prefix + child.name, child
        inner = (
            f"{prefix}{child.name}." if isinstance(child, (*_DEFINITIONS, ast.ClassDef)) else prefix
        )
        yield from _definitions(child, inner)


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _without_docstring(node: _Definition) -> _Definition:
    first = node.body[0]
    is_docstring = (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
    if not is_docstring:
        return node
    shown = copy.copy(node)
    shown.body = node.body[1:] or [ast.Pass()]
    return shown
