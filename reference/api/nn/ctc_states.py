"""The CTC loss as a graph: the forward-backward algorithm over states.

A sequence of n labels has n + 1 states for labels, of which the first is its start, then n + 1 for
blanks. All probabilities are logarithms. Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sessrun.reference.api import nest
from sessrun.reference.api.argument_types import Structure
from sessrun.reference.api.functions.defun import Defun
from sessrun.reference.api.functions.functional_ops import while_
from sessrun.reference.api.nn.activations import log_softmax
from sessrun.reference.api.nn.ctc_labels import size_at
from sessrun.reference.api.ops.array_ops import (
    concat,
    expand_dims,
    gather,
    pad,
    shape,
    squeeze,
    stack,
    transpose,
    where,
)
from sessrun.reference.api.ops.cast_ops import cast, one
from sessrun.reference.api.ops.fill_ops import fill, one_hot, ones, ones_like, zeros, zeros_like
from sessrun.reference.api.ops.gathering import tensor_scatter_update
from sessrun.reference.api.ops.grids import sequence_mask
from sessrun.reference.api.ops.math_ops import equal, range_
from sessrun.reference.api.ops.matrix_diagonals import eye
from sessrun.reference.api.ops.reduce_ops import reduce_logsumexp, reduce_sum
from sessrun.reference.base import dtypes
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import (
    exp,
    log,
    reshape,
    scatter_nd,
    tensor_scatter_add,
    tile,
)
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor

__all__ = ["ctc_loss_and_grad"]


def _ctc_state_trans(label_seq: TensorLike) -> Tensor:
    """Which transitions between states are allowed, 1 or 0: [batch, states, states]."""
    with name_scope(None, "ctc_state_trans"):
        rows = convert_to_tensor(label_seq, name="label_seq")
        batch, count = size_at(rows, 0), size_at(rows, 1)
        half = count + 1
        states = 2 * half
        labels = range_(half)
        blanks = labels + half
        to_first = [[1, 0]]
        to_label = stack([labels[1:], blanks[:-1]], 1)
        to_blank = stack([blanks, labels], 1)
        indices = concat([to_first, to_label, to_blank], 0)
        steps = scatter_nd(indices, ones([size_at(indices, 0)]), shape=[states, states])
        steps += eye(states)
        row = zeros_like(labels[2:])
        indices = stack([row, labels[2:], labels[1:-1]], 1)
        indices = tile(expand_dims(indices, 0), [batch, 1, 1])
        indices += expand_dims(expand_dims(range_(batch), 1) * [1, 0, 0], 1)
        is_repeated = equal(rows[:, :-1], rows[:, 1:])
        values = 1.0 - cast(is_repeated, dtypes.float32)
        skips = scatter_nd(indices, values, [batch, states, states])
        return expand_dims(steps, 0) + skips


def ctc_state_log_probs(seq_lengths: Tensor, max_seq_length: int | Tensor) -> tuple[Tensor, Tensor]:
    """Log probabilities of initial and final states, 0 or nearly -infinity: [batch, states]."""
    batch, half = size_at(seq_lengths, 0), max_seq_length + 1
    states = 2 * half
    never = cast(log(cast(0, dtypes.float64) + 1e-307), dtypes.float32)
    begins = one_hot(
        indices=zeros([batch], dtype=dtypes.int32),
        depth=states,
        on_value=0.0,
        off_value=never,
        axis=1,
    )
    last = one_hot(seq_lengths, depth=half, axis=0)
    is_last = ones([2, 1, batch]) * last
    ends = (1.0 - is_last) * never
    return begins, transpose(reshape(ends, [states, batch]))


def _ilabel_to_state(labels: Tensor, num_labels: int | Tensor, ilabel_log_probs: Tensor) -> Tensor:
    """From log probabilities of labels, [time, batch, labels], to those of states."""
    count = size_at(labels, 1)
    blank = tile(ilabel_log_probs[:, :, :1], [1, 1, count + 1])
    chosen = expand_dims(one_hot(labels, depth=num_labels), axis=0)
    spread = expand_dims(ilabel_log_probs, axis=2)
    states = concat([reduce_sum(spread * chosen, axis=3), blank], axis=2)
    return pad(states, [[0, 0], [0, 0], [1, 0]], constant_values=log(0.0))


def _state_to_olabel(labels: Tensor, num_labels: int | Tensor, states: Tensor) -> Tensor:
    """From log probabilities of states to those of labels: [time, batch, labels]."""
    half = size_at(labels, 1) + 1
    of_labels, of_blanks = states[:, :, 1:half], states[:, :, half:]
    chosen = one_hot(labels - 1, depth=num_labels - 1, on_value=0.0, off_value=log(0.0))
    chosen = expand_dims(chosen, axis=0)
    spread = expand_dims(of_labels, axis=3)
    of_classes = reduce_logsumexp(spread + chosen, axis=2)
    blank = reduce_logsumexp(of_blanks, axis=2, keepdims=True)
    return concat([blank, of_classes], axis=-1)


def _state_to_olabel_unique(
    labels: Tensor, num_labels: int | Tensor, states: Tensor, unique: Sequence[Tensor]
) -> Tensor:
    """As `_state_to_olabel`, by the unique labels of each row, which saves work."""
    half = size_at(labels, 1) + 1
    of_labels, of_blanks = states[:, :, 1:half], states[:, :, half:]
    kinds, label_indices = unique
    sums = _sum_states(label_indices, of_labels)
    time, batch = size_at(states, 0), size_at(states, 1)
    count = half - 1
    rows = reshape(transpose(sums, perm=[1, 2, 0]), [batch * count, time])
    first = range_(batch, dtype=kinds.dtype) * num_labels
    indices = reshape(kinds + expand_dims(first, axis=-1), [-1, 1])
    of_classes = scatter_nd(indices=indices, updates=rows, shape=[batch * num_labels, time])
    of_classes = reshape(of_classes, [batch, num_labels, time])
    is_there = ones_like(rows, dtype=dtypes.bool_)
    is_there = scatter_nd(indices=indices, updates=is_there, shape=[batch * num_labels, time])
    is_there = reshape(is_there, [batch, num_labels, time])
    of_classes = where(is_there, of_classes, fill(shape(of_classes), log(0.0)))
    of_classes = transpose(of_classes, [2, 0, 1])[:, :, 1:]
    blank = reduce_logsumexp(of_blanks, axis=2, keepdims=True)
    return concat([blank, of_classes], axis=-1)


def _sum_states(idx: Tensor, states: Tensor) -> Tensor:
    """Log-sums of the states that share an index."""
    with name_scope(None, "sum_states"):
        idx = convert_to_tensor(idx, name="idx")
        count = size_at(states, 2)
        states = expand_dims(states, axis=2)
        chosen = one_hot(idx, depth=count, on_value=0.0, off_value=log(0.0), axis=1)
        return reduce_logsumexp(states + chosen, axis=-1)


def ctc_loss_and_grad(
    logits: Tensor,
    labels: Tensor,
    label_length: Tensor,
    logit_length: Tensor,
    unique: Sequence[Tensor] | None = None,
) -> tuple[Tensor, Tensor]:
    """The loss of each sequence and its gradient.

    Args:
      logits: [time, batch, labels], the blank first.
      labels: [batch, max labels].
      label_length: [batch], the number of labels of each sequence.
      logit_length: [batch], the number of steps of each sequence.
      unique: the result of `ctc_unique_labels`, or None.

    """
    kinds, most = size_at(logits, 2), size_at(labels, 1)
    given = log_softmax(logits)
    seen = _ilabel_to_state(labels, kinds, given)
    steps = _ctc_state_trans(labels)
    begins, ends = ctc_state_log_probs(label_length, most)
    states, likelihood = _forward_backward_log(
        state_trans_log_probs=log(steps),
        initial_state_log_probs=begins,
        final_state_log_probs=ends,
        observed_log_probs=seen,
        sequence_length=logit_length,
    )
    if unique:
        posterior = _state_to_olabel_unique(labels, kinds, states, unique)
    else:
        posterior = _state_to_olabel(labels, kinds, states)
    gradient = exp(given) - exp(posterior)
    is_step = sequence_mask(logit_length, size_at(logits, 0), dtypes.float32)
    gradient *= expand_dims(transpose(is_step, perm=[1, 0]), axis=2)
    return -likelihood, gradient


def _forward_backward_log(
    state_trans_log_probs: Tensor,
    initial_state_log_probs: Tensor,
    final_state_log_probs: Tensor,
    observed_log_probs: Tensor,
    sequence_length: Tensor,
) -> tuple[Tensor, Tensor]:
    """Log probabilities of states, [time, batch, states], and of the sequences, [batch].

    Raises:
      ValueError: `state_trans_log_probs` has a rank other than 2 and 3.

    """
    ndims = state_trans_log_probs.shape.ndims
    if ndims not in {2, 3}:
        raise bad_value(
            "Rank of argument `state_trans_log_probs` must be known and equal to 2 or "
            f"3. Received state_trans_log_probs={state_trans_log_probs} of rank "
            f"{ndims}"
        )
    back = transpose(state_trans_log_probs, [1, 0] if ndims == 2 else [0, 2, 1])
    batch = size_at(observed_log_probs, 1)

    def forward(state: Tensor, seen: Tensor) -> Tensor:
        state = expand_dims(state, axis=1)
        state += state_trans_log_probs
        state = reduce_logsumexp(state, axis=-1)
        state += seen
        total = reduce_logsumexp(state, axis=-1, keepdims=True)
        state -= total
        return state

    def backward(accs: Any, elems: Any) -> tuple[Tensor, Tensor]:
        (state, together), (seen, is_step) = accs, elems
        state += seen
        state = expand_dims(state, axis=1)
        state += back
        state = reduce_logsumexp(state, axis=-1)
        total = reduce_logsumexp(state, axis=-1, keepdims=True)
        state -= total
        together += squeeze(total, axis=[-1]) * is_step
        column = expand_dims(is_step, axis=1)
        out = state * column
        out += final_state_log_probs * (1.0 - column)
        return out, together

    ahead = _scan(forward, observed_log_probs, initial_state_log_probs, inclusive=True)
    nothing = zeros([batch])
    mask = sequence_mask(sequence_length, size_at(observed_log_probs, 0), dtypes.float32)
    mask = transpose(mask, perm=[1, 0])
    behind, sums = _scan(
        backward,
        (observed_log_probs, mask),
        (final_state_log_probs, nothing),
        reverse=True,
        inclusive=True,
    )
    states = ahead[1:] + behind[1:]
    states -= reduce_logsumexp(states, axis=2, keepdims=True)
    states += log(expand_dims(mask, axis=2))
    return states, behind[0, :, 0] + sums[0]


def _scan(
    fn: Callable[[Any, Any], Any],
    elems: TensorLike,
    initial: TensorLike,
    reverse: bool = False,
    inclusive: bool = False,
    final_only: bool = False,
) -> Any:
    """Scan a function over the elements of tensors, by a loop whose body is a graph function.

    Args:
      fn: from the state and an element to the next state, of the same shapes.
      elems: a structure of tensors that are scanned along their first dimension.
      initial: the initial state, a structure of tensors.
      reverse: whether the scan goes from the last element to the first.
      inclusive: whether the initial state is among the results.
      final_only: whether only the final state is returned, instead of all states, stacked.

    """
    flat = [convert_to_tensor(tensor) for tensor in nest.flatten(elems)]
    length = shape(flat[0])[0]
    states = [convert_to_tensor(tensor) for tensor in nest.flatten(initial)]
    kinds = [tensor.dtype for tensor in states]
    kinds = [dtypes.int32, dtypes.int32, *kinds, *([] if final_only else kinds)]

    def cond(i: Tensor, num_elems: Tensor, *args: Structure) -> Tensor:
        del args
        return i >= 0 if reverse else i < num_elems

    def body(i: Tensor, num_elems: Tensor, *args: Tensor) -> list[Tensor]:
        i.set_shape([])
        out, state = ((), args) if final_only else (args[: len(states)], args[len(states) :])
        element = nest.pack_sequence_as(elems, [gather(tensor, i) for tensor in flat])
        after = nest.flatten(fn(nest.pack_sequence_as(initial, list(state)), element))
        if not final_only:
            row = i + 1 if inclusive and not reverse else i
            pairs = zip(out, after, strict=True)
            out = tuple(tensor_scatter_update(x, [[row]], [y]) for x, y in pairs)
        return [i - 1 if reverse else i + 1, num_elems, *out, *after]

    first = shape(flat[0])[0] - 1 if reverse else constant(0, dtype=dtypes.int32)
    room = [] if final_only else _state_buffers(states, flat[0], first, reverse, inclusive)
    carried = [first, length, *room, *states]
    stay = [
        index
        for index, tensor in enumerate(carried)
        if tensor.dtype.base_dtype in {dtypes.int32, dtypes.int64}
    ]
    goes_on, following = (Defun(*kinds)(function) for function in (cond, body))
    results = while_(carried, goes_on, following, hostmem=stay)
    return nest.pack_sequence_as(initial, results[2 : len(states) + 2])


def _state_buffers(
    states: list[Tensor], elements: Tensor, first: Tensor, reverse: bool, inclusive: bool
) -> list[Tensor]:
    """Buffers for all states; with `inclusive` the initial state is written into them."""
    count = shape(elements)[0] + (1 if inclusive else 0)
    buffers = []
    for state in states:
        full_shape = concat([[count], shape(state)], 0)
        out = one("Empty", {"shape": full_shape}, dtype=state.dtype, init=True)
        if inclusive:
            out = tensor_scatter_add(out, [[first + (1 if reverse else 0)]], [state])
        buffers.append(out)
    return buffers
