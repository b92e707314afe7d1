"""Functions of a graph's library, and the operations that call them (`run.md`, section 8).

A call executes the operations of the body as a run of its own within the call: its arguments are
fed, its results fetched, and operations with effects are executed besides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sessrun.spec.model.graph import Function, Graph
from sessrun.spec.model.nodes import Output
from sessrun.spec.model.run import Activity, Run, kernel, proceed
from sessrun.spec.model.values import FailedError, Value, WaitsError
from sessrun.spec.operations import Operation
from sessrun.spec.proto import FunctionDef, GraphDef, NameAttrList, NodeDef
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["call", "read_function"]

#: More rounds than any case's loop has: one that does not end must not hang its reader.
_MOST_ROUNDS = 100_000


def read_function(definition: FunctionDef) -> Function:
    """The function of a FunctionDef.

    Raises:
      ValueError: its body is no graph.

    """
    arguments = [arg.name for arg in definition.signature.input_arg]
    body = GraphDef()
    for arg in definition.signature.input_arg:
        node = body.node.add(name=arg.name, op="Placeholder")
        node.attr["dtype"].type = arg.type
    types = {node.name: OPERATIONS[node.op] for node in definition.node_def}
    nodes = {node.name: node for node in definition.node_def}

    def tensor(text: str) -> str:
        """`argument`, or `node:output:number`, as a graph names it."""
        name, *rest = text.split(":")
        if not rest:
            return name
        output, number = rest
        return f"{name}:{_first(types[name], nodes[name], output) + int(number)}"

    for old in definition.node_def:
        node = body.node.add()
        node.CopyFrom(old)
        node.input[:] = [text if text.startswith("^") else tensor(text) for text in old.input]
    results = [tensor(definition.ret[arg.name]) for arg in definition.signature.output_arg]
    effects = {node.name for node in definition.node_def if types[node.name].stateful}
    return Function(
        tuple(arguments),
        Graph(body),
        tuple(
            Output(name, int(index or 0)) for name, _, index in (r.partition(":") for r in results)
        ),
        tuple(sorted(effects | set(definition.control_ret.values()))),
    )


def _first(operation: Operation, node: NodeDef, output: str) -> int:
    """The number of the first tensor of a named output."""
    number = 0
    for arg in operation.outputs:
        if arg.name == output:
            return number
        if arg.type_list_attr is not None:
            number += len(node.attr[arg.type_list_attr].list.type)
        else:
            number += node.attr[arg.number_attr].i if arg.number_attr is not None else 1
    raise ValueError(f"{node.name} has no output {output}")


def call(activity: Activity, function: NameAttrList, inputs: Sequence[Value]) -> list[Value]:
    """The results of a call.

    Raises:
      FailedError: an operation of the body failed; the library has no such function.

    """
    graph = activity.session.graph
    if function.name not in graph.functions:
        raise FailedError("NOT_FOUND", f"the library has no function {function.name}")
    called = read_function(graph.functions[function.name])
    feeds = {Output(name, 0): v for name, v in zip(called.arguments, inputs, strict=True)}
    run = Run(activity.session, called.body, called.results, called.effects, feeds)
    try:
        proceed([run], activity.run.choose)
    except WaitsError:
        raise FailedError("UNIMPLEMENTED", "the model has no waiting within a call") from None
    return run.values()


@kernel("PartitionedCall", "StatefulPartitionedCall")
def _call(activity: Activity, *inputs: Value) -> Sequence[Value]:
    return call(activity, activity.node.attrs["f"], inputs)


@kernel("If", "StatelessIf")
def _if(activity: Activity, condition: np.ndarray, *inputs: Value) -> Sequence[Value]:
    branch = "then_branch" if _is_true(condition) else "else_branch"
    return call(activity, activity.node.attrs[branch], inputs)


@kernel("Case", "StatelessCase")
def _case(activity: Activity, index: np.ndarray, *inputs: Value) -> Sequence[Value]:
    branches = activity.node.attrs["branches"]
    chosen = int(index) if 0 <= int(index) < len(branches) else -1
    return call(activity, branches[chosen], inputs)


@kernel("While", "StatelessWhile")
def _while(activity: Activity, *inputs: Value) -> Sequence[Value]:
    values = list(inputs)
    for _ in _rounds(activity.node.name):
        (goes_on,) = call(activity, activity.node.attrs["cond"], values)
        if not _is_true(goes_on):
            break
        values = call(activity, activity.node.attrs["body"], values)
    return values


def _rounds(name: str) -> Iterator[int]:
    yield from range(_MOST_ROUNDS)
    raise FailedError("RESOURCE_EXHAUSTED", f"{name} does not end")


def _is_true(value: Value) -> bool:
    """The truth of a condition: a bool, a number other than 0, text that is not empty, elements."""
    array = np.asarray(value)
    if array.ndim:
        return array.size > 0
    return bool(array[()])
