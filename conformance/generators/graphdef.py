"""GraphDefs in protobuf's JSON mapping, written node by node from the declarations."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from sessrun.spec import tensors
from sessrun.spec.dtypes import BY_NAME, row_of_numpy
from sessrun.spec.forms import Json, JsonObject
from sessrun.spec.operations import AttrDecl, Operation

__all__ = ["CPU", "PRODUCER", "GraphWriter", "dtype_attr", "shape_attr", "text_attr"]

#: The device of a node that is refused for values that no shape tells: a GPU cannot report them.
CPU: Final = "/device:CPU:0"
#: The producer version that TensorFlow 2.21 writes.
PRODUCER: Final = 2474


def dtype_attr(name: str) -> dict[str, Json]:
    """A dtype as AttrValue."""
    return {"type": BY_NAME[name].enum}


def shape_attr(shape: Sequence[int | None] | None) -> dict[str, Json]:
    """A shape as AttrValue."""
    return {"shape": _shape(shape)}


def text_attr(value: str | bytes) -> dict[str, Json]:
    """A string as AttrValue."""
    raw = value if isinstance(value, bytes) else value.encode()
    return {"s": base64.b64encode(raw).decode()}


class GraphWriter:
    """Writes one GraphDef; nodes are named by the caller or numbered."""

    def __init__(self) -> None:
        self._nodes: list[dict[str, Any]] = []

    def graph(self) -> dict[str, Any]:
        """The GraphDef written so far."""
        return {"node": list(self._nodes), "versions": {"producer": PRODUCER}}

    def node(
        self,
        op: str,
        inputs: Sequence[str] = (),
        attrs: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> str:
        """Write a node with these AttrValues; returns its name."""
        name = name or f"{op}_{len(self._nodes)}"
        node: dict[str, Json] = {"name": name, "op": op}
        if inputs:
            node["input"] = list(inputs)
        if attrs:
            node["attr"] = dict(attrs)
        self._nodes.append(node)
        return name

    def wait(self, name: str, other: str) -> None:
        """Let a node wait for another one."""
        node = next(node for node in self._nodes if node["name"] == name)
        node.setdefault("input", []).append(f"^{other}")

    def put_on(self, name: str, device: str) -> None:
        """Ask for a device for a node."""
        node = next(node for node in self._nodes if node["name"] == name)
        node["device"] = device

    def replace_input(self, name: str, index: int, tensor: str) -> None:
        """Give a node another input, such as one of a later node, which closes a loop."""
        node = next(node for node in self._nodes if node["name"] == name)
        node["input"][index] = tensor

    def placeholder(
        self, dtype: str, shape: Sequence[int | None] | None, name: str | None = None
    ) -> str:
        """Write a placeholder; returns the name of its node."""
        attrs = {"dtype": dtype_attr(dtype), "shape": shape_attr(shape)}
        return self.node("Placeholder", (), attrs, name)

    def constant(self, value: np.ndarray, name: str | None = None) -> str:
        """Write a constant; returns the name of its node."""
        row = row_of_numpy(value.dtype)
        if row is None:
            raise tensors.TensorError(f"no tensor dtype holds numpy dtype {value.dtype}")
        attrs: dict[str, JsonObject] = {
            "dtype": dtype_attr(row.name),
            "value": {"tensor": _tensor(value)},
        }
        return self.node("Const", (), attrs, name)

    def operation(
        self,
        operation: Operation,
        inputs: Sequence[str],
        attrs: Mapping[str, Any],
        name: str | None = None,
    ) -> str:
        """Write a node of a declared operation, its attributes as Python values."""
        written = {
            decl.name: _attr(decl, decl.type, attrs[decl.name])
            for decl in operation.attrs
            if decl.name in attrs
        }
        return self.node(operation.name, inputs, written, name)


def _attr(decl: AttrDecl, type_: str, value: Any) -> dict[str, Json]:
    if type_.startswith("list("):
        items = [_attr(decl, type_[5:-1], item) for item in value]
        if not items:
            return {"list": {}}
        (key,) = items[0]
        return {"list": {key: [item[key] for item in items]}}
    match type_:
        case "type":
            return dtype_attr(value)
        case "int":
            return {"i": str(int(value))}
        case "float":
            return {"f": float(value) if np.isfinite(value) else _float_text(value)}
        case "bool":
            return {"b": bool(value)}
        case "string":
            return text_attr(value if isinstance(value, bytes) else str(value))
        case "shape":
            return shape_attr(value)
        case "tensor":
            return {"tensor": _tensor(np.asarray(value))}
    raise ValueError(f"attribute {decl.name}: a generator cannot write type {type_}")


def _float_text(value: float) -> str:
    return "NaN" if np.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _shape(shape: Sequence[int | None] | None) -> dict[str, Json]:
    if shape is None:
        return {"unknownRank": True}
    return {"dim": [{"size": str(-1 if n is None else n)} for n in shape]}


def _tensor(value: np.ndarray) -> dict[str, Json]:
    form = tensors.encode(value)
    body: dict[str, Json] = {
        "dtype": BY_NAME[form["dtype"]].enum,
        "tensorShape": _shape(form["shape"]),
    }
    if form["dtype"] == "string":
        body["stringVal"] = form["data"]
    else:
        body["tensorContent"] = form["data"]
    return body
