"""Vectors of SESSION: graphs that grow between runs, and graphs without operations."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import (
    ApiAuthor,
    EngineAuthor,
    api_case,
    as_array,
    engine_case,
    keep,
    same_as,
)
from sessrun.conformance.subjects.session.cases.session import counter_graph
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor


def _only_new(c: EngineAuthor, grown: str, old: str = "g") -> None:
    """Leave in the graph `grown` only the nodes that `old` lacks, for an `extend` step."""
    known = {node["name"] for node in c.graphs[old]["node"]}
    nodes = c.graphs[grown]["node"]
    c.graphs[grown]["node"] = [node for node in nodes if node["name"] not in known]


@engine_case("SESSION-035", title="A node added after the first run can be fetched.")
def a_node_added_after_the_first_run(c: EngineAuthor) -> None:
    def build(tf: Namespace) -> Tensor:
        x = tf.placeholder(tf.float32, [2], name="x")
        return tf.add(x, 1.0, name="y")

    with c.graph() as tf:
        build(tf)
    with c.graph("more") as tf:
        tf.multiply(build(tf), 10.0, name="z")
    _only_new(c, "more")
    s = c.open()
    feed = {"x:0": np.array([1, 2], np.float32)}
    s.run(["y:0"], feed, values=[np.array([2, 3], np.float32)])
    c.step("extend", session="s", graph="more")
    s.run(["z:0"], feed, values=[np.array([20, 30], np.float32)])
    s.run(["y:0"], feed, values=[np.array([2, 3], np.float32)])


@api_case("SESSION-035", title="What is built between two runs belongs to the second.")
def built_between_two_runs(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, [])
    sess = c.tf.Session()
    c.check(sess.run(x + 1.0, {x: 1.0}), as_array(np.float32(2)))
    c.tf.multiply(x, 3.0, name="late")
    c.check(sess.run("late:0", {x: 2.0}), as_array(np.float32(6)))


@engine_case("SESSION-036", title="Adding a variable leaves the variables that there were.")
def growth_leaves_the_variables(c: EngineAuthor) -> None:
    with c.graph() as tf:
        counter_graph(tf, 40)
    with c.graph("more") as tf:
        counter_graph(tf, 40)
        other = tf.get_variable("other", initializer=np.float32(1), use_resource=True)
        tf.group(other.initializer, name="init_other")
    _only_new(c, "more")
    s = c.open()
    s.run(["init"], values=[None])
    s.run(["bump"], values=[None])
    c.step("extend", session="s", graph="more")
    s.run(["value:0"], values=[np.int32(41)])
    s.run(["init_other"], values=[None])
    s.run(["bump"], values=[None])
    s.run(["value:0"], values=[np.int32(42)])


@api_case("SESSION-036", title="A variable made after the first run touches no other variable.")
def a_late_variable_leaves_the_early_one(c: ApiAuthor) -> None:
    early = c.tf.Variable(5, use_resource=False)
    sess = c.tf.Session()
    sess.run(early.initializer)
    late = c.tf.Variable(6, use_resource=False)
    sess.run(late.initializer)
    c.check(sess.run(early), as_array(np.int32(5)))
    c.check(sess.run(late), as_array(np.int32(6)))


@api_case("SESSION-037", title="Every session of a graph sees what is added to it.")
def growth_is_seen_by_every_session(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, [])
    first, second = c.tf.Session(), c.tf.Session()
    for sess in (first, second):
        sess.run(x, {x: 1.0})
    y = x + 1.0
    for sess in (first, second):
        c.check(sess.run(y, {x: 1.0}), as_array(np.float32(2)))
    z = y * 5.0
    for sess in (second, first):
        c.check(sess.run(z, {x: 1.0}), as_array(np.float32(10)))


@api_case("SESSION-038", title="Running adds no operation to the graph.")
def running_adds_no_operation(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, [])
    y = c.tf.add(x, 1.0, name="y")
    graph = c.tf.get_default_graph()
    c.check(c.expr("$len", graph.get_operations()), keep("operations"))
    sess = c.tf.Session()
    sess.run(y, {x: 1.0})
    sess.run({"a": (y, [x])}, {x: 1.0})
    sess.run(["y:0", "y"], {x: 1.0})
    sess.run(y, {y: 4.0})
    c.check(c.expr("$len", graph.get_operations()), same_as("operations"))


@api_case("SESSION-038", title="A finalized graph can be run.")
def a_finalized_graph_runs(c: ApiAuthor) -> None:
    v = c.tf.Variable(1, use_resource=False)
    up = c.tf.assign_add(v, 1)
    c.tf.get_default_graph().finalize()
    sess = c.tf.Session()
    sess.run(v.initializer)
    c.check(sess.run([up.op]), [None])
    c.check(sess.run({"v": v}), {"v": as_array(np.int32(2))})


@api_case("SESSION-039", title="A run on a graph without operations is RuntimeError.")
def running_an_empty_graph(c: ApiAuthor) -> None:
    sess = c.tf.Session(graph=c.tf.Graph())
    c.raises("RuntimeError", lambda: sess.run([]))
    c.raises("RuntimeError", lambda: sess.run("a:0"))


@api_case("SESSION-039", title="A session whose graph was empty runs once it has an operation.")
def an_empty_graph_that_gets_an_operation(c: ApiAuthor) -> None:
    sess = c.tf.Session()
    c.raises("RuntimeError", lambda: sess.run([]))
    a = c.tf.constant(3)
    c.check(sess.run([]), [])
    c.check(sess.run(a), as_array(np.int32(3)))
