"""`tf.raw_ops`: declared operations as functions of keyword arguments."""

from __future__ import annotations

import collections
import functools
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from sessrun.reference.base import dtypes
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.signature import Signature, signature
from sessrun.reference.graph.operation import Operation
from sessrun.spec.operations import ArgDecl, AttrDecl
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["named", "results", "wrapper"]

_REDUCTIONS: Final = ("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum")
#: What Python calls an input or an attribute that the operation calls otherwise.
_RENAMED: Final[Mapping[str, Mapping[str, str]]] = {
    **{op_type: {"reduction_indices": "axis"} for op_type in _REDUCTIONS},
    "ExpandDims": {"dim": "axis"},
    "Select": {"t": "x", "e": "y"},
    "Split": {"split_dim": "axis"},
    "SplitV": {"split_dim": "axis"},
    "Squeeze": {"squeeze_dims": "axis"},
    "Where": {"input": "condition"},
}

#: Where a new word begins in an op type.
_BORDER: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])")


@functools.cache
def wrapper(op_type: str) -> Callable[..., Any]:
    """A function that builds an operation of this type from inputs and attributes by name.

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
    shown = _RENAMED.get(op_type, {})
    wanted = {shown.get(arg.name, arg.name): arg.name for arg in declared.inputs}
    optional = {shown.get(name, name): name for name in declared.attrs}
    known = inspect.Signature(_parameters(declared, shown))

    def make(*values: object, name: str | None = None, **arguments: object) -> Any:
        if values:
            raise TypeError(
                f"{op_type} only takes keyword args (possible keys: {list(known.parameters)}). "
                "Please pass these args as kwargs instead."
            )
        missing = set(wanted).difference(arguments)
        unknown = set(arguments).difference(wanted, optional)
        if missing or unknown:
            raise TypeError(f"{op_type}: missing {sorted(missing)}, unknown {sorted(unknown)}")
        inputs = {wanted[key]: value for key, value in arguments.items() if key in wanted}
        attrs = {optional[key]: value for key, value in arguments.items() if key in optional}
        return _outputs_of(apply_op(op_type, inputs, attrs, name))

    make.__name__ = op_type
    make.__doc__ = declared.declaration.summary
    vars(make)["__signature__"] = known  # what `inspect.signature` reads
    return make


def _parameters(declared: Signature, shown: Mapping[str, str]) -> list[inspect.Parameter]:
    """The parameters of a wrapper: inputs, attributes without a default, with one, name."""
    attrs = [attr for attr in declared.attrs.values() if attr.name not in declared.inferred]
    attrs.sort(key=lambda attr: attr.has_default)
    defaults: dict[str, object] = {arg.name: inspect.Parameter.empty for arg in declared.inputs}
    for attr in attrs:
        defaults[attr.name] = _default_of(attr) if attr.has_default else inspect.Parameter.empty
    defaults["name"] = None
    return [
        inspect.Parameter(
            shown.get(name, name), inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default
        )
        for name, default in defaults.items()
    ]


def _default_of(attr: AttrDecl) -> Any:
    """An attribute's default as a program writes it: a DType for a type."""
    return dtypes.of_name(attr.default) if attr.type == "type" else attr.default


def named(name: str) -> Callable[..., Any] | None:
    """The wrapper of a name in snake case, with positional arguments too; None without one.

    They stand in this order: inputs, attributes without a default, attributes with one, name.
    """
    op_type = _by_name().get(name.removeprefix("_"))  # some are private there
    if op_type is None:
        return None
    make = wrapper(op_type)
    known = inspect.signature(make)
    order = list(known.parameters)

    def call(*values: object, **arguments: object) -> Any:
        if len(values) > len(order):
            raise TypeError(f"{name}() takes {len(order)} arguments, not {len(values)}")
        return make(**dict(zip(order, values, strict=False)), **arguments)

    call.__name__ = name
    call.__doc__ = make.__doc__
    vars(call)["__signature__"] = known
    return call


@functools.cache
def _by_name() -> Mapping[str, str]:
    """Every op type under its name in lower case: `MatMul` is `mat_mul`."""
    return {_BORDER.sub("_", op_type).lower(): op_type for op_type in OPERATIONS}


def results(op: Operation) -> Any:
    """The result of a wrapper: the output of an operation, a tuple for several outputs."""
    declared = op.declaration.outputs
    if not declared:
        return op
    rest = list(op.outputs)
    values: list[object] = []
    for arg in declared:
        count = arg.count(op.attrs)
        values.append(rest[:count] if _is_list(arg) else rest[0])
        del rest[:count]
    return values[0] if len(values) == 1 else tuple(values)


def _outputs_of(op: Operation) -> Any:
    declared = op.declaration.outputs
    outputs = results(op)
    if len(declared) < 2:
        return outputs
    kind = collections.namedtuple(op.type, [arg.name for arg in declared])  # type: ignore[misc]  # noqa: PYI024 - its fields are data
    return kind(*outputs)


def _is_list(arg: ArgDecl) -> bool:
    return arg.number_attr is not None or arg.type_list_attr is not None
