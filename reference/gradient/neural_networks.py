"""Gradients of operations of neural networks: activations, losses, an LSTM. Source: TF 2.21."""

from __future__ import annotations

from sessrun.reference.api.ops.array_ops import (
    concat,
    expand_dims,
    gather,
    reshape,
    split,
    squeeze,
    stack,
    where,
)
from sessrun.reference.api.ops.fill_ops import ones_like, zeros_like
from sessrun.reference.api.ops.math_ops import matmul, range_
from sessrun.reference.api.ops.reduce_ops import reduce_max, reduce_sum, unsorted_segment_mean
from sessrun.reference.api.ops.shape_ops import rank, shape
from sessrun.reference.build.generated import exp, sigmoid, tile
from sessrun.reference.build.gradient_nodes import constants, gradient, late, node, nodes
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

gradient("Relu")(lambda op, grad: node("ReluGrad", grad, op.outputs[0]))
gradient("Relu6")(lambda op, grad: node("Relu6Grad", grad, op.outputs[0]))
gradient("Elu")(lambda op, grad: node("EluGrad", grad, op.outputs[0]))
gradient("Selu")(lambda op, grad: node("SeluGrad", grad, op.outputs[0]))
gradient("Softsign")(lambda op, grad: node("SoftsignGrad", grad, op.inputs[0]))
gradient("Softplus")(lambda op, grad: grad * sigmoid(op.inputs[0]))
gradient("L2Loss")(lambda op, grad: op.inputs[0] * grad)
gradient("ReluGrad", "Relu6Grad")(
    lambda op, grad: (node(op.type, grad, op.inputs[1]), zeros_like(op.inputs[1]))
)


@gradient("LeakyRelu")
def _leaky_relu(op: Operation, grad: Tensor) -> Gradients:
    return node("LeakyReluGrad", grad, op.inputs[0], alpha=op.get_attr("alpha"))


@gradient("LeakyReluGrad")
def _leaky_relu_grad(op: Operation, grad: Tensor) -> Gradients:
    x = op.inputs[1]
    return node("LeakyReluGrad", grad, x, alpha=op.get_attr("alpha")), zeros_like(x)


@gradient("SeluGrad")
def _selu_grad(op: Operation, grad: Tensor) -> Gradients:
    y = op.inputs[1]
    return node("SeluGrad", grad, y), where(y < 0.0, grad * op.inputs[0], zeros_like(y))


@gradient("EluGrad")
def _elu_grad(op: Operation, grad: Tensor) -> Gradients:
    y = op.inputs[1]
    return node("EluGrad", grad, y), where(y < 0, grad * op.inputs[0], zeros_like(y))


@late("SoftplusGrad")
def _softplus_grad(op: Operation, grad: Tensor) -> Gradients:
    dy, x = op.inputs
    return node("SoftplusGrad", grad, x), grad * dy / (exp(-x) + 2.0 + exp(x))


@gradient("Softmax")
def _softmax(op: Operation, grad: Tensor) -> Gradients:
    y = op.outputs[0]
    return (grad - reduce_sum(grad * y, -1, keepdims=True)) * y


@gradient("LogSoftmax")
def _log_softmax(op: Operation, grad: Tensor) -> Gradients:
    shares = exp(op.outputs[0])
    return grad - reduce_sum(grad, -1, keepdims=True) * shares


@gradient("IsotonicRegression")
def _isotonic_regression(op: Operation, grad: Tensor, _: Tensor) -> Gradients:
    """The gradient of an element is the mean of the gradients in its segment of the row."""
    pieces = op.outputs[1]
    rows = []
    for above, ids in zip(split(grad, grad.shape[0]), split(pieces, pieces.shape[0]), strict=True):
        means = unsorted_segment_mean(above, ids, num_segments=reduce_max(ids) + 1)
        rows.append(reshape(gather(means, ids), [-1]))
    return stack(rows, axis=0)


@gradient("BiasAdd")
def _bias_add(op: Operation, grad: Tensor) -> Gradients:
    return grad, node("BiasAddGrad", grad, data_format=op.get_attr("data_format"))


@gradient("BiasAddV1")
def _bias_add_v1(op: Operation, grad: Tensor) -> Gradients:
    return grad, reduce_sum(grad, range_(rank(grad) - 1))


@gradient("BiasAddGrad")
def _bias_add_grad(op: Operation, grad: Tensor) -> Gradients:
    sizes, bias = shape(op.inputs[0]), shape(grad)
    if op.get_attr("data_format") == b"NCHW":
        bias_shape = concat([ones_like(sizes[:1]), bias, ones_like(sizes[2:])], 0)
        multiples = concat([sizes[:1], [1], sizes[2:]], 0)
    else:
        bias_shape = concat([ones_like(sizes[:-1]), bias], 0)
        multiples = concat([sizes[:-1], [1]], 0)
    return tile(reshape(grad, bias_shape), multiples)


def _by_logits(op: Operation, grad: Tensor, grad_of_grad: Tensor | None) -> Tensor:
    """The gradient with respect to the logits of a cross entropy.

    Args:
      op: the operation, whose outputs are the loss [batch] and its gradient [batch, classes].
      grad: the gradient of the loss.
      grad_of_grad: the gradient of the second output, or None.

    """
    by_logits = expand_dims(grad, -1) * op.outputs[1]
    if grad_of_grad is not None and grad_of_grad.op.type != "ZerosLike":
        shares = node("Softmax", op.inputs[0])
        row, column = expand_dims(grad_of_grad, 1), expand_dims(shares, 2)
        by_logits += (grad_of_grad - squeeze(matmul(row, column), axis=1)) * shares
    return by_logits


@gradient("SoftmaxCrossEntropyWithLogits")
def _softmax_cross_entropy(op: Operation, grad: Tensor, grad_of_grad: Tensor | None) -> Gradients:
    by_logits = _by_logits(op, grad, grad_of_grad)
    by_labels = -node("LogSoftmax", op.inputs[0])
    return by_logits, expand_dims(grad, -1) * by_labels


@gradient("SparseSoftmaxCrossEntropyWithLogits")
def _sparse_softmax_cross_entropy(
    op: Operation, grad: Tensor, grad_of_grad: Tensor | None
) -> Gradients:
    return _by_logits(op, grad, grad_of_grad), None


@gradient("BlockLSTM", "BlockLSTMV2")
def _block_lstm(op: Operation, *grads: Tensor) -> Gradients:
    # TensorFlow uses BlockLSTMGrad for both, though BlockLSTMV2 has another order of gates.
    by_inputs = nodes(
        "BlockLSTMGrad",
        *op.inputs,
        *op.outputs,
        grads[1],
        grads[6],
        use_peephole=op.get_attr("use_peephole"),
    )
    return None, *by_inputs


constants(("CTCBeamSearchDecoder", "CTCGreedyDecoder"))

_ONCE = (
    "Currently there is no way to take the second  derivative of ctc_loss due to the fused "
    "implementation's interaction  with tf.gradients()"
)


@gradient("CTCLoss")
def _loss(op: Operation, grad: Tensor, _grad_of_gradient: Tensor) -> Gradients:
    """The operation's second output is the gradient of the loss with respect to the inputs."""
    by_inputs = node("PreventGradient", op.outputs[1], message=_ONCE)
    return [expand_dims(grad, -1) * by_inputs, None, None, None]
