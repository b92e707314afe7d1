"""The CTC loss and decoders of version 1, public as `nn.ctc_*`.

Their node names and op types are those of `tensorflow.compat.v1`.
"""

from __future__ import annotations

from typing import Final

from sessrun.reference.api.ops.array_ops import transpose
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.reduce_ops import chosen
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base import dtypes
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.raw_wrappers import wrapper
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_type
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["ctc_loss"]

_NARROW: Final = frozenset({dtypes.float16, dtypes.bfloat16})


@public("nn.ctc_loss")
def ctc_loss(
    labels: SparseTensor,
    inputs: TensorLike | None = None,
    sequence_length: TensorLike | None = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: TensorLike | None = None,
) -> Tensor:
    """The CTC loss of each sequence: the negative log likelihood of its labels, [batch].

    Args:
      labels: a sparse matrix of int32, the labels of each sequence.
      inputs: logits, [time, batch, classes], the last class the blank.
      sequence_length: int32, [batch].
      preprocess_collapse_repeated: whether repeated labels count once.
      ctc_merge_repeated: whether equal classes of successive steps are one label.
      ignore_longer_outputs_than_inputs: whether more labels than steps give 0 instead of an error.
      time_major: whether the time is the first dimension of the logits, else the batch.
      logits: another name of `inputs`.

    Raises:
      TypeError: the labels are not sparse.
      ValueError: both `inputs` and `logits` are given.

    """
    if not isinstance(labels, SparseTensor):
        raise bad_type(f"Expected argument `labels` to be a SparseTensor. Received {labels}")
    given = convert_to_tensor(chosen(logits, inputs, "logits", "inputs"), name="logits")
    if not time_major:
        given = transpose(given, [1, 0, 2])
    dtype = given.dtype
    if dtype in _NARROW:
        given = cast(given, dtypes.float32)
    loss: Tensor = wrapper("CTCLoss")(
        inputs=given,
        labels_indices=labels.indices,
        labels_values=labels.values,
        sequence_length=sequence_length,
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    ).loss
    return cast(loss, dtype) if dtype in _NARROW else loss


@public("nn.ctc_greedy_decoder")
def ctc_greedy_decoder(
    inputs: TensorLike,
    sequence_length: TensorLike,
    merge_repeated: bool = True,
    blank_index: int | None = None,
) -> tuple[list[SparseTensor], Tensor]:
    """Greedy decoding: the most likely class of each step, blanks removed.

    Args:
      inputs: logits, [time, batch, classes].
      sequence_length: int32, [batch].
      merge_repeated: whether equal classes of successive steps are one label.
      blank_index: the blank class, by default the last.

    Returns:
      A list of one sparse matrix of labels, and the negated sums of the logits, [batch, 1].

    """
    blank = -1 if blank_index is None else blank_index
    *parts, scores = wrapper("CTCGreedyDecoder")(
        inputs=inputs,
        sequence_length=sequence_length,
        merge_repeated=merge_repeated,
        blank_index=blank,
    )
    return [SparseTensor(*parts)], scores


@public("nn.ctc_beam_search_decoder")
def ctc_beam_search_decoder(
    inputs: TensorLike,
    sequence_length: TensorLike,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
) -> tuple[list[SparseTensor], Tensor]:
    """The most likely labels of each sequence, by a beam search.

    Args:
      inputs: logits, [time, batch, classes], the last class the blank.
      sequence_length: int32, [batch].
      beam_width: the width of the beam.
      top_paths: the number of results for each sequence, at most `beam_width`.
      merge_repeated: whether equal successive labels of a result are merged.

    Returns:
      A list of a sparse matrix for each path, and the log probabilities, [batch, top_paths].

    """
    indices, values, shapes, scores = wrapper("CTCBeamSearchDecoder")(
        inputs=inputs,
        sequence_length=sequence_length,
        beam_width=beam_width,
        top_paths=top_paths,
        merge_repeated=merge_repeated,
    )
    return [SparseTensor(*parts) for parts in zip(indices, values, shapes, strict=True)], scores


@public("nn.ctc_beam_search_decoder_v2")
def ctc_beam_search_decoder_v2(
    inputs: TensorLike, sequence_length: TensorLike, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Tensor]:
    """As `ctc_beam_search_decoder`, without merging repeated labels."""
    return ctc_beam_search_decoder(
        inputs, sequence_length, beam_width, top_paths, merge_repeated=False
    )
