"""Faults of GRAPH: what an engine makes of the functions of a GraphDef's library."""

from __future__ import annotations

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.run_fragments import editing
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.proto.graph_pb2 import GraphDef


@fault("GRAPH-132", "The inputs of an operation that is a function are passed in reverse order.")
def arguments_reversed(tf: Namespace) -> Namespace:
    """Turn the inputs of such nodes around."""

    def change(definition: GraphDef) -> None:
        names = {function.signature.name for function in definition.library.function}
        for node in definition.node:
            if node.op in names:
                node.input[:] = reversed(node.input)

    return editing(tf, change)


@fault("GRAPH-133", "A partitioned call calls the first function of the library.")
def partitioned_calls_take_the_first(tf: Namespace) -> Namespace:
    """Name that function in place of one that is there."""

    def change(definition: GraphDef) -> None:
        names = [function.signature.name for function in definition.library.function]
        for node in definition.node:
            if node.op.endswith("PartitionedCall") and node.attr["f"].func.name in names:
                node.attr["f"].func.name = names[0]

    return editing(tf, change)


@fault("GRAPH-134", "Of a function's body only what its results and control_ret need is executed.")
def bodies_pruned(tf: Namespace) -> Namespace:
    """Drop the other nodes."""

    def change(definition: GraphDef) -> None:
        for function in definition.library.function:
            nodes = {node.name: node for node in function.node_def}
            needed: set[str] = set()
            waiting = [text.partition(":")[0] for text in function.ret.values()]
            waiting += function.control_ret.values()
            while waiting:
                name = waiting.pop()
                if name in nodes and name not in needed:
                    needed.add(name)
                    waiting += [text.strip("^").partition(":")[0] for text in nodes[name].input]
            for name in nodes.keys() - needed:
                function.node_def.remove(nodes[name])

    return editing(tf, change)


@fault("GRAPH-138", "What control_ret names is not executed unless a result needs it.")
def control_results_ignored(tf: Namespace) -> Namespace:
    """Drop the operations that `control_ret` of a function names and no other input or result."""

    def change(definition: GraphDef) -> None:
        for function in definition.library.function:
            used = [text for node in function.node_def for text in node.input]
            names = {text.strip("^").partition(":")[0] for text in [*used, *function.ret.values()]}
            unused = set(function.control_ret.values()) - names
            for node in [node for node in function.node_def if node.name in unused]:
                function.node_def.remove(node)
            function.control_ret.clear()
            del function.signature.control_output[:]

    return editing(tf, change)


@fault("GRAPH-135", "A call of a function that is not there passes its inputs on.")
def unknown_functions_are_identities(tf: Namespace) -> Namespace:
    """Make an identity of such a call."""

    def change(definition: GraphDef) -> None:
        names = {function.signature.name for function in definition.library.function}
        for node in definition.node:
            if node.op.endswith("PartitionedCall") and node.attr["f"].func.name not in names:
                types = list(node.attr["Tin"].list.type)
                node.op = "IdentityN"
                node.attr.clear()
                node.attr["T"].list.type.extend(types)

    return editing(tf, change)
