"""Gradients of convolutions. Source: TF 2.21."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.build.gradient_nodes import gradient, node, nodes
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

_WINDOW = ("strides", "padding", "data_format", "dilations")
_CHANNELWISE = (*_WINDOW, "explicit_paddings")
_PLANE = (*_CHANNELWISE, "use_cudnn_on_gpu")


def _attrs(op: Operation, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: op.get_attr(name) for name in names}


def _family(forward: str, by_input: str, by_filter: str, names: tuple[str, ...]) -> None:
    """Register the gradients of the two gradient operations of a convolution."""

    @gradient(by_input)
    def of_input(op: Operation, grad: Tensor) -> Gradients:
        attrs = _attrs(op, names)
        _, filters, above = op.inputs
        return (
            None,
            node(by_filter, grad, shape(filters), above, **attrs),
            node(forward, grad, filters, **attrs),
        )

    @gradient(by_filter)
    def of_filter(op: Operation, grad: Tensor) -> Gradients:
        attrs = _attrs(op, names)
        x, _, above = op.inputs
        return (
            node(by_input, shape(x), grad, above, **attrs),
            None,
            node(forward, x, grad, **attrs),
        )


def _convolution(forward: str, by_input: str, by_filter: str, names: tuple[str, ...]) -> None:
    """As `_family`, with the gradient of the convolution itself, which has one ShapeN."""
    _family(forward, by_input, by_filter, names)

    @gradient(forward)
    def of_convolution(op: Operation, grad: Tensor) -> Gradients:
        attrs = _attrs(op, names)
        x, filters = op.inputs
        sizes = nodes("ShapeN", [x, filters])
        return (
            node(by_input, sizes[0], filters, grad, **attrs),
            node(by_filter, x, sizes[1], grad, **attrs),
        )


_convolution("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", _PLANE)
_convolution("Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2", _WINDOW)
_family(
    "DepthwiseConv2dNative",
    "DepthwiseConv2dNativeBackpropInput",
    "DepthwiseConv2dNativeBackpropFilter",
    _CHANNELWISE,
)


@gradient("DepthwiseConv2dNative")
def _depthwise(op: Operation, grad: Tensor) -> Gradients:
    attrs = _attrs(op, _CHANNELWISE)
    x, filters = op.inputs
    return (
        node("DepthwiseConv2dNativeBackpropInput", shape(x), filters, grad, **attrs),
        node("DepthwiseConv2dNativeBackpropFilter", x, shape(filters), grad, **attrs),
    )


@gradient("Dilation2D")
def _dilation(op: Operation, grad: Tensor) -> Gradients:
    attrs = _attrs(op, ("strides", "rates", "padding"))
    inputs = (*op.inputs, grad)
    return (
        node("Dilation2DBackpropInput", *inputs, **attrs),
        node("Dilation2DBackpropFilter", *inputs, **attrs),
    )
