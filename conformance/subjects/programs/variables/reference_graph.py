"""Programs of the nodes of reference variables."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.variable_graphs import building

__all__ = ["BEHAVIOURS"]


def ref_scalar(tf):
    return tf.Variable(1.0)


def ref_named_vector(tf):
    return [tf.Variable([1, 2, 3], name="v"), tf.Variable([1, 2, 3], name="v")]


def ref_dtype(tf):
    return tf.Variable([1, 2], dtype=tf.float64, name="v", trainable=False)


def ref_of_tensor(tf):
    return tf.Variable(tf.constant([1.0, 2.0], name="c"), name="v")


def ref_callable(tf):
    return tf.Variable(lambda: tf.constant([1.0, 2.0]), name="v")


def ref_callable_dtype(tf):
    return tf.Variable(lambda: [1, 2], dtype=tf.float32, name="v")


def ref_unvalidated(tf):
    return tf.Variable(tf.placeholder(tf.float32, [None, 2]), validate_shape=False, name="v")


def ref_unvalidated_shape(tf):
    value = tf.placeholder(tf.float32, [None, 2])
    return tf.Variable(value, validate_shape=False, shape=[None, 2], name="v")


def ref_in_device(tf):
    with tf.device("/cpu:0"):
        return tf.Variable([1.0], name="v")


def ref_callable_in_device(tf):
    with tf.device("/cpu:0"):
        return tf.Variable(lambda: tf.zeros([2]), name="v")


def ref_caching_device(tf):
    return tf.Variable([1.0], name="v", caching_device="/cpu:0")


def ref_in_control_dependencies(tf):
    with tf.control_dependencies([tf.no_op(name="first")]):
        v = tf.Variable([1.0], name="v")
        return v, v.assign([2.0])


def ref_in_name_scope(tf):
    with tf.name_scope("a"):
        v = tf.Variable([1.0], name="v")
        return v, v.assign_add([1.0]), v + 1.0


def ref_in_container(tf):
    with tf.get_default_graph().container("box"):
        return tf.Variable([1.0], name="v")


def ref_collections(tf):
    tf.Variable(1.0, name="a", collections=["mine", "yours"])
    tf.Variable(1.0, name="b", collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
    tf.Variable(1.0, name="c", trainable=False)
    return tf.Variable(1.0, name="d")


def ref_assignments(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    return [
        v.assign([3.0, 4.0]),
        v.assign_add([1.0, 1.0], use_locking=True),
        v.assign_sub([1.0, 1.0], name="minus"),
        v.assign([1.0, 2.0], read_value=False),
        v.assign_add([1.0, 1.0], read_value=False),
        v.assign_sub([0.0, 1.0], read_value=False),
    ]


def ref_assign_functions(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    return [
        tf.assign(v, [3.0, 4.0]),
        tf.assign_add(v, [1.0, 1.0]),
        tf.assign_sub(v, [1.0, 1.0]),
        tf.assign(v, [1.0], validate_shape=False, name="other"),
        tf.assign(v, [1.0, 2.0], use_locking=False),
    ]


def ref_chain_of_assignments(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    return tf.assign_add(tf.assign(v, [3.0, 4.0]), [1.0, 1.0])


def ref_count_up_to(tf):
    v = tf.Variable(0, name="v")
    return tf.count_up_to(v, 3), v.count_up_to(4)


def ref_scatter(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    return [
        tf.scatter_update(v, [0], [3.0]),
        tf.scatter_add(v, [0], [3.0]),
        tf.scatter_sub(v, [0], [3.0], use_locking=True),
        tf.scatter_mul(v, [0], [3.0]),
        tf.scatter_div(v, [0], [3.0]),
        tf.scatter_min(v, [0], [3.0]),
        tf.scatter_max(v, [0], [3.0], name="largest"),
    ]


def ref_scatter_nd(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    return [
        tf.scatter_nd_update(v, [[0]], [3.0]),
        tf.scatter_nd_add(v, [[0]], [3.0]),
        tf.scatter_nd_sub(v, [[0]], [3.0]),
        v.scatter_nd_update([[0]], [3.0]),
        v.scatter_nd_add([[0]], [3.0]),
        v.scatter_nd_sub([[0]], [3.0]),
    ]


def ref_reads(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    return [v.value(), v.read_value(), tf.identity(v), tf.convert_to_tensor(v), v._ref()]


def ref_operators(tf):
    v = tf.Variable([[1.0, 2.0]], name="v")
    return [v + 1.0, 1.0 - v, v * v, v / 2.0, -v, abs(v), v @ [[1.0], [2.0]], v > 1.0, v**2.0]


def ref_slices(tf):
    v = tf.Variable([[1.0, 2.0]], name="v")
    return [v[0], v[:, 1:], v[0, 1]]


def ref_slice_assign(tf):
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    return v[:2]


def ref_load(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    with tf.Session() as session:
        v.load([3.0, 4.0], session)
        return session.run(v).tolist()


def ref_is_initialized(tf):
    v = tf.Variable([1.0], name="v")
    return tf.is_variable_initialized(v)


def ref_string(tf):
    return tf.Variable("a", name="s"), tf.Variable(b"b"), tf.Variable([True], name="t")


def ref_use_locking(tf):
    v = tf.Variable([1.0], name="v")
    return v.assign([2.0], use_locking=True), v.assign([2.0], use_locking=False)


def ref_of_numpy(tf):
    return tf.Variable(np.ones([2, 3], np.float64), name="v")


def ref_random(tf):
    return tf.Variable(tf.random_normal([2, 3], seed=1), name="v"), tf.Variable(
        tf.truncated_normal([2, 3], stddev=0.1, seed=1)
    )


def ref_zeros(tf):
    return tf.Variable(tf.zeros([2, 3]), name="v"), tf.Variable(tf.ones([2]), name="w")


def groups_by_device(tf):
    with tf.device("/cpu:0"):
        a = tf.Variable(1.0, name="a")
        b = tf.Variable(1.0, name="b", use_resource=True)
    c = tf.Variable(1.0, name="c")
    with tf.device("/cpu:0"):
        return [
            tf.global_variables_initializer(),
            tf.variables_initializer([a, b]),
            tf.variables_initializer([c]),
            tf.group(a, b, name="both"),
            tf.group(c.value()),
        ]


def reads_elsewhere(tf):
    with tf.device("/cpu:0"):
        a = tf.Variable([1.0], name="a")
        b = tf.Variable([1.0], name="b", use_resource=True)
    c = tf.Variable([1.0], name="c")
    tensors = [b.value(), b.read_value(), a.read_value(), a.assign([2.0]), b.assign([2.0])]
    with tf.device("/device:GPU:0"):
        tensors += [b.value(), b.read_value(), a.read_value(), a.assign([2.0]), c.assign([3.0])]
        tensors += [b.assign_add([2.0]), tf.is_variable_initialized(a), b.is_initialized()]
    with tf.colocate_with(c.op):
        tensors += [b.value(), b.read_value(), a.read_value(), a.assign([2.0]), b.assign([3.0])]
    with tf.control_dependencies([c]), tf.name_scope("n"):
        tensors += [b.value(), b.read_value(), a.read_value(), a.value(), a + 1.0, b + 1.0]
        tensors += [a.assign([2.0]), b.assign([2.0]), tf.identity(b.assign_sub([1.0]))]
    return tensors


def from_protos(tf):
    elements = []
    v = tf.Variable([1.0, 2.0], name="v", trainable=False)
    again = tf.Variable.from_proto(v.to_proto())
    elements += [again, again.value(), again.assign([2.0, 3.0]), again.initializer]
    return elements


def operand_kinds(tf):
    i = tf.Variable([5, 6], name="i")
    b = tf.Variable([True, False], name="b", use_resource=True)
    c = tf.Variable([1.0 + 2.0j], name="c", use_resource=True)
    return [
        i // 2,
        i % 2,
        i / 2,
        7 - i,
        7 // i,
        7 % i,
        2 / i,
        i & 3,
        i | 1,
        i ^ 1,
        ~i,
        ~b,
        b & True,
        b | b,
        abs(c),
        i < 3,
        i >= 5,
        2**i,
        np.int32(3) * i,
        i + np.array([1, 2], np.int32),
    ]


BEHAVIOURS = {
    program.__name__: building(program)
    for program in (
        ref_scalar,
        ref_named_vector,
        ref_dtype,
        ref_of_tensor,
        ref_callable,
        ref_callable_dtype,
        ref_unvalidated,
        ref_unvalidated_shape,
        ref_in_device,
        ref_callable_in_device,
        ref_caching_device,
        ref_in_control_dependencies,
        ref_in_name_scope,
        ref_in_container,
        ref_collections,
        ref_assignments,
        ref_assign_functions,
        ref_chain_of_assignments,
        ref_count_up_to,
        ref_scatter,
        ref_scatter_nd,
        ref_reads,
        ref_operators,
        ref_slices,
        ref_slice_assign,
        ref_load,
        ref_is_initialized,
        ref_string,
        ref_use_locking,
        ref_of_numpy,
        ref_random,
        ref_zeros,
        groups_by_device,
        reads_elsewhere,
        from_protos,
        operand_kinds,
    )
}
