"""Gradients of convolutions. Source: TF 2.21."""

from __future__ import annotations

from typing import Any

from sessrun.reference.differentiation.nodes import gradient, node
from sessrun.reference.operation import Operation
from sessrun.reference.ops.shape_ops import shape

__all__: list[str] = []

_WINDOW = ("strides", "padding", "data_format", "dilations")
_PLANE = (*_WINDOW, "explicit_paddings", "use_cudnn_on_gpu")


def _attrs(op: Operation, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: op.get_attr(name) for name in names}


@gradient("Conv2D")
def _convolution(op: Operation, grad: Any) -> Any:
    attrs = _attrs(op, _PLANE)
    x, filters = op.inputs
    sizes = node("ShapeN", [x, filters])
    return (node("Conv2DBackpropInput", sizes[0], filters, grad, **attrs),
            node("Conv2DBackpropFilter", x, sizes[1], grad, **attrs))  # fmt: skip


@gradient("Conv2DBackpropInput")
def _by_input(op: Operation, grad: Any) -> Any:
    attrs = _attrs(op, _PLANE)
    _, filters, above = op.inputs
    return (None, node("Conv2DBackpropFilter", grad, shape(filters), above, **attrs),
            node("Conv2D", grad, filters, **attrs))  # fmt: skip


@gradient("Conv2DBackpropFilter")
def _by_filter(op: Operation, grad: Any) -> Any:
    attrs = _attrs(op, _PLANE)
    x, _, above = op.inputs
    return (node("Conv2DBackpropInput", shape(x), grad, above, **attrs), None,
            node("Conv2D", x, grad, **attrs))  # fmt: skip
