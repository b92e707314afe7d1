"""Losses over a sample of the classes: noise-contrastive estimation and sampled softmax.

Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessrun.reference.api.nn.cross_entropies import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
)
from sessrun.reference.api.nn.embeddings import as_parts, embedding_lookup
from sessrun.reference.api.ops.array_ops import concat, expand_dims, shape, slice_, stack
from sessrun.reference.api.ops.candidate_ops import (
    compute_accidental_hits,
    log_uniform_candidate_sampler,
)
from sessrun.reference.api.ops.cast_ops import cast, one
from sessrun.reference.api.ops.fill_ops import ones, ones_like, zeros_like
from sessrun.reference.api.ops.math_ops import matmul
from sessrun.reference.base.dtypes import int32, int64
from sessrun.reference.build.generated import log, mul, reshape, stop_gradient
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public


def _row_sums(x: Tensor) -> Tensor:
    """The sum of each row, computed as a product with a vector of ones."""
    columns = shape(x)[1]
    return reshape(matmul(x, ones(stack([columns, 1]), x.dtype)), [-1])


class _Sampled:
    """The logits of true and of sampled classes, biases included."""

    def __init__(
        self,
        weights: TensorLike,
        biases: TensorLike,
        flat: Tensor,
        sampled: Tensor,
        inputs: Any,
        strategy: str,
    ) -> None:
        ids = concat([flat, sampled], 0)
        rows = cast(embedding_lookup(weights, ids, strategy), inputs.dtype)
        self.true_rows = slice_(rows, [0, 0], stack([shape(flat)[0], -1]))
        others = slice_(rows, stack([shape(flat)[0], 0]), [-1, -1])
        self.sampled = matmul(inputs, others, transpose_b=True)
        offsets = cast(embedding_lookup(biases, ids, strategy), inputs.dtype)
        self.true_offsets = slice_(offsets, [0], shape(flat))
        self.offsets = slice_(offsets, shape(flat), [-1])
        self.inputs = inputs

    def logits(self, num_true: int) -> tuple[Tensor, Tensor]:
        """[batch, num_true] and [batch, num_sampled]."""
        width = shape(self.true_rows)[1:2]
        wanted = concat([[-1, num_true], width], 0)
        products = mul(expand_dims(self.inputs, 1), reshape(self.true_rows, wanted))
        matrix = reshape(products, concat([[-1], width], 0))
        true = reshape(_row_sums(matrix), [-1, num_true])
        true = true + reshape(self.true_offsets, [-1, num_true])
        return true, self.sampled + self.offsets


def _without_hits(
    logits: Tensor, labels: Tensor, sampled: Tensor, num_true: int, num_sampled: TensorLike
) -> Tensor:
    """The logits of sampled classes, with the least float for those that are true classes."""
    rows, positions, weights = compute_accidental_hits(labels, sampled, num_true=num_true)
    rows = reshape(rows, [-1, 1])
    columns = reshape(cast(positions, int32), [-1, 1])
    inputs = {
        "sparse_indices": concat([rows, columns], 1, "sparse_indices"),
        "output_shape": concat([shape(labels)[:1], expand_dims(num_sampled, 0)], 0),
        "sparse_values": cast(weights, logits.dtype),
        "default_value": 0.0,
    }
    return logits + one("SparseToDense", inputs, validate_indices=False)


def _compute_sampled_logits(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: TensorLike,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Sequence[Tensor] | None = None,
    subtract_log_q: bool = True,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str | None = None,
    seed: int | None = None,
) -> tuple[Tensor, Tensor]:
    """The logits of true and sampled classes, concatenated, and labels for them."""
    parts = as_parts(weights)
    with name_scope(name, "compute_sampled_logits", [*parts, biases, inputs, labels]):
        labels = cast(labels, int64)
        flat = reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(
                true_classes=labels,
                num_true=num_true,
                num_sampled=num_sampled,
                unique=True,
                range_max=num_classes,
                seed=seed,
            )
        sampled, true_expected, expected = (stop_gradient(value) for value in sampled_values)
        sampled = cast(sampled, int64)
        candidates = _Sampled(parts, biases, flat, sampled, inputs, partition_strategy)
        true_logits, logits = candidates.logits(num_true)
        if remove_accidental_hits:
            logits = _without_hits(logits, labels, sampled, num_true, num_sampled)
        if subtract_log_q:
            true_logits = true_logits - log(true_expected)
            logits = logits - log(expected)
        together = concat([true_logits, logits], 1)
        shares = ones_like(true_logits) / num_true
        return together, concat([shares, zeros_like(logits)], 1)


@public("nn.nce_loss")
def nce_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: TensorLike,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Sequence[Tensor] | None = None,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str = "nce_loss",
) -> Tensor:
    """The noise-contrastive estimation loss of each row, [batch].

    Args:
      weights: a matrix with a row for each class, or parts of one.
      biases: [num_classes].
      labels: the true classes, [batch, num_true].
      inputs: [batch, columns of `weights`].
      num_sampled: the number of classes to sample.
      num_classes: the number of classes.
      num_true: the number of true classes of a row.
      sampled_values: the result of a candidate sampler; by default of the log-uniform one.
      remove_accidental_hits: whether sampled classes that are true ones are ignored.
      partition_strategy: as for `embedding_lookup`.
      name: the operations' scope.

    Returns:
      A loss for each row.

    """
    logits, wanted = _compute_sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits=remove_accidental_hits,
        partition_strategy=partition_strategy,
        name=name,
    )
    losses = sigmoid_cross_entropy_with_logits(labels=wanted, logits=logits, name="sampled_losses")
    return _row_sums(losses)


@public("nn.sampled_softmax_loss")
def sampled_softmax_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: TensorLike,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Sequence[Tensor] | None = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_softmax_loss",
    seed: int | None = None,
) -> Tensor:
    """The softmax cross entropy of each row over its true and sampled classes, [batch].

    Arguments as of `nce_loss`; `seed` is the sampler's.
    """
    logits, wanted = _compute_sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits=remove_accidental_hits,
        partition_strategy=partition_strategy,
        name=name,
        seed=seed,
    )
    held = stop_gradient(wanted, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels=held, logits=logits)
