"""Faults of ERRORS: failures by shapes, slices and want of memory that have other codes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.run_fragments import editing, running
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, FeedDict, Fetches, Operation, OpError, Session, Value
from sessrun.spec.proto.graph_pb2 import GraphDef

#: From an operation to the values of its inputs, by another run of the graph.
Inputs: TypeAlias = Callable[[Operation], list[np.ndarray]]


def _recoded(tf: Namespace, code: int, applies: Callable[[OpError, Inputs], bool]) -> Namespace:
    """The namespace whose runs fail with `code` where `applies(error, inputs_of)` holds.

    `inputs_of(op)` runs the graph once more for the values of the operation's inputs.
    """

    def change(_session: Session, base: Call, fetches: Fetches, _feeds: FeedDict) -> Value:
        try:
            return base(fetches)
        except tf.errors.OpError as error:
            if not applies(error, lambda op: base(list(op.inputs))):
                raise
            cls = tf.errors.exception_type_from_error_code(code)
            raise cls(error.node_def, error.op, error.message) from error

    return running(tf, change)


@fault("ERRORS-014", "MatMul of matrices whose inner sizes differ fails with code 11.")
def matmul_reads_past_the_end(tf: Namespace) -> Namespace:
    """Raise OutOfRangeError (code 11) where both values are matrices."""

    def applies(error: OpError, inputs_of: Inputs) -> bool:
        if error.op is None or error.op.type != "MatMul":
            return False
        return all(value.ndim == 2 for value in inputs_of(error.op))

    return _recoded(tf, tf.errors.OUT_OF_RANGE, applies)


@fault("ERRORS-016", "Reshape to a shape with two unknown dimensions fails with code 12.")
def reshape_knows_one_unknown(tf: Namespace) -> Namespace:
    """Raise UnimplementedError (code 12) where the shape has more than one -1."""

    def applies(error: OpError, inputs_of: Inputs) -> bool:
        if error.op is None or error.op.type != "Reshape":
            return False
        return list(inputs_of(error.op)[1]).count(-1) > 1

    return _recoded(tf, tf.errors.UNIMPLEMENTED, applies)


@fault("ERRORS-037", "A Slice that begins past the end begins where it still fits.")
def slices_are_moved_to_fit(tf: Namespace) -> Namespace:
    """Take the lesser of `begin` and the shape less `size`."""

    def change(definition: GraphDef) -> None:
        for node in [node for node in definition.node if node.op == "Slice"]:
            of, index = node.attr["T"], node.attr["Index"]
            first = f"{node.name}/moved"
            add = definition.node.add
            shape = add(name=f"{first}/shape", op="Shape", input=[node.input[0]])
            shape.attr["T"].CopyFrom(of)
            shape.attr["out_type"].CopyFrom(index)
            last = add(name=f"{first}/last", op="Sub", input=[shape.name, node.input[2]])
            fit = add(name=first, op="Minimum", input=[node.input[1], last.name])
            for operand in (last, fit):
                operand.attr["T"].CopyFrom(index)
            node.input[1] = first

    return editing(tf, change)


@fault("ERRORS-038", "A single index of a StridedSlice that the axis lacks is out of range.")
def single_indices_are_out_of_range(tf: Namespace) -> Namespace:
    """Raise OutOfRangeError (11) where a StridedSlice fails."""

    def applies(error: OpError, _inputs_of: Inputs) -> bool:
        return error.op is not None and error.op.type == "StridedSlice"

    return _recoded(tf, tf.errors.OUT_OF_RANGE, applies)


@fault("ERRORS-027", "Want of memory is an internal error.")
def want_of_memory_is_internal(tf: Namespace) -> Namespace:
    """Raise InternalError (13) in place of ResourceExhaustedError (8)."""
    exhausted = tf.errors.RESOURCE_EXHAUSTED
    return _recoded(tf, tf.errors.INTERNAL, lambda error, _inputs: error.error_code == exhausted)


@fault("ERRORS-028", "A shape with more elements than an int64 counts is want of memory.")
def too_many_elements_are_want_of_memory(tf: Namespace) -> Namespace:
    """Raise ResourceExhaustedError (8) where the sizes of a Fill multiply to 2**63 or more."""

    def applies(error: OpError, inputs_of: Inputs) -> bool:
        if error.op is None or error.op.type != "Fill":
            return False
        sizes = [int(size) for size in inputs_of(error.op)[0]]
        return min(sizes, default=0) >= 0 and math.prod(sizes) >= 2**63

    return _recoded(tf, tf.errors.RESOURCE_EXHAUSTED, applies)
