"""Programs of sessions with two CPUs: the device of every node in the partition graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Action, Structure
from sessrun.spec.cases.objects import Variable

__all__ = ["BEHAVIOURS"]

_DEVICES: Final = (None, "/cpu:0", "/cpu:1")
#: The attributes of sends and receives that are the same in every process.
_STEADY: Final = ("client_terminated", "recv_device", "send_device", "tensor_type")


def _placed(tf, build: Action, feeds=None, *, plain: bool = True, **options):
    """The nodes of a run's partition graphs by device, sends and receives, and the values.

    Where the graph has constants (not `plain`), TensorFlow copies them to the devices of their
    consumers: then constants, sends and receives are left out.
    """
    graph_options = tf.GraphOptions(
        optimizer_options=tf.OptimizerOptions(opt_level=tf.OptimizerOptions.L0)
    )
    graph_options.rewrite_options.disable_meta_optimizer = True
    counts = {"CPU": 2, "GPU": 0}
    config = tf.ConfigProto(device_count=counts, graph_options=graph_options, **options)
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        fetches = build()
        if tf.global_variables():
            session.run(tf.global_variables_initializer())
        metadata, asked = tf.RunMetadata(), tf.RunOptions(output_partition_graphs=True)
        values = session.run(fetches, feeds, options=asked, run_metadata=metadata)
        nodes = [node for graph in metadata.partition_graphs for node in graph.node]
        rows = sorted(_rows(nodes))
        return [row for row in rows if plain or not _is_copied(row)], values


def _rows(nodes) -> Iterator[tuple[str, ...]]:
    for node in nodes:
        device = node.device[-5:]
        if node.op in {"_Send", "_Recv", "_HostSend", "_HostRecv"}:
            steady = [f"{key} {' '.join(str(node.attr[key]).split())}" for key in _STEADY]
            # Values that are always in host memory may have operations of their own.
            yield (f"_{node.op.removeprefix('_').removeprefix('Host')}", device, *steady)
        elif not node.name.startswith(("_SOURCE", "_SINK", "_retval", "_arg")):
            yield (node.name, node.op, device)


def _is_copied(row: tuple[str, ...]) -> bool:
    """Whether a row is of a constant, of a send or receive, or of a node within a scope."""
    return "/" in row[0] or row[0].startswith("_") or row[1] == "Const"


def _chains(tf):
    """Constants, placeholders and identities whose consumers are on one device or on two."""

    def chain(first, second, third):
        with tf.device(first):
            x = tf.constant([1.0, 2.0], name="x")
        y = tf.constant(3.0, name="y")
        same = tf.identity(x, name="same")
        with tf.device(second):
            total = tf.add(same, y, name="total")
            size = tf.raw_ops.Shape(input=total, name="size")
        with tf.device(third):
            product = tf.multiply(x, y, name="product")
            with tf.control_dependencies([total]):
                later = tf.constant(4.0, name="later")
        shape = tf.raw_ops.Shape(input=product, name="shape")
        return [total, product, later, size, shape, tf.identity(y, name="alone")]

    return attempt(
        *(
            lambda d=(first, second, third): _placed(tf, lambda: chain(*d), plain=False)
            for first in _DEVICES
            for second in _DEVICES
            for third in _DEVICES
        )
    )


def _held(tf):
    """Stateful operations on a device, and their users on another one."""

    def users(make: Callable[[], Variable], use: Callable[[Variable], Structure], at, device):
        with tf.device(at):
            held = make()
        with tf.device(device):
            return use(held)

    def variable(kind: bool) -> Action:
        return lambda: tf.get_variable("v", initializer=[1.0, 2.0], use_resource=kind)

    holders = (
        (variable(False), lambda v: [tf.assign_add(v, [1.0, 1.0], name="more"), v.op]),
        (variable(True), lambda v: [v.assign_add([1.0, 1.0], name="more", read_value=False)]),
        (variable(True), lambda v: [v.read_value(), tf.gather(v, [1]), v.handle.op]),
        (
            lambda: tf.FIFOQueue(3, tf.float32, [[]], name="q"),
            lambda q: [q.enqueue(1.0), q.queue_ref.op],
        ),
        (lambda: tf.Barrier(tf.float32, name="b"), lambda b: [b.ready_size()]),
        (
            lambda: tf.raw_ops.StackV2(max_size=3, elem_type=tf.float32, name="s"),
            lambda s: [tf.raw_ops.StackPushV2(handle=s, elem=1.0, name="push")],
        ),
        (lambda: tf.TensorArray(tf.float32, 2), lambda a: [a.write(0, 1.0).read(0), a.size()]),
        (
            lambda: tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1, name="t"),
            lambda t: [t.insert(["a"], [1]), t.resource_handle.op],
        ),
        (
            lambda: tf.ConditionalAccumulator(tf.float32, [2], name="c"),
            lambda c: [c.apply_grad([1.0, 2.0]), c.accumulator_ref.op],
        ),
    )
    return attempt(
        *(
            lambda m=make, u=use, a=at, d=device, s=soft: _placed(
                tf, lambda: users(m, u, a, d), allow_soft_placement=s
            )
            for make, use in holders
            for at, device, soft in (
                ("/cpu:1", None, False),
                (None, "/cpu:1", False),
                ("/cpu:1", "/cpu:0", False),
                ("/cpu:1", "/cpu:0", True),
                ("/gpu:0", "/cpu:1", True),
                ("/cpu:1", "/gpu:3", True),
            )
        )
    )


def _together(tf):
    """Colocated operations that request one device, none, or different ones."""

    def group(first, second, third, *, chained: bool):
        x = tf.placeholder_with_default([1.0, 2.0], [2], name="x")
        with tf.device(first):
            a = tf.square(x, name="a")
        with tf.colocate_with(a), tf.device(second):
            b = tf.negative(x, name="b")
        with tf.colocate_with(b if chained else a), tf.device(third):
            c = tf.add(x, 1.0, name="c")
        b.op._set_device(second or "")
        c.op._set_device(third or "")
        return [a, b, c]

    return attempt(
        *(
            lambda d=devices, c=chained, s=soft: _placed(
                tf, lambda: group(*d, chained=c), allow_soft_placement=s
            )
            for devices in (
                (None, None, None),
                ("/cpu:1", None, None),
                (None, "/cpu:1", None),
                (None, None, "/cpu:1"),
                ("/cpu:0", "/cpu:1", None),
                ("/cpu:1", None, "/cpu:0"),
                ("/cpu:1", "/cpu:1", "/cpu:1"),
                ("/gpu:0", None, "/cpu:1"),
                ("/cpu:7", None, None),
            )
            for chained in (False, True)
            for soft in (False, True)
        )
    )


def _beside_variables(tf):
    """Operations colocated with a variable, or with a tensor's shape, that request a device."""

    def beside(kind: bool, at, device):
        with tf.device(at):
            v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=kind)
        x = tf.placeholder_with_default([1.0, 2.0], [2], name="x")
        a = tf.negative(x, name="a")
        a.op._set_attr("_class", tf.AttrValue(list=tf.AttrValue.ListValue(s=[b"loc:@v"])))
        a.op._set_device(device or "")
        return [a, v.op]

    def beside_shape(at, device):
        x = tf.placeholder_with_default([1.0, 2.0], [2], name="x")
        with tf.device(at):
            y = tf.negative(x, name="y")
        size = tf.raw_ops.Shape(input=y, name="size")
        with tf.colocate_with(size):
            z = tf.square(x, name="z")
        with tf.device(device):
            return [y, z, tf.add(size, size, name="sum")]

    return attempt(
        *(
            lambda k=kind, a=at, d=device, s=soft: _placed(
                tf, lambda: beside(k, a, d), allow_soft_placement=s
            )
            for kind in (False, True)
            for at in _DEVICES
            for device in _DEVICES
            for soft in (False, True)
        ),
        *(
            lambda a=at, d=device: _placed(tf, lambda: beside_shape(a, d))
            for at in _DEVICES
            for device in _DEVICES
        ),
    )


def _fed(tf):
    """Placeholders and fetches on either device."""

    def between(first, second):
        with tf.device(first):
            x = tf.placeholder(tf.float32, [2], name="x")
        with tf.device(second):
            return [tf.negative(x, name="y"), tf.identity(x, name="z")]

    return attempt(
        *(
            lambda a=first, b=second: _placed(tf, lambda: between(a, b), {"x:0": [1.0, 2.0]})
            for first in _DEVICES
            for second in _DEVICES
        )
    )


BEHAVIOURS = {
    "chains": _chains,
    "held": _held,
    "together": _together,
    "fed": _fed,
    "beside variables": _beside_variables,
}
