"""The CTC loss in its forms of version 2 and 3. Source: TF 2.21."""

from __future__ import annotations

from typing import Any, Final

from sessrun.reference.api.custom_gradients import custom_gradient
from sessrun.reference.api.nn.ctc_labels import size_at
from sessrun.reference.api.nn.ctc_states import ctc_loss_and_grad
from sessrun.reference.api.ops.array_ops import concat, transpose, where
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.ctc_ops import ctc_loss
from sessrun.reference.api.ops.fill_ops import zeros_like
from sessrun.reference.api.ops.grids import sequence_mask
from sessrun.reference.api.ops.reduce_ops import reduce_max
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base import dtypes
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import reshape
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["ctc_loss_dense", "ctc_loss_v3"]

_NARROW: Final = frozenset({dtypes.float16, dtypes.bfloat16})


def _from_front(blank: int, logits: Tensor) -> int | Tensor:
    """The index of the blank class; a negative one counts from the end."""
    return blank + size_at(logits, 2) if blank < 0 else blank


def _blank_last(
    labels: SparseTensor, logits: Tensor, blank: int | Tensor
) -> tuple[SparseTensor, Tensor]:
    """Labels and logits with the blank class moved to the end."""
    parts = [logits[:, :, :blank], logits[:, :, blank + 1 :], logits[:, :, blank : blank + 1]]
    values = labels.values
    moved = where(values < blank, values, values - 1)
    return SparseTensor(labels.indices, moved, labels.dense_shape), concat(parts, axis=2)


@public("nn.ctc_loss_v2")
def ctc_loss_v2(
    labels: TensorLike | SparseTensor,
    logits: Tensor,
    label_length: TensorLike,
    logit_length: TensorLike,
    logits_time_major: bool = True,
    unique: tuple[Tensor, Tensor] | None = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Tensor:
    """The CTC loss of each sequence: the negative log likelihood of its labels, [batch].

    Args:
      labels: [batch, max labels], or a sparse matrix of int32.
      logits: [time, batch, classes].
      label_length: [batch], the number of labels of each sequence; unused for sparse labels.
      logit_length: [batch], the number of steps of each sequence.
      logits_time_major: whether the time is the first dimension of the logits, else the batch.
      unique: for dense labels the result of `ctc_unique_labels`, which saves work.
      blank_index: the blank class; by default 0 for dense labels.
      name: the operations' scope.

    Raises:
      ValueError: the labels are sparse and no blank class is given.

    """
    if not isinstance(labels, SparseTensor):
        return ctc_loss_dense(
            labels,
            logits,
            label_length,
            logit_length,
            logits_time_major,
            unique,
            blank_index or 0,
            name,
        )
    if blank_index is None:
        raise bad_value("Argument `blank_index` must be provided when labels is a SparseTensor.")
    blank = _from_front(blank_index, logits)
    if blank != size_at(logits, 2) - 1:
        labels, logits = _blank_last(labels, logits, blank)
    return ctc_loss(
        labels=labels, inputs=logits, sequence_length=logit_length, time_major=logits_time_major
    )


def ctc_loss_v3(
    labels: TensorLike | SparseTensor,
    logits: Tensor,
    label_length: TensorLike,
    logit_length: TensorLike,
    logits_time_major: bool = True,
    unique: tuple[Tensor, Tensor] | None = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Tensor:
    """As `ctc_loss_v2`; for sparse labels any class may be the blank."""
    if not isinstance(labels, SparseTensor) or blank_index is None:
        return ctc_loss_v2(
            labels, logits, label_length, logit_length, logits_time_major, unique, blank_index, name
        )
    blank = _from_front(blank_index, logits)
    given = convert_to_tensor(logits, name="logits")
    labels, given = _blank_last(labels, given, blank)
    return ctc_loss(
        labels=labels, inputs=given, sequence_length=logit_length, time_major=logits_time_major
    )


def ctc_loss_dense(
    labels: TensorLike,
    logits: TensorLike,
    label_length: TensorLike,
    logit_length: TensorLike,
    logits_time_major: bool = True,
    unique: tuple[Tensor, Tensor] | None = None,
    blank_index: int = 0,
    name: str | None = None,
) -> Tensor:
    """The loss of dense labels as a graph of plain operations; arguments as for `ctc_loss_v2`."""
    with name_scope(name, "ctc_loss_dense", [logits, labels, label_length, logit_length]):
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        label_length = convert_to_tensor(label_length, name="label_length")
        logit_length = convert_to_tensor(logit_length, name="logit_length")
        dtype = logits.dtype
        if dtype in _NARROW:
            logits = cast(logits, dtypes.float32)
        if not logits_time_major:
            logits = transpose(logits, perm=[1, 0, 2])
        blank = _from_front(blank_index, logits)
        if blank_index != 0:
            parts = [
                logits[:, :, blank : blank + 1],
                logits[:, :, :blank],
                logits[:, :, blank + 1 :],
            ]
            logits = concat(parts, axis=2)
            labels = where(labels < blank, labels + 1, labels)
        args = [logits, labels, label_length, logit_length]
        if unique:
            args.extend(_blank_first(unique, blank))
        loss = _differentiable(args)
        return cast(loss, dtype) if dtype in _NARROW else loss


def _blank_first(unique: tuple[Tensor, Tensor], blank: int | Tensor) -> tuple[Tensor, Tensor]:
    """The unique labels of rows after the blank class has moved to the front."""
    kinds, indices = unique
    if isinstance(blank, int) and blank == 0:
        return kinds, indices
    kinds = where(kinds < blank, kinds + 1, kinds)
    counts = reduce_max(indices, axis=1) + 1
    is_kind = sequence_mask(counts, size_at(kinds, 1))
    return where(is_kind, kinds, zeros_like(kinds)), indices


def _differentiable(args: list[Tensor]) -> Tensor:
    """The loss, with the gradient by the logits that is computed along with it."""

    @custom_gradient
    def computed(*given: Tensor) -> Any:
        logits, labels, label_length, logit_length, *unique = given
        for inner, outer in zip(given[:4], args, strict=False):
            inner.set_shape(outer.shape)
        loss, by_logits = ctc_loss_and_grad(logits, labels, label_length, logit_length, unique)

        def gradient(above: Tensor) -> list[Tensor | None]:
            return [reshape(above, [1, -1, 1]) * by_logits, *[None] * (len(args) - 1)]

        return loss, gradient

    losses: Tensor = computed(*args)
    return losses
