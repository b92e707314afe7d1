"""Kernels of connectionist temporal classification: loss with its gradient, and two decoders.

The last class is the blank. All sequences of a batch are computed together, step by step.
A step is several calls of numpy: the loss takes 1.1 to 1.7 times TensorFlow's time, of a few short
sequences 2.6 times, decoding with a beam up to four times.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Final, NamedTuple

from sessrun.reference.base.arrays import Array, ArrayModule, DType
from sessrun.reference.base.kernel_errors import FailedPrecondition, InvalidArgument, KernelError
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import HOST, host_array
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.registry import kernel

_CPU: Final = ("CPU",)
_NEVER: Final = float("-inf")


def _checked(inputs: Array, lengths: Array, kind: type[KernelError]) -> None:
    """Check inputs [time, batch, classes] and lengths [batch]; wrong lengths raise `kind`."""
    require_rank(3, inputs=inputs)
    if not inputs.shape[0]:
        raise InvalidArgument(
            f"inputs must have at least one time step, got shape {bracketed(inputs.shape)}"
        )
    if not inputs.shape[1]:
        raise InvalidArgument(f"inputs must have a batch, got shape {bracketed(inputs.shape)}")
    require_rank(1, sequence_length=lengths)
    if len(lengths) != inputs.shape[1]:
        raise kind(
            "sequence_length must have an element for each sequence: "
            f"{len(lengths)} for a batch of {inputs.shape[1]}"
        )
    if (lengths > inputs.shape[0]).any():
        raise kind(f"sequence_length must be at most {inputs.shape[0]}, got {int(lengths.max())}")


def _label_rows(indices: Array, values: Array, batch: int) -> list[list[int]]:
    """The labels of each sequence, in order.

    Raises:
      InvalidArgument: the shapes do not fit, or an index is out of range or out of order.

    """
    if indices.ndim != 2 or values.ndim != 1 or len(indices) != len(values):
        raise InvalidArgument("labels_indices must be a matrix with a row for each value")
    rows: list[list[int]] = [[] for _ in range(batch)]
    positions = indices.tolist()
    if any(min(position) < 0 for position in positions) or any(
        map(operator.ge, positions, positions[1:])
    ):
        raise InvalidArgument("labels_indices must be sorted, distinct and not negative")
    for (row, *_), value in zip(positions, values.tolist(), strict=True):
        if row >= batch:
            raise InvalidArgument(f"labels batch index must be in [0, {batch}), is {row}")
        rows[row].append(value)
    return rows


def _without_blanks(labels: Sequence[int], row: int, blank: int, *, collapse: bool) -> list[int]:
    """The labels up to the first blank; of repeated ones the first only if `collapse`."""
    if not labels:
        raise InvalidArgument(f"Sequence {row} has no labels")
    if min(labels) < 0:
        raise InvalidArgument(f"Sequence {row} has a negative label")
    kept: list[int] = []
    ended = False
    for index, label in enumerate(labels):
        if label >= blank:
            ended = True
        elif ended:
            raise InvalidArgument(
                f"Sequence {row} has a label below num_classes - 1 behind one that is not"
            )
        elif not (collapse and index and labels[index - 1] == label):
            kept.append(label)
    return kept


class _Targets(NamedTuple):
    """The labels of a batch with blanks between and around them, padded to one length.

    Attributes:
      labels: [batch, positions].
      counts: [batch], the number of positions that are not padding.
      stay: [batch, positions], whether a path may stay at a position.
      skip: whether a path may come from two positions before.

    """

    labels: Array
    counts: Array
    stay: Array
    skip: Array


def _targets(rows: Sequence[Sequence[int]], blank: int, *, merge: bool) -> _Targets:
    counts = HOST.asarray([2 * len(labels_of_row) + 1 for labels_of_row in rows], dtype="int64")
    labels = HOST.full((len(rows), int(counts.max(initial=1))), blank, dtype="int64")
    for row, labels_of_row in enumerate(rows):
        labels[row, 1 : 2 * len(labels_of_row) : 2] = labels_of_row
    is_blank = labels == blank
    skip = HOST.zeros(labels.shape, dtype="bool")
    skip[:, 2:] = ~is_blank[:, 2:]
    if merge:
        skip[:, 2:] &= labels[:, 2:] != labels[:, :-2]
    return _Targets(labels, counts, is_blank | merge, skip)


def _only(allowed: Array, values: Array) -> Array:
    return HOST.where(allowed, values, values.dtype.type(_NEVER))


def _barred(allowed: Array, dtype: DType) -> Array:
    """A mask to be added to logarithms: 0 where allowed, minus infinity elsewhere."""
    return _only(allowed, HOST.zeros(allowed.shape, dtype))


class _Step:
    """Computes the log probabilities of one time from those of the time before.

    Args:
      stay: [batch, positions], whether a path may stay at a position.
      skip: whether a path may come from two positions before.
      dtype: of the logarithms.

    """

    def __init__(self, stay: Array, skip: Array, dtype: DType) -> None:
        self._stay, self._skip = _barred(stay, dtype), _barred(skip, dtype)
        batch, positions = stay.shape
        self._padded = HOST.full((batch, positions + 2), _NEVER, dtype)

    def __call__(self, last: Array, result: Array) -> None:
        """Sum, for each position, the paths from it and from the two before, into `result`."""
        padded = self._padded
        padded[:, 2:] = last
        HOST.add(last, self._stay, out=result)
        HOST.logaddexp(result, padded[:, 1:-1], out=result)
        HOST.logaddexp(result, padded[:, :-2] + self._skip, out=result)


def _forward(logs: Array, targets: _Targets) -> Array:
    """[time, batch, positions]: log probabilities of the paths up to a position, inclusive."""
    alpha = HOST.full(logs.shape, _NEVER, dtype=logs.dtype)
    alpha[0, :, :2] = logs[0, :, :2]
    step = _Step(targets.stay, targets.skip, logs.dtype)
    for time in range(1, len(logs)):
        step(alpha[time - 1], alpha[time])
        alpha[time] += logs[time]
    return alpha


def _backward(logs: Array, targets: _Targets, lengths: Array) -> Array:
    """[time, batch, positions]: log probabilities of the paths behind a position, exclusive."""
    beta = HOST.full(logs.shape, _NEVER, dtype=logs.dtype)
    positions = HOST.arange(logs.shape[2])
    counts = targets.counts[:, None]
    last = _barred((positions < counts) & (positions >= counts - 2), logs.dtype)
    skip = HOST.zeros_like(targets.skip)
    skip[:, :-2] = targets.skip[:, 2:]
    step = _Step(targets.stay[:, ::-1], skip[:, ::-1], logs.dtype)
    ending = {time: lengths == time + 1 for time in (lengths - 1).tolist()}
    for time in range(len(logs) - 1, -1, -1):
        if time + 1 < len(logs):
            after = beta[time + 1] + logs[time + 1]
            step(after[:, ::-1], beta[time, :, ::-1])
        if time in ending:
            beta[time, ending[time]] = last[ending[time]]
    return beta


def _log_softmax(inputs: Array) -> Array:
    shifted = inputs - inputs.max(axis=-1, keepdims=True)
    return shifted - HOST.log(HOST.exp(shifted).sum(axis=-1, keepdims=True))


@kernel("CTCLoss", devices=_CPU)
def ctc_loss(
    _: ArrayModule,
    inputs: Array,
    labels_indices: Array,
    labels_values: Array,
    sequence_length: Array,
    *,
    preprocess_collapse_repeated: bool,
    ctc_merge_repeated: bool,
    ignore_longer_outputs_than_inputs: bool,
) -> tuple[Array, Array]:
    """Minus the log probability of all paths that give the labels, [batch], and its gradient.

    Without such a path the loss is infinite, and the gradient is the softmax.
    """
    _checked(inputs, sequence_length, InvalidArgument)
    blank, batch = inputs.shape[2] - 1, inputs.shape[1]
    labels = _label_rows(labels_indices, labels_values, batch)
    lengths = sequence_length.astype("int64")
    used = HOST.ones(batch, dtype="bool")
    for row, length in enumerate(lengths.tolist()):
        if labels[row] and len(labels[row]) > length:
            if not ignore_longer_outputs_than_inputs:
                raise InvalidArgument(
                    f"Sequence {row} has {len(labels[row])} labels, but only {length} time steps"
                )
            used[row] = False
    rows = [
        _without_blanks(row_labels, row, blank, collapse=preprocess_collapse_repeated)
        for row, row_labels in enumerate(labels)
    ]
    targets = _targets(rows, blank, merge=ctc_merge_repeated)
    with HOST.errstate(all="ignore"):
        return _loss(inputs, targets, lengths, used)


def _loss(inputs: Array, targets: _Targets, lengths: Array, used: Array) -> tuple[Array, Array]:
    logs = _log_softmax(inputs)
    taken = HOST.take_along_axis(logs, targets.labels[None], axis=2)
    taken = _only(HOST.arange(targets.labels.shape[1]) < targets.counts[:, None], taken)
    both = _forward(taken, targets) + _backward(taken, targets, lengths)
    total = HOST.logaddexp.reduce(both[0], axis=1)
    is_possible = total > _NEVER
    share = HOST.exp(both - HOST.where(is_possible, total, 0)[:, None])
    gradient = HOST.exp(logs)
    rows = HOST.arange(inputs.shape[1])[:, None]
    for time in range(inputs.shape[0]):
        HOST.subtract.at(gradient[time], (rows, targets.labels), share[time])
    times = HOST.arange(inputs.shape[0])[:, None]
    gradient[~((times < lengths) & used)] = 0
    return HOST.where(used, -total, total.dtype.type(0)), gradient


def _decoded(rows: Sequence[Sequence[int]]) -> tuple[Array, Array, Array]:
    """The rows as a sparse matrix: indices, values, shape."""
    pairs = [[row, column] for row, values in enumerate(rows) for column in range(len(values))]
    indices = HOST.asarray(pairs, dtype="int64").reshape(-1, 2)
    values = host_array([value for values in rows for value in values], "int64")
    longest = max(map(len, rows), default=0)
    return indices, values, host_array([len(rows), longest], "int64")


@kernel("CTCGreedyDecoder", devices=_CPU)
def ctc_greedy_decoder(
    _: ArrayModule, inputs: Array, sequence_length: Array, *, merge_repeated: bool, blank_index: int
) -> tuple[Array, Array, Array, Array]:
    """The likeliest class of each step without blanks, and minus the sum of these logits."""
    _checked(inputs, sequence_length, FailedPrecondition)
    classes = inputs.shape[2]
    blank = blank_index + classes if blank_index < 0 else blank_index
    if not 0 <= blank < classes:
        raise InvalidArgument(
            f"CTCGreedyDecoder: blank_index must be in [{-classes}, {classes}), got {blank_index}"
        )
    best = inputs.argmax(axis=2)
    within = HOST.arange(inputs.shape[0])[:, None] < sequence_length
    kept = within & (best != blank)
    if merge_repeated:
        kept[1:] &= best[1:] != best[:-1]
    rows = [best[kept[:, row], row].tolist() for row in range(inputs.shape[1])]
    sums = HOST.where(within, inputs.max(axis=2), inputs.dtype.type(0)).sum(axis=0)
    return *_decoded(rows), -sums[:, None].astype(inputs.dtype)


class _Beam:
    """The likeliest prefixes of one sequence's labels.

    A prefix is a node of a tree: `_parents` and `_labels` hold its parent and its last label.
    """

    __slots__ = ("_children", "_labels", "_parents", "_width", "blank", "label", "nodes", "total")

    def __init__(self, width: int, dtype: DType) -> None:
        self._width = width
        self._parents, self._labels = [-1], [-1]
        self._children: dict[tuple[int, int], int] = {}
        self.nodes = [0]
        self.total = HOST.zeros(1, dtype=dtype)
        self.blank = HOST.zeros(1, dtype=dtype)
        self.label = HOST.full(1, _NEVER, dtype=dtype)

    def step(self, logs: Array) -> None:
        """Extend the prefixes by one time step, given the log probabilities of the classes."""
        positions = {node: i for i, node in enumerate(self.nodes)}
        parents = [positions.get(self._parents[node], -1) for node in self.nodes]
        last = HOST.asarray([self._labels[node] for node in self.nodes])
        label = self.label.copy()
        grown = HOST.asarray([i for i, parent in enumerate(parents) if parent >= 0], dtype="int64")
        of = HOST.asarray([parent for parent in parents if parent >= 0], dtype="int64")
        came = HOST.where(last[grown] == last[of], self.blank[of], self.total[of])
        label[grown] = HOST.logaddexp(label[grown], came)
        label += HOST.where(last >= 0, logs[last], logs.dtype.type(0))
        blank = self.total + logs[-1]
        total = HOST.logaddexp(blank, label)
        longer = self.total[:, None] + logs[None, :-1]
        again = HOST.flatnonzero(last >= 0)
        longer[again, last[again]] = self.blank[again] + logs[last[again]]
        longer[of, last[grown]] = _NEVER  # those that are in the beam already
        self._silence(total, longer, parents, last)
        self._keep(total, blank, label, longer)

    def _silence(self, total: Array, longer: Array, parents: Sequence[int], last: Array) -> None:
        """Bar extensions of prefixes that leave the beam before their parents are extended.

        TensorFlow extends prefixes in order, the likeliest first. A parent that reaches its own
        child after that was dropped makes it anew, rejects it as too unlikely, and loses its score.
        """
        scores = HOST.concatenate([total, longer.reshape(-1)])
        if len(scores) <= self._width:
            return
        least = HOST.partition(scores, -self._width)[-self._width]
        for position in HOST.flatnonzero(total < least).tolist():
            parent, value = parents[position], total[position]
            if 0 <= parent < position:
                before = longer[:parent], longer[parent, : last[position]]
                above = sum(int((totals > value).sum()) for totals in (total, *before))
                if above >= self._width:
                    longer[position] = _NEVER

    def _keep(self, total: Array, blank: Array, label: Array, longer: Array) -> None:
        """Keep the likeliest of the old prefixes and of those that are longer by a label."""
        count, classes = longer.shape
        scores = HOST.concatenate([total, longer.reshape(-1)])
        order = HOST.argsort(-scores, kind="stable")[: self._width]
        order = order[(order < count) | (scores[order] > _NEVER)]
        nodes = [
            self.nodes[i] if i < count else self._child(*divmod(i - count, classes))
            for i in order.tolist()
        ]
        is_new = order >= count
        old = HOST.where(is_new, 0, order)
        self.total = scores[order]
        self.blank = HOST.where(is_new, total.dtype.type(_NEVER), blank[old])
        self.label = HOST.where(is_new, scores[order], label[old])
        self.nodes = nodes

    def _child(self, position: int, label: int) -> int:
        key = self.nodes[position], label
        if key not in self._children:
            self._children[key] = len(self._parents)
            self._parents.append(key[0])
            self._labels.append(label)
        return self._children[key]

    def labels(self, node: int, *, merge: bool) -> list[int]:
        """The labels of a prefix; of repeated ones the first only if `merge`."""
        labels: list[int] = []
        previous = -1
        while node:
            if not merge or self._labels[node] != previous:
                labels.append(self._labels[node])
            previous, node = self._labels[node], self._parents[node]
        return labels[::-1]


@kernel("CTCBeamSearchDecoder", devices=_CPU)
def ctc_beam_search_decoder(
    _: ArrayModule,
    inputs: Array,
    sequence_length: Array,
    *,
    beam_width: int,
    top_paths: int,
    merge_repeated: bool,
) -> tuple[Array, ...]:
    """The `top_paths` likeliest label sequences of each input, and their log probabilities."""
    _checked(inputs, sequence_length, FailedPrecondition)
    if top_paths > beam_width:
        raise InvalidArgument(f"CTCBeamSearchDecoder: {top_paths} paths of a beam of {beam_width}")
    logs = _log_softmax(inputs)
    batch = inputs.shape[1]
    paths: list[list[list[int]]] = [[] for _ in range(top_paths)]
    scores = HOST.empty((batch, top_paths), dtype=inputs.dtype)
    with HOST.errstate(all="ignore"):
        for row, length in enumerate(sequence_length.tolist()):
            beam = _Beam(beam_width, inputs.dtype)
            for time in range(length):
                beam.step(logs[time, row])
            if len(beam.nodes) < top_paths:
                raise InvalidArgument(
                    f"CTCBeamSearchDecoder: sequence {row} has less than {top_paths} paths"
                )
            order = HOST.argsort(-beam.total, kind="stable")[:top_paths].tolist()
            scores[row] = beam.total[order]
            for path, leaf in zip(paths, order, strict=True):
                path.append(beam.labels(beam.nodes[leaf], merge=merge_repeated))
    parts = [_decoded(path) for path in paths]
    return *(part for kind in zip(*parts, strict=True) for part in kind), scores
