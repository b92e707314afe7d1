"""Programs of caching devices, of partitioned variables as tensors, and of global choices."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS"]


def _toggled(tf):
    """The types of variables while resource variables are enabled and disabled."""
    usual = tf.resource_variables_enabled()

    def kinds():
        with tf.Graph().as_default():
            variables = [
                tf.get_variable("a", []),
                tf.Variable(1.0),
                tf.get_variable("b", [], use_resource=True),
                tf.get_variable("c", [], use_resource=False),
                tf.Variable(1.0, use_resource=True),
            ]
            with tf.variable_scope("s", use_resource=True):
                variables.append(tf.get_variable("d", []))
            return tf.resource_variables_enabled(), [v.op.type for v in variables]

    try:
        return attempt(
            kinds,
            tf.enable_resource_variables,
            kinds,
            tf.disable_resource_variables,
            kinds,
            tf.enable_resource_variables,
            tf.enable_resource_variables,
            kinds,
        )
    finally:
        (tf.enable_resource_variables if usual else tf.disable_resource_variables)()


def _cached(tf):
    """A cached value, its consumers, and updates that wait for it."""

    def cached(use_resource: bool):
        with tf.Graph().as_default() as graph:
            with tf.variable_scope("s", caching_device="/cpu:0", use_resource=use_resource):
                v = tf.get_variable("v", initializer=[1.0, 2.0])
            read = tf.identity(v, name="read")
            doubled = v * 2.0
            updates = [v.assign([3.0, 4.0]), v.assign_add([1.0, 1.0]), v.assign_sub([0.5, 0.5])]
            updates.append(v.scatter_add(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))))
            with tf.Session() as session:
                session.run(v.initializer)
                runs = [session.run([read, doubled])]
                for update in updates:
                    session.run(update)
                    runs.append(session.run([read, doubled]))
            return v.caching_device if hasattr(v, "caching_device") else None, nodes(graph), runs

    return attempt(lambda: cached(False), lambda: cached(True))


def _in_parts(tf):
    """A partitioned variable as a tensor: its inputs are the parts, in any context."""

    def joined(axis: int, use_resource: bool, surround):
        with tf.Graph().as_default() as graph:
            first = tf.constant(1.0, name="first")
            with tf.variable_scope("s", use_resource=use_resource):
                v = tf.get_variable(
                    "v",
                    [4, 2],
                    initializer=tf.zeros_initializer(),
                    partitioner=tf.fixed_size_partitioner(2, axis),
                )
            with surround(first):
                joined = v.as_tensor()
                again = tf.convert_to_tensor(v)
                doubled = tf.multiply(v, 2.0)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                values = session.run([joined, again, doubled])
            return nodes(graph), values, [part.shape for part in v], v.shape

    surroundings = (
        lambda first: tf.control_dependencies([first]),
        lambda _: tf.name_scope("inner"),
        lambda first: tf.colocate_with(first.op),
        lambda _: tf.device("/cpu:0"),
    )
    return attempt(
        *(
            lambda a=axis, u=use, s=surround: joined(a, u, s)
            for axis in (0, 1)
            for use in (False, True)
            for surround in surroundings
        )
    )


def _global_steps(tf):
    """The global steps of the default graph and of another one."""

    def created(*, given: bool):
        other = tf.Graph()
        with tf.Graph().as_default() as graph:
            argument = other if given else None
            first = tf.train.get_or_create_global_step(argument)
            again = tf.train.get_or_create_global_step(argument)
            none = tf.train.get_global_step(graph if given else other)
            return (
                first.graph is (other if given else graph),
                first is again,
                none is None,
                tf.train.get_global_step(argument) is first,
                first.dtype,
                first.trainable,
                first.name,
                first.shape,
                [v.name for v in other.get_collection("global_step")],
                [v.name for v in graph.get_collection("global_variables")],
            )

    return attempt(lambda: created(given=False), lambda: created(given=True))


BEHAVIOURS = {
    "toggled": _toggled,
    "cached": _cached,
    "in parts": _in_parts,
    "global steps": _global_steps,
}
