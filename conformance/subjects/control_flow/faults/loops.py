"""Faults of CONTROL-FLOW: inner loops, effects of conditions, limits, iterations under way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.resource_runs import nodes_of
from sessrun.conformance.faulty.run_fragments import (
    UPDATES,
    data_inputs,
    editing,
    reads_of_variables,
)
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor
from sessrun.spec.proto.graph_pb2 import DT_BOOL, DT_INT32, DataType, GraphDef

_INT: Final = DT_INT32
_BOOL: Final = DT_BOOL


def _added(definition: GraphDef, name: str, op: str, inputs: list[str], **types: DataType) -> str:
    node = definition.node.add(name=name, op=op, input=inputs)
    for attr, enum in types.items():
        node.attr[attr].type = enum
    return name


@fault("CONTROL-FLOW-063", "An inner loop of constants runs in the first outer iteration only.")
def inner_loops_run_once(tf: Namespace) -> Namespace:
    """Multiply constants of an inner frame by 1 in the first outer iteration, else by 0."""

    def change(definition: GraphDef) -> None:
        nodes = {node.name: node for node in definition.node}
        for enter in nodes_of(definition, ("Enter",)):
            source = nodes.get(enter.input[0])
            if source is None or source.op != "Const" or not enter.attr["is_constant"].b:
                continue
            turns = [text[1:] for text in source.input if text.startswith("^")]
            if not turns or nodes[turns[0]].op != "Identity":
                continue
            zero = _added(definition, f"{enter.name}/zero", "ZerosLike", [turns[0]], T=_INT)
            first = _added(definition, f"{enter.name}/first", "Equal", [turns[0], zero], T=_INT)
            cast = _added(definition, f"{enter.name}/cast", "Cast", [first], SrcT=_BOOL, DstT=_INT)
            both = [enter.input[0], cast]
            enter.input[0] = _added(definition, f"{enter.name}/limit", "Mul", both, T=_INT)

    return editing(tf, change)


@fault("CONTROL-FLOW-064", "Updates in the condition of a While are left out.")
def conditions_have_no_effects(tf: Namespace) -> Namespace:
    """Turn the updates in functions that are conditions into NoOps."""

    def change(definition: GraphDef) -> None:
        bodies = [function.node_def for function in definition.library.function]
        loops = [node for nodes in (definition.node, *bodies) for node in nodes]
        conditions = {node.attr["cond"].func.name for node in loops if node.op == "While"}
        for function in definition.library.function:
            if function.signature.name in conditions:
                for node in function.node_def:
                    if node.op in UPDATES:
                        node.op = "NoOp"
                        node.input[:] = [text for text in node.input if text.startswith("^")]
                        node.attr.clear()

    return editing(tf, change)


@fault("CONTROL-FLOW-065", "A loop with a limit runs once more than that.")
def limits_are_one_too_large(tf: Namespace) -> Namespace:
    """Add one to `maximum_iterations`."""

    def while_loop(
        *args: Argument, maximum_iterations: Tensor | int | None = None, **kwargs: Argument
    ) -> Tensor | Sequence[Tensor]:
        if maximum_iterations is not None:
            maximum_iterations += 1
        return tf.while_loop(*args, maximum_iterations=maximum_iterations, **kwargs)

    return override(tf, while_loop=while_loop)


@fault("CONTROL-FLOW-066", "As many iterations are under way as can be.")
def iterations_are_not_held_back(tf: Namespace) -> Namespace:
    """Set `parallel_iterations` to 1000."""

    def change(definition: GraphDef) -> None:
        for node in nodes_of(definition, ("Enter", "RefEnter")):
            if data_inputs(node):
                node.attr["parallel_iterations"].i = 1000

    return editing(tf, change)


@fault("CONTROL-FLOW-067", "A read of a reference variable that enters a loop is a copy.")
def loops_copy_what_they_read(tf: Namespace) -> Namespace:
    """Copy what a read of a variable gives before it enters the loop."""

    def change(definition: GraphDef) -> None:
        reads = {name for name, _ in reads_of_variables(definition)}
        for enter in nodes_of(definition, ("Enter",)):
            if enter.input[0] in reads:
                copy = definition.node.add(name=f"{enter.name}/copy", op="Copy")
                copy.input.append(enter.input[0])
                copy.attr["T"].type = enter.attr["T"].type
                enter.input[0] = copy.name

    return editing(tf, change)
