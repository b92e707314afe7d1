"""Gradients of numbers as they were quantized. Source: TF 2.21."""

from __future__ import annotations

from sessrun.reference.build.gradient_nodes import constants, gradient, node, nodes
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

constants(
    (
        "FakeQuantWithMinMaxArgsGradient",
        "FakeQuantWithMinMaxVarsGradient",
        "FakeQuantWithMinMaxVarsPerChannelGradient",
    )
)

gradient("QuantizeAndDequantizeV2")(lambda _, grad: (grad, None, None))
gradient("QuantizeAndDequantizeV3")(lambda _, grad: (grad, None, None, None))


@gradient("FakeQuantWithMinMaxArgs")
def _fake_quant_args(op: Operation, grad: Tensor) -> Gradients:
    names = ("min", "max", "num_bits", "narrow_range")
    attrs = {name: op.get_attr(name) for name in names}
    return node("FakeQuantWithMinMaxArgsGradient", grad, op.inputs[0], **attrs)


@gradient("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
def _fake_quant(op: Operation, grad: Tensor) -> Gradients:
    attrs = {name: op.get_attr(name) for name in ("num_bits", "narrow_range")}
    return nodes(f"{op.type}Gradient", grad, *op.inputs, **attrs)


@gradient("QuantizeAndDequantizeV4")
def _quantize_and_dequantize(op: Operation, grad: Tensor) -> Gradients:
    return nodes("QuantizeAndDequantizeV4Grad", grad, *op.inputs, axis=op.get_attr("axis"))
