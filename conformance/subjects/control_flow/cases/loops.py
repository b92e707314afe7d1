"""Vectors of CONTROL-FLOW: loops within loops, limits, functions, iterations under way."""

from __future__ import annotations

from typing import Final

import numpy as np

from sessrun.conformance.authoring.forms import Recorded
from sessrun.conformance.authoring.record import (
    ApiAuthor,
    EngineAuthor,
    api_case,
    engine_case,
    form,
    one_of,
)
from sessrun.conformance.generators.graphdef import GraphWriter
from sessrun.conformance.subjects.control_flow.frames import FIXED, Frames
from sessrun.conformance.subjects.control_flow.limits import Limits
from sessrun.conformance.subjects.control_flow.site import INT, scalar, waiting
from sessrun.conformance.subjects.control_flow.state_kinds import Variable
from sessrun.conformance.subjects.control_flow.statements import VARIABLES, Again, Loop
from sessrun.conformance.subjects.graph.cases.graph_definitions import (
    FLOAT,
    Json,
    const,
    graph_def,
    node,
    placeholder,
)
from sessrun.conformance.subjects.graph.cases.graph_functions import (
    args,
    function_def,
    with_library,
)
from sessrun.conformance.subjects.run.programs import PLAIN
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor

#: The folder of vectors, which this module shares with another.
VECTORS = "control-flow"


_TOGETHER: Final = 2
_ITERATIONS: Final = 6


@engine_case("CONTROL-FLOW-063", title="An inner loop of constants runs in every outer iteration.")
def an_inner_loop_of_constants(c: EngineAuthor) -> None:
    writer = GraphWriter()
    tally = Variable("tally", adds=True)
    tally.make(writer)
    writer.placeholder("int32", (), FIXED)
    inputs = [writer.placeholder("int32", (), f"v{number}") for number in range(VARIABLES)]
    loop = Loop(times=0, most=None, parallel=10, asking=(), body=(Again(1, 3, 10),))
    ends = Frames(writer, [tally]).block([loop], [*inputs, writer.constant(scalar(0))])
    writer.node("Identity", (ends[1], waiting(ends[3])), {"T": INT}, "end")
    c.graph_json(writer.graph())
    session = c.open(config=PLAIN)
    session.run(["tally/init"], values=[None])
    total = 0
    for times in (3, 1, 0, 2):
        feeds = {"v0:0": scalar(times), "v1:0": scalar(1), f"{FIXED}:0": scalar(10)}
        session.run(["end:0"], feeds, values=[scalar(1 + 33 * times)])
        total += 33 * times
        session.run(["tally/read:0"], values=[scalar(total)])


@engine_case("CONTROL-FLOW-064", title="Body and condition of a While update as often as they run.")
def loops_with_effects(c: EngineAuthor) -> None:
    both: Json = {"list": {"type": ["DT_RESOURCE", "DT_FLOAT"]}}
    given = [*args("h", "DT_RESOURCE"), *args("a")]
    condition = function_def(
        "Below",
        given,
        {"r": "less:z:0"},
        const("hundred", dtype="DT_FLOAT", shape=[], floatVal=[100]),
        node("update", "AssignAddVariableOp", "h", "hundred:output:0", dtype=FLOAT),
        const("five", dtype="DT_FLOAT", shape=[], floatVal=[5]),
        node("less", "Less", "a", "five:output:0", "^update", T=FLOAT),
        stateful=True,
    )
    condition["signature"]["outputArg"] = args("r", "DT_BOOL")
    body = function_def(
        "Step",
        given,
        {"r": "same:output:0", "s": "more:z:0"},
        const("one", dtype="DT_FLOAT", shape=[], floatVal=[1]),
        node("update", "AssignAddVariableOp", "h", "one:output:0", dtype=FLOAT),
        node("more", "AddV2", "a", "one:output:0", "^update", T=FLOAT),
        node("same", "Identity", "h", T={"type": "DT_RESOURCE"}),
        stateful=True,
    )
    body["signature"]["outputArg"] = [*args("r", "DT_RESOURCE"), *args("s")]
    nodes = [
        node("v", "VarHandleOp", dtype=FLOAT, shape={"shape": {}}, shared_name={"s": ""}),
        const("zero", dtype="DT_FLOAT", shape=[], floatVal=[0]),
        placeholder("x"),
        node("init", "AssignVariableOp", "v", "zero", dtype=FLOAT),
        node("read", "ReadVariableOp", "v", dtype=FLOAT),
        node(
            "while",
            "While",
            "v",
            "x",
            T=both,
            cond={"func": {"name": "Below"}},
            body={"func": {"name": "Step"}},
        ),
    ]
    c.graph_json(with_library(graph_def(*nodes, min_consumer=12), condition, body))
    session = c.open()
    session.run(["init"], values=[None])
    for start, total in ((2, 403), (5, 503), (4, 704)):
        wanted = [np.float32(5)]
        session.run(["while:1"], {"x:0": np.float32(start)}, values=wanted)
        session.run(["read:0"], values=[np.float32(total)])


@api_case("CONTROL-FLOW-065", title="A limit ends a loop whose condition still holds.")
def limits_of_loops(c: ApiAuthor) -> None:
    variable = c.tf.get_variable(
        "v", [], c.tf.int32, initializer=c.tf.zeros_initializer(), use_resource=True
    )
    name = str(form(variable)["$"])
    loops = [
        Limits(4, most, as_tensor, 10, None)
        for most, as_tensor in ((2, False), (0, False), (-1, False), (3, True), (9, True))
    ]
    results = [c.do(form(Recorded(loop.expression(name)))) for loop in loops]
    session = c.tf.Session()
    session.run(c.tf.global_variables_initializer())
    total = 0
    for loop, result in zip(loops, results, strict=True):
        c.check(session.run(result), np.int32(loop.iterations))
        total += loop.iterations
        c.check(session.run(variable), np.int32(total))


def _loop_that_waits(tf: Namespace, parallel: int) -> None:
    """A loop whose iterations each put a token into a queue, and then wait for an element."""
    started = tf.FIFOQueue(100, [tf.int32], [[]], shared_name="started", name="started")
    released = tf.FIFOQueue(100, [tf.int32], [[]], shared_name="released", name="released")
    n = tf.placeholder(tf.int32, [], name="n")

    def body(i: Tensor, total: Tensor) -> tuple[Tensor, Tensor]:
        with tf.control_dependencies([started.enqueue([i])]):
            return i + 1, total + released.dequeue()

    loop = tf.while_loop(lambda i, _: i < n, body, [n * 0, n * 0], parallel_iterations=parallel)
    tf.identity(loop[1], name="y")
    tf.identity(started.dequeue(), name="one")
    started.size(name="begun")
    released.enqueue_many([tf.fill([n], 5)], name="release")


@engine_case("CONTROL-FLOW-066", title="Two iterations are under way at once, and no third.")
def iterations_under_way(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _loop_that_waits(tf, _TOGETHER)
    session = c.open(config=PLAIN)
    feeds = {"n:0": scalar(_ITERATIONS)}
    session.start("loop", ["y:0"], feeds, grace_s=0.05)
    session.run(["one:0"], values=[scalar(0)])
    for _ in range(5):
        # One that has begun was taken out.
        few = one_of(*[scalar(number) for number in range(_TOGETHER)])
        session.run(["begun:0"], values=[few])
    session.run(["release"], feeds, values=[None])
    c.join("loop", values=[scalar(5 * _ITERATIONS)])
    session.run(["begun:0"], values=[scalar(_ITERATIONS - 1)])


@engine_case("CONTROL-FLOW-067", title="A loop ends once the variable that it updates says so.")
def a_loop_ends_by_a_variable(c: EngineAuthor) -> None:
    with c.graph() as tf:
        v = tf.get_variable("v", initializer=np.float32(0), use_resource=False)
        limit = tf.placeholder(tf.float32, [], name="limit")
        ref, read = v.initializer.inputs[0], v.value()
        tf.group(v.initializer, name="init")

        def is_below(count: Tensor) -> Tensor:
            with tf.control_dependencies([count.op]):
                return tf.less(tf.abs(read), limit)

        def updated(count: Tensor) -> Tensor:
            update = tf.raw_ops.AssignAdd(ref=ref, value=1.0)
            with tf.control_dependencies([update.op]):
                return count + 1

        rounds = tf.while_loop(is_below, updated, [tf.constant(0)], maximum_iterations=20)
        tf.identity(rounds, name="rounds")
    session = c.open()
    session.run(["init"], values=[None])
    for limit, rounds in ((5, 5), (5, 0), (7, 2)):
        session.run(["rounds:0"], {"limit:0": np.float32(limit)}, values=[np.int32(rounds)])
    session.run(["v:0"], values=[np.float32(7)])
