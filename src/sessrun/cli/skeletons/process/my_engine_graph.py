"""Graphs: names, what a run needs, and what its operations compute."""

from __future__ import annotations

import base64
import itertools
import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from my_engine_tensors import DTYPES, Declined, Failed, Tensor, dtype_named

_Values = dict[str, Tensor]


@dataclass(frozen=True)
class Node:
    """A node: data inputs as `name:index`, control inputs as names."""

    name: str
    op: str
    inputs: tuple[str, ...]
    controls: tuple[str, ...]
    attr: Mapping[str, Any]


class Graph:
    """A GraphDef in protobuf's JSON mapping; every operation has one output, but for NoOp."""

    def __init__(self, form: Mapping[str, Any]) -> None:
        self.nodes = {node["name"]: _node(node) for node in form.get("node", [])}
        for node in self.nodes.values():
            if node.op not in KERNELS:
                raise Declined("op", node.op)
            unknown = [name for name in node.inputs if not self.is_tensor(name)]
            unknown += [name for name in node.controls if name not in self.nodes]
            if unknown:
                raise Failed(3, f"{node.name} has the unknown input {unknown[0]}")

    def is_tensor(self, name: str) -> bool:
        """Whether the graph has a tensor of this name."""
        operation, _, index = name.rpartition(":")
        return operation in self.nodes and index == "0" and self.nodes[operation].op != "NoOp"

    def run(self, fetches: Sequence[str], feeds: _Values) -> list[Tensor | None]:
        """The values of tensors; None for an operation, which is executed."""
        for name, value in feeds.items():
            self.check_feed(name, value)
        for name in fetches:
            if not (self.is_tensor(name) if ":" in name else name in self.nodes):
                raise Failed(3, f"the graph has no {name}")
        values = dict(feeds)
        wanted = [name.partition(":")[0] for name in fetches if name not in feeds]
        for node in self.in_order(wanted, feeds):
            inputs = [values[name] for name in node.inputs]
            values[f"{node.name}:0"] = KERNELS[node.op](node, *inputs)
        return [values[name] if ":" in name else None for name in fetches]

    def check_feed(self, name: str, value: Tensor) -> None:
        """Refuse a fed value that does not fit its tensor."""
        if not self.is_tensor(name):
            raise Failed(3, f"the graph has no tensor {name} to feed")
        node = self.nodes[name.partition(":")[0]]
        wanted = node.attr.get("shape", {}).get("shape", {"unknownRank": True})
        if node.op != "Placeholder" or wanted.get("unknownRank"):
            return
        sizes = [int(dim.get("size", 0)) for dim in wanted.get("dim", [])]
        fits = len(sizes) == len(value.shape) and all(
            size in {-1, given} for size, given in zip(sizes, value.shape, strict=True)
        )
        if not fits:
            raise Failed(3, f"{name} has the shape {sizes}, not {list(value.shape)}")

    def in_order(self, wanted: Sequence[str], feeds: _Values) -> list[Node]:
        """The nodes that are needed, each after its inputs; what is fed is not computed."""
        order: dict[str, Node] = {}
        begun: set[str] = set()

        def visit(name: str) -> None:
            if name in order:
                return
            if name in begun:
                raise Failed(3, f"the graph has a cycle through {name}")
            begun.add(name)
            node = self.nodes[name]
            for tensor in node.inputs:
                if tensor not in feeds:
                    visit(tensor.partition(":")[0])
            for control in node.controls:
                if f"{control}:0" not in feeds:
                    visit(control)
            order[name] = node

        for name in wanted:
            visit(name)
        return list(order.values())


def _node(form: Mapping[str, Any]) -> Node:
    texts = form.get("input", [])
    inputs = tuple(text if ":" in text else f"{text}:0" for text in texts if text[0] != "^")
    controls = tuple(text[1:] for text in texts if text[0] == "^")
    return Node(form["name"], form["op"], inputs, controls, form.get("attr", {}))


def _constant(node: Node) -> Tensor:
    """The value of a Const: bytes, or listed elements, of which the last one fills what is left."""
    form = node.attr["value"]["tensor"]
    dtype = dtype_named(form["dtype"])
    shape = tuple(int(dim.get("size", 0)) for dim in form.get("tensorShape", {}).get("dim", []))
    if "tensorContent" in form:
        content = base64.b64decode(form["tensorContent"])
        if len(content) != 4 * math.prod(shape):
            raise Failed(3, f"{node.name}: {len(content)} bytes do not fill {list(shape)}")
        return Tensor(dtype, shape, content)
    count = math.prod(shape)
    listed = [
        float(x) if dtype == "float32" else int(x)
        for x in form.get("floatVal") or form.get("intVal") or [0]
    ]
    elements = (listed + listed[-1:] * count)[:count]
    return Tensor(dtype, shape, array(DTYPES[dtype], elements).tobytes())


def _placeholder(node: Node) -> Tensor:
    raise Failed(3, f"you must feed a value for {node.name}")


def _elementwise(function: Callable[[Any, Any], Any]) -> Callable[..., Tensor]:
    """A kernel of two inputs, whose shapes are broadcast."""

    def kernel(node: Node, x: Tensor, y: Tensor) -> Tensor:
        if x.dtype != y.dtype:
            raise Failed(3, f"{node.name} takes two tensors of one dtype")
        shape = _broadcast(node, x.shape, y.shape)
        left, right = array(DTYPES[x.dtype], x.data), array(DTYPES[y.dtype], y.data)
        pairs = zip(_places(x.shape, shape), _places(y.shape, shape), strict=True)
        results = (function(left[a], right[b]) for a, b in pairs)
        wrapped = results if x.dtype == "float32" else map(_wrapped, results)
        return Tensor(x.dtype, shape, array(DTYPES[x.dtype], wrapped).tobytes())

    return kernel


def _wrapped(number: int) -> int:
    """An integer of 32 bits: overflow wraps."""
    return (number + 2**31) % 2**32 - 2**31


def _broadcast(node: Node, x: Sequence[int], y: Sequence[int]) -> tuple[int, ...]:
    pairs = list(itertools.zip_longest(reversed(x), reversed(y), fillvalue=1))
    if any(a != b and 1 not in {a, b} for a, b in pairs):
        raise Failed(3, f"{node.name}: the shapes {list(x)} and {list(y)} do not fit")
    return tuple(b if a == 1 else a for a, b in reversed(pairs))


def _places(own: Sequence[int], shape: Sequence[int]) -> Iterator[int]:
    """For each element of a broadcast shape, the place of the element that it is taken from."""
    padded = (1,) * (len(shape) - len(own)) + tuple(own)
    steps, step = [], 1
    for size in reversed(padded):
        steps.append(0 if size == 1 else step)
        step *= size
    ranges = [
        [number * stride for number in range(size)]
        for size, stride in zip(shape, reversed(steps), strict=True)
    ]
    return map(sum, itertools.product(*ranges))


#: Op type to what computes it.
KERNELS: dict[str, Callable[..., Any]] = {
    "AddV2": _elementwise(lambda x, y: x + y),
    "Const": _constant,
    "Identity": lambda _, x: x,
    "Mul": _elementwise(lambda x, y: x * y),
    "NoOp": lambda _: None,
    "Placeholder": _placeholder,
    "Sub": _elementwise(lambda x, y: x - y),
}
