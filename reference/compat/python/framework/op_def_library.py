"""`tensorflow.python.framework.op_def_library`: an operation of any type from arguments by name."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sessrun.reference.build import build, raw_wrappers
from sessrun.reference.build.signature import signature
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["apply_op"]


def apply_op(op_type_name: str, name: str | None = None, **keywords: Any) -> Any:
    """Make an operation in the graph of its inputs.

    Args:
      op_type_name: a declared op type.
      name: its name; by default the op type.
      **keywords: each input, and each attribute that no input gives, by name; after a name that
        is a word of Python an underscore may stand.

    Returns:
      The operation if it has no output, its tensor if it has one, a list for a list of them, for
      several outputs a tuple of these.

    Raises:
      RuntimeError: the op type is not declared.
      TypeError: an argument is missing, unknown, or of a wrong type or dtype.
      ValueError: a value is not allowed, or an input is no tensor and cannot become one.

    """
    if op_type_name not in OPERATIONS:
        raise RuntimeError(f"Unrecognized Op name {op_type_name}")
    declared = signature(op_type_name)
    inputs = {
        arg.name: _taken(
            keywords, arg.name, f"No argument for input {arg.name} found for {op_type_name}"
        )
        for arg in declared.inputs
    }
    _refuse_inferred(op_type_name, declared.inferred, keywords)
    attrs = {
        attr: _taken(keywords, attr, f"No argument found for attr {attr} for {op_type_name}")
        for attr in declared.attrs
        if attr not in declared.inferred
    }
    if keywords:
        unknown = ", ".join(sorted(keywords))
        raise TypeError(f"{op_type_name} got unexpected keyword arguments: {unknown}.")
    return raw_wrappers.outputs_of(build.apply_op(op_type_name, inputs, attrs, name))


def _taken(keywords: dict[str, object], name: str, missing: str) -> object:
    """Remove the argument of that name from the others, and return it."""
    for spelled in (name, f"{name}_"):
        if spelled in keywords:
            return keywords.pop(spelled)
    raise TypeError(missing)


def _refuse_inferred(op_type: str, inferred: Collection[str], keywords: dict[str, object]) -> None:
    for name in inferred:
        if name in keywords:
            raise TypeError(f"Should not specify value for inferred attr '{name}' for {op_type}.")
