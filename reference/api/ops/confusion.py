"""`tf.confusion_matrix`, and labels and predictions whose ranks differ by one.

Source: TF 2.21.
"""

from __future__ import annotations

from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.ops.array_ops import rank, squeeze, stack
from sessrun.reference.api.ops.assertions import assert_less, assert_non_negative
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import ones_like
from sessrun.reference.api.ops.math_ops import equal
from sessrun.reference.api.ops.reduce_ops import reduce_max
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import gated
from sessrun.reference.build.generated import maximum, scatter_nd
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.default_graph import control_dependencies
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["confusion_matrix", "remove_squeezable_dimensions"]


def _may_end_in_one(value: Tensor) -> bool:
    sizes = value.sizes
    return sizes is None or sizes[-1] in {None, 1}


def _without_last(value: Tensor, difference: int, rank_difference: Tensor) -> Tensor:
    """The tensor, whose last dimension is squeezed if the run finds that the ranks differ so."""
    if not _may_end_in_one(value):
        return value
    shorter: Tensor = cond(
        equal(difference, rank_difference), lambda: squeeze(value, [-1]), lambda: value
    )
    return shorter


def remove_squeezable_dimensions(
    labels: TensorLike,
    predictions: TensorLike,
    expected_rank_diff: int = 0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Labels and predictions; the last dimension of the one whose rank is 1 too high is squeezed.

    Args:
      labels: a tensor.
      predictions: a tensor.
      expected_rank_diff: the expected rank of the predictions minus that of the labels.
      name: the operations' scope.

    """
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        guessed, true = convert_to_tensor(predictions), convert_to_tensor(labels)
        ranks = guessed.shape.ndims, true.shape.ndims
        if ranks[0] is None or ranks[1] is None:
            rank_difference = rank(guessed) - rank(true)
            guessed = _without_last(guessed, expected_rank_diff + 1, rank_difference)
            return _without_last(true, expected_rank_diff - 1, rank_difference), guessed
        excess = ranks[0] - ranks[1] - expected_rank_diff
        if excess == 1 and _may_end_in_one(guessed):
            guessed = squeeze(guessed, [-1])
        elif excess == -1 and _may_end_in_one(true):
            true = squeeze(true, [-1])
        return true, guessed


def _after_check(check: Operation, value: Tensor) -> Tensor:
    """The tensor, computed after the check has passed."""
    with control_dependencies([check]):
        held: Tensor = gated(value.graph, value)
        return held


@public("confusion_matrix", "math.confusion_matrix")
def confusion_matrix(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
    weights: TensorLike | None = None,
) -> Tensor:
    """The counts of pairs of a true class (row) and a predicted class (column).

    Args:
      labels: class numbers, [n].
      predictions: class numbers, [n].
      num_classes: the number of classes; by default the largest class number plus 1.
      dtype: of the matrix.
      name: the operations' scope.
      weights: [n], the weight of each pair, by default 1.

    Returns:
      A matrix of shape [num_classes, num_classes].

    Raises:
      ValueError: the shape of the weights does not fit.
      InvalidArgumentError: in the run, a number is negative or not below `num_classes`.

    """
    with name_scope(name, "confusion_matrix", (predictions, labels, num_classes, weights)):
        true, guessed = remove_squeezable_dimensions(
            convert_to_tensor(labels, name="labels"),
            convert_to_tensor(predictions, name="predictions"),
        )
        guessed, true = cast(guessed, dtypes.int64), cast(true, dtypes.int64)
        sign = "`{}` contains negative values"
        true = _after_check(assert_non_negative(true, message=sign.format("labels")), true)
        guessed = _after_check(
            assert_non_negative(guessed, message=sign.format("predictions")), guessed
        )
        if num_classes is None:
            num_classes = maximum(reduce_max(guessed), reduce_max(true)) + 1
        else:
            count = cast(num_classes, dtypes.int64)
            true = _after_check(assert_less(true, count, message="`labels` out of bound"), true)
            guessed = _after_check(
                assert_less(guessed, count, message="`predictions` out of bound"), guessed
            )
        if weights is not None:
            given = convert_to_tensor(weights, name="weights")
            guessed.shape.assert_is_compatible_with(given.shape)
            weights = cast(given, dtype)
        shape = stack([num_classes, num_classes])
        pairs = stack([true, guessed], axis=1)
        counts = ones_like(guessed, dtype) if weights is None else weights
        return scatter_nd(indices=pairs, updates=counts, shape=cast(shape, dtypes.int64))
