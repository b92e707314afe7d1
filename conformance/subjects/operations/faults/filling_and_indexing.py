"""Faults of OPERATIONS: tensors that are made, gathered, searched; networks and strings."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.faulty.computing import array, computing, single
from sessrun.conformance.faulty.framework import fault
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array, Operation, Value

# --- made and gathered --------------------------------------------------------------------


@fault("OPERATIONS-125", "LinSpace leaves its stop out.")
def lines_leave_their_stop_out(tf: Namespace) -> Namespace:
    """Divides by the number of points."""

    def line(
        _: Operation, __: np.ndarray, start: np.ndarray, stop: np.ndarray, count: np.ndarray
    ) -> Array:
        return np.linspace(start, stop, int(count), endpoint=False)

    return computing(tf, {"LinSpace": single(line)})


@fault("OPERATIONS-128", "OneHot takes an index that is too large for the last one.")
def large_indices_are_the_last(tf: Namespace) -> Namespace:
    """Clips the indices."""

    def hot(
        op: Operation,
        out: np.ndarray,
        indices: np.ndarray,
        depth: np.ndarray,
        on: np.ndarray,
        _off: np.ndarray,
    ) -> Array:
        if op.get_attr("axis") != -1 or not int(depth):
            return out
        changed = out.copy()
        changed[indices >= depth, int(depth) - 1] = on
        return changed

    return computing(tf, {"OneHot": single(hot)})


@fault("OPERATIONS-129", "A gathering by batches takes every row from the first batch.")
def batches_are_gathered_from_the_first(tf: Namespace) -> Namespace:
    """Applies the indices of each batch to the first one."""

    def gathered(
        op: Operation, out: np.ndarray, params: np.ndarray, indices: np.ndarray, axis: np.ndarray
    ) -> Array:
        if op.get_attr("batch_dims") != 1 or not out.size:
            return out
        first = params[0]
        return np.stack([np.take(first, row, axis=int(axis) - 1) for row in indices])

    return computing(tf, {"GatherV2": single(gathered)})


@fault("OPERATIONS-132", "The last of several values scattered to one place wins.")
def the_last_scattered_value_wins(tf: Namespace) -> Namespace:
    """Sets instead of adding."""

    def scattered(
        _: Operation, out: np.ndarray, indices: np.ndarray, updates: np.ndarray, __: np.ndarray
    ) -> Array:
        changed = np.zeros_like(out)
        if indices.ndim and indices.size:
            rows = indices.reshape(-1, indices.shape[-1])
            parts = updates.reshape((len(rows), *updates.shape[indices.ndim - 1 :]))
            for row, part in zip(rows, parts, strict=True):
                changed[tuple(row)] = part
        return changed

    return computing(tf, {"ScatterNd": single(scattered)})


@fault("OPERATIONS-135", "The distinct elements come sorted.")
def distinct_elements_come_sorted(tf: Namespace) -> Namespace:
    """Return the elements in the order of numpy's `unique`."""

    def change(
        _op: Operation, outputs: list[np.ndarray], inputs: list[np.ndarray]
    ) -> list[np.ndarray]:
        if inputs[0].dtype.kind == "O":
            return outputs
        distinct, inverse = np.unique(inputs[0], return_inverse=True)
        return [distinct, inverse.astype(outputs[1].dtype)]

    return computing(tf, {"Unique": change})


@fault("OPERATIONS-138", "Of equal elements TopKV2 gives the last first.")
def the_last_of_equals_is_on_top(tf: Namespace) -> Namespace:
    """Sorts and reads backwards."""

    def change(_op: Operation, outputs: list[np.ndarray], inputs: list[np.ndarray]) -> list[Value]:
        values, places = (array(output) for output in outputs)
        order = np.argsort(inputs[0], axis=-1, kind="stable")[..., ::-1][..., : places.shape[-1]]
        return [values, order.astype(places.dtype)]

    return computing(tf, {"TopKV2": change})


# --- networks -----------------------------------------------------------------------------


@fault("OPERATIONS-141", "LeakyRelu knows one slope only.")
def slopes_are_a_fifth(tf: Namespace) -> Namespace:
    """Takes 0.2 whatever the attribute says."""
    leaky = single(lambda _, __, x: np.where(x > 0, x, x * x.dtype.type(0.2)))
    return computing(tf, {"LeakyRelu": leaky})


@fault("OPERATIONS-143", "Softmax overflows for large logits.")
def softmax_overflows(tf: Namespace) -> Namespace:
    """Takes the exponentials without subtracting the largest."""

    def softmax(_: Operation, __: np.ndarray, x: np.ndarray) -> Array:
        powers = np.exp(x)
        return powers / powers.sum(axis=-1, keepdims=True)

    return computing(tf, {"Softmax": single(softmax)})


@fault("OPERATIONS-147", "The gradient of Relu passes at zero.")
def rectifiers_pass_at_zero(tf: Namespace) -> Namespace:
    """Compares with `not less` instead of `greater`."""
    passing = single(lambda _, out, gradients, x: np.where(x == 0, gradients, out))
    return computing(tf, {"ReluGrad": passing})


# --- strings ------------------------------------------------------------------------------


@fault("OPERATIONS-148", "Lengths are bytes, whatever the unit.")
def lengths_are_bytes(tf: Namespace) -> Namespace:
    """Ignore the attribute `unit`."""

    def lengths(_: Operation, out: np.ndarray, x: np.ndarray) -> Array:
        counted = np.zeros(out.shape, out.dtype)
        for index in np.ndindex(out.shape):
            counted[index] = len(x[index])
        return counted

    return computing(tf, {"StringLength": single(lengths)})


@fault("OPERATIONS-152", "AsString does not fill up with zeros.")
def numbers_are_filled_with_blanks(tf: Namespace) -> Namespace:
    """Ignore the attribute `fill`."""

    def written(op: Operation, out: np.ndarray, _: np.ndarray) -> Array:
        if op.get_attr("fill") != b"0" or op.get_attr("width") < 0:
            return out
        changed = out.copy()
        for index in np.ndindex(out.shape):
            text: bytes = out.item(*index)
            changed[index] = (text.lstrip(b"0") or b"0").rjust(len(text))
        return changed

    return computing(tf, {"AsString": single(written)})
