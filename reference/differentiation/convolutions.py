"""Gradients of convolutions. Source: TF 2.21."""

from __future__ import annotations

from typing import Any

from sessrun.reference.differentiation.nodes import gradient, node
from sessrun.reference.operation import Operation
from sessrun.reference.ops.shape_ops import shape

__all__: list[str] = []

_WINDOW = ("strides", "padding", "data_format", "dilations")
_CHANNELWISE = (*_WINDOW, "explicit_paddings")
_PLANE = (*_CHANNELWISE, "use_cudnn_on_gpu")


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


@gradient("Conv3D")
def _of_volumes(op: Operation, grad: Any) -> Any:
    attrs = _attrs(op, _WINDOW)
    x, filters = op.inputs
    sizes = node("ShapeN", [x, filters])
    return (node("Conv3DBackpropInputV2", sizes[0], filters, grad, **attrs),
            node("Conv3DBackpropFilterV2", x, sizes[1], grad, **attrs))  # fmt: skip


@gradient("Conv3DBackpropInputV2")
def _by_volumes(op: Operation, grad: Any) -> Any:
    attrs = _attrs(op, _WINDOW)
    _, filters, above = op.inputs
    return (None, node("Conv3DBackpropFilterV2", grad, shape(filters), above, **attrs),
            node("Conv3D", grad, filters, **attrs))  # fmt: skip


@gradient("Conv3DBackpropFilterV2")
def _by_filter_of_volumes(op: Operation, grad: Any) -> Any:
    attrs = _attrs(op, _WINDOW)
    x, _, above = op.inputs
    return (node("Conv3DBackpropInputV2", shape(x), grad, above, **attrs), None,
            node("Conv3D", x, grad, **attrs))  # fmt: skip


@gradient("DepthwiseConv2dNative")
def _depthwise(op: Operation, grad: Any) -> Any:
    attrs = _attrs(op, _CHANNELWISE)
    x, filters = op.inputs
    return (node("DepthwiseConv2dNativeBackpropInput", shape(x), filters, grad, **attrs),
            node("DepthwiseConv2dNativeBackpropFilter", x, shape(filters), grad,
                 **attrs))  # fmt: skip


@gradient("DepthwiseConv2dNativeBackpropInput")
def _depthwise_by_input(op: Operation, grad: Any) -> Any:
    attrs = _attrs(op, _CHANNELWISE)
    _, filters, above = op.inputs
    return (None, node("DepthwiseConv2dNativeBackpropFilter", grad, shape(filters), above, **attrs),
            node("DepthwiseConv2dNative", grad, filters, **attrs))  # fmt: skip


@gradient("DepthwiseConv2dNativeBackpropFilter")
def _depthwise_by_filter(op: Operation, grad: Any) -> Any:
    attrs = _attrs(op, _CHANNELWISE)
    x, _, above = op.inputs
    return (node("DepthwiseConv2dNativeBackpropInput", shape(x), grad, above, **attrs), None,
            node("DepthwiseConv2dNative", x, grad, **attrs))  # fmt: skip


@gradient("Dilation2D")
def _dilation(op: Operation, grad: Any) -> Any:
    attrs = _attrs(op, ("strides", "rates", "padding"))
    inputs = (*op.inputs, grad)
    return (node("Dilation2DBackpropInput", *inputs, **attrs),
            node("Dilation2DBackpropFilter", *inputs, **attrs))  # fmt: skip
