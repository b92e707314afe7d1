"""Random dataflow graphs of many operations, valid by construction.

A graph grows from placeholders and constants by moves; each move picks tensors that fit it from
those there are, so that nothing is filtered. Values stay small: overflow would only blur.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr
from sessrun.spec import tensors
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.forms import JsonObject

__all__ = ["Dag", "Node", "grow"]

_FLOATS: Final = ("float32", "float64")
_INTS: Final = ("int32", "int64")
_UNARY: Final = {
    "float": ("Neg", "Abs", "Tanh", "Sigmoid", "Square", "Sin", "Floor", "Relu", "Identity"),
    "int": ("Neg", "Abs", "Sign", "Identity"),
    "bool": ("LogicalNot", "Identity"),
}
_BINARY: Final = {
    "float": ("AddV2", "Sub", "Mul", "Maximum", "Minimum"),
    "int": ("AddV2", "Sub", "Maximum", "Minimum"),
    "bool": ("LogicalAnd", "LogicalOr"),
}
_COMPARE: Final = ("Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual")
_REDUCE: Final = {
    "float": ("Sum", "Mean", "Max", "Min"),
    "int": ("Sum", "Max", "Min"),
    "bool": ("All", "Any"),
}


@dataclass(frozen=True, slots=True)
class Node:
    """A tensor of the graph: its node's name, dtype and exact shape."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def kind(self) -> str:
        """float, int or bool."""
        return BY_NAME[self.dtype].kind


@dataclass(slots=True)
class Dag:
    """A growing graph.

    Attributes:
      draw: the only source of chance.
      writer: the GraphDef.
      nodes: every tensor, in the order they were made.
      feeds: values of the placeholders, by tensor name.
      firm: names of nodes that may be fed in the middle: see `cuttable`.
      sigmoids: names of the Sigmoid nodes, each with its input's.
      rearranged: names of nodes that move the elements of a negation, each with its op.
      scaled: names of nodes, each with the tensors of which it may be a multiple.

    """

    draw: random.Random
    writer: GraphWriter = field(default_factory=GraphWriter)
    nodes: list[Node] = field(default_factory=list)
    feeds: dict[str, JsonObject] = field(default_factory=dict)
    firm: set[str] = field(default_factory=set)
    sigmoids: set[tuple[str, str]] = field(default_factory=set)
    rearranged: dict[str, str] = field(default_factory=dict)
    scaled: dict[str, frozenset[str]] = field(default_factory=dict)
    _ops: dict[str, str] = field(default_factory=dict)

    def value(self, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        """Small values: integers in -3..3, floats of quarters, bools."""
        count = math.prod(shape)
        flat = [self.draw.randint(-12, 12) / 4 for _ in range(count)]
        values = np.array(flat).reshape(shape)
        return values > 0 if dtype == "bool" else values.astype(dtype)

    def source(self) -> None:
        """A placeholder, of known or unknown shape, or a constant."""
        dtype = self.draw.choice((*_FLOATS, "float32", *_INTS, "bool"))
        shape = tuple(self.draw.randint(1, 3) for _ in range(self.draw.randint(0, 3)))
        value = self.value(dtype, shape)
        if self.draw.random() < 0.3:
            name = self.writer.constant(value)
        else:
            known = self.draw.choice((shape, None, tuple(None for _ in shape)))
            name = self.writer.placeholder(dtype, known)
            self.feeds[f"{name}:0"] = tensors.encode(value)
            self.firm.add(name)
        self.nodes.append(Node(name, dtype, shape))

    def add(
        self, op: str, inputs: list[Node], dtype: str, shape: tuple[int, ...], **attrs: JsonObject
    ) -> None:
        """A node whose one output has this dtype and shape."""
        names = [node.name for node in inputs]
        name = self.writer.node(op, names, attrs)
        self.nodes.append(Node(name, dtype, shape))
        self._ops[name] = op
        if op in _REARRANGING:
            negation = self.rearranged.get(names[0], self._ops.get(names[0]))
            if negation in _NEGATIONS:
                self.rearranged[name] = negation
        self.scaled[name] = self._multiplied(op, names) | {name}
        if op in _FIRM:
            self.firm.add(name)
        if op == "Sigmoid":
            self.sigmoids.add((name, names[0]))

    def _multiplied(self, op: str, inputs: list[str]) -> frozenset[str]:
        """The tensors of which an operation on these inputs may be a multiple."""
        multiples = [self.scaled.get(name, frozenset({name})) for name in inputs]
        if op in {"Identity", "Neg", "Mul"}:
            return frozenset().union(*multiples)
        if op in {"AddV2", "Sub"}:  # x + x
            return multiples[0] & multiples[1]
        return frozenset()

    def are_multiples(self, x: Node, y: Node) -> bool:
        """Whether two tensors may be multiples of one, such as 2 * x and x."""
        by_x, by_y = (self.scaled.get(n.name, frozenset({n.name})) for n in (x, y))
        return not by_x.isdisjoint(by_y)

    def cuttable(self) -> list[Node]:
        """The tensors that a run may feed in the middle of the graph.

        Left out: the outputs of operations that TensorFlow's graph optimizer rewrites, such as
        x + x, -x + y and what is made of constants: it then ignores the feed (docs/findings).
        """
        return [node for node in self.nodes if node.name in self.firm]

    def pick(self, *kinds: str) -> Node | None:
        """A tensor of one of the kinds; recent ones more often, so that graphs grow deep."""
        fitting = [node for node in self.nodes if node.kind in (kinds or (node.kind,))]
        if not fitting:
            return None
        return fitting[max(self.draw.randrange(len(fitting)), self.draw.randrange(len(fitting)))]

    def constant(self, value: ArrayLike, dtype: str = "int32") -> Node:
        """A constant that only one move needs, such as an axis; no other move takes it."""
        array = np.asarray(value, dtype=dtype)
        return Node(self.writer.constant(array), dtype, array.shape)


#: Operations that no optimizer rewrites into another one.
_FIRM: Final = frozenset({"Tanh", "Sigmoid", "Sin", "Floor", "Relu", "SelectV2"})
_NEGATIONS: Final = frozenset({"Neg", "LogicalNot"})
_REARRANGING: Final = frozenset({"Reshape", "Transpose", "Identity"})

Move = Callable[[Dag], None]


def _unary(dag: Dag) -> None:
    x = dag.pick()
    assert x is not None
    op = dag.draw.choice(_UNARY[x.kind])
    if dag.rearranged.get(x.name) == op:
        op = "Identity"  # TensorFlow drops one of two negations around a reshape (docs/findings)
    attrs = {} if op == "LogicalNot" else {"T": dtype_attr(x.dtype)}
    dag.add(op, [x], x.dtype, x.shape, **attrs)


def _partner(dag: Dag, x: Node) -> Node:
    """A tensor of the same dtype that broadcasts with `x`: one of the graph, or a new constant."""
    fitting = [
        node for node in dag.nodes if node.dtype == x.dtype and _broadcast(node.shape, x.shape)
    ]
    if fitting and dag.draw.random() < 0.8:
        return dag.draw.choice(fitting)
    return dag.constant(dag.value(x.dtype, ()), x.dtype)


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        return None


def _binary(dag: Dag) -> None:
    x = dag.pick()
    assert x is not None
    y = _partner(dag, x)
    shape = _broadcast(x.shape, y.shape)
    assert shape is not None
    op = dag.draw.choice(_BINARY[x.kind])
    if op == "Mul" and {(x.name, y.name), (y.name, x.name)} & dag.sigmoids:
        op = "AddV2"  # TensorFlow fuses sigmoid(x) * x and loses the sigmoid (docs/findings)
    if op == "Maximum" and dag.are_multiples(x, y):
        op = "Minimum"  # TensorFlow takes max(a * x, x) for a LeakyRelu (docs/findings)
    attrs = {} if x.kind == "bool" else {"T": dtype_attr(x.dtype)}
    dag.add(op, [x, y], x.dtype, shape, **attrs)


def _compare(dag: Dag) -> None:
    # Floats are compared with constants of other fractions only: a last bit must not decide.
    x = dag.pick("int")
    if x is None:
        return
    y = _partner(dag, x)
    shape = _broadcast(x.shape, y.shape)
    assert shape is not None
    dag.add(dag.draw.choice(_COMPARE), [x, y], "bool", shape, T=dtype_attr(x.dtype))


def _select(dag: Dag) -> None:
    condition, x = dag.pick("bool"), dag.pick("float", "int")
    if condition is None or x is None:
        return
    y = _partner(dag, x)
    shape = _broadcast(x.shape, y.shape)
    whole = None if shape is None else _broadcast(shape, condition.shape)
    if whole is None:
        return
    dag.add("SelectV2", [condition, x, y], x.dtype, whole, T=dtype_attr(x.dtype))


def _reduce(dag: Dag) -> None:
    x = dag.pick()
    assert x is not None
    rank = len(x.shape)
    if not rank:  # over no axes: see docs/findings
        return
    axes = sorted(dag.draw.sample(range(rank), dag.draw.randint(1, rank)))
    keep = dag.draw.random() < 0.5
    if keep:
        shape = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    else:
        shape = tuple(n for i, n in enumerate(x.shape) if i not in axes)
    signed = [axis - rank if dag.draw.random() < 0.3 else axis for axis in axes]
    axis = dag.constant(np.array(signed, np.int32))
    attrs = {} if x.kind == "bool" else {"T": dtype_attr(x.dtype)}
    op = dag.draw.choice(_REDUCE[x.kind])
    if op in {"Max", "Min"} and 0 in x.shape:
        op = "Sum"  # TensorFlow takes the sign of the maximum for that of signs (docs/findings)
    dag.add(op, [x, axis], x.dtype, shape, keep_dims={"b": keep}, Tidx=dtype_attr("int32"), **attrs)


def _reshape(dag: Dag) -> None:
    x = dag.pick()
    assert x is not None
    count = math.prod(x.shape)
    divisor = dag.draw.choice([n for n in range(1, count + 1) if count % n == 0] or [1])
    shape = dag.draw.choice([(count,), (divisor, count // divisor), (1, count), x.shape[::-1]])
    asked = list(shape)
    if asked and dag.draw.random() < 0.4:
        asked[dag.draw.randrange(len(asked))] = -1
    wanted = dag.constant(np.array(asked, np.int32))
    dag.add(
        "Reshape",
        [x, wanted],
        x.dtype,
        tuple(shape),
        T=dtype_attr(x.dtype),
        Tshape=dtype_attr("int32"),
    )


def _transpose(dag: Dag) -> None:
    x = dag.pick()
    assert x is not None
    order = dag.draw.sample(range(len(x.shape)), len(x.shape))
    perm = dag.constant(np.array(order, np.int32))
    dag.add(
        "Transpose",
        [x, perm],
        x.dtype,
        tuple(x.shape[i] for i in order),
        T=dtype_attr(x.dtype),
        Tperm=dtype_attr("int32"),
    )


def _concat(dag: Dag) -> None:
    x = dag.pick()
    if x is None or not x.shape:
        return
    axis = dag.draw.randrange(len(x.shape))
    shape = tuple(2 * n if i == axis else n for i, n in enumerate(x.shape))
    where = dag.constant(axis)
    dag.add(
        "ConcatV2",
        [x, x, where],
        x.dtype,
        shape,
        N={"i": "2"},
        T=dtype_attr(x.dtype),
        Tidx=dtype_attr("int32"),
    )


def _matmul(dag: Dag) -> None:
    fitting = [n for n in dag.nodes if n.kind == "float" and len(n.shape) == 2]
    if not fitting:
        return
    a = dag.draw.choice(fitting)
    b = dag.constant(dag.value(a.dtype, (a.shape[1], dag.draw.randint(1, 3))), a.dtype)
    dag.add(
        "MatMul",
        [a, b],
        a.dtype,
        (a.shape[0], b.shape[1]),
        T=dtype_attr(a.dtype),
        transpose_a={"b": False},
        transpose_b={"b": False},
    )


def _cast(dag: Dag) -> None:
    x = dag.pick("int", "bool")
    if x is None:
        return
    target = dag.draw.choice((*_FLOATS, *_INTS))
    dag.add(
        "Cast",
        [x],
        target,
        x.shape,
        SrcT=dtype_attr(x.dtype),
        DstT=dtype_attr(target),
        Truncate={"b": False},
    )


def _shape_of(dag: Dag) -> None:
    x = dag.pick()
    assert x is not None
    op = dag.draw.choice(("Shape", "Size", "Rank"))
    attrs = {"T": dtype_attr(x.dtype)}
    if op != "Rank":
        attrs["out_type"] = dtype_attr("int32")
    dag.add(op, [x], "int32", (len(x.shape),) if op == "Shape" else (), **attrs)


_MOVES: Final[tuple[Move, ...]] = (
    _unary,
    _unary,
    _binary,
    _binary,
    _binary,
    _compare,
    _select,
    _reduce,
    _reshape,
    _transpose,
    _concat,
    _matmul,
    _cast,
    _shape_of,
)


def grow(draw: random.Random, moves: int) -> Dag:
    """A graph of a few sources and up to `moves` operations."""
    dag = Dag(draw)
    for _ in range(draw.randint(2, 4)):
        dag.source()
    for _ in range(moves):
        draw.choice(_MOVES)(dag)
    return dag
