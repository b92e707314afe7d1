"""Translates the part of a GraphDef that a run needs into an ONNX model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from sessrun.adapters.client_layer import Endpoint, EngineError, NotOfferedError
from sessrun.adapters.client_layer.attributes import attributes_of
from sessrun.adapters.client_layer.graph import Part, constant_of, inputs_of
from sessrun.adapters.onnxruntime import (
    activations,
    arithmetic,
    arrays,
    comparisons,
    fake_quantizing,
    images,
    indexing,
    joining,
    networks,
    products,
    reductions,
    space,
    windows,
)
from sessrun.adapters.onnxruntime.onnx_graph import ENUMS, Evaluate, OnnxGraph
from sessrun.adapters.onnxruntime.table import TRANSLATIONS, Call, Tensor, Translation
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.operations import ArgDecl
from sessrun.spec.proto import NodeDef
from sessrun.spec.rules.shapes import ShapeError, infer

__all__ = ["CARRIERS", "SUBJECTS", "translated"]

#: The modules whose import fills the table.
SUBJECTS: Final = (
    activations,
    arithmetic,
    arrays,
    comparisons,
    fake_quantizing,
    images,
    indexing,
    joining,
    networks,
    products,
    reductions,
    space,
    windows,
)
#: The dtypes that ONNX Runtime takes from numpy and gives to it in another, which holds them.
CARRIERS: Final[Mapping[str, str]] = {"bfloat16": "float32"}


def translated(part: Part, shapes: Sequence[Sequence[int]], evaluate: Evaluate) -> bytes | None:
    """The ONNX model of a part: inputs `feed_0`, `feed_1` …, outputs `fetch_0`, `fetch_1` ….

    What runs only as an effect becomes outputs too, after the fetches: `effect_0`, `effect_1` …,
    since ONNX Runtime executes what its outputs need. A part without outputs has no model: None.

    Args:
      part: the part.
      shapes: the shape of each feed.
      evaluate: runs a model of constants.

    Raises:
      EngineError: TensorFlow refuses the graph too.
      NotOfferedError: an operation, or a dtype, is not offered.

    """
    unknown = {node.op for node in part.nodes} - {"Const", "NoOp", *TRANSLATIONS}
    if unknown:
        raise NotOfferedError("op", min(unknown))
    strange = set(part.dtypes.values()) - set(ENUMS)
    if strange:
        raise NotOfferedError("dtype", min(strange))
    graph = OnnxGraph(evaluate)
    tensors: dict[Endpoint, Tensor] = {}
    for number, (tensor, shape) in enumerate(zip(part.feeds, shapes, strict=True)):
        tensors[tensor] = _input(graph, number, part.dtypes[tensor], tuple(shape))
    for node in part.nodes:
        sources = [tensors[tensor] for tensor in inputs_of(node)]
        for index, output in enumerate(_outputs(graph, node, sources)):
            tensors.setdefault(Endpoint(node.name, index), output)
    for number, tensor in enumerate(part.fetches):
        _output(graph, f"fetch_{number}", tensors[tensor])
    effects = [tensor for tensor in sorted(tensors) if tensor.operation in part.effects]
    for number, tensor in enumerate(effects):
        _output(graph, f"effect_{number}", tensors[tensor])
    return graph.model() if part.fetches or effects else None


def _input(graph: OnnxGraph, number: int, dtype: str, shape: tuple[int, ...]) -> Tensor:
    carrier, name = CARRIERS.get(dtype, dtype), f"feed_{number}"
    graph.input(name, carrier, shape)
    if carrier != dtype:
        (name,) = graph.emit("Cast", name, to=ENUMS[dtype])
    return Tensor(name, dtype, shape)


def _output(graph: OnnxGraph, name: str, tensor: Tensor) -> None:
    carrier, inner = CARRIERS.get(tensor.dtype, tensor.dtype), tensor.name
    if carrier != tensor.dtype:
        (inner,) = graph.emit("Cast", inner, to=ENUMS[carrier])
    graph.output(name, inner, carrier)


def _outputs(graph: OnnxGraph, node: NodeDef, sources: Sequence[Tensor]) -> Sequence[Tensor]:
    """The outputs of a node in the ONNX graph."""
    if node.op == "Const":
        value = constant_of(node)
        dtype = _dtype_name(node.attr["dtype"].type)
        return [Tensor(graph.constant(value), dtype, value.shape)]
    if node.op == "NoOp":
        return []
    row = TRANSLATIONS[node.op]
    attrs = attributes_of(node, row.operation)
    own = attrs[row.attr] if row.attr is not None else next(iter(row.computed))
    if own not in row.computed:
        raise NotOfferedError("dtype", f"{node.op} of {own}")
    shapes = _shapes(graph, node, row, attrs, sources)
    wide = row.computed[own]
    inputs = _widened(graph, row, attrs, sources, wide)
    call = Call(graph, node.op, node.name, attrs, inputs, shapes, wide, own)
    result = row.function(call)
    names = [result] if isinstance(result, str) else list(result)
    return _narrowed(graph, row, attrs, names, shapes, wide)


def _dtype_name(number: int) -> str:
    return next(name for name in ENUMS if BY_NAME[name].enum == number)


def _flat(args: Sequence[ArgDecl], attrs: Mapping[str, Any]) -> list[ArgDecl]:
    """The declaration of each single tensor, lists laid flat."""
    flat: list[ArgDecl] = []
    for arg in args:
        if arg.type_list_attr is not None:
            flat += [ArgDecl(arg.name, dtype=dtype) for dtype in attrs[arg.type_list_attr]]
        else:
            flat += [arg] * arg.count(attrs)
    return flat


def _widened(
    graph: OnnxGraph,
    row: Translation,
    attrs: Mapping[str, Any],
    sources: Sequence[Tensor],
    wide: str,
) -> list[Tensor]:
    """The inputs, cast to the dtype that is computed in where they have the node's."""
    args = _flat(row.operation.inputs, attrs)
    inputs = []
    for arg, tensor in zip(args, sources, strict=True):
        if arg.type_attr == row.attr and arg.type_attr is not None and tensor.dtype != wide:
            (name,) = graph.emit("Cast", tensor.name, to=ENUMS[wide])
            inputs.append(Tensor(name, wide, tensor.shape))
        else:
            inputs.append(tensor)
    return inputs


def _narrowed(
    graph: OnnxGraph,
    row: Translation,
    attrs: Mapping[str, Any],
    names: Sequence[str],
    shapes: Sequence[tuple[int | None, ...] | None],
    wide: str,
) -> list[Tensor]:
    """The outputs, cast back to the node's dtype where they were computed in a wider one."""
    outputs = []
    args = _flat(row.operation.outputs, attrs)
    for arg, name, shape in zip(args, names, shapes, strict=True):
        dtype = arg.dtype or attrs[arg.type_attr or ""]
        is_wide = arg.type_attr == row.attr and arg.type_attr is not None and dtype != wide
        inner = graph.emit("Cast", name, to=ENUMS[dtype])[0] if is_wide else name
        outputs.append(Tensor(inner, dtype, shape))
    return outputs


def _shapes(
    graph: OnnxGraph,
    node: NodeDef,
    row: Translation,
    attrs: Mapping[str, Any],
    sources: Sequence[Tensor],
) -> list[tuple[int | None, ...] | None]:
    """The outputs' shapes by the operation's shape rule."""
    given: dict[str, list[Tensor]] = {}
    lists = set()
    left = list(sources)
    for arg in row.operation.inputs:
        count = arg.count(attrs)
        given[arg.name], left = left[:count], left[count:]
        if arg.number_attr is not None or arg.type_list_attr is not None:
            lists.add(arg.name)
    if left or any(len(given[a.name]) != a.count(attrs) for a in row.operation.inputs):
        raise EngineError(3, f"{node.name} has a wrong number of inputs", node.name)

    def value(name: str) -> Any:
        values: list[np.ndarray | None] = [graph.known(tensor.name) for tensor in given[name]]
        return values if name in lists else values[0]

    shapes = {
        name: [tensor.shape for tensor in tensors] if name in lists else tensors[0].shape
        for name, tensors in given.items()
    }
    try:
        return infer(row.operation, shapes, attrs, value=value)
    except ShapeError as error:
        raise EngineError(3, f"{node.name}: {error}", node.name) from error
