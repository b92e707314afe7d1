"""Kernels of connectionist temporal classification: loss with its gradient, and two decoders.

The last class is the blank. All sequences of a batch are computed side by side, step by step.
A step is some calls of numpy's: the loss takes 1.1 to 1.7 times TensorFlow's time, of a few short
sequences 2.6 times, decoding with a beam up to four times.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sessrun.reference.base.kernel_errors import FailedPrecondition, InvalidArgument, KernelError
from sessrun.reference.kernels.host import HOST, host_array
from sessrun.reference.kernels.registry import kernel

__all__: list[str] = []

_CPU: Final = ("CPU",)
_NEVER: Final = float("-inf")


def _checked(inputs: Any, lengths: Any, kind: type[KernelError]) -> None:
    """Check [time, batch, classes] and a length for each sequence; `kind` is for the lengths."""
    if inputs.ndim != 3:
        raise InvalidArgument("inputs is not a 3-Tensor")
    if not inputs.shape[0]:
        raise InvalidArgument("Max time or first dimension of input cannot be 0.")
    if not inputs.shape[1]:
        raise InvalidArgument("batch_size must not be 0")
    if lengths.ndim != 1:
        raise InvalidArgument("sequence_length is not a vector")
    if len(lengths) != inputs.shape[1]:
        raise kind(
            "len(sequence_length) != batch_size. len(sequence_length): "
            f"{len(lengths)} batch_size: {inputs.shape[1]}"
        )
    if (lengths > inputs.shape[0]).any():
        raise kind(f"sequence_length({int(lengths.argmax())}) <= {inputs.shape[0]}")


def _label_rows(indices: Any, values: Any, batch: int) -> list[list[int]]:
    """The labels of each sequence, in order.

    Raises:
      InvalidArgument: the parts do not belong together, or name no sequence.

    """
    if indices.ndim != 2 or values.ndim != 1 or len(indices) != len(values):
        raise InvalidArgument("labels_indices must be a matrix with a row for each value")
    rows: list[list[int]] = [[] for _ in range(batch)]
    places = indices.tolist()
    if any(min(place) < 0 for place in places) or any(map(operator.ge, places, places[1:])):
        raise InvalidArgument("labels_indices must be in order, none twice or below 0")
    for (row, *_), value in zip(places, values.tolist(), strict=True):
        if row >= batch:
            raise InvalidArgument(f"labels batch index must be in [0, {batch}), is {row}")
        rows[row].append(value)
    return rows


def _without_blanks(labels: Sequence[int], row: int, blank: int, *, collapse: bool) -> list[int]:
    """The labels before the first one that is none, repeated ones once if `collapse`."""
    if not labels:
        raise InvalidArgument(f"Labels length is zero in batch {row}")
    if min(labels) < 0:
        raise InvalidArgument(f"All labels must be nonnegative integers, batch: {row}")
    kept: list[int] = []
    ended = False
    for place, label in enumerate(labels):
        if label >= blank:
            ended = True
        elif ended:
            raise InvalidArgument(
                "Saw a non-null label (index >= num_classes - 1) following "
                f"a null label, batch: {row}"
            )
        elif not (collapse and place and labels[place - 1] == label):
            kept.append(label)
    return kept


class _Targets(NamedTuple):
    """Labels with blanks around them, filled up to one length.

    Attributes:
      labels: [batch, places].
      counts: how many places are each sequence's own.
      stay: whether a path may stay at a place.
      skip: whether it may come from the place before the last.

    """

    labels: Any
    counts: Any
    stay: Any
    skip: Any


def _targets(rows: Sequence[Sequence[int]], blank: int, *, merge: bool) -> _Targets:
    counts = HOST.asarray([2 * len(row) + 1 for row in rows], dtype="int64")
    labels = HOST.full((len(rows), int(counts.max(initial=1))), blank, dtype="int64")
    for place, row in enumerate(rows):
        labels[place, 1 : 2 * len(row) : 2] = row
    is_blank = labels == blank
    skip = HOST.zeros(labels.shape, dtype="bool")
    skip[:, 2:] = ~is_blank[:, 2:]
    if merge:
        skip[:, 2:] &= labels[:, 2:] != labels[:, :-2]
    return _Targets(labels, counts, is_blank | merge, skip)


def _only(allowed: Any, values: Any) -> Any:
    return HOST.where(allowed, values, values.dtype.type(_NEVER))


def _barred(allowed: Any, dtype: Any) -> Any:
    """What is added to logarithms: 0 where something is allowed, minus infinity elsewhere."""
    return _only(allowed, HOST.zeros(allowed.shape, dtype))


class _Step:
    """From the logarithms of one time to those of the next one.

    Args:
      stay: [batch, places], whether a path may stay at a place.
      skip: whether it may come from the place before the last.
      dtype: of the logarithms.

    """

    def __init__(self, stay: Any, skip: Any, dtype: Any) -> None:
        self._stay, self._skip = _barred(stay, dtype), _barred(skip, dtype)
        batch, places = stay.shape
        self._padded = HOST.full((batch, places + 2), _NEVER, dtype)

    def __call__(self, last: Any, result: Any) -> None:
        """Write what leads to each place, from it and the two before, over the result."""
        padded = self._padded
        padded[:, 2:] = last
        HOST.add(last, self._stay, out=result)
        HOST.logaddexp(result, padded[:, 1:-1], out=result)
        HOST.logaddexp(result, padded[:, :-2] + self._skip, out=result)


def _forward(logs: Any, targets: _Targets) -> Any:
    """[time, batch, places]: logarithms of what leads up to each place, its own step with it."""
    alpha = HOST.full(logs.shape, _NEVER, dtype=logs.dtype)
    alpha[0, :, :2] = logs[0, :, :2]
    step = _Step(targets.stay, targets.skip, logs.dtype)
    for time in range(1, len(logs)):
        step(alpha[time - 1], alpha[time])
        alpha[time] += logs[time]
    return alpha


def _backward(logs: Any, targets: _Targets, lengths: Any) -> Any:
    """[time, batch, places]: logarithms of what follows each place, its own step without."""
    beta = HOST.full(logs.shape, _NEVER, dtype=logs.dtype)
    places = HOST.arange(logs.shape[2])
    counts = targets.counts[:, None]
    last = _barred((places < counts) & (places >= counts - 2), logs.dtype)
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


def _log_softmax(inputs: Any) -> Any:
    shifted = inputs - inputs.max(axis=-1, keepdims=True)
    return shifted - HOST.log(HOST.exp(shifted).sum(axis=-1, keepdims=True))


@kernel("CTCLoss", devices=_CPU)
def ctc_loss(
    _: Any,
    inputs: Any,
    labels_indices: Any,
    labels_values: Any,
    sequence_length: Any,
    *,
    preprocess_collapse_repeated: bool,
    ctc_merge_repeated: bool,
    ignore_longer_outputs_than_inputs: bool,
) -> Any:
    """Minus the logarithm of what all paths that give the labels have together, and its gradient.

    Where no path does, the loss is infinite, and the gradient that of the classes alone.
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
                    "Not enough time for target transition sequence (required: "
                    f"{len(labels[row])}, available: {length}){row}"
                )
            used[row] = False
    rows = [
        _without_blanks(each, row, blank, collapse=preprocess_collapse_repeated)
        for row, each in enumerate(labels)
    ]
    targets = _targets(rows, blank, merge=ctc_merge_repeated)
    with HOST.errstate(all="ignore"):
        return _loss(inputs, targets, lengths, used)


def _loss(inputs: Any, targets: _Targets, lengths: Any, used: Any) -> Any:
    logs = _log_softmax(inputs)
    taken = HOST.take_along_axis(logs, targets.labels[None], axis=2)
    taken = _only(HOST.arange(targets.labels.shape[1]) < targets.counts[:, None], taken)
    both = _forward(taken, targets) + _backward(taken, targets, lengths)
    total = HOST.logaddexp.reduce(both[0], axis=1)
    found = total > _NEVER
    share = HOST.exp(both - HOST.where(found, total, 0)[:, None])
    gradient = HOST.exp(logs)
    rows = HOST.arange(inputs.shape[1])[:, None]
    for time in range(inputs.shape[0]):
        HOST.subtract.at(gradient[time], (rows, targets.labels), share[time])
    times = HOST.arange(inputs.shape[0])[:, None]
    gradient[~((times < lengths) & used)] = 0
    return HOST.where(used, -total, total.dtype.type(0)), gradient


def _decoded(rows: Sequence[Sequence[int]]) -> tuple[Any, Any, Any]:
    """A sparse matrix of these rows."""
    places = [[row, place] for row, each in enumerate(rows) for place in range(len(each))]
    indices = HOST.asarray(places, dtype="int64").reshape(-1, 2)
    values = host_array([value for each in rows for value in each], "int64")
    longest = max(map(len, rows), default=0)
    return indices, values, host_array([len(rows), longest], "int64")


@kernel("CTCGreedyDecoder", devices=_CPU)
def ctc_greedy_decoder(
    _: Any, inputs: Any, sequence_length: Any, *, merge_repeated: bool, blank_index: int
) -> Any:
    """The likeliest class of each step, blanks left out, and minus the sum of these logits."""
    _checked(inputs, sequence_length, FailedPrecondition)
    classes = inputs.shape[2]
    blank = blank_index + classes if blank_index < 0 else blank_index
    if not 0 <= blank < classes:
        raise InvalidArgument(
            f"blank_index expected to be in [{-classes}, {classes}), got {blank_index}"
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
    """The likeliest beginnings of one sequence's labels.

    A beginning is a number: what it is made of stands in `_parents` and `_labels`.
    """

    __slots__ = ("_children", "_labels", "_parents", "_width", "blank", "label", "nodes", "total")

    def __init__(self, width: int, dtype: Any) -> None:
        self._width = width
        self._parents, self._labels = [-1], [-1]
        self._children: dict[tuple[int, int], int] = {}
        self.nodes = [0]
        self.total = HOST.zeros(1, dtype=dtype)
        self.blank = HOST.zeros(1, dtype=dtype)
        self.label = HOST.full(1, _NEVER, dtype=dtype)

    def step(self, logs: Any) -> None:
        """Go on by one step's logarithms of the classes, the last of which is the blank."""
        place = {node: i for i, node in enumerate(self.nodes)}
        parents = [place.get(self._parents[node], -1) for node in self.nodes]
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
        longer[of, last[grown]] = _NEVER  # those that are there already
        self._silence(total, longer, parents, last)
        self._keep(total, blank, label, longer)

    def _silence(self, total: Any, longer: Any, parents: Sequence[int], last: Any) -> None:
        """Let those not grow that were pushed out before their parents grew.

        TensorFlow lets beginnings grow in order, the likeliest first. A parent that meets its own
        child pushed out already makes it new, finds it too unlikely, and forgets that it was there.
        """
        every = HOST.concatenate([total, longer.reshape(-1)])
        if len(every) <= self._width:
            return
        least = HOST.partition(every, -self._width)[-self._width]
        for place in HOST.flatnonzero(total < least).tolist():
            parent, value = parents[place], total[place]
            if 0 <= parent < place:
                before = longer[:parent], longer[parent, : last[place]]
                above = sum(int((each > value).sum()) for each in (total, *before))
                if above >= self._width:
                    longer[place] = _NEVER

    def _keep(self, total: Any, blank: Any, label: Any, longer: Any) -> None:
        """Keep the likeliest of the old beginnings and of those that are longer by a label."""
        count, classes = longer.shape
        every = HOST.concatenate([total, longer.reshape(-1)])
        order = HOST.argsort(-every, kind="stable")[: self._width]
        order = order[(order < count) | (every[order] > _NEVER)]
        nodes = [
            self.nodes[i] if i < count else self._child(*divmod(i - count, classes))
            for i in order.tolist()
        ]
        is_new = order >= count
        old = HOST.where(is_new, 0, order)
        self.total = every[order]
        self.blank = HOST.where(is_new, total.dtype.type(_NEVER), blank[old])
        self.label = HOST.where(is_new, every[order], label[old])
        self.nodes = nodes

    def _child(self, place: int, label: int) -> int:
        key = self.nodes[place], label
        if key not in self._children:
            self._children[key] = len(self._parents)
            self._parents.append(key[0])
            self._labels.append(label)
        return self._children[key]

    def labels(self, node: int, *, merge: bool) -> list[int]:
        """The labels of a beginning, repeated ones once if `merge`."""
        found: list[int] = []
        previous = -1
        while node:
            if not merge or self._labels[node] != previous:
                found.append(self._labels[node])
            previous, node = self._labels[node], self._parents[node]
        return found[::-1]


@kernel("CTCBeamSearchDecoder", devices=_CPU)
def ctc_beam_search_decoder(
    _: Any,
    inputs: Any,
    sequence_length: Any,
    *,
    beam_width: int,
    top_paths: int,
    merge_repeated: bool,
) -> Any:
    """The likeliest labels of each sequence, several of them, and the logarithms of how likely."""
    _checked(inputs, sequence_length, FailedPrecondition)
    if top_paths > beam_width:
        raise InvalidArgument("requested more paths than the beam width.")
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
                raise InvalidArgument("Less leaves in the beam search than requested.")
            order = HOST.argsort(-beam.total, kind="stable")[:top_paths].tolist()
            scores[row] = beam.total[order]
            for path, place in zip(paths, order, strict=True):
                path.append(beam.labels(beam.nodes[place], merge=merge_repeated))
    parts = [_decoded(path) for path in paths]
    return *(part for kind in zip(*parts, strict=True) for part in kind), scores
