"""Gradients of numbers as they were quantized. Source: TF 2.21."""

from __future__ import annotations

from typing import Any

from sessrun.reference.build.gradient_nodes import constants, gradient, node
from sessrun.reference.graph.operation import Operation

__all__: list[str] = []

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
def _fake_quant_args(op: Operation, grad: Any) -> Any:
    names = ("min", "max", "num_bits", "narrow_range")
    attrs = {name: op.get_attr(name) for name in names}
    return node("FakeQuantWithMinMaxArgsGradient", grad, op.inputs[0], **attrs)


@gradient("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
def _fake_quant(op: Operation, grad: Any) -> Any:
    attrs = {name: op.get_attr(name) for name in ("num_bits", "narrow_range")}
    return node(f"{op.type}Gradient", grad, *op.inputs, **attrs)


@gradient("QuantizeAndDequantizeV4")
def _quantize_and_dequantize(op: Operation, grad: Any) -> Any:
    return node("QuantizeAndDequantizeV4Grad", grad, *op.inputs, axis=op.get_attr("axis"))
