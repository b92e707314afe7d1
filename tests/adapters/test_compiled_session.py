"""Engines that compile: the part of a graph that a run needs, and one program a signature."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from sessrun.adapters.client_layer import Endpoint, EngineError, NotOfferedError, TensorFacts
from sessrun.adapters.client_layer.compiled import CompiledSession, Program
from sessrun.adapters.client_layer.graph import Graph, Part, constant_of, inputs_of
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.proto import GraphDef, NodeDef, RunOptions

FLOAT, INT = BY_NAME["float32"].enum, BY_NAME["int32"].enum
OPTIONS = RunOptions()
KNOWN: dict[str, Callable[..., np.ndarray]] = {"AddV2": np.add, "Neg": np.negative}


def graph_of(*nodes: tuple[str, str, Sequence[str]]) -> GraphDef:
    """Nodes (name, op, inputs) of float32; a Const is [1, 2], a Placeholder of shape (?, 2)."""
    graph = GraphDef()
    for name, op, inputs in nodes:
        node = graph.node.add(name=name, op=op, input=inputs)
        if op == "Const":
            node.attr["dtype"].type = FLOAT
            tensor = node.attr["value"].tensor
            tensor.dtype = FLOAT
            tensor.tensor_shape.dim.add(size=2)
            tensor.float_val.extend([1, 2])
        elif op == "Placeholder":
            node.attr["dtype"].type = FLOAT
            for size in (-1, 2):
                node.attr["shape"].shape.dim.add(size=size)
        elif op != "NoOp":
            node.attr["T"].type = FLOAT
    return graph


X, C, Y, Z = (Endpoint(name, 0) for name in "xcyz")
CHAIN = graph_of(
    ("z", "Neg", ["y:0", "^after"]),
    ("y", "AddV2", ["x", "c"]),
    ("x", "Placeholder", []),
    ("c", "Const", []),
    ("after", "NoOp", ["^other"]),
    ("other", "Neg", ["c"]),
)


def names(part: Part) -> list[str]:
    return [node.name for node in part.nodes]


def test_inputs_stand_before_what_takes_them() -> None:
    part = Graph(CHAIN).part([Z], [X])
    assert sorted(names(part)) == ["after", "c", "other", "y", "z"]
    for node in part.nodes:
        before = names(part)[: names(part).index(node.name)]
        assert all(source.operation in {*before, "x"} for source in inputs_of(node))
    assert part.effects == {"after", "other"}
    assert part.dtypes[X] == part.dtypes[Z] == "float32"


def test_what_is_only_needed_through_a_fed_tensor_is_left_out() -> None:
    assert names(Graph(CHAIN).part([Endpoint("other", 0)], [])) == ["c", "other"]
    part = Graph(CHAIN).part([Y], [X, C])
    assert names(part) == ["y"]
    assert part.effects == frozenset()
    assert names(Graph(CHAIN).part([], [], ["after"])) == ["c", "other", "after"]


def test_an_unfed_placeholder_is_told() -> None:
    with pytest.raises(EngineError, match="must feed a value for placeholder x") as refused:
        Graph(CHAIN).part([Z], [])
    assert (refused.value.code, refused.value.node) == (3, "x")


def test_a_control_edge_from_a_fed_placeholder_is_satisfied() -> None:
    graph = Graph(graph_of(("x", "Placeholder", []), ("y", "Neg", ["c", "^x"]), ("c", "Const", [])))
    part = graph.part([Y], [X])
    assert names(part) == ["c", "y"]
    assert part.effects == frozenset()


def test_targets_are_effects() -> None:
    assert Graph(CHAIN).part([], [], ["after"]).effects == {"after", "other", "c"}


def test_a_part_is_a_graph_of_its_own() -> None:
    graph = Graph(CHAIN).part([Z, Y], [X]).definition([(3, 2)])
    nodes = {node.name: node for node in graph.node}
    assert [dim.size for dim in nodes["feed_0"].attr["shape"].shape.dim] == [3, 2]
    assert list(nodes["part/y"].input) == ["feed_0:0", "part/c:0"]
    assert list(nodes["part/z"].input) == ["part/y:0", "^part/after"]
    assert [list(nodes[f"fetch_{n}"].input) for n in (0, 1)] == [["part/z:0"], ["part/y:0"]]


def test_what_is_known_of_a_tensor() -> None:
    graph = Graph(CHAIN)
    assert graph.facts(X) == TensorFacts("float32", (None, 2))
    assert graph.facts(C) == TensorFacts("float32", (2,))
    assert graph.facts(Y) == TensorFacts("float32")
    for missing in (Endpoint("x", 1), Endpoint("nope", 0), Endpoint("after", 0), Endpoint("x", -1)):
        assert graph.facts(missing) is None


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ([("a", "Neg", ["b"]), ("b", "Neg", ["a"])], "a cycle through"),
        ([("a", "Neg", ["a"])], "a cycle through a"),
        ([("a", "Neg", ["b"]), ("b", "Neg", ["c", "^a"]), ("c", "Const", [])], "a cycle"),
        ([("a", "Neg", ["b"])], "node a has the unknown input b"),
        ([("a", "NoOp", ["^b"])], r"node a has the unknown input \^b"),
        ([("a", "Neg", ["b:1"]), ("b", "Const", [])], "the unknown input b:1"),
        ([("a", "Neg", ["b:z"]), ("b", "Const", [])], "the unknown input b:z"),
        ([("a", "NoOp", []), ("a", "NoOp", [])], "two nodes have the same name"),
    ],
)
def test_a_broken_graph_is_refused(nodes: list[tuple[str, str, list[str]]], said: str) -> None:
    with pytest.raises(EngineError, match=said) as refused:
        Graph(graph_of(*nodes)).part([Endpoint("a", 0)], [])
    assert refused.value.code == 3


def test_a_loop_is_no_cycle() -> None:
    loop = graph_of(
        ("out", "Exit", ["switch:0"]),
        ("switch", "Switch", ["merge", "go_on"]),
        ("merge", "Merge", ["enter", "next"]),
        ("enter", "Enter", ["x"]),
        ("next", "NextIteration", ["body"]),
        ("body", "Neg", ["switch:1"]),
        ("go_on", "LoopCond", ["merge"]),
        ("x", "Placeholder", []),
    )
    part = Graph(loop).part([Endpoint("out", 0)], [X])
    assert sorted(names(part)) == sorted({node.name for node in loop.node} - {"x"})
    assert names(part).index("merge") < names(part).index("next")


def test_a_long_chain_needs_no_stack() -> None:
    nodes = [(f"n{n}", "Neg", [f"n{n - 1}" if n else "x"]) for n in range(20_000)]
    graph = Graph(graph_of(("x", "Placeholder", []), *nodes))
    assert len(graph.part([Endpoint("n19999", 0)], [X]).nodes) == 20_000


def test_an_ill_formed_constant_is_code_3() -> None:
    node = NodeDef(name="c", op="Const")
    node.attr["dtype"].type = FLOAT
    node.attr["value"].tensor.dtype = FLOAT
    node.attr["value"].tensor.tensor_content = b"123"
    with pytest.raises(EngineError) as refused:
        constant_of(node)
    assert (refused.value.code, refused.value.node) == (3, "c")


class Compiler:
    """Counts what it compiles, and declines control inputs."""

    def __init__(self) -> None:
        self.compiled: list[Sequence[Sequence[int]]] = []

    def compile(self, part: Part, shapes: Sequence[Sequence[int]]) -> Program:
        if part.effects:
            raise NotOfferedError("control_inputs", min(part.effects))
        self.compiled.append(shapes)

        def run(values: Sequence[np.ndarray]) -> list[np.ndarray]:
            held = dict(zip(part.feeds, values, strict=True))
            for node in part.nodes:
                inputs = [held[source] for source in inputs_of(node)]
                tensor = Endpoint(node.name, 0)
                held[tensor] = constant_of(node) if node.op == "Const" else KNOWN[node.op](*inputs)
            return [held[tensor] for tensor in part.fetches]

        return run


def test_a_program_is_compiled_once_for_each_signature() -> None:
    compiler = Compiler()
    session = CompiledSession(CHAIN, compiler)
    for rows in (1, 3, 1, 3):
        fed = np.ones((rows, 2), np.float32)
        (value,) = session.run([Y], {X: fed}, [], OPTIONS)
        assert np.array_equal(value, fed + np.array([1, 2], np.float32))
    assert compiler.compiled == [((1, 2),), ((3, 2),)]
    session.run([Y], {X: np.ones((1, 2), np.float32), C: np.ones(2, np.float32)}, [], OPTIONS)
    assert len(compiler.compiled) == 3


def test_old_programs_are_forgotten() -> None:
    compiler = Compiler()
    session = CompiledSession(CHAIN, compiler)
    for rows in (*range(40), 39, 0):
        session.run([Y], {X: np.ones((rows, 2), np.float32)}, [], OPTIONS)
    assert len(compiler.compiled) == 41, "the first one is compiled anew, the last is not"


def test_a_constant_is_fetched_without_the_engine() -> None:
    compiler = Compiler()
    session = CompiledSession(CHAIN, compiler)
    constant, y = session.run([C, Y], {X: np.zeros((1, 2), np.float32)}, [], OPTIONS)
    assert constant.tolist() == [1, 2]
    assert y.tolist() == [[1, 2]]
    assert session.run([C], {}, [], OPTIONS)[0].tolist() == [1, 2]
    assert len(compiler.compiled) == 1


def test_a_constant_that_waits_is_not_decoded_before() -> None:
    graph = graph_of(("c", "Const", ["^bad"]), ("bad", "Neg", ["k"]), ("k", "Const", []))
    with pytest.raises(NotOfferedError, match="bad"):
        CompiledSession(graph, Compiler()).run([C], {}, [], OPTIONS)


def test_options_and_operations_that_it_lacks_are_declined() -> None:
    session = CompiledSession(CHAIN, Compiler())
    with pytest.raises(NotOfferedError) as declined:
        session.run([C], {}, [], RunOptions(inter_op_thread_pool=7))
    assert (declined.value.capability, str(declined.value)) == ("options", "inter_op_thread_pool")
    with pytest.raises(NotOfferedError) as declined:
        CompiledSession(graph_of(("a", "NobodysOp", [])), Compiler())
    assert (declined.value.capability, str(declined.value)) == ("op", "NobodysOp")


def test_variables_are_declined() -> None:
    graph = graph_of(("y", "Neg", ["v"]), ("v", "VariableV2", []))
    with pytest.raises(NotOfferedError) as declined:
        CompiledSession(graph, Compiler()).run([Y], {}, [], OPTIONS)
    assert (declined.value.capability, str(declined.value)) == ("state", "v")


def test_control_inputs_are_told() -> None:
    session = CompiledSession(CHAIN, Compiler())
    with pytest.raises(NotOfferedError) as declined:
        session.run([Z], {X: np.zeros((1, 2), np.float32)}, [], OPTIONS)
    assert (declined.value.capability, str(declined.value)) == ("control_inputs", "after")
