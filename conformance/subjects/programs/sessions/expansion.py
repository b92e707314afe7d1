"""Programs of fetches and feeds of registered types, of mappings, and of tensor handles."""

from __future__ import annotations

import collections
import importlib
import types
from collections.abc import Iterator, Mapping

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, without_gpus
from sessrun.spec.cases.objects import Fetches

__all__ = ["BEHAVIOURS"]


def _sessions(tf):
    """The module `python.client.session` of a namespace."""
    package = "tensorflow" if tf.__name__.startswith("tensorflow") else tf.__name__
    return importlib.import_module(f"{package}.python.client.session")


def _kind(name: str, *bases: type):
    return type(name, bases, {})


def _registered_types(tf):
    register = _sessions(tf).register_session_run_conversion_functions
    c, d, n = tf.constant(2.0, name="c"), tf.constant(3.0), tf.no_op("n")
    base, other = _kind("Base"), _kind("Other")
    derived, middle = _kind("Derived", base), _kind("Middle", other)

    def parts(*fetches):
        return lambda _: (list(fetches), list)

    return attempt(
        lambda: register(base, parts(c, d)),
        lambda: register(base, parts(c)),
        lambda: register(derived, parts(d)),
        lambda: register(middle, parts(c, n)),
        lambda: register(other, parts(c)),
        lambda: register(object, parts(c)),
        lambda: register(tf.SparseTensor, parts(c)),
        lambda: register(3, None),
        lambda: tf.Session().run([base(), derived(), {"m": (middle(),)}]),
        lambda: tf.Session().make_callable([derived(), base()])(),
    )


def _kinds_of_expansion(tf):
    register = _sessions(tf).register_session_run_conversion_functions
    c, d, n = tf.constant(2.0, name="c"), tf.constant(3.0), tf.no_op("n")
    total = c + d
    empty, named, nested, mute, both = map(_kind, ("Empty", "Named", "Nested", "Mute", "Both"))
    register(empty, lambda _: ([], lambda _: "contracted"))
    register(named, lambda _: (["c:0", "n", n], tuple))
    register(nested, lambda _: ([[c]], tuple))
    register(mute, lambda _: ([c], tuple))
    register(both, lambda _: ([c, d], tuple), lambda _, v: [(c, v), (d, v + 1)], lambda _: [c, d])
    key = both()
    session = tf.Session()
    run = session.run
    return attempt(
        lambda: run(empty()),
        lambda: run([empty(), c]),
        lambda: run(named()),
        lambda: run(nested()),
        lambda: run(total, {mute(): 1}),
        lambda: run(total, {key: 10.0}),
        lambda: run([key, total], {key: 10.0}),
        lambda: run(total, {key: 1.0, c: 2.0}),
        lambda: run(total, {(key,): (1.0,)}),
        lambda: session.partial_run_setup([total], [mute()]),
        lambda: session.partial_run(session.partial_run_setup([total], [key]), total, {key: 1.0}),
        lambda: session.make_callable(total, [key])(2.0),
        lambda: session.make_callable(key)(),
    )


class Pairs(Mapping[str, Fetches]):
    """A mapping that is constructed from pairs only."""

    def __init__(self, pairs) -> None:
        self._items = dict(pairs)

    def __getitem__(self, key):
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


def _kinds_of_structure(tf):
    a, n = tf.constant(1), tf.no_op()
    run = tf.Session().run
    grown = collections.defaultdict(list, a=a)

    def facts_of(fetches):
        values = run(fetches)
        items = list(values.items() if hasattr(values, "items") else values)
        return [type(values).__name__, items, getattr(values, "default_factory", None) is list]

    kinds = [
        _kind("Own", dict)(x=a),
        _kind("OwnList", list)([a, n]),
        _kind("OwnTuple", tuple)([a]),
        _kind("OwnTuple", tuple)([a, n]),
        collections.OrderedDict(z=a, b=n),
        Pairs({"x": a, "y": [n]}),
        grown,
        types.MappingProxyType({"x": a}),
        collections.Counter({"x": a}),
        collections.deque([a]),
        frozenset([a]),
        {"x": a}.values(),
        collections.ChainMap({"x": a}),
        collections.UserDict(x=a),
        collections.UserList([a]),
        types.SimpleNamespace(x=a),
        iter([a]),
        [[[]]],
        {1: {}, 2: ()},
    ]
    return attempt(*(lambda kind=kind: facts_of(kind) for kind in kinds))


def _fed_handles(tf):
    a = tf.constant([1.0, 2.0])
    session, other = tf.Session(), tf.Session()
    kept = session.run(tf.get_session_handle(a))
    x, y = tf.placeholder(tf.float32, [2], name="x"), tf.placeholder(tf.float32, [3])
    unshaped = tf.placeholder(tf.int32)
    make = session.make_callable(x + 1.0, [x])
    held = tf.get_session_handle(x)
    return attempt(
        lambda: session.run(x, {x: kept}),
        lambda: session.run(x + 1.0, {x: kept}),
        lambda: session.run(y, {y: kept}),
        lambda: session.run(y + 1.0, {y: kept}),
        lambda: session.run(unshaped + 1, {unshaped: kept}),
        lambda: other.run(x + 1.0, {x: kept}),
        lambda: make(kept),
        lambda: session.run(x, {x: kept.handle}),
        lambda: session.run(x + 1.0, {x: [kept, kept]}),
        lambda: session.run(x, {(x,): (kept,)}),
        lambda: session.run({"h": held}, {x: kept})["h"].eval(),
        lambda: type(session.run(held, {held: "text"})).__name__,
        lambda: session.run(held.op),
        lambda: type(session.make_callable(tf.get_session_handle(a))()).__name__,
        lambda: type(session.make_callable([tf.get_session_handle(a)])()[0]).__name__,
        lambda: type(session.run(tf.identity(tf.get_session_handle(a)))).__name__,
    )


def _kept_values(tf):
    session = without_gpus(tf, 2)
    values = (np.int32(3), np.array(["a", b"b"]), np.array([True]), np.zeros([0, 2]))
    kept = [session.run(tf.get_session_handle(tf.constant(value))) for value in values]
    with tf.device("/cpu:1"):
        far = tf.get_session_handle(tf.constant(7.0))
    handle = session.run(far)
    holder, read = tf.get_session_tensor(handle.handle, tf.float32)
    near = session.run(tf.get_session_handle(tf.constant(8.0)))
    results = [h.eval() for h in kept] + [handle.handle.rpartition(";")[2], far.device, read.device]
    results += attempt(
        lambda: session.run(read, {holder: handle.handle}),
        lambda: session.run(read, {holder: near.handle}),
        lambda: session.run(read, {holder: near}),
        lambda: tf.get_session_tensor("x", tf.int32),
        lambda: tf.get_session_tensor(3, tf.int32),
        lambda: tf.get_session_handle([1.0]),
        lambda: tf.get_session_handle(tf.Variable(1.0)),
    )
    session.close()
    return results, attempt(
        handle.eval, handle.delete, handle.delete, near.get_raw_handle, near.eval
    )


def _device_attributes(tf):
    make = _sessions(tf)._DeviceAttributes
    short = make("/job:worker/replica:0/task:3/cpu:1", "TYPE", 1337, 1000000)
    return [short.name, short.device_type, short.memory_limit_bytes, short.incarnation, str(short)]


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _registered_types,
        _kinds_of_expansion,
        _kinds_of_structure,
        _fed_handles,
        _kept_values,
        _device_attributes,
    )
}
