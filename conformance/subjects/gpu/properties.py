"""Generated cases of GPU: values of operations on /gpu:0, values that go from device to device."""

from __future__ import annotations

import functools
import random
from dataclasses import replace
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import CPU, GraphWriter, dtype_attr, shape_attr
from sessrun.conformance.generators.single import SingleGraph
from sessrun.conformance.property import prop
from sessrun.conformance.subjects.inference.graphs import cell_graph, turn
from sessrun.conformance.subjects.operations.properties.single_operations import value_case
from sessrun.spec import tensors
from sessrun.spec.cases.forms import Step
from sessrun.spec.cases.model import Case
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.forms import Json
from sessrun.spec.inference import Cell, cells
from sessrun.spec.rules.domains.values import draw_value

_CARRIED, _VALUES = "GPU-006", "GPU-040"
_GPU: Final = "/device:GPU:0"
_NEEDS: Final = ("gpu",)

#: Operations of which TensorFlow registers kernels for GPUs for these dtypes, and that only move.
_MOVING: Final = frozenset(
    {
        "BroadcastTo",
        "ConcatV2",
        "ExpandDims",
        "Fill",
        "GatherNd",
        "GatherV2",
        "MatrixBandPart",
        "MatrixDiag",
        "MatrixDiagPart",
        "MirrorPad",
        "OnesLike",
        "Pack",
        "Pad",
        "PadV2",
        "Reshape",
        "ReverseV2",
        "Select",
        "SelectV2",
        "Slice",
        "Split",
        "SplitV",
        "Squeeze",
        "StridedSlice",
        "Tile",
        "Transpose",
        "Unpack",
        "ZerosLike",
    }
)
#: Those that compute. Left out is what a GPU may do otherwise with NaN (maximums, minimums).
_COMPUTING: Final = frozenset(
    {
        "Abs",
        "Acos",
        "Add",
        "AddN",
        "AddV2",
        "Asin",
        "Atan",
        "Atan2",
        "BatchMatMulV2",
        "BiasAdd",
        "Ceil",
        "Conv2D",
        "Cos",
        "Cosh",
        "Cumsum",
        "DivNoNan",
        "Elu",
        "Equal",
        "Erf",
        "Erfc",
        "Exp",
        "Expm1",
        "Floor",
        "Greater",
        "GreaterEqual",
        "IsFinite",
        "IsInf",
        "IsNan",
        "L2Loss",
        "LeakyRelu",
        "Less",
        "LessEqual",
        "Log",
        "Log1p",
        "LogSoftmax",
        "MatMul",
        "Mean",
        "Mul",
        "Neg",
        "NotEqual",
        "Pow",
        "Prod",
        "RealDiv",
        "Reciprocal",
        "Relu",
        "Relu6",
        "Rint",
        "Rsqrt",
        "Selu",
        "Sigmoid",
        "Sin",
        "Sinh",
        "Softmax",
        "Softplus",
        "Softsign",
        "Sqrt",
        "Square",
        "SquaredDifference",
        "Sub",
        "Sum",
        "Tan",
        "Tanh",
        "UnsortedSegmentSum",
    }
)
_DTYPES: Final = ("float32", "float64")
#: Products of float32, of numbers up to 10 and six of them in a sum, may be computed in TF32.
_PRODUCTS: Final = frozenset({"BatchMatMulV2", "MatMul"})
_OF_PRODUCTS: Final = "close(1e-3, 0.6)"

#: Dtypes that Identity has kernels for GPUs for: all that is in GPU memory, and int32 on the host.
_IDENTITY: Final = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
#: Those that resource variables have.
_VARIABLES: Final = ("bool", "int64", "float16", "float32", "float64", "complex64", "complex128")


@functools.cache
def _cells() -> tuple[Cell, ...]:
    """The cells of operations on GPUs, in an order in which a few are of every kind."""
    names = _MOVING | _COMPUTING
    rows = [
        cell
        for cell in cells()
        if cell.row.operation.name in names and all(dtype in _DTYPES for dtype in cell.dtypes)
    ]
    return tuple(random.Random("gpu").sample(rows, len(rows)))


def _contract(operation: str, dtype: str, contract: str) -> str:
    if operation in _MOVING:
        return "signed"
    return _OF_PRODUCTS if operation in _PRODUCTS and dtype == "float32" else contract


@prop("gpu-operations", _VALUES, weight=2, rows=lambda: len(_cells()))
def operations_on_a_gpu(draw: random.Random, id_: str) -> Case:
    """An operation with a kernel for GPUs gives its value on one, without soft placement."""
    cell = _cells()[turn(id_) % len(_cells())]
    single = cell_graph(cell, draw)
    name, dtype = cell.row.operation.name, cell.dtypes[0]
    if isinstance(single.contract, str):
        contract: str | list[str] = _contract(name, dtype, single.contract)
    else:
        contract = [_contract(name, dtype, one) for one in single.contract]
    single = replace(single, contract=contract)
    title = f"{name} of {dtype} gives the value of its definition on a GPU."
    return replace(value_case(id_, title, _VALUES, _put_on_gpu(single)), needs=_NEEDS)


def _put_on_gpu(single: SingleGraph) -> SingleGraph:
    """The same graph, its operation on the first GPU."""
    node = single.fetches[0].partition(":")[0]
    nodes = [{**it, "device": _GPU} if it["name"] == node else it for it in single.graph["node"]]
    return replace(single, graph={**single.graph, "node": nodes})


@prop("gpu-carried", _CARRIED)
def carried_values(draw: random.Random, id_: str) -> Case:
    """A value is the same on every device on its way, and in a variable on a GPU."""
    kept = draw.random() < 0.5
    dtype = draw.choice(_VARIABLES if kept else _IDENTITY)
    value = _value(draw, dtype)
    writer = GraphWriter()
    name = writer.placeholder(dtype, draw.choice((None, value.shape)))
    feeds = {f"{name}:0": tensors.encode(value)}
    prepare = []
    if kept:
        prepare.append(_assign(writer, name, dtype, value))
        name = _read(writer, dtype)
    fetches = []
    device = draw.choice((CPU, _GPU))
    for _ in range(draw.randint(1, 4)):
        name = writer.node("Identity", [f"{name}:0"], {"T": dtype_attr(dtype)})
        writer.put_on(name, device)
        fetches.append(f"{name}:0")
        device = CPU if device == _GPU else _GPU
    want: Json = {"near": {"$array": tensors.encode(value)}, "contract": "signed"}
    steps: list[Step] = [{"do": "open", "session": "s", "graph": "g"}]
    steps += [{"do": "run", "session": "s", "fetches": [op], "feeds": feeds} for op in prepare]
    run: Step = {"do": "run", "session": "s", "fetches": fetches, "feeds": {} if kept else feeds}
    steps += [
        {**run, "expect": {"values": [want] * len(fetches)}},
        {"do": "close", "session": "s"},
    ]
    title = f"A {dtype} arrives as it was sent."
    graphs = {"g": writer.graph()}
    return Case(id_, title, "engine", (_CARRIED,), tuple(steps), graphs, needs=_NEEDS)


def _value(draw: random.Random, dtype: str) -> np.ndarray:
    shape = [draw.randint(0 if draw.random() < 0.1 else 1, 5) for _ in range(draw.randint(0, 3))]
    flat = np.empty(int(np.prod(shape, dtype=np.int64)), np.dtype(BY_NAME[dtype].numpy))
    for index in range(flat.size):
        flat[index] = draw_value(draw, dtype, "bits")
    return flat.reshape(shape)


def _handle(writer: GraphWriter, dtype: str, shape: tuple[int, ...]) -> None:
    attrs = {"dtype": dtype_attr(dtype), "shape": shape_attr(shape)}
    writer.put_on(writer.node("VarHandleOp", [], attrs, "v"), _GPU)


def _assign(writer: GraphWriter, fed: str, dtype: str, value: np.ndarray) -> str:
    """Write a variable on the GPU; the operation that assigns it what is fed."""
    _handle(writer, dtype, value.shape)
    name = writer.node(
        "AssignVariableOp", ["v:0", f"{fed}:0"], {"dtype": dtype_attr(dtype)}, "assign"
    )
    writer.put_on(name, _GPU)
    return name


def _read(writer: GraphWriter, dtype: str) -> str:
    """Write what reads the variable."""
    name = writer.node("ReadVariableOp", ["v:0"], {"dtype": dtype_attr(dtype)}, "read")
    writer.put_on(name, _GPU)
    return name
