"""Calls of the differentiable operations of the table, on drawn arguments."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from sessrun.conformance.authoring.forms import form
from sessrun.conformance.subjects.gradients.calls import Call
from sessrun.conformance.subjects.gradients.limits import (
    OF_CONSTANTS,
    OF_KNOWN_SHAPE,
    has_corners,
    is_drawn,
    settled,
    without,
)
from sessrun.conformance.subjects.gradients.points import (
    corner_values,
    is_kept,
    smooth_values,
)
from sessrun.spec import tensors
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.forms import Json
from sessrun.spec.operations import AttrDecl, Operation
from sessrun.spec.rules.domains import ORDINARY, Arguments, arguments
from sessrun.spec.since import is_newer
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["UNDRAWN", "drawn_row", "floats_of", "row_call", "rows"]

#: Differentiable operations that are not drawn here, and why.
UNDRAWN: Final[Mapping[str, str]] = {
    "Print": "it writes to the standard error; its gradient is Identity's",
    "RandomGamma": "an engine may draw numbers of its own",
    "ReadVariableOp": "it reads a variable: the functions of this subject draw it",
    "ResourceGather": "it reads a variable: the functions of this subject draw it",
    "ResourceGatherNd": "it reads a variable: the functions of this subject draw it",
}
#: Operations that are drawn here though the table does not call them differentiable: the values of
#: their gradients are TensorFlow's, but not the nodes.
_OF_OTHER_NODES: Final = frozenset(
    {
        "BandedTriangularSolve",
        "FusedBatchNormGrad",
        "FusedBatchNormGradV2",
        "FusedBatchNormGradV3",
        "NextAfter",
        "SparseReorder",
        "SparseToDense",
    }
)
#: Kinds of dtypes that have gradients.
_KINDS: Final = ("float", "complex")
#: Outputs that are determined up to a sign or a phase: their absolute values are taken.
_OF_ANY_PHASE: Final = frozenset({"Eig", "Qr", "SelfAdjointEigV2", "Svd"})
#: `tf.raw_ops` calls some arguments by newer names.
_RENAMED: Final[Mapping[tuple[str, str], str]] = {
    ("ExpandDims", "dim"): "axis",
    ("Select", "t"): "x",
    ("Select", "e"): "y",
    ("Split", "split_dim"): "axis",
    ("SplitV", "split_dim"): "axis",
    ("Squeeze", "squeeze_dims"): "axis",
    **{
        (name, "reduction_indices"): "axis"
        for name in ("EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum")
    },
}
#: Operations that an engine may compute in float32 for inputs of float64.
_AS_FLOATS: Final = frozenset({"CTCLoss", "ResizeBicubic", "ResizeBilinear"})
#: How many times arguments are drawn until they are floating: some domains choose their dtypes.
_TRIALS: Final = 200
#: The chance that one tensor is used for inputs of equal shape and dtype.
_SHARED: Final = 0.2


@functools.cache
def rows() -> tuple[Operation, ...]:
    """The differentiable operations that are drawn, by name."""
    return tuple(
        operation
        for name, operation in sorted(OPERATIONS.items())
        if (operation.differentiable or name in _OF_OTHER_NODES) and name not in UNDRAWN
    )


def _narrowed(operation: Operation, dtypes: tuple[str, ...]) -> Operation:
    """The operation with its type attributes limited to these dtypes, to floating ones if any."""

    def narrowed(attr: AttrDecl) -> AttrDecl:
        if attr.type != "type":
            return attr
        admitted = [name for name in attr.allowed or ORDINARY if name in dtypes]
        floats = [name for name in admitted if name in _FLOATS]
        return replace(attr, allowed=tuple(floats or admitted)) if admitted else attr

    return replace(operation, attrs=tuple(map(narrowed, operation.attrs)))


def floats_of(given: Arguments) -> Iterator[np.ndarray]:
    """The inputs of floating and complex dtypes."""
    for value in given.inputs.values():
        for item in value if isinstance(value, list | tuple) else [value]:
            if _is_float(item):
                yield item


def _is_float(value: np.ndarray) -> bool:
    return value.dtype.names is None and _dtype(value) in _FLOATS


def _dtype(value: np.ndarray) -> str:
    return "string" if value.dtype == object else value.dtype.name


_FLOATS: Final = frozenset(name for name in ORDINARY if BY_NAME[name].kind in _KINDS)


def drawn_row(
    operation: Operation, draw: random.Random, dtypes: tuple[str, ...] = tuple(sorted(_FLOATS))
) -> Arguments:
    """Valid arguments of an operation, of these dtypes where its domain lets them be chosen."""
    dtypes = tuple(dtype for dtype in dtypes if dtype not in without(operation.name))
    for _ in range(_TRIALS):
        wanted = (*dtypes, *(("int32",) if draw.random() < 0.8 else ()))
        given = arguments(_narrowed(operation, wanted), draw)
        names = {_dtype(item) for item in floats_of(given)}
        if names and names <= set(dtypes) and is_drawn(operation.name, given):
            break
    return settled(operation.name, given)


def row_call(operation: Operation, given: Arguments, draw: random.Random) -> Call:
    """The call of an operation, at a point where it is smooth and at its ties, zeros and bounds.

    Inputs of equal shape and dtype are sometimes one tensor.
    """
    inputs = _Inputs(operation, draw)
    keywords: dict[str, Json] = {}
    for arg in operation.inputs:
        value = given.inputs[arg.name]
        keywords[_keyword(operation, arg.name)] = (
            [inputs.parameter(arg.name, item) for item in value]
            if isinstance(value, list | tuple)
            else inputs.parameter(arg.name, value)
        )
    keywords |= _attributes(operation, given)
    call: dict[str, Json] = {"$call": f"tf.raw_ops.{operation.name}", "kwargs": keywords}
    smooth, others = inputs.points
    function = {
        "$fn": {
            "params": [f"x{index}" for index in range(len(smooth))],
            "returns": _of_any_phase(operation, call, given),
        }
    }
    differentiated = [index for index, item in enumerate(smooth) if _is_float(item)]
    dtypes = {_dtype(item) for item in smooth if _is_float(item)}
    dtypes |= {value for value in given.attrs.values() if isinstance(value, str)} & _FLOATS
    dtypes |= {"float32"} if operation.name in _AS_FLOATS else set()
    points = [smooth, others] if inputs.is_moved else [smooth]
    ways = [_way(operation, item, draw) for item in smooth]
    return Call(
        operation.name,
        function,
        points,
        ways,
        differentiated,
        frozenset(dtypes),
        inputs.has_corners,
    )


class _Inputs:
    """The tensors that an operation is called on, at two points.

    Attributes:
      points: the tensors' values at both points.
      is_moved: whether the points differ.
      has_corners: whether the second point has ties, zeros and bounds.

    """

    def __init__(self, operation: Operation, draw: random.Random) -> None:
        self.points: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
        self.is_moved = False
        self.has_corners = False
        self._name = operation.name
        self._draw = draw
        self._shared = draw.random() < _SHARED

    def parameter(self, name: str, item: np.ndarray) -> dict[str, str]:
        """The parameter for an input whose domain drew this value."""
        smooth, others = self.points
        is_moved = _is_float(item) and not is_kept(self._name, name)
        alike = [
            index
            for index, other in enumerate(smooth)
            if other.dtype == item.dtype and other.shape == item.shape
        ]
        if is_moved and self._shared and alike:
            return {"$": f"x{self._draw.choice(alike)}"}
        smooth.append(smooth_values(self._name, item, self._draw) if is_moved else item)
        others.append(self._other(item) if is_moved else item)
        self.is_moved |= is_moved
        return {"$": f"x{len(smooth) - 1}"}

    def _other(self, item: np.ndarray) -> np.ndarray:
        if has_corners(self._name, item):
            self.has_corners = True
            return corner_values(item, self._draw)
        return smooth_values(self._name, item, self._draw)


def _way(operation: Operation, item: np.ndarray, draw: random.Random) -> str:
    """Whether an input is a constant, or fed with known or unknown shape; floats are always fed."""
    if operation.name in OF_KNOWN_SHAPE:
        return "known"
    if not _is_float(item):
        is_constant = operation.name in OF_CONSTANTS
        return "constant" if is_constant else draw.choice(("unknown", "known", "constant"))
    return draw.choice(("unknown", "known"))


def _keyword(operation: Operation, name: str) -> str:
    return _RENAMED.get((operation.name, name), name)


def _of_any_phase(operation: Operation, call: dict[str, Json], given: Arguments) -> Json:
    """The outputs of a call; absolute values of those that have any sign or phase."""
    if operation.name not in _OF_ANY_PHASE:
        return call
    has_vectors = given.attrs.get("compute_v", True) and given.attrs.get("compute_uv", True)
    count = len(operation.outputs) if has_vectors else 1
    sizes: list[dict[str, Json]] = [
        {"$call": "tf.abs", "args": [{"$item": [{"$": "results"}, number]}]}
        for number in range(count)
    ]
    if operation.name == "Eig":  # its values have no order
        sizes = [{"$call": "tf.reduce_sum", "args": [size, -1]} for size in sizes]
    return {"$call": {"$fn": {"params": ["results"], "returns": sizes}}, "args": [call]}


def _attributes(operation: Operation, given: Arguments) -> dict[str, Json]:
    """The attributes that do not follow from the inputs, as arguments of `tf.raw_ops`."""
    inferred = {
        name
        for arg in operation.inputs
        for name in (arg.type_attr, arg.number_attr, arg.type_list_attr)
        if name is not None
    }
    return {
        _keyword(operation, decl.name): _attribute(decl.type, given.attrs[decl.name])
        for decl in operation.attrs
        if decl.name in given.attrs
        and decl.name not in inferred
        and not (is_newer(operation.name, decl.name) and given.attrs[decl.name] == decl.default)
    }


def _attribute(type_: str, value: Any) -> Json:
    if type_.startswith("list("):
        return [_attribute(type_[5:-1], item) for item in value]
    match type_:
        case "type":
            return {"$": f"tf.{value}"}
        case "shape":
            return None if value is None else list(value)
        case "tensor":
            return {"$array": tensors.encode(np.asarray(value))}
        case "float":
            return form(float(value))
    return form(value)
