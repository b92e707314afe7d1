"""Cross entropies and the Poisson loss, one loss for each example. Source: TF 2.21.

`tf.losses` reduces them to scalars.
"""

from __future__ import annotations

import math
from typing import Any, Final

from sessrun.reference.api.nn.activations import log_softmax
from sessrun.reference.api.ops.array_ops import (
    concat,
    gather,
    rank,
    shape,
    slice_,
    transpose,
    where,
)
from sessrun.reference.api.ops.assertions import assert_equal
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import ones_like, zeros_like
from sessrun.reference.api.ops.math_ops import absolute, add, range_
from sessrun.reference.api.ops.reduce_ops import chosen, reduce_sum
from sessrun.reference.base import dtypes
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import (
    broadcast_to,
    exp,
    greater_equal,
    less,
    log,
    log1p,
    logical_and,
    logical_or,
    relu,
    reshape,
    stop_gradient,
    sub,
)
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.default_graph import control_dependencies
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.random_seed import is_op_determinism_enabled
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

#: The rank of a batch of rows.
_ROWS: Final = 2


def _alike(x: Tensor, z: Tensor, words: str) -> None:
    if not x.shape.is_compatible_with(z.shape):
        raise bad_value(f"{words} must have the same shape, received ({x.shape} vs {z.shape}).")


def _check_given(labels: TensorLike | None, logits: TensorLike | None, what: str) -> None:
    if labels is None or logits is None:
        raise bad_value(
            f"Both `labels` and `logits` must be provided for {what}: "
            f"labels={labels}, logits={logits}"
        )


@public("nn.log_poisson_loss")
def log_poisson_loss(
    targets: TensorLike,
    log_input: TensorLike,
    compute_full_loss: bool = False,
    name: str | None = None,
) -> Tensor:
    """The negative log likelihood of counts z under Poisson distributions: exp(c) - c * z.

    Args:
      targets: the counts z, of any shape.
      log_input: c, the logarithms of the means, of the same shape.
      compute_full_loss: whether Stirling's approximation of log z! is added.
      name: the operations' scope.

    Raises:
      ValueError: the shapes differ.

    """
    with name_scope(name, "log_poisson_loss", [log_input, targets]):
        c = convert_to_tensor(log_input, name="log_input")
        z = convert_to_tensor(targets, name="targets")
        _alike(c, z, "`log_input` and `targets`")
        result = exp(c) - c * z
        if not compute_full_loss:
            return result
        half = constant(0.5, dtype=z.dtype)
        circle = constant(2 * math.pi, dtype=z.dtype)
        stirling = z * log(z) - z + half * log(circle * z)
        zeros, ones = zeros_like(z, dtype=z.dtype), ones_like(z, dtype=z.dtype)
        is_small = logical_and(z >= zeros, z <= ones)
        return result + where(is_small, zeros, stirling)


@public("nn.sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy_with_logits(
    labels: TensorLike | None = None, logits: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The cross entropy of independent probabilities: max(x, 0) - x * z + log(1 + exp(-|x|)).

    Args:
      labels: the probabilities z, of any shape.
      logits: x, of the same shape and dtype.
      name: the operation's name.

    Raises:
      ValueError: labels and logits are not given or their shapes differ.

    """
    _check_given(labels, logits, "sigmoid_cross_entropy_with_logits")
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        x = convert_to_tensor(logits, name="logits")
        z = convert_to_tensor(labels, name="labels")
        _alike(x, z, "`logits` and `labels`")
        zeros = zeros_like(x, dtype=x.dtype)
        positive = x >= zeros
        above = where(positive, x, zeros)
        turned = where(positive, -x, x)
        return add(above - x * z, log1p(exp(turned)), name=scope)


@public("nn.weighted_cross_entropy_with_logits")
def weighted_cross_entropy_with_logits(
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    pos_weight: Any = None,
    name: str | None = None,
    targets: TensorLike | None = None,
) -> Tensor:
    """The cross entropy of independent probabilities, with a weight for the positive term.

    Args:
      labels: the probabilities, of any shape.
      logits: a tensor of the same shape and dtype.
      pos_weight: the factor of the positive term.
      name: the operation's name.
      targets: the older name of `labels`.

    Raises:
      ValueError: the shapes differ, or both names are given.

    """
    labels = chosen(labels, targets, "labels", "targets")
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        x = convert_to_tensor(logits, name="logits")
        z = convert_to_tensor(labels, name="labels")
        _alike(x, z, "`logits` and `labels`")
        weight = 1 + (pos_weight - 1) * z
        return add((1 - z) * x, weight * (log1p(exp(-absolute(x))) + relu(-x)), name=scope)


@public("nn.softmax_cross_entropy_with_logits_v2")
def softmax_cross_entropy_with_logits_v2(
    labels: TensorLike,
    logits: TensorLike | None,
    axis: int | None = None,
    name: str | None = None,
    dim: int | None = None,
) -> Tensor:
    """The cross entropy of softmax rows and label rows, one loss per row.

    Args:
      labels: rows of probabilities.
      logits: unnormalized log probabilities of the same shape; float16 is computed as float32.
      axis: the axis of the classes, by default the last.
      name: the operation's name.
      dim: the older name of `axis`.

    Returns:
      A tensor of the logits' shape without the axis.

    """
    axis = chosen(axis, dim, "axis", "dim")
    axis = -1 if axis is None else axis
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as scope:
        rows = convert_to_tensor(logits, name="logits")
        wanted = convert_to_tensor(labels, name="labels")
        half = rows.dtype in {dtypes.float16, dtypes.bfloat16}
        precise = cast(rows, dtypes.float32) if half else rows
        wanted = cast(wanted, precise.dtype)
        count = rank(precise)
        if axis != -1:
            precise, wanted = (
                _with_axis_last(precise, axis, count),
                _with_axis_last(wanted, axis, count),
            )
        full_shape = shape(precise)
        flat = {"features": _flattened(precise), "labels": _flattened(wanted)}
        if is_op_determinism_enabled():
            cost = -reduce_sum(flat["labels"] * log_softmax(flat["features"]), axis=1)
        else:
            cost = apply_op("SoftmaxCrossEntropyWithLogits", flat, {}, scope).outputs[0]
        cost = reshape(cost, slice_(full_shape, [0], [sub(count, 1)]))
        if rows.shape.ndims is not None:
            sizes = rows.shape.as_list()
            del sizes[axis]
            cost.set_shape(sizes)
        return cast(cost, rows.dtype) if half else cost


def _with_axis_last(value: Tensor, axis: int, count: Tensor) -> Tensor:
    """The tensor with an axis moved to the end."""
    return transpose(value, concat([range_(axis), range_(axis + 1, count), [axis]], 0))


def _flattened(rows: Tensor) -> Tensor:
    """The tensor as a matrix whose last dimension is the classes."""
    count = rank(rows)
    last = slice_(shape(rows), [sub(count, 1)], [1])
    flat = reshape(rows, concat([[-1], last], 0))
    if rows.sizes is not None and None not in rows.sizes[:-1]:
        flat.set_shape([math.prod(size or 0 for size in rows.sizes[:-1]), rows.sizes[-1]])
    return flat


@public("nn.softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits(
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    dim: int | None = -1,
    name: str | None = None,
    axis: int | None = None,
) -> Tensor:
    """As `softmax_cross_entropy_with_logits_v2`, but no gradient flows into the labels.

    Raises:
      ValueError: labels or logits are missing, or both `axis` and `dim` are given.

    """
    axis = chosen(axis, dim, "axis", "dim")
    _check_given(labels, logits, "softmax_cross_entropy_with_logits")
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as scope:
        held = stop_gradient(labels, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(held, logits, axis=axis, name=scope)


@public("nn.sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits(
    labels: TensorLike | None = None, logits: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The cross entropy of softmax rows and class numbers, one loss per row.

    Args:
      labels: integers, of the logits' shape without the last dimension.
      logits: rows of unnormalized log probabilities; float16 is computed as float32.
      name: the operation's name.

    Raises:
      ValueError: the logits are a scalar, or the shapes do not fit.

    """
    _check_given(labels, logits, "sparse_softmax_cross_entropy_with_logits")
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        numbers = convert_to_tensor(labels)
        rows = convert_to_tensor(logits)
        half = rows.dtype == dtypes.float16
        precise = cast(rows, dtypes.float32) if half else rows
        outer = shape(numbers)
        is_known = _checked_classes(numbers, rows)
        if rows.shape.ndims == _ROWS:
            cost = _of_numbers(precise, numbers, name)
            return cast(cost, dtypes.float16) if half else cost
        checks = [] if is_known else [assert_equal(shape(numbers), shape(rows)[:-1])]
        with control_dependencies(checks):
            classes = shape(rows)[rank(rows) - 1]
            flat = reshape(precise, [-1, classes])
            cost = reshape(_of_numbers(flat, reshape(numbers, [-1]), name), outer)
            cost.set_shape(numbers.shape)
            return cast(cost, dtypes.float16) if half else cost


def _of_numbers(rows: Tensor, numbers: Tensor, name: str | None) -> Tensor:
    if is_op_determinism_enabled():
        return _in_parts(rows, numbers)
    inputs = {"features": rows, "labels": numbers}
    return apply_op("SparseSoftmaxCrossEntropyWithLogits", inputs, {}, name).outputs[0]


def _in_parts(rows: Tensor, numbers: Tensor) -> Tensor:
    """The loss by operations that are deterministic on GPUs, too; NaN for an invalid class."""
    cost = -gather(log_softmax(rows), numbers, batch_dims=1)
    lost = broadcast_to(constant(math.nan, dtype=rows.dtype), shape(cost))
    classes = cast(shape(rows)[-1], numbers.dtype)
    return where(logical_or(less(numbers, 0), greater_equal(numbers, classes)), lost, cost)


def _checked_classes(numbers: Tensor, rows: Tensor) -> bool:
    """Whether the static shapes of class numbers and rows are known and fit.

    Raises:
      ValueError: the static shapes do not fit.

    """
    ndims = rows.shape.ndims
    if ndims == 0:
        raise bad_value(f"`logits` cannot be a scalar. Received logits={rows}")
    if ndims is None:
        return False
    if numbers.shape.ndims not in {None, ndims - 1}:
        raise bad_value(
            f"`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: "
            f"{numbers.shape} and {rows.shape}"
        )
    outer = rows.shape[:-1]
    is_known = numbers.shape.is_fully_defined() and outer.is_fully_defined()
    if is_known and numbers.shape != outer:
        raise bad_value(
            f"`labels.shape` must equal `logits.shape` except for the last dimension. "
            f"Received: {numbers.shape} and {rows.shape}"
        )
    return is_known
