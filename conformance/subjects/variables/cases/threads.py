"""Vectors of GRAPH and VARIABLES: what several threads add to one graph, and to one variable."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, EngineAuthor, api_case, engine_case
from sessrun.spec.cases.namespace import Namespace

# --- graphs -------------------------------------------------------------------------------


@api_case("GRAPH-106", title="Another thread's operations are not in this thread's name scope.")
def a_name_scope_belongs_to_its_thread(c: ApiAuthor) -> None:
    tf = c.tf
    graph = tf.Graph()
    with c.within(graph.as_default()), c.within(tf.name_scope("outer")):
        with c.thread(), c.within(graph.as_default()):
            c.check(tf.constant(1.0, name="other").op.name, "other")
            with c.within(tf.name_scope("inner")):
                c.check(tf.constant(1.0, name="other").op.name, "inner/other")
        c.check(tf.constant(1.0, name="own").op.name, "outer/own")


@api_case("GRAPH-106", title="A name scope left open in a thread ends with it.")
def a_name_scope_of_another_thread(c: ApiAuthor) -> None:
    tf = c.tf
    graph = tf.Graph()
    with c.within(graph.as_default()):
        with c.thread(), c.within(graph.as_default()):
            c.check(tf.name_scope("left").__enter__(), "left/")
            c.check(tf.constant(1.0, name="other").op.name, "left/other")
        c.check(tf.constant(1.0, name="own").op.name, "own")


@api_case("GRAPH-107", title="Constants of six threads that ask for one name get different ones.")
def threads_get_different_names(c: ApiAuthor) -> None:
    want = [240, 240, 240]
    c.named_check("concurrency.distinct_names", want, threads=6, operations=40)


# --- variables ----------------------------------------------------------------------------


def _gated_updates(tf: Namespace, runs: int, *, resource: bool) -> None:
    """Build `bump`, which adds ones to `v` once its run has passed a gate."""
    zeros = np.zeros(1000, np.float32)
    variable = tf.get_variable("v", initializer=zeros, use_resource=resource)
    tokens = tf.FIFOQueue(8, tf.int32, shapes=[[]], name="tokens")
    gate = tf.FIFOQueue(8, tf.int32, shapes=[[]], name="gate")
    with tf.control_dependencies([tokens.enqueue(0)]):
        passed = gate.dequeue()
    ones = np.ones(1000, np.float32)
    with tf.control_dependencies([passed]):
        if resource:
            tf.raw_ops.AssignAddVariableOp(resource=variable.handle, value=ones, name="bump")
        else:
            tf.assign_add(variable, ones, use_locking=True, name="bump")
    tf.identity(variable, name="value")
    tf.group(variable.initializer, name="init")
    tokens.dequeue_many(runs, name="arrived")
    gate.enqueue_many(tf.zeros([runs], tf.int32), name="open")


def _updates(c: EngineAuthor, *, resource: bool) -> None:
    threads = ["t1", "t2", "t3", "t4"]
    with c.graph() as tf:
        _gated_updates(tf, len(threads), resource=resource)
    s = c.open()
    s.run(["init"], values=[None])
    for thread in threads:
        s.start(thread, ["bump"])
    s.run(["arrived:0"], values=[np.zeros(len(threads), np.int32)])
    s.run(["open"], values=[None])
    for thread in threads:
        c.join(thread, values=[None])
    s.run(["value:0"], values=[np.full(1000, len(threads), np.float32)])


@engine_case("VARIABLES-057", title="Locked updates of runs that overlap are all there.")
def locked_updates_of_overlapping_runs(c: EngineAuthor) -> None:
    _updates(c, resource=False)


@api_case("VARIABLES-057", title="Six threads update a reference variable; nothing is lost.")
def threads_update_a_reference_variable(c: ApiAuthor) -> None:
    want = [240, 240]
    c.named_check("concurrency.updates", want, threads=6, runs=40, elements=20_000, resource=False)


@engine_case("VARIABLES-058", title="Updates of a resource variable by overlapping runs add up.")
def updates_of_a_resource_variable(c: EngineAuthor) -> None:
    _updates(c, resource=True)


@api_case("VARIABLES-058", title="Six threads update a resource variable; nothing is lost.")
def threads_update_a_resource_variable(c: ApiAuthor) -> None:
    want = [240, 240]
    c.named_check("concurrency.updates", want, threads=6, runs=40, elements=20_000, resource=True)
