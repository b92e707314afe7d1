"""An ONNX graph while it is written: nodes, constants, inputs, and the values that are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import onnx
from onnx import helper, numpy_helper

__all__ = ["ENUMS", "OnnxGraph"]

#: The operator set that every model is written in, and the file format that goes with it.
_OPSET: Final = 28
_IR_VERSION: Final = 13

#: The number of each dtype in ONNX.
ENUMS: Final[Mapping[str, int]] = {
    "bfloat16": onnx.TensorProto.BFLOAT16,
    "bool": onnx.TensorProto.BOOL,
    "float16": onnx.TensorProto.FLOAT16,
    "float32": onnx.TensorProto.FLOAT,
    "float64": onnx.TensorProto.DOUBLE,
    "int8": onnx.TensorProto.INT8,
    "int16": onnx.TensorProto.INT16,
    "int32": onnx.TensorProto.INT32,
    "int64": onnx.TensorProto.INT64,
    "uint8": onnx.TensorProto.UINT8,
    "uint16": onnx.TensorProto.UINT16,
    "uint32": onnx.TensorProto.UINT32,
    "uint64": onnx.TensorProto.UINT64,
}

#: Runs a serialized model without inputs: the values of its outputs.
Evaluate = Callable[[bytes], Sequence[np.ndarray]]


class OnnxGraph:
    """Nodes in the order they are written; tensors are named by number.

    Args:
      evaluate: computes what depends on constants only, where its value must be known.

    """

    def __init__(self, evaluate: Evaluate) -> None:
        self._evaluate = evaluate
        self._nodes: list[onnx.NodeProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        self._constants: dict[str, np.ndarray] = {}
        self._makers: dict[str, onnx.NodeProto] = {}
        self._count = 0

    def input(self, name: str, dtype: str, shape: Sequence[int]) -> None:
        """Declare an input of the model."""
        self._inputs.append(helper.make_tensor_value_info(name, ENUMS[dtype], shape))

    def output(self, name: str, tensor: str, dtype: str) -> None:
        """Give a tensor out under a name of its own."""
        self._append(helper.make_node("Identity", [tensor], [name]))
        self._outputs.append(helper.make_tensor_value_info(name, ENUMS[dtype], None))

    def constant(self, value: np.ndarray) -> str:
        """A tensor with this value."""
        name = self._new_name()
        self._constants[name] = value
        return name

    def emit(self, op: str, *inputs: str, outputs: int = 1, **attributes: Any) -> list[str]:
        """Write a node: the names of its outputs.

        Args:
          op: the ONNX operator.
          inputs: names of tensors; an empty one is an optional input that is left out.
          outputs: how many of its outputs are wanted, the first ones.
          attributes: the operator's attributes.

        """
        names = [self._new_name() for _ in range(outputs)]
        self._append(helper.make_node(op, inputs, names, **attributes))
        return names

    def known(self, name: str) -> np.ndarray | None:
        """The value of a tensor that depends on no input of the model; None of another."""
        if name not in self._constants:
            nodes = self._ancestors(name)
            if nodes is None:
                return None
            model = self._model(nodes, [], [helper.make_empty_tensor_value_info(name)])
            (self._constants[name],) = self._evaluate(model)
        return self._constants[name]

    def model(self) -> bytes:
        """The serialized model."""
        return self._model(self._nodes, self._inputs, self._outputs)

    def _new_name(self) -> str:
        self._count += 1
        return f"t{self._count}"

    def _append(self, node: onnx.NodeProto) -> None:
        self._nodes.append(node)
        self._makers.update(dict.fromkeys(node.output, node))

    def _ancestors(self, name: str) -> list[onnx.NodeProto] | None:
        """The nodes that compute a tensor, in order; None if it depends on an input."""
        needed: set[str] = set()
        left = [name]
        while left:
            tensor = left.pop()
            if tensor in needed or tensor in self._constants or not tensor:
                continue
            maker = self._makers.get(tensor)
            if maker is None:
                return None
            needed.add(tensor)
            left += maker.input
        return [node for node in self._nodes if needed.intersection(node.output)]

    def _model(
        self,
        nodes: Sequence[onnx.NodeProto],
        inputs: Sequence[onnx.ValueInfoProto],
        outputs: Sequence[onnx.ValueInfoProto],
    ) -> bytes:
        """A model of some of the nodes, and the constants that they take."""
        taken = {name for node in nodes for name in node.input}
        computed = {name for node in nodes for name in node.output}
        constants = [
            numpy_helper.from_array(value, name)
            for name, value in self._constants.items()
            if name in taken - computed
        ]
        graph = helper.make_graph(nodes, "part", inputs, outputs, constants)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION
        )
        content: bytes = model.SerializeToString()
        return content
