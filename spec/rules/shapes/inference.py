"""Evaluates an operation's shape rule: the one entry point of shape inference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sessrun.spec.operations import Name, Operation, RuleArg, RuleCall
from sessrun.spec.rules.shapes.base import RULES, Shape, Value

__all__ = ["infer"]


def infer(
    operation: Operation,
    shapes: Mapping[str, Any],
    attrs: Mapping[str, Any],
    *,
    value: Callable[[str], Value] = lambda _: None,
    dims: Callable[[str], Shape] | None = None,
    handle: Callable[[str], Shape] = lambda _: None,
) -> list[Shape]:
    """The shapes of an operation's output tensors, in order, lists of outputs laid flat.

    A rule's argument that names an input stands for its shape (for a list of tensors, a list of
    shapes), one that names an attribute for its value. Three calls may stand inside a rule:
    `value(x)` is the input's value as far as it is known, `dims(x)` the shape that an integer
    vector denotes, of which single dimensions may be known, `handle(x)` the shape of the
    variable behind a resource.

    Args:
      operation: the declaration.
      shapes: input name to its shape, or to a list of shapes for a list of tensors.
      attrs: attribute name to value: shapes as tuples or None, tensors as ndarrays.
      value: input name to ndarray, or None where it is not known while the graph is built.
      dims: input name to the shape that its value denotes; by default from `value`, or, if only
        the length of the vector is known, a shape of that rank.
      handle: input name to the shape of the variable that the resource refers to.

    Raises:
      ShapeError: the rule is broken by what is known.

    """

    def denoted(name: str) -> Shape:
        known = value(name)
        if known is not None:
            return tuple(int(n) for n in known.reshape(-1).tolist())
        vector = shapes[name]
        if vector is None or len(vector) != 1 or vector[0] is None:
            return None
        return (None,) * int(vector[0])

    special = {"value": value, "dims": dims or denoted, "handle": handle}

    def argument(arg: RuleArg) -> Any:
        if isinstance(arg, Name):
            return shapes[arg.text] if arg.text in shapes else attrs[arg.text]
        if not isinstance(arg, RuleCall):
            return arg
        (inner,) = arg.args
        if not isinstance(inner, Name):
            raise TypeError(f"{operation.name}: {arg.name}() takes the name of an input")
        return special[arg.name](inner.text)

    rule = operation.shape
    return RULES[rule.name](*(argument(arg) for arg in rule.args))
