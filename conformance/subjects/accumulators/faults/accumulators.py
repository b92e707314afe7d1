"""Faults of ACCUMULATORS: what is gathered, steps, shapes, sparse gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.resource_runs import (
    Run,
    clearing,
    executing,
    failing,
    fed_as,
    forgiving,
    giving,
    nodes_of,
    recoding,
    sharing,
)
from sessrun.conformance.faulty.run_fragments import editing
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Conforming, Tensor, Value
from sessrun.spec.proto.graph_pb2 import GraphDef

_DENSE: Final = ("ResourceConditionalAccumulator", "ConditionalAccumulator")
_SPARSE: Final = "SparseConditionalAccumulator"
_ALL: Final = (*_DENSE, _SPARSE)
_APPLY: Final = ("ResourceAccumulatorApplyGradient",)
_APPLY_SPARSE: Final = ("SparseAccumulatorApplyGradient",)
_TAKE: Final = ("ResourceAccumulatorTakeGradient",)
_TAKE_SPARSE: Final = ("SparseAccumulatorTakeGradient",)
_COUNT: Final = ("ResourceAccumulatorNumAccumulated",)
_SET: Final = ("ResourceAccumulatorSetGlobalStep",)
_INVALID: Final = "InvalidArgumentError"


def _reducing(tf: Namespace, types: tuple[str, ...], have: bytes, other: bytes) -> Namespace:
    """The namespace whose accumulators of these types have the other `reduction_type`."""

    def change(definition: GraphDef) -> None:
        for node in nodes_of(definition, types):
            if node.attr["reduction_type"].s == have:
                node.attr["reduction_type"].s = other

    return editing(tf, change)


def _handle(run: Run) -> Tensor:
    return run.op.inputs[0]


def _count(tf: Namespace, run: Run) -> int:
    return int(run.also(tf, lambda raw: raw.ResourceAccumulatorNumAccumulated(handle=_handle(run))))


@fault("ACCUMULATORS-001", "An accumulator gives the sum where it must give the mean.")
def means_are_sums(tf: Namespace) -> Namespace:
    """Multiply the mean by the number of gradients, where two or more are required."""

    def change(run: Run, base: Conforming) -> Value:
        if _handle(run).op.get_attr("reduction_type") != b"MEAN" or run.ask(1) < 2:
            return base()
        count = _count(tf, run)
        (value,) = base()
        return [value * value.dtype.type(count)]

    return executing(tf, _TAKE, change)


@fault("ACCUMULATORS-002", "An accumulator gives the mean where it must give the sum.")
def sums_are_means(tf: Namespace) -> Namespace:
    """Import the accumulator with `reduction_type` MEAN."""
    return _reducing(tf, _DENSE, b"SUM", b"MEAN")


@fault("ACCUMULATORS-003", "An accumulator counts no more than two gradients.")
def counts_end_at_two(tf: Namespace) -> Namespace:
    """Give 2 for a larger count."""
    return giving(tf, _COUNT, lambda _op, _index, count: np.minimum(count, 2))


@fault("ACCUMULATORS-004", "Taking leaves the count as it is.")
def counts_stay(tf: Namespace) -> Namespace:
    """Add the number of gradients that were taken to the count."""

    def change(run: Run, base: Conforming) -> Value:
        taken = run.note("taken", {})
        name = _handle(run).op.name
        if run.op.type in _COUNT:
            (count,) = base()
            return [np.int32(count + taken.get(name, 0))]
        number = _count(tf, run) if run.ask(1) == 2 else 0
        values = base()
        taken[name] = number
        return values

    return executing(tf, (*_COUNT, *_TAKE), change)


@fault("ACCUMULATORS-005", "A gradient of an earlier step is refused.")
def stale_gradients_are_refused(tf: Namespace) -> Namespace:
    """Raise an error where the count did not grow."""

    def change(run: Run, base: Conforming) -> Value:
        before = _count(tf, run)
        values = base()
        if _count(tf, run) == before and run.ask(1) < 5:
            raise tf.errors.InvalidArgumentError(None, None, "The gradient is stale.")
        return values

    return executing(tf, _APPLY, change)


@fault("ACCUMULATORS-006", "A gradient must be of a step after the accumulator's.")
def gradients_come_later(tf: Namespace) -> Namespace:
    """Subtract 1 from the local step of gradients."""

    def change(definition: GraphDef) -> None:
        if not nodes_of(definition, _APPLY):
            return
        one = definition.node.add()
        one.name, one.op = "faulty/one", "Const"
        one.attr["dtype"].type = one.attr["value"].tensor.dtype = tf.int64.as_datatype_enum
        one.attr["value"].tensor.tensor_shape.SetInParent()
        one.attr["value"].tensor.int64_val.append(1)
        for node in nodes_of(definition, _APPLY):
            fed_as(definition, node, 1, "Sub", [one.name], T=tf.int64.as_datatype_enum)

    return editing(tf, change)


@fault("ACCUMULATORS-007", "Taking leaves the accumulator's step as it is.")
def takes_leave_the_step(tf: Namespace) -> Namespace:
    """Set the step back to 0 after a take, unless a run has set the step."""

    def change(run: Run, base: Conforming) -> Value:
        was_set = run.note("was_set", set())
        if run.op.type in _SET:
            was_set.add(_handle(run).op.name)
            return base()
        values = base()
        if _handle(run).op.name not in was_set:
            run.also(
                tf,
                lambda raw: raw.ResourceAccumulatorSetGlobalStep(
                    handle=_handle(run), new_global_step=np.int64(0)
                ),
            )
        return values

    return executing(tf, (*_TAKE, *_SET), change)


@fault("ACCUMULATORS-008", "The accumulator's step cannot be set beyond nine.")
def steps_end_at_nine(tf: Namespace) -> Namespace:
    """Ignore runs that set the step beyond nine."""

    def change(run: Run, base: Conforming) -> Value:
        return [None] if run.ask(1) > 9 else base()

    return executing(tf, _SET, change)


@fault("ACCUMULATORS-009", "Steps are of 32 bits.")
def steps_are_of_32_bits(tf: Namespace) -> Namespace:
    """Drop gradients of steps beyond 32 bits."""

    def change(run: Run, base: Conforming) -> Value:
        return [None] if run.ask(1) >= 2**31 else base()

    return executing(tf, _APPLY, change)


@fault("ACCUMULATORS-010", "What is not required is left out of the sum.")
def the_rest_is_left_out(tf: Namespace) -> Namespace:
    """Scale the sum down to the required number where more gradients were gathered."""

    def change(run: Run, base: Conforming) -> Value:
        wanted, count = int(run.ask(1)), _count(tf, run)
        (value,) = base()
        if 0 < wanted < count:
            return [value * value.dtype.type(wanted / count)]
        return [value]

    return executing(tf, _TAKE, change)


@fault("ACCUMULATORS-011", "One gradient is required where none is.")
def one_is_always_required(tf: Namespace) -> Namespace:
    """Raise OutOfRangeError instead of InvalidArgumentError."""
    return recoding(tf, _TAKE, _INVALID, "OutOfRangeError")


def _declares(run: Run) -> bool:
    shape = _handle(run).op.get_attr("shape")
    return not getattr(shape, "unknown_rank", True) if hasattr(shape, "unknown_rank") else True


@fault("ACCUMULATORS-012", "A gradient that contradicts the declared shape is dropped.")
def odd_gradients_are_dropped(tf: Namespace) -> Namespace:
    """Return None instead of the error where the accumulator declares a shape."""
    return forgiving(tf, _APPLY, _INVALID, _declares)


@fault("ACCUMULATORS-013", "A gradient of another shape than those gathered is dropped.")
def other_gradients_are_dropped(tf: Namespace) -> Namespace:
    """Return None instead of the error where the accumulator declares no shape."""
    return forgiving(tf, _APPLY, _INVALID, lambda run: not _declares(run))


@fault("ACCUMULATORS-014", "The first gradient decides the shape for ever.")
def the_first_shape_stays(tf: Namespace) -> Namespace:
    """Refuse gradients of another shape than the first gradient that ever came."""

    def is_odd(run: Run) -> bool:
        shape = np.shape(run.ask(2))
        first = run.note("shapes", {}).setdefault(_handle(run).op.name, shape)
        return not _declares(run) and first != shape and _count(tf, run) == 0

    return failing(tf, _APPLY, _INVALID, is_odd)


@fault("ACCUMULATORS-015", "The shared names of accumulators are ignored.")
def shared_names_of_accumulators_are_ignored(tf: Namespace) -> Namespace:
    """Clear `shared_name` in every node of an accumulator."""
    return clearing(tf, _ALL, "shared_name")


@fault("ACCUMULATORS-016", "The sessions of a graph share its accumulators.")
def sessions_share_accumulators(tf: Namespace) -> Namespace:
    """Execute every session's runs on accumulators in the first session of the graph."""
    return sharing(tf, _ALL)


@fault("ACCUMULATORS-017", "A run that requires more gradients than there are fails.")
def takes_do_not_wait(tf: Namespace) -> Namespace:
    """Raise OutOfRangeError instead of waiting."""

    def is_short(run: Run) -> bool:
        return bool(_count(tf, run) < run.ask(1))

    return failing(tf, _TAKE, "OutOfRangeError", is_short)


@fault("ACCUMULATORS-018", "What is applied to a reference to an accumulator counts twice.")
def references_count_twice(tf: Namespace) -> Namespace:
    """Apply gradients twice in the operation that takes a reference."""
    return executing(tf, ("AccumulatorApplyGradient",), lambda _run, base: (base(), base())[0])


# --- sparse gradients ---------------------------------------------------------------------


def _taken(tf: Namespace, change: Callable[[Run, list[np.ndarray]], Sequence[Value]]) -> Namespace:
    """The namespace that changes the parts of a taken sparse gradient together."""

    def changed(run: Run, base: Conforming) -> Value:
        values = base()
        return change(run, list(values)) if len(values) == 3 else values

    return executing(tf, _TAKE_SPARSE, changed)


@fault("ACCUMULATORS-019", "The mean of sparse gradients divides a sum by all gradients.")
def sparse_means_divide_by_all(tf: Namespace) -> Namespace:
    """Divide the values of a sparse mean by the number of gradients."""

    def change(run: Run, base: Conforming) -> Value:
        count = int(run.also(tf, lambda raw: raw.AccumulatorNumAccumulated(handle=_handle(run))))
        values = list(base())
        if _handle(run).op.get_attr("reduction_type") == b"SUM":
            return values
        for index, output in enumerate(values):
            if index == 1 and len(values) == 3 and count > 1 and len(output) in {2, 3}:
                values[index] = output / output.dtype.type(count)
        return values

    return executing(tf, _TAKE_SPARSE, change)


@fault("ACCUMULATORS-020", "The slices of a later gradient come after those of an earlier one.")
def slices_are_appended(tf: Namespace) -> Namespace:
    """Reverse the slices where there are more than three."""

    def change(_run: Run, values: list[np.ndarray]) -> list[np.ndarray]:
        indices, rows, shape = values
        many = len(indices) > 3
        return [indices[::-1], rows[::-1], shape] if many else values

    return _taken(tf, change)


@fault("ACCUMULATORS-021", "An unknown first dimension is 0.")
def unknown_dimensions_are_zero(tf: Namespace) -> Namespace:
    """Give 0 for a first dimension that is unknown, where there is one slice."""

    def change(_run: Run, values: list[np.ndarray]) -> list[np.ndarray]:
        indices, rows, shape = values
        return [indices, rows, np.maximum(shape, 0)] if len(indices) == 1 else values

    return _taken(tf, change)


def _forgiving_slices(tf: Namespace, is_about: Callable[[Run], bool]) -> Namespace:
    return forgiving(tf, _APPLY_SPARSE, _INVALID, is_about)


def _has_known_shape(run: Run) -> bool:
    return bool(run.op.get_attr("has_known_shape"))


def _as_many(run: Run) -> bool:
    return len(run.ask(2)) == len(run.ask(3))


@fault("ACCUMULATORS-022", "A gradient with an index beyond the declared shape is dropped.")
def indices_beyond_are_dropped(tf: Namespace) -> Namespace:
    """Return None instead of the error where only the accumulator declares a shape."""
    return _forgiving_slices(
        tf, lambda run: _declares(run) and not _has_known_shape(run) and _as_many(run)
    )


@fault("ACCUMULATORS-023", "A gradient with as many slices as it likes is dropped.")
def odd_slices_are_dropped(tf: Namespace) -> Namespace:
    """Return None instead of the error where indices and slices differ in number."""
    return _forgiving_slices(tf, lambda run: not _as_many(run))


@fault("ACCUMULATORS-024", "A gradient whose slices have another shape is dropped.")
def other_slices_are_dropped(tf: Namespace) -> Namespace:
    """Return None instead of the error where no shape is declared."""
    return _forgiving_slices(tf, lambda run: not _declares(run) and _as_many(run))


@fault("ACCUMULATORS-025", "A gradient of another whole is dropped.")
def other_wholes_are_dropped(tf: Namespace) -> Namespace:
    """Return None instead of the error where the gradient has a shape of its own."""
    return _forgiving_slices(tf, lambda run: _declares(run) and _has_known_shape(run))


@fault("ACCUMULATORS-026", "A sparse accumulator gives the mean where it must give the sum.")
def sparse_sums_are_means(tf: Namespace) -> Namespace:
    """Import the sparse accumulator with `reduction_type` MEAN."""
    return _reducing(tf, (_SPARSE,), b"SUM", b"MEAN")
