"""Faults of TENSOR-ARRAYS: elements read, added up and refused; arrays of gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.resource_runs import Base, Run, executing, fed_as, giving, nodes_of
from sessrun.conformance.faulty.run_fragments import editing
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array, Operation, Value
from sessrun.spec.proto.graph_pb2 import DT_FLOAT, GraphDef, NodeDef

_FLOAT: Final = DT_FLOAT
_GRADIENTS: Final = ("TensorArrayGradV3", "TensorArrayGradWithShape")


def _creator_of(op: Operation) -> Operation:
    """The operation that made the array which an operation works on."""
    creator = op.inputs[0].op
    while creator.type == "Identity":
        creator = creator.inputs[0].op
    return creator


def _forgiven(
    tf: Namespace, op_type: str, value: Value, when: Callable[[Run], bool], error: str = ""
) -> Namespace:
    """The namespace that gives a value where such an operation, or its consumer, is refused."""

    def change(run: Run, base: Base) -> Value:
        op = run.op.inputs[0].op if run.op.type == "Identity" else run.op
        try:
            return base()
        except getattr(tf.errors, error or "InvalidArgumentError"):
            if op.type != op_type or not when(run.by(op)):
                raise
            return [value]

    return executing(tf, (op_type, "Identity"), change)


def _always(_: Run) -> bool:
    return True


def _by_fed_index(tf: Namespace, op_type: str, change: Callable[[np.ndarray], Array]) -> Namespace:
    """The namespace that changes Identities of elements read by such operations at fed indices."""

    def is_so(op: Operation) -> bool:
        source = op.inputs[0].op
        return bool(
            source.type == op_type
            and source.inputs[1].op.type == "Placeholder"
            and op.outputs[0].dtype == tf.float32
        )

    return giving(tf, ("Identity",), lambda _op, _index, value: change(value), is_so)


@fault("TENSOR-ARRAYS-013", "What is read of an array of arbitrary shapes has the other sign.")
def read_elements_change_sign(tf: Namespace) -> Namespace:
    """Negate a value that is read at a fed index."""
    return _by_fed_index(tf, "TensorArrayReadV3", lambda value: -value)


@fault("TENSOR-ARRAYS-014", "Elements are gathered in the order of the array.")
def gathered_elements_are_sorted(tf: Namespace) -> Namespace:
    """Sort what is gathered by fed indices."""
    return _by_fed_index(tf, "TensorArrayGatherV3", lambda value: np.sort(value, axis=0))


@fault("TENSOR-ARRAYS-015", "Rows are scattered in the order of the array.")
def scattered_rows_keep_their_order(tf: Namespace) -> Namespace:
    """Reverse the rows that are scattered to fed indices."""

    def change(definition: GraphDef) -> None:
        kinds = {node.name: node.op for node in definition.node}
        for node in nodes_of(definition, ("TensorArrayScatterV3",)):
            if kinds[node.input[1].partition(":")[0]] == "Placeholder":
                fed_as(definition, node, 2, "Neg", (), T=_FLOAT)

    return editing(tf, change)


@fault("TENSOR-ARRAYS-016", "Rows without an index are left out.")
def rows_without_indices_are_left_out(tf: Namespace) -> Namespace:
    """Overlook the refusal."""
    return _forgiven(
        tf,
        "TensorArrayScatterV3",
        np.float32(0),
        lambda run: len(run.ask(1)) != len(run.ask(2)),
    )


@fault("TENSOR-ARRAYS-017", "What is written below zero is left out.")
def writes_below_zero_are_left_out(tf: Namespace) -> Namespace:
    """Overlook the refusal behind a size that waits for the write."""
    return _forgiven(
        tf,
        "TensorArraySizeV3",
        np.int32(2),
        lambda run: (
            any(op.type == "TensorArrayWriteV3" for op in run.op.control_inputs)
            or any(op.type == "Identity" for op in run.op.control_inputs)
        ),
    )


@fault("TENSOR-ARRAYS-018", "A write of an element that was read is left out.")
def writes_after_reads_are_left_out(tf: Namespace) -> Namespace:
    """Overlook the refusal of a write that waits for a read."""
    return _forgiven(
        tf,
        "TensorArrayWriteV3",
        np.float32(0),
        lambda run: any(op.type == "TensorArrayReadV3" for op in _behind(run.op)),
    )


def _behind(op: Operation) -> list[Operation]:
    """The operations that an operation, or one of its inputs, waits for."""
    waits = list(op.control_inputs)
    for tensor in op.inputs:
        waits += tensor.op.control_inputs
    return waits


@fault("TENSOR-ARRAYS-019", "A text that was not written is empty.")
def unwritten_texts_are_empty(tf: Namespace) -> Namespace:
    """Give empty texts where the engine refuses."""
    empty = np.full([2], b"", object)
    return _forgiven(
        tf, "TensorArrayReadV3", empty, lambda run: run.op.get_attr("dtype") == tf.string
    )


@fault("TENSOR-ARRAYS-020", "A shape that contradicts an array's gives no elements.")
def contradicting_shapes_give_nothing(tf: Namespace) -> Namespace:
    """Overlook the refusal."""
    return _forgiven(
        tf,
        "TensorArrayGatherV3",
        np.zeros([0], np.float32),
        lambda run: (
            run.op.get_attr("element_shape").ndims is not None
            and run.op.inputs[1].op.type == "Const"
        ),
    )


@fault("TENSOR-ARRAYS-021", "No elements of unknown shape are gathered to nothing.")
def no_elements_need_no_shape(tf: Namespace) -> Namespace:
    """Overlook the refusal."""
    return _forgiven(
        tf, "TensorArrayGatherV3", np.zeros([0], np.float32), _always, "UnimplementedError"
    )


@fault("TENSOR-ARRAYS-022", "The sizes of what is joined are told in the other order.")
def told_sizes_are_turned_around(tf: Namespace) -> Namespace:
    """Turn the second output around."""
    return giving(
        tf,
        ("TensorArrayConcatV3",),
        lambda _op, index, value: value[::-1] if index else value,
    )


@fault("TENSOR-ARRAYS-023", "Elements that cannot be joined give no rows.")
def elements_that_do_not_fit_give_nothing(tf: Namespace) -> Namespace:
    """Overlook the refusal of a join that is fetched itself."""
    return _forgiven(
        tf,
        "TensorArrayConcatV3",
        np.zeros([0, 2], np.float32),
        lambda run: any(tensor is run.op.outputs[0] for tensor in run.op.outputs),
    )


def _gradient_writes(definition: GraphDef) -> list[NodeDef]:
    """The nodes that write to arrays of gradients."""
    kinds = {node.name: node.op for node in definition.node}
    return [
        node
        for node in nodes_of(definition, ("TensorArrayWriteV3",))
        if kinds[node.input[0].partition(":")[0]] in _GRADIENTS
    ]


@fault("TENSOR-ARRAYS-024", "Of gradients of one element the later ones are subtracted.")
def later_gradients_are_subtracted(tf: Namespace) -> Namespace:
    """Negate what is written after another write."""

    def change(definition: GraphDef) -> None:
        writes = _gradient_writes(definition)
        names = {node.name for node in writes}
        for node in writes:
            if node.input[3].partition(":")[0] in names:
                fed_as(definition, node, 2, "Neg", (), T=_FLOAT)

    return editing(tf, change)


@fault("TENSOR-ARRAYS-025", "A gradient of another shape is left out.")
def misshapen_gradients_are_left_out(tf: Namespace) -> Namespace:
    """Give zeros where the engine refuses."""
    return _forgiven(
        tf,
        "TensorArrayReadV3",
        np.zeros([2], np.float32),
        lambda run: _creator_of(run.op).type in _GRADIENTS,
    )


@fault("TENSOR-ARRAYS-026", "A gradient that was not written is ones.")
def unwritten_gradients_are_ones(tf: Namespace) -> Namespace:
    """Give ones for zeros."""
    return giving(
        tf,
        ("TensorArrayReadV3",),
        lambda _op, _index, value: np.ones_like(value),
        lambda op: (
            _creator_of(op).type == "TensorArrayGradV3"
            and op.inputs[2].op.type == "TensorArrayGradV3"
        ),
    )


@fault("TENSOR-ARRAYS-027", "The sizes that gradients are told to have in front are left out.")
def sizes_in_front_are_left_out(tf: Namespace) -> Namespace:
    """Give an element of the first ones."""
    return giving(
        tf,
        ("TensorArrayReadV3",),
        lambda _op, _index, value: value[0],
        lambda op: _creator_of(op).type == _GRADIENTS[1],
    )


@fault("TENSOR-ARRAYS-028", "An array with gradients grows.")
def arrays_with_gradients_grow(tf: Namespace) -> Namespace:
    """Overlook the refusal of a write to an array of dynamic size."""
    return _forgiven(
        tf,
        "TensorArrayWriteV3",
        np.float32(0),
        lambda run: (
            _creator_of(run.op).type == "TensorArrayV3"
            and _creator_of(run.op).get_attr("dynamic_size")
            and any(op.type in ("Identity", *_GRADIENTS) for op in _behind(run.op))
        ),
    )


@fault("TENSOR-ARRAYS-029", "An element of another shape than the first one is left out.")
def elements_of_other_shapes_are_left_out(tf: Namespace) -> Namespace:
    """Overlook the refusal where all are to have one shape."""
    return _forgiven(
        tf,
        "TensorArrayWriteV3",
        np.float32(0),
        lambda run: _creator_of(run.op).get_attr("identical_element_shapes"),
    )


@fault("TENSOR-ARRAYS-030", "An array that was closed has no elements.")
def closed_arrays_are_empty(tf: Namespace) -> Namespace:
    """Give zero for its size."""
    return _forgiven(
        tf,
        "TensorArraySizeV3",
        np.int32(0),
        lambda run: any(op.type == "TensorArrayCloseV3" for op in _behind(run.op)),
    )
