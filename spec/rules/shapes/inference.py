"""Evaluates an operation's shape rule: the one entry point of shape inference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from sessrun.spec.operations import Name, Operation, RuleArg, RuleCall
from sessrun.spec.rules.shapes.base import (
    MAX_RANK,
    RULES,
    Known,
    Shape,
    ShapeError,
    Value,
    as_dims,
    ranked,
)
from sessrun.spec.rules.shapes.resources import of_resource
from sessrun.spec.rules.shapes.tables import Table

__all__ = ["RANKS", "denoted", "elements_of", "infer", "single"]

#: The calls that stand for an input's value: from which rank to which the input must have.
RANKS: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {"value": (0, MAX_RANK), "scalar": (0, 0), "vector": (1, 1), "axes": (0, 1)}
)


def single(known: Value) -> Value:
    """The value, if it is not known or that of a scalar.

    Raises:
      ShapeError: it is another.

    """
    if known is not None and known.ndim:
        raise ShapeError(f"Input must be scalar but has rank {known.ndim}")
    return known


def elements_of(shape: Shape, dims: Shape) -> Shape:
    """The elements of an integer vector of sizes.

    Args:
      shape: the vector's own shape.
      dims: what is known of its elements; None for nothing.

    Raises:
      ShapeError: it is no vector, or has more elements than a tensor dimensions.

    """
    vector = ranked(shape, 1, 1)
    if dims is None and vector is not None and vector[0] is not None:
        if vector[0] > MAX_RANK:
            raise ShapeError(f"A shape has {MAX_RANK} dimensions at most, not {vector[0]}")
        return (None,) * vector[0]
    return dims


def denoted(shape: Shape, dims: Shape) -> Shape:
    """The shape that an integer vector denotes; arguments and errors are those of `elements_of`.

    Raises:
      ShapeError: a size is negative, but for -1, which stands for an unknown one.

    """
    sizes = elements_of(shape, dims)
    return None if sizes is None else as_dims(sizes)


def infer(
    operation: Operation,
    shapes: Mapping[str, Any],
    attrs: Mapping[str, Any],
    *,
    value: Callable[[str], Value] = lambda _: None,
    dims: Callable[[str], Shape] | None = None,
    handle: Callable[[str], Shape] = lambda _: None,
    handle_dtype: Callable[[str], str | None] = lambda _: None,
    table: Callable[[str], Table | None] = lambda _: None,
) -> list[Shape]:
    """The shapes of an operation's output tensors, in order, lists of outputs laid flat.

    A rule's argument that names an input stands for its shape (for a list of tensors, a list of
    shapes), one that names an attribute for its value. These calls may stand inside a rule:
    `value(x)` is the input's value as far as it is known, and so are `scalar(x)`, `vector(x)` and
    `axes(x)`, which demand of the input that it is a scalar, a vector, or one of the two;
    `single(x)` demands it of the value, if that is known; `known(x)` is shape and value;
    `dims(x)` is the shape that an integer vector denotes, of which single dimensions may be
    known, and `elements(x)` these numbers, where -1 means something of its own; `handle(x)`
    and `handle_dtype(x)` are the shape and the dtype of what is behind a
    resource: a variable, or the elements of an array of tensors; `table(x)` is what is known of
    the lookup table behind a resource; `of_resource(x)` is what stands for an older handle.

    Args:
      operation: the declaration.
      shapes: input name to its shape, or to a list of shapes for a list of tensors.
      attrs: attribute name to value: shapes as tuples or None, tensors as ndarrays.
      value: input name to ndarray, or None where it is not known while the graph is built.
      dims: input name to the shape that its value denotes; by default from `value`, or, if only
        the length of the vector is known, a shape of that rank.
      handle: input name to the shape of what the resource refers to.
      handle_dtype: input name to its dtype, or None.
      table: input name to the table behind the resource, or None.

    Raises:
      ShapeError: the rule is broken by what is known.

    """
    calls = _calls(shapes, value, dims)
    calls |= {"handle": handle, "handle_dtype": handle_dtype, "table": table}
    calls["of_resource"] = lambda name: of_resource(shapes[name])

    def argument(arg: RuleArg) -> Any:
        if isinstance(arg, Name):
            return shapes[arg.text] if arg.text in shapes else attrs[arg.text]
        if not isinstance(arg, RuleCall):
            return arg
        (inner,) = arg.args
        if not isinstance(inner, Name):
            raise TypeError(f"{operation.name}: {arg.name}() takes the name of an input")
        if arg.name in RANKS:
            ranked(shapes[inner.text], *RANKS[arg.name])
            return value(inner.text)
        return calls[arg.name](inner.text)

    rule = operation.shape
    return RULES[rule.name](*(argument(arg) for arg in rule.args))


def _calls(
    shapes: Mapping[str, Any],
    value: Callable[[str], Value],
    dims: Callable[[str], Shape] | None,
) -> dict[str, Callable[[str], Any]]:
    """What the calls in a rule that look at an input's value stand for."""

    def sizes(name: str) -> Shape:
        if dims is not None:
            return dims(name)
        tensor = value(name)
        return None if tensor is None else tuple(int(n) for n in tensor.reshape(-1).tolist())

    def known(name: str) -> Any:
        values = value(name)
        if not isinstance(shapes[name], list):
            return Known(shapes[name], values)
        values = values or [None] * len(shapes[name])
        return [Known(*pair) for pair in zip(shapes[name], values, strict=True)]

    return {
        "dims": lambda name: denoted(shapes[name], sizes(name)),
        "elements": lambda name: elements_of(shapes[name], sizes(name)),
        "known": known,
        "single": lambda name: single(value(name)),
    }
