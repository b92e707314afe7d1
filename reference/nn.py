"""Functions of activations, biases and losses, public as `nn.*`.

Their node names and op types are those of `tensorflow.compat.v1`.
"""



from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from sessrun.reference import dtypes
from sessrun.reference.build import apply_op
from sessrun.reference.conversion import convert_to_tensor
from sessrun.reference.errors import bad_value
from sessrun.reference.name_scopes import name_scope
from sessrun.reference.ops.array_ops import concat, rank, reshape, shape, slice_, transpose
from sessrun.reference.ops.cast_ops import cast, one
from sessrun.reference.ops.fill_ops import zeros_like
from sessrun.reference.ops.math_ops import matmul
from sessrun.reference.ops.reduce_ops import reduce_sum
from sessrun.reference.tensor import Tensor

__all__ = ["EXPORTS", "TopKV2", "bias_add"]


class TopKV2(NamedTuple):
    """The outputs of TopKV2."""

    values: Tensor
    indices: Tensor


def leaky_relu(features: Any, alpha: Any = 0.2, name: str | None = None) -> Tensor:
    """The larger of x and alpha * x.

    Args:
      features: a tensor; integers are computed as float32.
      alpha: a Python number.
      name: the operation's name.

    """
    with name_scope(name, "LeakyRelu", [features, alpha]) as scope:
        value = convert_to_tensor(features, name="features")
        if value.dtype.is_integer:
            value = cast(value, dtypes.float32)
        return one("LeakyRelu", {"features": value}, scope, alpha=alpha)


def _rowwise(op_type: str, summary: str) -> Callable[..., Tensor]:
    def compute(
        logits: Any, axis: int | None = None, name: str | None = None, dim: int | None = None
    ) -> Tensor:
        if axis is not None and dim is not None:
            raise bad_value("Cannot specify both 'dim' and 'axis'.")
        place = dim if axis is None else axis
        value = convert_to_tensor(logits)
        place = -1 if place is None else place
        ndims = value.shape.ndims
        if place == -1 or (ndims is not None and place == ndims - 1):
            return one(op_type, {"logits": value}, name)
        if ndims is None or not -ndims <= place < ndims:
            raise bad_value(f"`axis` must be an axis of {value.shape}, got {place}")
        order = list(range(ndims))
        order[place], order[-1] = order[-1], order[place]
        return transpose(one(op_type, {"logits": transpose(value, order)}), order, name=name or "")

    compute.__doc__ = summary
    return compute


softmax = _rowwise("Softmax", "Exponentials along an axis, scaled to the sum 1.")
log_softmax = _rowwise("LogSoftmax", "Logarithms of the softmax along an axis.")


def bias_add(
    value: Any, bias: Any, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """A vector added along the channels.

    Args:
      value: a tensor of rank 2 at least.
      bias: a vector with one element per channel.
      data_format: `NHWC` (the default) or `NCHW`, or any name that begins `N...C` or `NC`.
      name: the operation's name.

    Raises:
      ValueError: the format is another.

    """
    form = "NHWC"
    if data_format is not None:
        if data_format.startswith("NC"):
            form = "NCHW"
        elif not (data_format.startswith("N") and data_format.endswith("C")):
            raise bad_value(f"`data_format` must be of the form `N...C` or `NC...`: {data_format}")
    with name_scope(name, "BiasAdd", [value, bias]) as scope:
        features = convert_to_tensor(value, name="input")
        vector = convert_to_tensor(bias, dtype=features.dtype.base_dtype, name="bias")
        return one("BiasAdd", {"value": features, "bias": vector}, scope, data_format=form)


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """The affine map x @ weights + biases."""
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        features = convert_to_tensor(x, name="x")
        matrix = convert_to_tensor(weights, name="weights")
        vector = convert_to_tensor(biases, name="biases")
        return bias_add(matmul(features, matrix), vector, name=scope)


def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """relu(x @ weights + biases)."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        features = convert_to_tensor(x, name="x")
        matrix = convert_to_tensor(weights, name="weights")
        vector = convert_to_tensor(biases, name="biases")
        return one("Relu", {"features": bias_add(matmul(features, matrix), vector)}, scope)


def top_k(
    input: Any,  # noqa: A002 - TensorFlow's name
    k: Any = 1,
    sorted: bool = True,  # noqa: A002 - TensorFlow's name
    name: str | None = None,
) -> Any:
    """The k largest elements of each row, falling, and where they are: `(values, indices)`."""
    return TopKV2(*apply_op("TopKV2", {"input": input, "k": k}, {"sorted": sorted}, name).outputs)


def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Tensor:
    """Whether the target is among the k largest predictions of each row."""
    with name_scope(name, "in_top_k"):
        return one("InTopKV2", {"predictions": predictions, "targets": targets, "k": k})


def sigmoid_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, name: str | None = None
) -> Tensor:
    """The cross entropy of independent probabilities: max(x, 0) - x * z + log(1 + exp(-|x|)).

    Raises:
      ValueError: labels and logits are not given or their shapes differ.

    """
    _both(labels, logits, "sigmoid_cross_entropy_with_logits")
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        x = convert_to_tensor(logits, name="logits")
        z = convert_to_tensor(labels, name="labels")
        if not x.shape.is_compatible_with(z.shape):
            raise bad_value(f"`logits` and `labels` must have the same shape, received "
                            f"({x.shape} vs {z.shape}).")  # fmt: skip
        zeros = zeros_like(x, dtype=x.dtype)
        positive = one("GreaterEqual", {"x": x, "y": zeros})
        above = one("Select", {"condition": positive, "t": x, "e": zeros})
        turned = one("Select", {"condition": positive, "t": one("Neg", {"x": x}), "e": x})
        linear = above - x * z
        rest = one("Log1p", {"x": one("Exp", {"x": turned})})
        return one("AddV2", {"x": linear, "y": rest}, scope)


def _both(labels: Any, logits: Any, what: str) -> None:
    if labels is None or logits is None:
        raise bad_value(f"Both `labels` and `logits` must be provided to {what}.")


def softmax_cross_entropy_with_logits_v2(
    labels: Any,
    logits: Any,
    axis: int | None = None,
    name: str | None = None,
    dim: int | None = None,
) -> Tensor:
    """The cross entropy of softmax rows and label rows, one loss per row.

    Args:
      labels: rows of probabilities.
      logits: rows of unnormalised logarithms.
      axis: the axis of the classes; only the last is supported.
      name: the operation's name.
      dim: the older name of `axis`.

    Raises:
      ValueError: the axis is another.

    """
    _both(labels, logits, "softmax_cross_entropy_with_logits")
    place = dim if axis is None else axis
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as scope:
        rows = convert_to_tensor(logits, name="logits")
        wanted = convert_to_tensor(labels, name="labels")
        half = rows.dtype in {dtypes.float16, dtypes.bfloat16}
        precise = cast(rows, dtypes.float32) if half else rows
        wanted = cast(wanted, precise.dtype)
        count = rank(precise)
        whole = shape(rows)
        ndims = rows.shape.ndims
        if place not in {None, -1} and place != (ndims or 0) - 1:
            raise bad_value(f"Only the last axis may hold the classes, got {place}")
        flat = (_flattened(precise), _flattened(wanted))
        op = apply_op(
            "SoftmaxCrossEntropyWithLogits", {"features": flat[0], "labels": flat[1]}, {}, scope
        )
        outer = slice_(whole, [0], [one("Sub", {"x": count, "y": 1})])
        cost = reshape(op.outputs[0], outer)
        if ndims is not None:
            cost.set_shape(rows.shape[:-1])
        return cast(cost, rows.dtype) if half else cost


def _flattened(rows: Tensor) -> Tensor:
    """[everything, classes] of a tensor whose last dimension is the classes."""
    count = rank(rows)
    last = slice_(shape(rows), [one("Sub", {"x": count, "y": 1})], [1])
    flat = reshape(rows, concat([[-1], last], 0))
    sizes = rows.sizes
    if sizes is not None:
        outer = sizes[:-1]
        total: int | None = 1
        for size in outer:
            total = None if size is None or total is None else total * size
        flat.set_shape([total, sizes[-1]])
    return flat


def softmax_cross_entropy_with_logits(
    labels: Any = None,
    logits: Any = None,
    dim: int | None = None,
    name: str | None = None,
    axis: int | None = None,
) -> Tensor:
    """As the function of version 2, but no gradient flows into the labels."""
    _both(labels, logits, "softmax_cross_entropy_with_logits")
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as scope:
        held = one("StopGradient", {"input": labels}, "labels_stop_gradient")
        return softmax_cross_entropy_with_logits_v2(held, logits, axis or dim, scope)


def sparse_softmax_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, name: str | None = None
) -> Tensor:
    """The cross entropy of softmax rows and class numbers, one loss per row.

    Args:
      labels: integers, of the logits' shape without the last dimension.
      logits: rows of unnormalised logarithms.
      name: the operation's name.

    Raises:
      ValueError: the logits are a scalar, or the ranks do not fit.

    """
    _both(labels, logits, "sparse_softmax_cross_entropy_with_logits")
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        numbers = convert_to_tensor(labels)
        rows = convert_to_tensor(logits)
        half = rows.dtype in {dtypes.float16, dtypes.bfloat16}
        precise = cast(rows, dtypes.float32) if half else rows
        outer = shape(numbers)
        ndims = rows.shape.ndims
        if ndims == 0:
            raise bad_value("`logits` cannot be a scalar.")
        if ndims is not None and numbers.shape.ndims not in {None, ndims - 1}:
            raise bad_value(f"`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: "
                            f"{numbers.shape} and {rows.shape}")  # fmt: skip
        op_type = "SparseSoftmaxCrossEntropyWithLogits"
        if ndims == _ROWS:
            inputs = {"features": precise, "labels": numbers}
            cost = apply_op(op_type, inputs, {}, op_type).outputs[0]
            return cast(cost, rows.dtype) if half else cost
        last = one("Sub", {"x": rank(rows), "y": 1})
        classes = shape(rows)[last]
        flat = {"features": reshape(precise, [-1, classes]), "labels": reshape(numbers, [-1])}
        cost = reshape(apply_op(op_type, flat, {}, op_type).outputs[0], outer)
        cost.set_shape(numbers.shape)
        return cast(cost, rows.dtype) if half else cost


#: The rank of a batch of rows.
_ROWS: Final = 2


def l2_normalize(
    x: Any,
    axis: Any = None,
    epsilon: float = 1e-12,
    name: str | None = None,
    dim: Any = None,
) -> Tensor:
    """The tensor x over its Euclidean norm along the axes; `epsilon` is the least square of it."""
    place = dim if axis is None else axis
    with name_scope(name, "l2_normalize", [x]) as scope:
        value = convert_to_tensor(x, name="x")
        total = reduce_sum(one("Square", {"x": value}), place, keepdims=True)
        inverse = one("Rsqrt", {"x": one("Maximum", {"x": total, "y": epsilon})})
        return one("Mul", {"x": value, "y": inverse}, scope)


EXPORTS: Final[dict[str, Any]] = {
    "linalg.l2_normalize": l2_normalize,
    "math.in_top_k": in_top_k,
    "math.l2_normalize": l2_normalize,
    "math.log_softmax": log_softmax,
    "math.softmax": softmax,
    "math.top_k": top_k,
    "nn.bias_add": bias_add,
    "nn.in_top_k": in_top_k,
    "nn.l2_normalize": l2_normalize,
    "nn.leaky_relu": leaky_relu,
    "nn.log_softmax": log_softmax,
    "nn.relu_layer": relu_layer,
    "nn.sigmoid_cross_entropy_with_logits": sigmoid_cross_entropy_with_logits,
    "nn.softmax": softmax,
    "nn.softmax_cross_entropy_with_logits": softmax_cross_entropy_with_logits,
    "nn.softmax_cross_entropy_with_logits_v2": softmax_cross_entropy_with_logits_v2,
    "nn.sparse_softmax_cross_entropy_with_logits": sparse_softmax_cross_entropy_with_logits,
    "nn.top_k": top_k,
    "nn.xw_plus_b": xw_plus_b,
}
