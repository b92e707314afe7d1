"""`tf.raw_ops`: each declared operation as a function of keyword arguments alone."""

from __future__ import annotations

import collections
import functools
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from sessrun.reference.build import apply_op
from sessrun.reference.operation import Operation
from sessrun.reference.signature import signature
from sessrun.spec.operations import ArgDecl
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["named", "results", "wrapper"]

#: Where a new word begins in an op type.
_BORDER: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])")


def wrapper(op_type: str) -> Callable[..., Any]:
    """A function that makes an operation of this type from inputs and attributes by name.

    It returns the operation if it has no output, its tensor if it has one, a list for a list of
    them, for several outputs a namedtuple of these. It raises TypeError for a missing input or
    an unknown argument.

    Raises:
      AttributeError: the op type is not declared.

    """
    try:
        declared = signature(op_type)
    except RuntimeError as error:
        raise AttributeError(str(error)) from error
    wanted = {arg.name for arg in declared.inputs}
    known = wanted.union(declared.attrs)

    def make(name: str | None = None, **arguments: Any) -> Any:
        missing, unknown = wanted.difference(arguments), set(arguments).difference(known)
        if missing or unknown:
            raise TypeError(f"{op_type}: missing {sorted(missing)}, unknown {sorted(unknown)}")
        inputs = {key: value for key, value in arguments.items() if key in wanted}
        attrs = {key: value for key, value in arguments.items() if key not in wanted}
        return _shown(apply_op(op_type, inputs, attrs, name))

    make.__name__ = op_type
    make.__doc__ = declared.declaration.summary
    return make


def named(name: str) -> Callable[..., Any] | None:
    """The same as a function `mat_mul`, which takes its arguments by place, too; or None.

    They stand in this order: inputs, attributes without a default, attributes with one, name.
    """
    op_type = _by_name().get(name.removeprefix("_"))  # some are private there
    if op_type is None:
        return None
    declared, make = signature(op_type), wrapper(op_type)
    attrs = [attr for attr in declared.attrs.values() if attr.name not in declared.inferred]
    attrs.sort(key=lambda attr: attr.has_default)
    order = [*(arg.name for arg in declared.inputs), *(attr.name for attr in attrs), "name"]

    def call(*values: Any, **arguments: Any) -> Any:
        if len(values) > len(order):
            raise TypeError(f"{name}() takes {len(order)} arguments, not {len(values)}")
        return make(**dict(zip(order, values, strict=False)), **arguments)

    call.__name__ = name
    call.__doc__ = declared.declaration.summary
    return call


@functools.cache
def _by_name() -> Mapping[str, str]:
    """Every op type under its name in lower case: `MatMul` is `mat_mul`."""
    return {_BORDER.sub("_", op_type).lower(): op_type for op_type in OPERATIONS}


def results(op: Operation) -> Any:
    """What a wrapper returns of an operation, with a tuple for several outputs."""
    declared = op.declaration.outputs
    if not declared:
        return op
    rest = list(op.outputs)
    values: list[Any] = []
    for arg in declared:
        count = arg.count(op.attrs)
        values.append(rest[:count] if _is_list(arg) else rest[0])
        del rest[:count]
    return values[0] if len(values) == 1 else tuple(values)


def _shown(op: Operation) -> Any:
    declared = op.declaration.outputs
    found = results(op)
    if len(declared) < 2:
        return found
    kind = collections.namedtuple(op.type, [arg.name for arg in declared])  # type: ignore[misc]  # noqa: PYI024 - its fields are data
    return kind(*found)


def _is_list(arg: ArgDecl) -> bool:
    return arg.number_attr is not None or arg.type_list_attr is not None
