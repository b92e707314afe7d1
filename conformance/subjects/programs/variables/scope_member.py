"""Programs of members of variable scopes: defaults, variables, getters, stores."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt, caught, run
from sessrun.conformance.subjects.programs.paths import module_of

__all__ = ["BEHAVIOURS"]


def _defaults_set(tf):
    """Setters of an open scope change the defaults of later variables."""
    calls: list[str] = []

    def getter(getter, name: str, *args, **kwargs):
        calls.append(name)
        return getter(name, *args, **kwargs)

    with tf.variable_scope("s") as scope:
        before = tf.get_variable("before", [2])
        scope.set_initializer(tf.constant_initializer(3))
        scope.set_regularizer(lambda v: tf.reduce_sum(v))
        scope.set_dtype(tf.int32)
        scope.set_use_resource(True)
        scope.set_custom_getter(getter)
        scope.set_caching_device("/cpu:0")
        after = tf.get_variable("after", [2])
        with tf.variable_scope("inner") as inner:
            last = tf.get_variable("last", [2])
        scope.set_custom_getter(None)
        scope.set_partitioner(tf.fixed_size_partitioner(2))
        cut = tf.get_variable("cut", [2])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = session.run([after, last, tf.convert_to_tensor(cut)])
    return [
        [[v.op.type, v.dtype.name, v.name] for v in (before, after, last, *cut)],
        values,
        calls,
        [inner.dtype.name, inner.use_resource, inner.caching_device, inner.partitioner],
        [v.name for v in tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)],
    ]


def _variables_of_scopes(tf):
    """The variables of a scope in collections."""
    with tf.variable_scope("a") as a:
        tf.get_variable("v", [1])
        tf.get_variable("w", [1], trainable=False)
        tf.get_local_variable("l", [1])
        with tf.variable_scope("b") as b:
            tf.get_variable("v", [1])
    root = tf.get_variable_scope()
    return [
        [
            [v.name for v in kind()]
            for kind in (scope.trainable_variables, scope.global_variables, scope.local_variables)
        ]
        for scope in (a, b, root)
    ] + [repr(tf.AUTO_REUSE), str(tf.AUTO_REUSE), a.reuse, b.original_name_scope]


def _getters(tf):
    """Custom getters get the arguments of `get_variable`; they must be callable."""
    seen = []

    def narrow(getter, name: str, shape=None, **kwargs):
        seen.append(sorted(kwargs))
        return getter(name, shape, **kwargs)

    def closed(
        getter,
        name: str,
        shape,
        dtype,
        initializer,
        regularizer,
        reuse,
        trainable,
        collections,
        caching_device,
        partitioner,
        validate_shape,
        use_resource,
        synchronization,
        aggregation,
    ):
        seen.append([dtype.name, trainable, str(synchronization)])
        del regularizer, reuse, collections, caching_device, partitioner, validate_shape
        return getter(name, shape, initializer=initializer, use_resource=use_resource)

    get = tf.get_variable
    with tf.variable_scope("root") as scope:
        scope.set_custom_getter(3)
        refused = caught(lambda: get("v", [1]))
    return [
        attempt(
            lambda: get("a", [1], custom_getter=narrow).name,
            lambda: get("b", [1], custom_getter=closed).name,
            lambda: get("c", [1], custom_getter=3),
        ),
        refused,
        seen,
    ]


def _default_stores(tf):
    """The variable store of the default graph."""
    scopes = module_of(tf, "ops.variable_scope")
    store = scopes._get_default_variable_store()
    v = store.get_variable("x", [2], initializer=tf.zeros_initializer())
    again = caught(lambda: store.get_variable("x", [2]))
    with tf.variable_scope("", reuse=True):
        shared = tf.get_variable("x", [2])
    with scopes.with_variable_store(type(store)()):
        other = tf.get_variable("x", [2])
    return [v.name, again, shared is v, other.name]


def _buffers(tf):
    """`variable_op` and `variable_op_v2`, the operations of reference variables."""
    state = module_of(tf, "ops.state_ops")
    older = [
        state.variable_op([2], tf.float32, name="a"),
        state.variable_op([], tf.float32, name="b"),
        state.variable_op([2], tf.float32, name="c", set_shape=False),
        state.variable_op([2], tf.int32, container="box", shared_name="kept"),
    ]
    newer = [
        state.variable_op_v2([2], tf.float32, name="d"),
        state.variable_op_v2([], tf.int32, shared_name="e", container="box"),
    ]
    set_ = [tf.assign(older[0], [1.0, 2.0]), tf.assign(newer[0], [3.0, 4.0])]
    return [older, newer, [v.op.get_attr("shared_name") for v in newer], run(tf, set_)]


BEHAVIOURS = {
    "defaults set": _defaults_set,
    "variables of scopes": _variables_of_scopes,
    "getters": _getters,
    "default stores": _default_stores,
    "buffers": _buffers,
}
