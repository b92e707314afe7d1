"""Programs of the nodes of resource variables."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.variable_graphs import building

__all__ = ["BEHAVIOURS"]


def resource_scalar(tf):
    return tf.Variable(1.0, use_resource=True)


def resource_named(tf):
    return [tf.Variable([1, 2], name="v", use_resource=True) for _ in range(2)]


def resource_callable(tf):
    return tf.Variable(lambda: tf.zeros([2]), name="v", use_resource=True, trainable=False)


def resource_of_tensor(tf):
    return tf.Variable(tf.constant([1.0, 2.0], name="c"), name="v", use_resource=True)


def resource_unvalidated(tf):
    value = tf.placeholder(tf.float32, [None, 2])
    return tf.Variable(value, validate_shape=False, name="v", use_resource=True)


def resource_shape(tf):
    v = tf.Variable([[1.0, 2.0]], shape=[None, 2], name="v", use_resource=True)
    return v, v.assign([[1.0, 2.0], [3.0, 4.0]])


def resource_in_device(tf):
    with tf.device("/cpu:0"):
        return tf.Variable(lambda: tf.zeros([2]), name="v", use_resource=True)


def resource_caching_device(tf):
    v = tf.Variable([1.0], name="v", use_resource=True, caching_device="/cpu:0")
    return v, v + 1.0


def resource_in_control_dependencies(tf):
    with tf.control_dependencies([tf.no_op(name="first")]):
        v = tf.Variable([1.0], name="v", use_resource=True)
        return v, v.assign([2.0])


def resource_in_name_scope(tf):
    with tf.name_scope("a"):
        v = tf.Variable([1.0], name="v", use_resource=True)
        return v, v.assign_add([1.0]), v + 1.0, v.read_value()


def resource_in_container(tf):
    with tf.get_default_graph().container("box"):
        return tf.Variable([1.0], name="v", use_resource=True)


def resource_assignments(tf):
    v = tf.Variable([1.0, 2.0], name="v", use_resource=True)
    updates = [
        v.assign([3.0, 4.0]),
        v.assign_add([1.0, 1.0]),
        v.assign_sub([1.0, 1.0], name="minus"),
        v.assign([1.0, 2.0], read_value=False),
        v.assign_add([1.0, 1.0], read_value=False),
        v.assign_sub([0.0, 1.0], read_value=False),
    ]
    return [*updates, updates[0] + 1.0, tf.identity(updates[1])]


def resource_assign_functions(tf):
    v = tf.Variable([1.0, 2.0], name="v", use_resource=True)
    updates = [
        tf.assign(v, [3.0, 4.0]),
        tf.assign_add(v, [1.0, 1.0]),
        tf.assign_sub(v, [1.0, 1.0]),
        tf.assign(v, [3.0, 4.0], name="other"),
    ]
    return [tf.identity(item) for item in updates]


def resource_count_up_to(tf):
    v = tf.Variable(0, name="v", use_resource=True)
    return tf.count_up_to(v, 3), v.count_up_to(4)


def resource_scatter(tf):
    v = tf.Variable([1.0, 2.0], name="v", use_resource=True)
    updates = [
        tf.scatter_update(v, [0], [3.0]),
        tf.scatter_add(v, [0], [3.0]),
        tf.scatter_sub(v, [0], [3.0]),
    ]
    return [tf.identity(item) for item in updates]


def resource_reads(tf):
    v = tf.Variable([1.0, 2.0], name="v", use_resource=True)
    return [v.value(), v.read_value(), tf.identity(v), tf.convert_to_tensor(v), v.handle]


def resource_operators(tf):
    v = tf.Variable([[1.0, 2.0]], name="v", use_resource=True)
    return [v + 1.0, 1.0 - v, v * v, v / 2.0, -v, abs(v), v @ [[1.0], [2.0]], v > 1.0, v**2.0]


def resource_slices(tf):
    v = tf.Variable([[1.0, 2.0]], name="v", use_resource=True)
    return [v[0], v[:, 1:], v[0, 1]]


def resource_of_resource(tf):
    v = tf.Variable([1.0], name="v", use_resource=True)
    return tf.Variable(v * 2.0, name="w", use_resource=True)


def resource_is_initialized(tf):
    v = tf.Variable([1.0], name="v", use_resource=True)
    return tf.is_variable_initialized(v), v.is_initialized(), v.is_initialized(name="known")


def resource_enabled(tf):
    tf.enable_resource_variables()
    try:
        return tf.Variable([1.0], name="v"), tf.get_variable("w", [2])
    finally:
        tf.disable_resource_variables()


def chained_resource(tf):
    v = tf.Variable(1.0, name="v", use_resource=True, caching_device="/cpu:0")
    last = v.assign(2.0).assign_add(3.0, name="more").assign_sub(1.0, read_value=False)
    return (
        last,
        v.assign(3.0) + v.assign(4.0),
        v.read_value(),
        tf.count_up_to(tf.Variable(0, name="n", use_resource=True), 3, name="count"),
    )


BEHAVIOURS = {
    program.__name__: building(program)
    for program in (
        resource_scalar,
        resource_named,
        resource_callable,
        resource_of_tensor,
        resource_unvalidated,
        resource_shape,
        resource_in_device,
        resource_caching_device,
        resource_in_control_dependencies,
        resource_in_name_scope,
        resource_in_container,
        resource_assignments,
        resource_assign_functions,
        resource_count_up_to,
        resource_scatter,
        resource_reads,
        resource_operators,
        resource_slices,
        resource_of_resource,
        resource_is_initialized,
        resource_enabled,
        chained_resource,
    )
}
