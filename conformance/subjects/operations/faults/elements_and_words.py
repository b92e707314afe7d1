"""Faults of OPERATIONS: tensors that are filled, gathered and searched; networks; strings."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import numpy as np

from sessrun.conformance.faulty.computing import array, computing, single, without_refusals
from sessrun.conformance.faulty.framework import fault
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array, Operation


def _changed(tf: Namespace, op_type: str, function: Callable[..., Array]) -> Namespace:
    """The namespace in which operations of this type give `function(op, output, *inputs)`."""
    return computing(tf, {op_type: single(function)})


def _text(function: Callable[[bytes], bytes]) -> Callable[..., Array]:
    """A change that applies the function to each string of the output."""

    def change(_: Operation, out: np.ndarray, *__: np.ndarray) -> Array:
        changed = np.empty(out.shape, object)
        for index in np.ndindex(out.shape):
            changed[index] = function(out.item(*index))
        return changed

    return change


# --- filled -------------------------------------------------------------------------------


@fault("OPERATIONS-124", "A Range includes a limit that it reaches.")
def ranges_include_their_limit(tf: Namespace) -> Namespace:
    """Go on up to the limit."""

    def ranged(
        _: Operation, out: np.ndarray, __: np.ndarray, limit: np.ndarray, delta: np.ndarray
    ) -> Array:
        reaches = out.size > 0 and out[-1] + delta == limit
        return np.append(out, limit.astype(out.dtype)) if reaches else out

    return _changed(tf, "Range", ranged)


@fault("OPERATIONS-126", "OnesLike fills with True as the dtype's greatest number.")
def ones_are_the_greatest(tf: Namespace) -> Namespace:
    """Set every bit of an integer."""

    def filled(_: Operation, out: np.ndarray, __: np.ndarray) -> Array:
        return np.full_like(out, np.iinfo(out.dtype).max) if out.dtype.kind in "iu" else out

    return _changed(tf, "OnesLike", filled)


@fault("OPERATIONS-127", "OneHot writes the off value at each index and the on value elsewhere.")
def hot_and_cold_are_exchanged(tf: Namespace) -> Namespace:
    """Exchange them where the axis is not the last."""

    def exchanged(
        op: Operation,
        out: np.ndarray,
        indices: np.ndarray,
        depth: np.ndarray,
        on: np.ndarray,
        off: np.ndarray,
    ) -> Array:
        is_inside = (indices >= 0).all() and (indices < depth).all()
        if op.get_attr("axis") == -1 or not is_inside:
            return out
        return np.where(out == on, off, on)

    return _changed(tf, "OneHot", exchanged)


# --- gathered and scattered -----------------------------------------------------------------


@fault("OPERATIONS-130", "GatherNd reads its index vectors from the back.")
def index_vectors_are_turned(tf: Namespace) -> Namespace:
    """Turn each vector of indices round, each index within its dimension."""

    def gathered(_: Operation, out: np.ndarray, params: np.ndarray, indices: np.ndarray) -> Array:
        depth = indices.shape[-1]
        if depth < 2 or not out.size:
            return out
        turned = indices[..., ::-1] % np.array(params.shape[:depth])
        return params[tuple(np.moveaxis(turned, -1, 0))]

    return _changed(tf, "GatherNd", gathered)


@fault("OPERATIONS-131", "GatherV2 and GatherNd give zeros for an index out of range.")
def indices_out_of_range_give_zeros(tf: Namespace) -> Namespace:
    """Give zeros instead of the error."""
    return without_refusals(tf, "Gather", "GatherV2", "GatherNd", "DynamicPartition")


@fault("OPERATIONS-159", "TensorScatterUpdate adds the updates.")
def updates_are_added(tf: Namespace) -> Namespace:
    """Add what was there to what is put there, where it is numbers."""

    def added(_: Any, out: Any, tensor: Any, *__: Any) -> Any:
        return out if out.dtype == object else np.where(out == tensor, out, out + tensor)

    return _changed(tf, "TensorScatterUpdate", added)


@fault("OPERATIONS-160", "In DynamicStitch the first value of an index stays.")
def first_stitches_stay(tf: Namespace) -> Namespace:
    """Write only what was not written."""

    def stitched(op: Operation, outputs: list[np.ndarray], inputs: list[np.ndarray]) -> list[Array]:
        merged, count = array(outputs[0]).copy(), op.get_attr("N")
        for indices, data in list(zip(inputs[:count], inputs[count:], strict=True))[::-1]:
            positions = array(indices).reshape(-1)
            rows = array(data).reshape(len(positions), *merged.shape[1:])
            for position, row in list(zip(positions, rows, strict=True))[::-1]:
                merged[position] = row
        return [merged]

    return computing(tf, {"DynamicStitch": stitched})


@fault("OPERATIONS-134", "SparseToDense has zeros for its default value.")
def sparse_defaults_are_zero(tf: Namespace) -> Namespace:
    """Ignore the default."""

    def dense(
        _: Operation,
        out: np.ndarray,
        __: np.ndarray,
        ___: np.ndarray,
        values: np.ndarray,
        default: np.ndarray,
    ) -> Array:
        if out.dtype.kind not in "iuf" or np.isin(default, values).any():
            return out
        return np.where(out == default, out.dtype.type(0), out)

    return _changed(tf, "SparseToDense", dense)


@fault("OPERATIONS-136", "Where goes column by column.")
def places_go_by_columns(tf: Namespace) -> Namespace:
    """Order the indices by the last dimension first."""
    return _changed(tf, "Where", lambda _, out, __: out[np.lexsort(out.T)] if out.size else out)


@fault("OPERATIONS-137", "DynamicPartition gives the slices of a part from the last on.")
def partitions_are_turned(tf: Namespace) -> Namespace:
    """Collect the slices from the end."""
    return computing(
        tf, {"DynamicPartition": lambda _, outputs, __: [array(part)[::-1] for part in outputs]}
    )


@fault("OPERATIONS-139", "InTopK counts predictions that are equal to the target's.")
def equals_are_above(tf: Namespace) -> Namespace:
    """Count what is not below, itself left out."""

    def is_in_top(
        op: Operation, out: np.ndarray, predictions: np.ndarray, targets: np.ndarray, *_: np.ndarray
    ) -> Array:
        inside = np.minimum(targets, predictions.shape[1] - 1)
        own = predictions[np.arange(len(inside)), inside][:, np.newaxis]
        return out & ((predictions >= own).sum(axis=1) <= op.get_attr("k"))

    return _changed(tf, "InTopK", is_in_top)


@fault("OPERATIONS-140", "UpperBound stands before equal values.")
def upper_bounds_are_lower(tf: Namespace) -> Namespace:
    """Give the lower bound."""

    def bound(_: Operation, out: np.ndarray, rows: np.ndarray, values: np.ndarray) -> Array:
        pairs = zip(rows, values, strict=True)
        bounds = [np.searchsorted(row, value, side="left") for row, value in pairs]
        return np.stack(bounds) if bounds else out

    return _changed(tf, "UpperBound", bound)


# --- networks -----------------------------------------------------------------------------


@fault("OPERATIONS-142", "BiasAddGrad sums over the channels that come first.")
def bias_gradients_are_of_the_last_axis(tf: Namespace) -> Namespace:
    """Ignore the data format."""

    def summed(op: Operation, out: np.ndarray, gradients: np.ndarray) -> Array:
        if op.get_attr("data_format") != b"NCHW":
            return out
        return gradients.sum(axis=tuple(range(gradients.ndim - 1)))

    return _changed(tf, "BiasAddGrad", summed)


@fault("OPERATIONS-164", "L2Loss is the whole sum of the squares.")
def losses_are_not_halved(tf: Namespace) -> Namespace:
    """Double the loss."""
    return _changed(tf, "L2Loss", lambda _, out, __: out + out)


@fault("OPERATIONS-144", "The cross entropy is the logarithm of the softmax.")
def cross_entropies_overflow(tf: Namespace) -> Namespace:
    """Compute the logarithm after the softmax, which loses small probabilities."""

    def change(_: Operation, outputs: list[np.ndarray], inputs: list[np.ndarray]) -> list[Array]:
        logits, labels = map(array, inputs)
        with np.errstate(all="ignore"):
            powers = np.exp(logits)
            chances = powers / powers.sum(axis=-1, keepdims=True)
            loss = -(labels * np.log(chances)).sum(axis=-1)
        return [loss.astype(array(outputs[0]).dtype), outputs[1]]

    return computing(tf, {"SoftmaxCrossEntropyWithLogits": change})


@fault("OPERATIONS-145", "A label that is no class has a loss of zero.")
def labels_outside_are_free(tf: Namespace) -> Namespace:
    """Give zeros instead of the error."""
    return without_refusals(tf, "SparseSoftmaxCrossEntropyWithLogits")


@fault("OPERATIONS-146", "TanhGrad takes the input of the function.")
def tangents_are_taken_by_their_input(tf: Namespace) -> Namespace:
    """Compute the hyperbolic tangent first."""
    return _changed(tf, "TanhGrad", lambda _, __, x, dy: dy * (1 - np.tanh(x) ** 2))


# --- strings ------------------------------------------------------------------------------


@fault("OPERATIONS-149", "StringJoin ends its strings at a NUL.")
def joined_strings_end_at_nul(tf: Namespace) -> Namespace:
    """Cut each string at its first NUL."""
    return _changed(tf, "StringJoin", _text(lambda text: text.partition(b"\0")[0]))


@fault("OPERATIONS-154", "StringUpper changes letters beyond ASCII without being told.")
def case_is_always_that_of_unicode(tf: Namespace) -> Namespace:
    """Decode every string."""
    return _changed(
        tf,
        "StringUpper",
        _text(
            lambda text: (
                text.decode("utf-8", "surrogateescape").upper().encode("utf-8", "surrogateescape")
            )
        ),
    )


@fault("OPERATIONS-155", "StringStrip leaves white space at the front.")
def white_space_stays_at_the_front(tf: Namespace) -> Namespace:
    """Take it off the end only."""

    def stripped(_: Any, out: Any, x: Any) -> Any:
        changed = np.empty(out.shape, object)
        for index in np.ndindex(out.shape):
            changed[index] = x[index].rstrip()
        return changed

    return _changed(tf, "StringStrip", stripped)


@fault("OPERATIONS-157", "DecodeBase64 reads the alphabet of mail, too.")
def base64_of_mail_is_read(tf: Namespace) -> Namespace:
    """Refuse nothing."""
    return without_refusals(tf, "DecodeBase64")


@fault("OPERATIONS-158", "DecodeRaw reads numbers in one order of bytes.")
def raw_numbers_are_little_endian(tf: Namespace) -> Namespace:
    """Turn the bytes of numbers that are big-endian."""
    return _changed(
        tf,
        "DecodeRaw",
        lambda op, out, _: out if op.get_attr("little_endian") else out.byteswap(),
    )


@fault("OPERATIONS-156", "EncodeBase64 always pads.")
def base64_is_always_padded(tf: Namespace) -> Namespace:
    """Ignore the attribute `pad`."""

    def padded(_: Operation, out: np.ndarray, x: np.ndarray) -> Array:
        changed = np.empty(out.shape, object)
        for index in np.ndindex(out.shape):
            changed[index] = base64.urlsafe_b64encode(x.item(*index))
        return changed

    return _changed(tf, "EncodeBase64", padded)


@fault("OPERATIONS-153", "StringToNumber gives zero for text that says no number.")
def text_without_a_number_is_zero(tf: Namespace) -> Namespace:
    """Give zeros instead of the error."""
    return without_refusals(tf, "StringToNumber")
