"""Gradients of poolings. Source: TF 2.21."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.ops.fill_ops import zeros_like
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.build.gradient_nodes import gradient, node
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor


def _window(op: Operation, *more: str) -> dict[str, Any]:
    return {name: op.get_attr(name) for name in ("ksize", "strides", "padding", *more)}


@gradient("MaxPool")
def _max_pool(op: Operation, grad: Tensor) -> Gradients:
    attrs = _window(op, "explicit_paddings", "data_format")
    return node("MaxPoolGrad", op.inputs[0], op.outputs[0], grad, **attrs)


@gradient("MaxPoolV2")
def _max_pool_v2(op: Operation, grad: Tensor) -> Gradients:
    x, ksize, strides = op.inputs
    attrs = {name: op.get_attr(name) for name in ("padding", "data_format")}
    return node("MaxPoolGradV2", x, op.outputs[0], grad, ksize, strides, **attrs), None, None


def _zeros(op: Operation) -> tuple[Tensor, Tensor]:
    return zeros_like(op.inputs[0]), zeros_like(op.inputs[1])


@gradient("MaxPoolGrad", "MaxPool3DGrad")
def _max_pool_grad(op: Operation, grad: Tensor) -> Gradients:
    attrs = _window(op, "data_format")
    return *_zeros(op), node(f"{op.type}Grad", op.inputs[0], op.inputs[1], grad, **attrs)


@gradient("MaxPoolGradV2")
def _max_pool_grad_v2(op: Operation, grad: Tensor) -> Gradients:
    x, y, _, ksize, strides = op.inputs
    attrs = {name: op.get_attr(name) for name in ("padding", "data_format")}
    zeros = _zeros(op)
    return *zeros, node("MaxPoolGradGradV2", x, y, grad, ksize, strides, **attrs), None, None


@gradient("MaxPoolGradGrad", "MaxPool3DGradGrad")
def _max_pool_grad_grad(op: Operation, grad: Tensor) -> Gradients:
    attrs = _window(op, "data_format")
    once = op.type.removesuffix("Grad")
    return *_zeros(op), node(once, op.inputs[0], op.inputs[1], grad, **attrs)


@gradient("AvgPool", "AvgPool3D")
def _average_pool(op: Operation, grad: Tensor) -> Gradients:
    return node(f"{op.type}Grad", shape(op.inputs[0]), grad, **_window(op, "data_format"))


@gradient("AvgPoolGrad", "AvgPool3DGrad")
def _average_pool_grad(op: Operation, grad: Tensor) -> Gradients:
    kept = node("StopGradient", op.inputs[0])
    return kept, node(op.type.removesuffix("Grad"), grad, **_window(op, "data_format"))


@gradient("MaxPool3D")
def _max_pool_of_volumes(op: Operation, grad: Tensor) -> Gradients:
    attrs = _window(op, "data_format")
    return node("MaxPool3DGrad", op.inputs[0], op.outputs[0], grad, **attrs)


@gradient("MaxPoolWithArgmax")
def _max_pool_with_argmax(op: Operation, grad: Tensor, _: Tensor) -> Gradients:
    attrs = _window(op, "include_batch_in_index")
    return node("MaxPoolGradWithArgmax", op.inputs[0], grad, op.outputs[1], **attrs)


@gradient("FractionalMaxPool")
def _fractional_max_pool(op: Operation, grad: Tensor, *_: Tensor) -> Gradients:
    pooled, rows, columns = op.outputs
    return node(
        "FractionalMaxPoolGrad",
        op.inputs[0],
        pooled,
        grad,
        rows,
        columns,
        overlapping=op.get_attr("overlapping"),
    )


@gradient("FractionalAvgPool")
def _fractional_average_pool(op: Operation, grad: Tensor, *_: Tensor) -> Gradients:
    rows, columns = op.outputs[1:]
    return node(
        "FractionalAvgPoolGrad",
        op.inputs[0].shape,
        grad,
        rows,
        columns,
        overlapping=op.get_attr("overlapping"),
    )
