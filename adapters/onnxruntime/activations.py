"""Activations and the functions of a last axis that end a network."""

from __future__ import annotations

from sessrun.adapters.onnxruntime.table import FLOATS, INTEGERS, SINGLE, Call, translates

__all__: list[str] = []


@translates("Elu", "Selu", "Softplus", "Softsign", kernels=SINGLE)
@translates("Relu", kernels=FLOATS | {"int8", "int32"})
@translates("Sigmoid", kernels=FLOATS)
def _same(call: Call) -> str:
    return call.emit(call.op, *call.names)


@translates("Relu6", kernels=FLOATS | INTEGERS - {"int16", "uint16"})
def _relu6(call: Call) -> str:
    low, high = (call.constant(limit, call.dtype) for limit in (0, 6))
    return call.emit("Clip", *call.names, low, high)


@translates("LeakyRelu", kernels=SINGLE)
def _leaky_relu(call: Call) -> str:
    return call.emit("LeakyRelu", *call.names, alpha=call.attrs["alpha"])


@translates("LogSoftmax", "Softmax", kernels=FLOATS)
def _softmax(call: Call) -> str:
    return call.emit(call.op, *call.names, axis=-1)


@translates("SoftmaxCrossEntropyWithLogits", kernels=FLOATS)
def _cross_entropy(call: Call) -> list[str]:
    """The loss of each row, and its gradient by the logits."""
    logits, labels = call.names
    shape = call.constant(call.output_shape(1))
    logits, labels = (call.emit("Expand", name, shape) for name in (logits, labels))
    surprise = call.emit("Mul", labels, call.emit("LogSoftmax", logits, axis=-1))
    loss = call.emit("ReduceSum", surprise, call.constant([-1]), keepdims=0)
    gradient = call.emit("Sub", call.emit("Softmax", logits, axis=-1), labels)
    return [call.emit("Neg", loss), gradient]
