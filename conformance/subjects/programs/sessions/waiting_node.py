"""Programs of operations that TensorFlow has for its own tests: deadlines, waits, resources."""

from __future__ import annotations

import time

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.imported_nodes import add_node, imported_node, run_node

__all__ = ["BEHAVIOURS"]


def _deadlines(tf):
    """The deadline of a run in microseconds since 1970, with a timeout and without one."""
    node = imported_node(tf, "GetDeadline", [], {})
    with tf.Session() as session:

        def left(milliseconds: int):
            now = time.time()
            options = tf.RunOptions(timeout_in_ms=milliseconds)
            (value,) = session.run(node.outputs, options=options)
            return value.dtype.name, 0 <= value / 1e6 - now - milliseconds / 1e3 < 20

        return attempt(
            lambda: session.run(node),
            lambda: session.run(node.outputs),
            lambda: left(30_000),
            lambda: left(90_000),
            lambda: left(0),
        )


def _waits(tf):
    """Operations that wait for seconds, one of them longer than the timeout."""
    attrs = {"T": tf.float32}
    outcomes = attempt(
        lambda: run_node(tf, "SleepIdentityOp", [0, 2.5], attrs),
        lambda: run_node(tf, "SleepIdentityOp", [-1, 3.5], attrs),
        lambda: run_node(tf, "SleepOp", [0], {}),
    )
    node = imported_node(tf, "SleepIdentityOp", [1, [1.5, 4.5]], attrs)
    with tf.Session() as session:
        before = time.monotonic()
        outcomes += attempt(
            lambda: session.run(node.outputs),
            lambda: time.monotonic() - before >= 0.99,
            lambda: session.run(node.outputs, options=tf.RunOptions(timeout_in_ms=50)),
        )
    return outcomes, node.outputs


def _resources(tf):
    """Stub resources by container and shared name, or by the name of the node."""
    graph_def = tf.GraphDef()
    for handle, (container, shared) in {
        "one": (b"", b"kept"),
        "same": (b"", b"kept"),
        "other": (b"", b"else"),
        "elsewhere": (b"box", b"kept"),
        "unnamed": (b"", b""),
    }.items():
        attrs = {"container": container, "shared_name": shared}
        add_node(graph_def, tf, "StubResourceHandleOp", handle, [], attrs)
        for verb in ("Create", "Initialized", "Using"):
            add_node(graph_def, tf, f"Resource{verb}Op", f"{handle}_{verb}", [handle], {})
    tf.import_graph_def(graph_def, name="")
    names = ("one", "same", "other", "elsewhere", "unnamed")
    with tf.Session() as session:

        def there():
            return [session.run(f"{name}_Initialized:0") for name in names]

        def done(name: str, verb: str):
            return attempt(lambda: session.run(f"{name}_{verb}"))

        results = [there()]
        results += [
            [done(name, "Using"), done(name, "Create"), done(name, "Create"), there()]
            for name in names
        ]
        results.append([done(name, "Using") for name in names])
    with tf.Session() as session:
        results.append(there())
    return results


BEHAVIOURS = {
    function.__name__.strip("_"): function for function in (_deadlines, _waits, _resources)
}
