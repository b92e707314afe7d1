"""Faults of CONTROL-FLOW: branches and loops as functions, and lists of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.resource_runs import (
    Run,
    executing,
    fed_as,
    forgiving,
    giving,
    nodes_of,
)
from sessrun.conformance.faulty.run_fragments import editing
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Conforming, Operation, Tensor, Value
from sessrun.spec.proto.graph_pb2 import DT_BOOL, DT_INT32, DT_STRING, GraphDef, NodeDef

_INT: Final = DT_INT32
_STRING: Final = DT_STRING
_INVALID: Final = "InvalidArgumentError"


def _changing(
    tf: Namespace, op_type: str, change: Callable[[GraphDef, NodeDef], None]
) -> Namespace:
    """The namespace that calls `change(definition, node)` for imported nodes of these types."""

    def changed(definition: GraphDef) -> None:
        for node in nodes_of(definition, (op_type,)):
            change(definition, node)

    return editing(tf, changed)


@fault("CONTROL-FLOW-013", "The branches of a StatelessIf have changed places.")
def stateless_branches_change_places(tf: Namespace) -> Namespace:
    """Exchange `then_branch` and `else_branch`."""

    def change(_: GraphDef, node: NodeDef) -> None:
        names = [node.attr[name].func.name for name in ("else_branch", "then_branch")]
        node.attr["then_branch"].func.name, node.attr["else_branch"].func.name = names

    return _changing(tf, "StatelessIf", change)


@fault("CONTROL-FLOW-014", "A number below zero does not hold.")
def numbers_below_zero_do_not_hold(tf: Namespace) -> Namespace:
    """Put a Relu before the scalar int32 condition of an If."""

    def change(definition: GraphDef, node: NodeDef) -> None:
        source = next(source for source in definition.node if source.name == node.input[0])
        if node.attr["Tcond"].type == _INT and not source.attr["shape"].shape.dim:
            fed_as(definition, node, 0, "Relu", (), T=_INT)

    return _changing(tf, "If", change)


@fault("CONTROL-FLOW-015", "A string of one character does not hold.")
def short_strings_do_not_hold(tf: Namespace) -> Namespace:
    """Replace a condition of one character by the empty string."""

    def change(definition: GraphDef, node: NodeDef) -> None:
        if node.attr["Tcond"].type == _STRING:
            fed_as(definition, node, 0, "StaticRegexReplace", ())
            replace = definition.node[-1]
            replace.attr["pattern"].s, replace.attr["rewrite"].s = b"^.$", b""

    return _changing(tf, "If", change)


@fault("CONTROL-FLOW-016", "An array of one element holds if its element does.")
def arrays_of_one_hold_as_their_element(tf: Namespace) -> Namespace:
    """Put a Squeeze before the condition of an If."""

    def change(definition: GraphDef, node: NodeDef) -> None:
        source = next(source for source in definition.node if source.name == node.input[0])
        if source.attr["shape"].shape.dim:
            fed_as(definition, node, 0, "Squeeze", (), T=node.attr["Tcond"].type)

    return _changing(tf, "If", change)


@fault("CONTROL-FLOW-017", "An index below zero counts as if it were above.")
def indices_have_no_sign(tf: Namespace) -> Namespace:
    """Put Abs before the index of a Case."""
    return _changing(
        tf, "Case", lambda definition, node: fed_as(definition, node, 0, "Abs", (), T=_INT)
    )


@fault("CONTROL-FLOW-062", "The branches of a Case are counted from one.")
def branches_are_counted_from_one(tf: Namespace) -> Namespace:
    """Move the last of three branches to the front."""

    def change(_: GraphDef, node: NodeDef) -> None:
        names = [branch.name for branch in node.attr["branches"].list.func]
        for branch, name in zip(
            node.attr["branches"].list.func, [names[-1], *names[:-1]], strict=True
        ):
            branch.name = name

    return _changing(tf, "Case", change)


def _calls_body_first(definition: GraphDef, node: NodeDef) -> None:
    """Call the loop's body once before the loop."""
    call = definition.node.add()
    call.name, call.op = f"{node.name}/first", "PartitionedCall"
    call.input.extend(node.input)
    for name in ("Tin", "Tout"):
        call.attr[name].CopyFrom(node.attr["T"])
    call.attr["f"].CopyFrom(node.attr["body"])
    node.input[:] = [f"{call.name}:{index}" for index in range(len(node.input))]


@fault("CONTROL-FLOW-018", "The body of a While is executed before its condition is asked.")
def bodies_come_first(tf: Namespace) -> Namespace:
    """Call the body once before the loop."""
    return _changing(tf, "While", _calls_body_first)


@fault("CONTROL-FLOW-019", "A StatelessWhile executes its body once at most.")
def stateless_loops_end_at_once(tf: Namespace) -> Namespace:
    """Replace the loop by an If of its body, whose other branch gives the inputs."""

    def change(definition: GraphDef, node: NodeDef) -> None:
        names = [function.signature.name for function in definition.library.function]
        same = next(f for f in definition.library.function if f.signature.name == names[-1])
        body, condition = node.attr["body"].func.name, node.attr["cond"].func.name
        other = definition.library.function.add()
        other.CopyFrom(next(f for f in definition.library.function if f.signature.name == body))
        other.signature.name = f"{body}NotAtAll"
        inputs = [arg.name for arg in same.signature.input_arg]
        for result, given in zip(other.signature.output_arg, inputs, strict=True):
            other.ret[result.name] = given
        test = definition.node.add()
        test.name, test.op = f"{node.name}/test", "PartitionedCall"
        test.input.extend(node.input)
        test.attr["Tin"].CopyFrom(node.attr["T"])
        test.attr["Tout"].list.type.append(DT_BOOL)
        test.attr["f"].func.name = condition
        node.op = "StatelessIf"
        for name in ("Tin", "Tout"):
            node.attr[name].CopyFrom(node.attr["T"])
        node.attr["Tcond"].type = DT_BOOL
        node.attr["then_branch"].func.name = body
        node.attr["else_branch"].func.name = other.signature.name
        for name in ("T", "cond", "body", "parallel_iterations"):
            del node.attr[name]
        node.input.insert(0, test.name)

    return _changing(tf, "StatelessWhile", change)


@fault("CONTROL-FLOW-020", "The branch of an If that is not taken is executed, too.")
def other_functions_execute_too(tf: Namespace) -> Namespace:
    """Call `else_branch` before the If."""

    def change(definition: GraphDef, node: NodeDef) -> None:
        call = definition.node.add()
        call.name, call.op = f"{node.name}/other", "StatefulPartitionedCall"
        call.input.extend(node.input[1:])
        for name in ("Tin", "Tout"):
            call.attr[name].CopyFrom(node.attr[name])
        call.attr["f"].CopyFrom(node.attr["else_branch"])
        node.input.append(f"^{call.name}")

    return _changing(tf, "If", change)


@fault("CONTROL-FLOW-021", "A stack of two elements has the last one in front.")
def stacks_are_reversed(tf: Namespace) -> Namespace:
    """Reverse the first axis of what is stacked."""
    return giving(
        tf,
        ("TensorListStack",),
        lambda _op, _index, value: value[::-1],
        lambda op: op.get_attr("element_dtype") == tf.float32,
    )


@fault("CONTROL-FLOW-022", "A list is changed by what is pushed to it.")
def lists_are_changed(tf: Namespace) -> Namespace:
    """Make a TensorListStack of the older list take the newer list."""

    def change(definition: GraphDef) -> None:
        pushed = nodes_of(definition, ("TensorListPushBack",))
        longer = {node.input[0]: node.name for node in pushed}
        for node in nodes_of(definition, ("TensorListStack",)):
            node.input[0] = longer.get(node.input[0], node.input[0])

    return editing(tf, change)


@fault("CONTROL-FLOW-023", "What is popped is what was pushed first.")
def the_first_comes_first(tf: Namespace) -> Namespace:
    """Read the element at index 0."""

    def change(run: Run, _: Conforming) -> Value:
        def first(raw: Namespace) -> Tensor:
            return raw.TensorListGetItem(
                input_handle=run.op.inputs[0], index=0, element_shape=[2], element_dtype=tf.float32
            )

        return [run.also(tf, first)]

    return executing(tf, ("TensorListPopBack",), change)


@fault("CONTROL-FLOW-024", "An element that was not set is ones.")
def absent_elements_are_ones(tf: Namespace) -> Namespace:
    """Replace elements of zeros by ones."""
    return giving(
        tf,
        ("TensorListGetItem",),
        lambda _op, _index, value: value if np.any(value) else np.ones_like(value),
    )


@fault("CONTROL-FLOW-025", "An element outside of a list is zeros.")
def places_outside_are_zeros(tf: Namespace) -> Namespace:
    """Give zeros where the engine refuses."""
    return forgiving(
        tf, ("TensorListGetItem",), _INVALID, lambda _: True, lambda _: np.zeros([2], np.float32)
    )


@fault("CONTROL-FLOW-026", "A list that a loop gives lacks its last element.")
def loops_shorten_lists(tf: Namespace) -> Namespace:
    """Drop the last element of what is stacked after a loop."""

    def shortened(_op: Operation, _index: int, value: np.ndarray) -> Value:
        return value[:-1]

    return giving(tf, ("TensorListStack",), shortened, lambda op: op.inputs[0].op.type == "Exit")
