"""Vectors of TRACING and RUN-044 on: which nodes a run lists, its options and metadata."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final

import numpy as np

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import (
    ApiAuthor,
    EngineAuthor,
    Symbol,
    api_case,
    engine_case,
    one_of,
)
from sessrun.conformance.subjects.run.cases.run import counter, floats

CPU: Final = "/job:localhost/replica:0/task:0/device:CPU:0"


def full(c: ApiAuthor, **more: Recordable) -> Symbol:
    """RunOptions with FULL_TRACE."""
    return c.tf.RunOptions(trace_level=c.tf.RunOptions.FULL_TRACE, **more)


def on_cpu(c: ApiAuthor) -> Symbol:
    """A session on the CPU, where the machine has GPUs too."""
    return c.tf.Session(config=c.tf.ConfigProto(device_count={"GPU": 0}))


def graphs(c: ApiAuthor) -> Symbol:
    """RunOptions that ask for the partition graphs."""
    return c.tf.RunOptions(output_partition_graphs=True)


def chain(c: ApiAuthor) -> tuple[Symbol, Symbol, Symbol]:
    """A placeholder `p`, `a` = exp(p), `b` = -a, and `other` = sin(p), which b does not need."""
    p = c.tf.placeholder(c.tf.float32, [2, 3], name="p")
    a = c.tf.exp(p, name="a")
    c.tf.sin(p, name="other")
    return p, a, c.tf.negative(a, name="b")


def zeros() -> np.ndarray:
    """A value for `p`."""
    return np.zeros((2, 3), np.float32)


def traced(c: ApiAuthor) -> tuple[Symbol, Symbol]:
    """A traced run of `b`: the session and its metadata."""
    p, _, b = chain(c)
    sess, metadata = c.tf.Session(), c.tf.RunMetadata()
    sess.run(b, {p: zeros()}, full(c), metadata)
    return sess, metadata


def lists(c: ApiAuthor, metadata: Symbol, sess: Symbol, want: Mapping[str, list[str]]) -> None:
    """The metadata must list these operations under these devices."""
    c.named_check("tracing.executed", want, metadata=metadata, graph=sess.graph)


# --- which nodes, and when none --------------------------------------------------------------


@api_case("RUN-044", title="A traced run lists the operations that it executed.")
def executed_nodes_are_listed(c: ApiAuthor) -> None:
    p, _, b = chain(c)
    sess, metadata = on_cpu(c), c.tf.RunMetadata()
    sess.run(b, {p: zeros()}, full(c), metadata)
    lists(c, metadata, sess, {CPU: ["a", "b"]})


@api_case("RUN-044", title="A traced run lists variables, updates and operations without outputs.")
def stateful_nodes_are_listed(c: ApiAuthor) -> None:
    variable = c.tf.Variable(3.0, use_resource=False, name="v")
    p = c.tf.placeholder(c.tf.float32, [], name="p")
    update = c.tf.assign_add(variable, p, name="update")
    idle = c.tf.no_op(name="idle")
    sess, metadata = on_cpu(c), c.tf.RunMetadata()
    sess.run(c.tf.global_variables_initializer())
    c.check(sess.run([update, idle], {p: 2.0}, full(c), metadata), [np.float32(5), None])
    lists(c, metadata, sess, {CPU: ["idle", "update", "v"]})


@api_case("RUN-045", title="What a run does not need is not listed.")
def other_nodes_are_not_listed(c: ApiAuthor) -> None:
    p, a, b = chain(c)
    sess, metadata = on_cpu(c), c.tf.RunMetadata()
    sess.run(a, {p: zeros()}, full(c), metadata)
    lists(c, metadata, sess, {CPU: ["a"]})
    sess.run(b, {a: zeros()}, full(c), metadata)
    lists(c, metadata, sess, {CPU: ["b"]})


@api_case("RUN-046", title="A run without tracing empties the metadata of a traced one.")
def untraced_runs_list_nothing(c: ApiAuthor) -> None:
    p, _, b = chain(c)
    sess, metadata = c.tf.Session(), c.tf.RunMetadata()
    for options in (None, c.tf.RunOptions(), c.tf.RunOptions(trace_level=0)):
        sess.run(b, {p: zeros()}, full(c), metadata)
        c.check(metadata.HasField("step_stats"), True)
        sess.run(b, {p: zeros()}, options=options, run_metadata=metadata)
        c.check(metadata.HasField("step_stats"), False)


@api_case("RUN-048", title="A traced run computes what an untraced one does, each operation once.")
def tracing_changes_no_value(c: ApiAuthor) -> None:
    bump = counter(c.tf)
    p, _, b = chain(c)
    sess = c.tf.Session()
    sess.run(c.tf.global_variables_initializer())
    for total in (1, 2, 3):
        want = [np.int32(total), np.full((2, 3), -1, np.float32)]
        options = full(c, output_partition_graphs=True) if total != 2 else None
        c.check(sess.run([bump, b], {p: zeros()}, options, c.tf.RunMetadata()), want)


@api_case("TRACING-001", title="Metadata that is traced into twice holds the second run alone.")
def the_second_trace_replaces_the_first(c: ApiAuthor) -> None:
    p, a, b = chain(c)
    sess, metadata = on_cpu(c), c.tf.RunMetadata()
    sess.run(b, {p: zeros()}, full(c), metadata)
    sess.run(b, {p: zeros()}, full(c), metadata)
    lists(c, metadata, sess, {CPU: ["a", "b"]})
    sess.run(a, {p: zeros()}, full(c), metadata)
    lists(c, metadata, sess, {CPU: ["a"]})


@api_case("TRACING-002", title="Tracing without metadata runs.")
def tracing_needs_no_metadata(c: ApiAuthor) -> None:
    p, _, b = chain(c)
    sess = c.tf.Session()
    c.check(sess.run(b, {p: zeros()}, full(c)), np.full((2, 3), -1, np.float32))
    c.check(sess.run(b, {p: zeros()}, full(c), None), np.full((2, 3), -1, np.float32))


@api_case("TRACING-005", title="Each device of the statistics is named in full.")
def devices_are_named_in_full(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [], name="p")
    with c.within(c.tf.device("/cpu:0")):
        near = c.tf.exp(p, name="near")
    sess, metadata = c.tf.Session(), c.tf.RunMetadata()
    sess.run(near, {p: 0.0}, full(c), metadata)
    c.check(metadata.step_stats.dev_stats[0].device, CPU)


@api_case("TRACING-006", title="The software and the hardware level list what the full one does.")
def every_level_lists_the_nodes(c: ApiAuthor) -> None:
    p, _, b = chain(c)
    sess = on_cpu(c)
    for level in (c.tf.RunOptions.SOFTWARE_TRACE, c.tf.RunOptions.HARDWARE_TRACE):
        metadata = c.tf.RunMetadata()
        sess.run(b, {p: zeros()}, c.tf.RunOptions(trace_level=level), metadata)
        lists(c, metadata, sess, {CPU: ["a", "b"]})


@api_case("TRACING-011", title="An operation that several others read is listed once.")
def a_node_is_listed_once(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [2], name="p")
    parts = c.tf.split(p, 2, name="parts")
    c_ = c.tf.subtract(parts[0], parts[1], name="difference")
    d = c.tf.pow(parts[0], c_, name="power")
    sess, metadata = c.tf.Session(), c.tf.RunMetadata()
    sess.run([d, c_, parts[1], d], {p: floats(3, 1)}, full(c), metadata)
    c.named_check(
        "tracing.labels", ["power = Pow(parts, difference)"], metadata=metadata, node="power"
    )
    c.named_check(
        "tracing.labels", ["difference = Sub(parts, parts:1)"], metadata=metadata, node="difference"
    )


@api_case("TRACING-024", title="Two threads that trace at the same time each see their own nodes.")
def overlapping_traces_are_apart(c: ApiAuthor) -> None:
    want = [["product0"], ["product1"]]
    c.named_check("tracing.overlapping", want, level="SOFTWARE_TRACE", size=300, runs=20)


@api_case("TRACING-030", title="Full traces at the same time are apart, or refused by code 6.")
def overlapping_full_traces(c: ApiAuthor) -> None:
    want = [one_of([f"product{number}"], [6, f"product{number}"], [6]) for number in range(2)]
    c.named_check("tracing.overlapping", want, level="FULL_TRACE", size=300, runs=20)


@api_case("TRACING-027", title="A traced run of fed tensors lists nothing.")
def fed_fetches_list_nothing(c: ApiAuthor) -> None:
    p, _, b = chain(c)
    sess, metadata = c.tf.Session(), c.tf.RunMetadata()
    sess.run([b, p], {p: zeros(), b: zeros()}, full(c), metadata)
    lists(c, metadata, sess, {})


# --- the arguments ---------------------------------------------------------------------------


@api_case("TRACING-003", title="Options that are no message are refused.")
def other_options_are_refused(c: ApiAuthor) -> None:
    p, _, b = chain(c)
    sess = c.tf.Session()
    for options in (5, "FULL_TRACE", {"trace_level": 3}, [3]):
        c.raises(
            ["AttributeError", "TypeError"],
            functools.partial(sess.run, b, {p: zeros()}, options=options),
        )


@api_case("TRACING-007", title="A run that fails leaves the metadata of the run before.")
def a_failed_run_leaves_the_metadata(c: ApiAuthor) -> None:
    p, _, b = chain(c)
    missing = c.tf.Variable(1.0, use_resource=False, name="missing")
    sess, metadata = on_cpu(c), c.tf.RunMetadata()
    sess.run(b, {p: zeros()}, full(c), metadata)
    c.raises("FailedPreconditionError", lambda: sess.run(missing, None, full(c), metadata))
    lists(c, metadata, sess, {CPU: ["a", "b"]})
    c.raises("InvalidArgumentError", lambda: sess.run(b, None, None, metadata))
    lists(c, metadata, sess, {CPU: ["a", "b"]})


@api_case("TRACING-007", title="A run that is refused leaves the metadata of the run before.")
def a_refused_run_leaves_the_metadata(c: ApiAuthor) -> None:
    p, _, b = chain(c)
    sess, metadata = on_cpu(c), c.tf.RunMetadata()
    sess.run(b, {p: zeros()}, full(c), metadata)
    c.raises("ValueError", lambda: sess.run("nope:0", None, full(c), metadata))
    c.raises("ValueError", lambda: sess.run(b, {p: floats(1)}, full(c), metadata))
    lists(c, metadata, sess, {CPU: ["a", "b"]})
    sess.close()
    c.raises("RuntimeError", lambda: sess.run(b, {p: zeros()}, full(c), metadata))
    c.check(metadata.HasField("step_stats"), True)


@api_case("TRACING-008", title="What the caller put into the metadata is gone after a run.")
def metadata_is_replaced(c: ApiAuthor) -> None:
    p, _, b = chain(c)
    sess = c.tf.Session()
    for fetch, feeds in ((b, {p: zeros()}), (b, {b: zeros()})):
        metadata = c.tf.RunMetadata()
        metadata.cost_graph.node.add(name="mine")
        metadata.partition_graphs.add()
        sess.run(fetch, feeds, run_metadata=metadata)
        c.check(metadata.HasField("cost_graph"), False)
        c.check(c.expr("$len", metadata.partition_graphs), 0)


@api_case("TRACING-008", title="Partition graphs of a run are gone after one that asks for none.")
def partition_graphs_are_replaced(c: ApiAuthor) -> None:
    p, a, b = chain(c)
    sess, metadata = on_cpu(c), c.tf.RunMetadata()
    for fetch, want in ((b, [["a", "b"]]), (a, [["a"]])):
        sess.run(fetch, {p: zeros()}, graphs(c), metadata)
        c.named_check("tracing.partitioned", want, metadata=metadata, graph=sess.graph)
    sess.run(b, {p: zeros()}, full(c), metadata)
    c.check(c.expr("$len", metadata.partition_graphs), 0)


@api_case("TRACING-009", title="Metadata that are no message are refused.")
def other_metadata_are_refused(c: ApiAuthor) -> None:
    p, _, b = chain(c)
    sess = c.tf.Session()
    for metadata in (5, "metadata", {"step_stats": 1}):
        c.raises(
            ["AttributeError", "TypeError"],
            functools.partial(sess.run, b, {p: zeros()}, None, metadata),
        )


@api_case("TRACING-010", title="A run refused for its options leaves a counter alone.")
def refused_options_execute_nothing(c: ApiAuthor) -> None:
    bump = counter(c.tf)
    sess = c.tf.Session()
    sess.run(c.tf.global_variables_initializer())
    c.raises(["AttributeError", "TypeError"], lambda: sess.run(bump, options=5))
    c.raises(["AttributeError", "TypeError"], lambda: sess.run(bump, options="x"))
    c.check(sess.run(bump), np.int32(1))


@api_case("TRACING-023", title="A callable that accepts options is traced into its metadata.")
def callables_are_traced(c: ApiAuthor) -> None:
    p, _, b = chain(c)
    constant = c.tf.exp(c.tf.zeros([2]), name="alone")
    sess, metadata = on_cpu(c), c.tf.RunMetadata()
    fed = sess.make_callable(b, [p], accept_options=True)
    fed(zeros(), options=full(c), run_metadata=metadata)
    lists(c, metadata, sess, {CPU: ["a", "b"]})
    fed(zeros(), run_metadata=metadata)
    lists(c, metadata, sess, {})
    bare = sess.make_callable([constant.op], accept_options=True)
    bare(options=full(c), run_metadata=metadata)
    c.check(metadata.HasField("step_stats"), True)


@engine_case("TRACING-025", title="A thread pool that the session does not have is refused.")
def a_missing_thread_pool_is_refused(c: EngineAuthor) -> None:
    with c.graph() as tf:
        counter(tf)
    s = c.open()
    s.run(["counter/Assign"])
    for number in (1, 3, -2):
        s.run(["bump:0"], options={"interOpThreadPool": number}, error=[3])
    for total, number in ((1, -1), (2, 0)):
        s.run(["bump:0"], options={"interOpThreadPool": number}, values=[np.int32(total)])


@engine_case("TRACING-025", title="Each thread pool of the configuration may be named.")
def each_thread_pool_may_be_named(c: EngineAuthor) -> None:
    with c.graph() as tf:
        counter(tf)
    s = c.open(config={"sessionInterOpThreadPool": [{}, {"numThreads": 1}]})
    s.run(["counter/Assign"])
    for total, number in ((1, 0), (2, 1)):
        s.run(["bump:0"], options={"interOpThreadPool": number}, values=[np.int32(total)])
    s.run(["bump:0"], options={"interOpThreadPool": 2}, error=[3])


@engine_case("TRACING-033", title="A report that was asked for in vain changes no value.")
def a_report_in_vain_changes_nothing(c: EngineAuthor) -> None:
    with c.graph() as tf:
        bump = counter(tf)
        p = tf.placeholder(tf.int32, [2], name="p")
        tf.add(p, bump, name="y")
    s = c.open()
    s.run(["counter/Assign"])
    for total in (1, 2):
        s.run(
            ["y:0"],
            {"p:0": np.array([10, 20], np.int32)},
            options={"reportTensorAllocationsUponOom": True},
            values=[np.array([10 + total, 20 + total], np.int32)],
        )


@api_case("TRACING-034", title="A run that may report allocations lists what it executed.")
def reports_come_with_statistics(c: ApiAuthor) -> None:
    p, _, b = chain(c)
    sess, metadata = on_cpu(c), c.tf.RunMetadata()
    options = c.tf.RunOptions(report_tensor_allocations_upon_oom=True)
    sess.run(b, {p: zeros()}, options, metadata)
    lists(c, metadata, sess, {CPU: ["a", "b"]})
