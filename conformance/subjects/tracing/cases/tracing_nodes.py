"""Vectors of TRACING: what the statistics say of a node; two devices, partition graphs, costs."""

from __future__ import annotations

from typing import Final

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case, by
from sessrun.conformance.subjects.run.cases.run import floats
from sessrun.conformance.subjects.tracing.cases.tracing import (
    CPU,
    chain,
    full,
    graphs,
    lists,
    on_cpu,
    traced,
    zeros,
)

_SECOND: Final = "/job:localhost/replica:0/task:0/device:CPU:1"


@api_case("TRACING-012", title="A label names the node, its type and its inputs by slot.")
def labels_name_the_inputs(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [3], name="p")
    parts = c.tf.split(p, 3, name="parts")
    c_ = c.tf.subtract(parts[2], parts[0], name="difference")
    with c.within(c.tf.name_scope("deep")):
        d = c.tf.pow(parts[1], c_, name="power")
    sess, metadata = c.tf.Session(), c.tf.RunMetadata()
    sess.run(d, {p: floats(1, 2, 3)}, full(c), metadata)
    for name, label in (
        ("difference", "difference = Sub(parts:2, parts)"),
        ("deep/power", "deep/power = Pow(parts:1, difference)"),
    ):
        c.named_check("tracing.labels", [label], metadata=metadata, node=name)


@api_case("TRACING-013", title="A node's times are in order.")
def times_are_in_order(c: ApiAuthor) -> None:
    sess, metadata = traced(c)
    c.named_check("tracing.ordered", [True, True], metadata=metadata, graph=sess.graph)


@api_case("TRACING-014", title="A node starts while the run goes on, by the host's clock.")
def nodes_start_during_the_run(c: ApiAuthor) -> None:
    p, _, b = chain(c)
    sess = c.tf.Session()
    want = [True, True]
    for _ in range(2):
        c.named_check(
            "tracing.within_wall_clock", want, session=sess, fetches=b, feeds={p: zeros()}
        )


@api_case("TRACING-015", title="Both units tell one moment.")
def nanoseconds_agree(c: ApiAuthor) -> None:
    sess, metadata = traced(c)
    c.named_check("tracing.agreeing_nanos", [True, True], metadata=metadata, graph=sess.graph)


@api_case("TRACING-016", title="A large product of matrices takes longer than a small one.")
def more_work_takes_more_time(c: ApiAuthor) -> None:
    c.named_check("tracing.less_time", True, small=1, large=400)


@api_case("TRACING-017", "TRACING-018", "TRACING-019", title="Outputs are described.")
def outputs_are_described(c: ApiAuthor) -> None:
    sess, metadata = traced(c)
    size, allocator = by("TRACING-018", 24), by("TRACING-019", True)
    want = [[0, "float32", [2, 3], size, allocator]]
    for name in ("a", "b"):
        c.named_check("tracing.outputs", want, metadata=metadata, node=name)
        c.blame("TRACING-017")
    del sess


@api_case("TRACING-017", title="An output that nothing reads is described too.")
def unread_outputs_are_described(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.int32, [2, 6], name="p")
    parts = c.tf.split(p, [2, 4], axis=1, name="parts")
    sess, metadata = c.tf.Session(), c.tf.RunMetadata()
    sess.run(parts[1], {p: np.ones((2, 6), np.int32)}, full(c), metadata)
    want = [[0, "int32", [2, 2], 16, True], [1, "int32", [2, 4], 32, True]]
    c.named_check("tracing.outputs", want, metadata=metadata, node="parts")


@api_case("TRACING-029", title="A node is scheduled before it starts.")
def nodes_are_scheduled_first(c: ApiAuthor) -> None:
    sess, metadata = traced(c)
    c.named_check("tracing.scheduled_first", [True, True], metadata=metadata, graph=sess.graph)


# --- two devices, partition graphs, costs ----------------------------------------------------


def spread(c: ApiAuthor) -> tuple[Symbol, Symbol, Symbol]:
    """A session with two CPUs, a placeholder, and `b` on the second of `a` on the first."""
    p = c.tf.placeholder(c.tf.float32, [], name="p")
    with c.within(c.tf.device("/cpu:0")):
        a = c.tf.exp(p, name="a")
    with c.within(c.tf.device("/cpu:1")):
        b = c.tf.negative(a, name="b")
    config = c.tf.ConfigProto(device_count={"CPU": 2})
    return c.tf.Session(config=config), p, b


@api_case("TRACING-020", title="Operations on two CPUs are listed each under its own.")
def each_cpu_lists_its_own(c: ApiAuthor) -> None:
    sess, p, b = spread(c)
    metadata = c.tf.RunMetadata()
    sess.run(b, {p: 0.0}, full(c), metadata)
    lists(c, metadata, sess, {CPU: ["a"], _SECOND: ["b"]})


@api_case("RUN-047", title="The graphs that are executed are in the metadata.")
def executed_graphs_are_told(c: ApiAuthor) -> None:
    p, _, b = chain(c)
    sess, metadata = on_cpu(c), c.tf.RunMetadata()
    sess.run(b, {p: zeros()}, graphs(c), metadata)
    c.named_check("tracing.partitioned", [["a", "b"]], metadata=metadata, graph=sess.graph)
    sess.run(b, {p: zeros()}, graphs(c), metadata)
    c.named_check("tracing.partitioned", [["a", "b"]], metadata=metadata, graph=sess.graph)


@api_case("TRACING-004", title="A partition graph leaves out what the run does not need.")
def partition_graphs_are_pruned(c: ApiAuthor) -> None:
    p, a, b = chain(c)
    sess, metadata = on_cpu(c), c.tf.RunMetadata()
    sess.run(a, {p: zeros()}, graphs(c), metadata)
    c.named_check("tracing.partitioned", [["a"]], metadata=metadata, graph=sess.graph)
    sess.run(b, {a: zeros()}, graphs(c), metadata)
    c.named_check("tracing.partitioned", [["b"]], metadata=metadata, graph=sess.graph)


@api_case("TRACING-021", title="Two CPUs have two partition graphs.")
def each_device_has_its_graph(c: ApiAuthor) -> None:
    sess, p, b = spread(c)
    metadata = c.tf.RunMetadata()
    sess.run(b, {p: 0.0}, graphs(c), metadata)
    c.named_check("tracing.partitioned", [["a"], ["b"]], metadata=metadata, graph=sess.graph)


@api_case("TRACING-022", title="The nodes of a partition graph name its device.")
def partition_graphs_name_their_device(c: ApiAuthor) -> None:
    sess, p, b = spread(c)
    metadata = c.tf.RunMetadata()
    sess.run(b, {p: 0.0}, graphs(c), metadata)
    c.named_check("tracing.partition_devices", [[CPU], [_SECOND]], metadata=metadata)


@api_case("TRACING-028", title="A cost model of every run names the nodes of each.")
def a_cost_model_names_the_nodes(c: ApiAuthor) -> None:
    p, a, b = chain(c)
    config = c.tf.ConfigProto()
    c.set(config.graph_options, "build_cost_model", 1)
    sess = c.tf.Session(config=config)
    for fetch, want in ((b, ["a", "b"]), (b, ["a", "b"]), (a, ["a"])):
        metadata = c.tf.RunMetadata()
        sess.run(fetch, {p: zeros()}, run_metadata=metadata)
        c.named_check("tracing.cost_nodes", want, metadata=metadata, graph=sess.graph)


@api_case("TRACING-028", title="A cost model of a run that asks for no trace.")
def a_cost_model_without_a_trace(c: ApiAuthor) -> None:
    p, a, b = chain(c)
    config = c.tf.ConfigProto()
    c.set(config.graph_options, "build_cost_model", 1)
    sess = c.tf.Session(config=config)
    options = c.tf.RunOptions(trace_level=c.tf.RunOptions.NO_TRACE)
    for fetch, want in ((b, ["a", "b"]), (a, ["a"])):
        metadata = c.tf.RunMetadata()
        sess.run(fetch, {p: zeros()}, options, metadata)
        c.named_check("tracing.cost_nodes", want, metadata=metadata, graph=sess.graph)
