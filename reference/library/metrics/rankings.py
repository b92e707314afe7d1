"""Ranking metrics: precision, recall and average precision at k (TF 2.21)."""

from __future__ import annotations

from collections.abc import Callable

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.nn.top_k import top_k
from sessrun.reference.api.ops.array_ops import concat, expand_dims, reshape, shape, size, slice_
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import ones_like, zeros_like
from sessrun.reference.api.ops.math_ops import add, div_no_nan, divide
from sessrun.reference.api.ops.reduce_ops import cumsum, reduce_sum
from sessrun.reference.api.ops.set_ops import set_size
from sessrun.reference.api.ops.sparse_array_ops import sparse_concat, sparse_reshape
from sessrun.reference.api.ops.weight_shapes import broadcast_weights
from sessrun.reference.api.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from sessrun.reference.api.variables.state_ops import assign_add
from sessrun.reference.base import dtypes
from sessrun.reference.build.generated import greater_equal, minimum, mul, select_v2, tile
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.metrics.counts_at_k import (
    at_k_name,
    counted,
    in_range,
    of_one_rank,
    true_positives,
)
from sessrun.reference.library.metrics.metric_variables import (
    CollectionNames,
    Metric,
    added_to_collections,
    metric_variable,
)

__all__ = [
    "average_precision_at_k",
    "precision_at_k",
    "precision_at_top_k",
    "recall_at_k",
    "recall_at_top_k",
    "sparse_average_precision_at_k",
    "sparse_precision_at_k",
]


def _share_at_top_k(
    word: str,
    labels: TensorLike | SparseTensor,
    predictions_idx: TensorLike,
    k: int | None,
    class_id: int | None,
    weights: TensorLike | None,
    name: str | None,
) -> Metric:
    """Streaming precision or recall of top-k class indices."""
    other = "false_positive" if word == "precision" else "false_negative"
    names = (predictions_idx, labels, weights)
    with name_scope(name, at_k_name(word, k, class_id), names) as scope:
        true = of_one_rank(labels, predictions_idx)
        guessed = cast(predictions_idx, dtypes.int64)
        right, new_right = counted("true_positive", true, guessed, k, class_id, weights)
        wrong, new_wrong = counted(other, true, guessed, k, class_id, weights)
        value = divide(right, add(right, wrong), name=scope)
        return value, divide(new_right, add(new_right, new_wrong), name="update")


def precision_at_top_k(
    labels: TensorLike | SparseTensor,
    predictions_idx: TensorLike,
    k: int | None = None,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames = None,
    updates_collections: CollectionNames = None,
    name: str | None = None,
) -> Metric:
    """The streaming precision of top-k class indices.

    Args:
      labels: int64 class numbers, dense or sparse, [..., labels] or [...].
      predictions_idx: the predicted class numbers, [..., k].
      k: only for the default name.
      class_id: the only class that counts.
      weights: None, or what each row counts, [...].
      metrics_collections: collections for the value.
      updates_collections: collections for the update.
      name: a name scope.

    Returns:
      `(value, update)`: float64 scalars.

    Raises:
      ValueError: shapes do not fit.

    """
    value, update = _share_at_top_k(
        "precision", labels, predictions_idx, k, class_id, weights, name
    )
    return added_to_collections(value, update, metrics_collections, updates_collections)


def recall_at_top_k(
    labels: TensorLike | SparseTensor,
    predictions_idx: TensorLike,
    k: int | None = None,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames = None,
    updates_collections: CollectionNames = None,
    name: str | None = None,
) -> Metric:
    """The streaming recall of top-k class indices. Arguments as of `precision_at_top_k`."""
    value, update = _share_at_top_k("recall", labels, predictions_idx, k, class_id, weights, name)
    return added_to_collections(value, update, metrics_collections, updates_collections)


def _of_scores(
    at_top_k: Callable[..., Metric],
    labels: TensorLike,
    predictions: TensorLike,
    k: int,
    class_id: int | None,
    weights: TensorLike | None,
    collections: tuple[CollectionNames, CollectionNames],
    name: str | None,
) -> Metric:
    """`precision_at_top_k` or `recall_at_top_k` of the classes with the k highest scores."""
    word = at_top_k.__name__.partition("_")[0]
    names = (predictions, labels, weights)
    with name_scope(name, at_k_name(word, k, class_id), names) as scope:
        best = top_k(predictions, k).indices
        return at_top_k(labels, best, k, class_id, weights, *collections, scope)


def precision_at_k(
    labels: Tensor,
    predictions: Tensor,
    k: int,
    class_id: int | None = None,
    weights: Tensor | None = None,
    metrics_collections: CollectionNames = None,
    updates_collections: CollectionNames = None,
    name: str | None = None,
) -> Metric:
    """The streaming precision of the k highest scores.

    Args:
      labels: int64 class numbers, dense or sparse, [..., labels] or [...].
      predictions: numbers of classes, [..., classes].
      k: how many of them are predicted.
      class_id: the only class that counts.
      weights: None, or what each row counts, [...].
      metrics_collections: collections for the value.
      updates_collections: collections for the update.
      name: a name scope.

    Returns:
      `(value, update)`: float64 scalars.

    Raises:
      ValueError: shapes do not fit.

    """
    collections = metrics_collections, updates_collections
    return _of_scores(
        precision_at_top_k, labels, predictions, k, class_id, weights, collections, name
    )


def recall_at_k(
    labels: Tensor,
    predictions: TensorLike,
    k: int,
    class_id: int | None = None,
    weights: Tensor | None = None,
    metrics_collections: CollectionNames = None,
    updates_collections: CollectionNames = None,
    name: str | None = None,
) -> Metric:
    """The streaming recall of the k highest scores. Arguments as of `precision_at_k`."""
    collections = metrics_collections, updates_collections
    return _of_scores(recall_at_top_k, labels, predictions, k, class_id, weights, collections, name)


def sparse_precision_at_k(
    labels: Tensor,
    predictions: Tensor,
    k: int,
    class_id: int | None = None,
    weights: Tensor | None = None,
    metrics_collections: CollectionNames = None,
    updates_collections: CollectionNames = None,
    name: str | None = None,
) -> Metric:
    """The older name of `precision_at_k`."""
    return precision_at_k(
        labels, predictions, k, class_id, weights, metrics_collections, updates_collections, name
    )


def _repeated(labels: TensorLike, multiple: int, name: str) -> SparseTensor | Tensor:
    """Tile labels [..., labels] to [..., multiple, labels]."""
    with name_scope(name, "expand_and_tile", (labels, multiple, -1)) as scope:
        true = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(true, SparseTensor):
            return _repeated_sparse(true, multiple, scope)
        longer = expand_dims(true, -2, name="expand")
        if multiple == 1:
            return longer
        once = ones_like(shape(true))
        times = concat((once[:-1], (multiple,), once[-1:]), 0, name="multiples")
        return tile(longer, times, name=scope)


def _repeated_sparse(labels: SparseTensor, multiple: int, scope: str) -> SparseTensor:
    before = reshape(size(labels.dense_shape) + -1, [1])
    outer = slice_(labels.dense_shape, [0], before)
    inner = slice_(labels.dense_shape, before, [-1])
    longer = sparse_reshape(
        labels, shape=concat((outer, [1], inner), 0, name="expanded_shape"), name="expand"
    )
    if multiple == 1:
        return longer
    return sparse_concat(-2, [longer] * multiple, name=scope)


def _relevant(labels: Tensor, k: int) -> Tensor:
    """min(k, number of labels), for each row."""
    if k < 1:
        raise bad_value(f"Invalid k={k}")
    with name_scope(None, "num_relevant", (labels,)) as scope:
        true = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(true, SparseTensor):
            return minimum(set_size(true), k, name=scope)
        is_class = greater_equal(true, 0)
        count = reduce_sum(select_v2(is_class, ones_like(true), zeros_like(true)), axis=-1)
        return minimum(count, k, name=scope)


def _average_precision(labels: Tensor, predictions_idx: TensorLike) -> Tensor:
    """The average precision of each row, float64."""
    with name_scope(None, "average_precision", (predictions_idx, labels)) as scope:
        guessed = cast(predictions_idx, dtypes.int64, name="predictions_idx")
        if guessed.shape.ndims == 0:
            raise bad_value("The rank of `predictions_idx` must be at least 1.")
        k = guessed.shape.as_list()[-1]
        if k is None:
            raise bad_value("The last dimension of predictions_idx must be set.")
        true = of_one_rank(labels, guessed)
        columns = expand_dims(guessed, -1, name="predictions_idx_per_k")
        wanted = _repeated(true, k, "labels_per_k")
        is_right = true_positives(wanted, columns, name="relevant_per_k")
        right = cumsum(is_right, axis=-1, name="tp_per_k")
        places = cumsum(ones_like(is_right), axis=-1, name="retrieved_per_k")
        precision = divide(
            cast(right, dtypes.float64), cast(places, dtypes.float64), name="precision_per_k"
        )
        counting = mul(precision, cast(is_right, dtypes.float64), name="relevant_precision_per_k")
        total = reduce_sum(counting, axis=(-1,), name="precision_sum")
        return divide(total, cast(_relevant(true, k), dtypes.float64), name=scope)


def _mean_of(precisions: Tensor, weights: TensorLike | None, scope: str) -> Metric:
    """The streaming weighted mean of the rows' precisions."""
    with name_scope(None, "max", (precisions,)) as inner:
        most = metric_variable([], dtypes.float64, name=inner)
        if weights is None:
            batch = cast(size(precisions, name="batch_max"), dtypes.float64)
        else:
            batch = reduce_sum(weights, name="batch_max")
        new_most = assign_add(most, batch, name="update")
    with name_scope(None, "total", (precisions,)) as inner:
        total = metric_variable([], dtypes.float64, name=inner)
        batch = reduce_sum(precisions, name="batch_total")
        new_total = assign_add(total, batch, name="update")
    value = div_no_nan(total, most, name="mean")
    return value, div_no_nan(new_total, new_most, name=scope)


def average_precision_at_k(
    labels: TensorLike,
    predictions: TensorLike,
    k: int,
    weights: Tensor | None = None,
    metrics_collections: CollectionNames = None,
    updates_collections: CollectionNames = None,
    name: str | None = None,
) -> Metric:
    """The streaming mean over rows of the average precision at k.

    Args:
      labels: int64 class numbers, dense or sparse, [..., labels] or [...].
      predictions: numbers of classes, [..., classes].
      k: how many of them are predicted.
      weights: None, or what each row counts, [...].
      metrics_collections: collections for the value.
      updates_collections: collections for the update.
      name: a name scope.

    Returns:
      `(value, update)`: float64 scalars.

    Raises:
      ValueError: k is below 1, or shapes do not fit.

    """
    if k < 1:
        raise bad_value(f"Invalid k={k}. `k` should be >= 1.")
    names = (predictions, labels, weights)
    with name_scope(name, at_k_name("average_precision", k), names) as scope:
        best = top_k(predictions, k).indices
        true = in_range(labels, cast(shape(predictions)[-1], dtypes.int64))
        with name_scope(scope, "average_precision_at_top_k", (best, true, weights)) as inner:
            precisions = _average_precision(true, best)
            if weights is not None:
                weights = broadcast_weights(cast(weights, dtypes.float64), precisions)
                precisions = mul(precisions, weights)
            value, update = _mean_of(precisions, weights, inner)
            return added_to_collections(value, update, metrics_collections, updates_collections)


def sparse_average_precision_at_k(
    labels: Tensor,
    predictions: Tensor,
    k: int,
    weights: Tensor | None = None,
    metrics_collections: CollectionNames = None,
    updates_collections: CollectionNames = None,
    name: str | None = None,
) -> Metric:
    """The older name of `average_precision_at_k`."""
    return average_precision_at_k(
        labels, predictions, k, weights, metrics_collections, updates_collections, name
    )
