"""Programs of the nodes of variables in scopes."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.variable_graphs import building

__all__ = ["BEHAVIOURS"]


def get_default(tf):
    return tf.get_variable("w", [2, 3]), tf.get_variable("n", [2], tf.int32)


def get_dtypes(tf):
    return [
        tf.get_variable(f"v{index}", [2], dtype)
        for index, dtype in enumerate((tf.float64, tf.float16, tf.bool, tf.int64, tf.uint8))
    ]


def get_string(tf):
    return tf.get_variable("s", [2], tf.string, initializer=tf.constant_initializer("a"))


def get_initializers(tf):
    return [
        tf.get_variable("a", [2, 3], initializer=tf.zeros_initializer()),
        tf.get_variable("b", [2, 3], initializer=tf.ones_initializer()),
        tf.get_variable("c", [2, 3], initializer=tf.constant_initializer(2.5)),
        tf.get_variable("d", [2, 2], initializer=tf.constant_initializer([1.0, 2.0, 3.0, 4.0])),
        tf.get_variable("e", [2, 3], initializer=tf.random_uniform_initializer(-1.0, 1.0, seed=1)),
        tf.get_variable("f", [2, 3], initializer=tf.random_normal_initializer(1.0, 2.0, seed=1)),
        tf.get_variable("g", [2, 3], initializer=tf.truncated_normal_initializer(seed=1)),
        tf.get_variable("h", [2, 3], initializer=tf.uniform_unit_scaling_initializer(seed=1)),
        tf.get_variable("i", [2, 3], initializer=tf.zeros_initializer),
        tf.get_variable("j", [2, 3], tf.int32, initializer=tf.ones_initializer()),
    ]


def get_variance_scaling(tf):
    variables = []
    for mode in ("fan_in", "fan_out", "fan_avg"):
        for distribution in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            initializer = tf.variance_scaling_initializer(2.0, mode, distribution, seed=1)
            name = f"{mode}_{distribution}"
            variables.append(tf.get_variable(name, [3, 3, 4, 5], initializer=initializer))
    return variables


def get_named_initializers(tf):
    return [
        tf.get_variable("a", [2, 3], initializer=tf.glorot_uniform_initializer(seed=1)),
        tf.get_variable("b", [2, 3], initializer=tf.glorot_normal_initializer(seed=1)),
        tf.get_variable("c", [2, 3], initializer=tf.initializers.he_normal(seed=1)),
        tf.get_variable("d", [2, 3], initializer=tf.initializers.he_uniform(seed=1)),
        tf.get_variable("e", [2, 3], initializer=tf.initializers.lecun_normal(seed=1)),
        tf.get_variable("f", [2, 3], initializer=tf.initializers.lecun_uniform(seed=1)),
        tf.get_variable("h", [3], initializer=tf.initializers.glorot_uniform()),
        tf.get_variable("i", [], initializer=tf.glorot_uniform_initializer()),
    ]


def get_large_zeros(tf):
    return tf.get_variable("a", [100, 20], initializer=tf.zeros_initializer()), tf.get_variable(
        "b", [100, 20], initializer=tf.ones_initializer()
    )


def get_of_tensor(tf):
    return [
        tf.get_variable("a", initializer=tf.constant([1.0, 2.0])),
        tf.get_variable("b", initializer=[1, 2]),
        tf.get_variable("c", initializer=lambda: tf.zeros([2])),
        tf.get_variable("d", [2], initializer=lambda shape, dtype, **_: tf.zeros(shape, dtype)),
        tf.get_variable("e", initializer=np.float64(3.0)),
    ]


def get_in_scope(tf):
    with tf.variable_scope("a"):
        first = tf.get_variable("w", [2])
        total = first + 1.0
        with tf.variable_scope("b"):
            second = tf.get_variable("w", [2])
            other = second * 2.0
    with tf.variable_scope("a"):
        third = tf.get_variable("x", [2])
        return first, total, second, other, third, tf.add(third, 1.0)


def get_reused(tf):
    with tf.variable_scope("a"):
        w = tf.get_variable("w", [2])
    with tf.variable_scope("a", reuse=True):
        again = tf.get_variable("w", [2])
        with tf.variable_scope("b"):
            inner = tf.get_variable_scope().reuse
    with tf.variable_scope("a") as scope:
        scope.reuse_variables()
        third = tf.get_variable("w")
    return w is again, w is third, inner, w


def get_auto_reused(tf):
    variables = []
    for _ in range(2):
        with tf.variable_scope("a", reuse=tf.AUTO_REUSE):
            variables += [tf.get_variable("w", [2]), tf.get_variable("x", [3])]
    return variables[0] is variables[2], variables[1] is variables[3], *variables


def get_scope_object(tf):
    with tf.variable_scope("a") as a:
        tf.get_variable("w", [2])
    with tf.variable_scope("b"):
        with tf.variable_scope(a) as again:
            x = tf.get_variable("x", [2])
            y = x + 1.0
        with tf.variable_scope(a, auxiliary_name_scope=False):
            z = x + 2.0
        with tf.variable_scope("c", auxiliary_name_scope=False):
            u = tf.get_variable("u", [2]) + 3.0
    return a.name, again.name, a.original_name_scope, again.original_name_scope, x, y, z, u


def get_default_name(tf):
    names = []
    for _ in range(2):
        with tf.variable_scope(None, "layer") as scope:
            names.append((scope.name, tf.get_variable("w", [2])))
            with tf.variable_scope(None, "inner") as inner:
                names.append((inner.name, tf.get_variable("w", [2])))
    return names


def get_scope_defaults(tf):
    with tf.variable_scope(
        "a",
        initializer=tf.constant_initializer(3.0),
        dtype=tf.float64,
        caching_device="/cpu:0",
    ) as scope:
        w = tf.get_variable("w", [2])
        with tf.variable_scope("b", dtype=tf.float32, initializer=tf.ones_initializer()):
            x = tf.get_variable("x", [2])
        return w, x, scope.dtype, scope.reuse


def get_regularized(tf):
    def regularizer(value):
        return tf.reduce_sum(value, name="sum")

    with tf.variable_scope("a", regularizer=regularizer):
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
        x = tf.get_variable("x", [2], regularizer=tf.no_regularizer)
    return w, x, tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)


def get_regularized_resource(tf):
    def regularizer(value):
        return tf.reduce_sum(value, name="sum")

    w = tf.get_variable("w", [2], regularizer=regularizer, use_resource=True)
    return w, tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)


def get_custom_getter(tf):
    def doubled(getter, name: str, *args, **kwargs):
        return getter(name, *args, **kwargs) * 2.0

    def renamed(getter, name: str, *args, **kwargs):
        return getter(name + "_r", *args, **kwargs)

    with tf.variable_scope("a", custom_getter=doubled):
        w = tf.get_variable("w", [2])
        with tf.variable_scope("b", custom_getter=renamed):
            x = tf.get_variable("x", [2])
        y = tf.get_variable("y", [2], custom_getter=renamed)
    return w, x, y


def get_local(tf):
    a = tf.get_local_variable("a", [2], initializer=tf.zeros_initializer())
    with tf.variable_scope("s"):
        b = tf.get_variable("b", [2], collections=["mine"], trainable=False)
    return a, b, tf.local_variables(), tf.global_variables()


def get_resource(tf):
    with tf.variable_scope("a", use_resource=True):
        w = tf.get_variable("w", [2, 3])
        x = tf.get_variable("x", [2], use_resource=False)
        return w, x, w + 1.0


def get_in_name_scope(tf):
    with tf.name_scope("n"):
        w = tf.get_variable("w", [2])
        with tf.variable_scope("a"):
            x = tf.get_variable("x", [2])
            v = tf.Variable([1.0], name="v")
            return w, x, v, tf.add(w, x)


def get_in_device(tf):
    with tf.device("/cpu:0"):
        return tf.get_variable("w", [2, 3]), tf.get_variable("x", [2], use_resource=True)


def get_in_control_dependencies(tf):
    with tf.control_dependencies([tf.no_op(name="first")]):
        return tf.get_variable("w", [2, 3]), tf.get_variable("x", [2], use_resource=True)


def get_variable_op_scope(tf):
    with tf.variable_op_scope([tf.constant(1.0)], "a", "default"):
        return tf.get_variable("w", [2])


def get_nested_names(tf):
    with tf.variable_scope("a/b"):
        w = tf.get_variable("c/w", [2])
        with tf.variable_scope(tf.get_variable_scope(), reuse=True):
            again = tf.get_variable("c/w", [2])
    with tf.variable_scope(""):
        x = tf.get_variable("x", [2]) + 1.0
    return w, again is w, x


def get_synchronized(tf):
    return tf.get_variable(
        "w",
        [2],
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.MEAN,
    )


def initializers_of_all(tf):
    a = tf.Variable(1.0, name="a")
    tf.Variable(1.0, name="b", use_resource=True)
    tf.get_local_variable("c", [2])
    return [
        tf.global_variables_initializer(),
        tf.local_variables_initializer(),
        tf.variables_initializer([a], name="some"),
        tf.initialize_all_variables(),
        tf.initialize_variables([a]),
        tf.variables_initializer([]),
    ]


def initializers_of_none(tf):
    return tf.global_variables_initializer(), tf.local_variables_initializer()


def reports(tf):
    tf.Variable(1.0, name="a")
    tf.Variable(1.0, name="b", use_resource=True)
    tf.get_local_variable("c", [2])
    return tf.report_uninitialized_variables()


def reports_of_none(tf):
    return tf.report_uninitialized_variables()


def asserts(tf):
    tf.Variable(1.0, name="a")
    tf.Variable([1, 2], name="b")
    return tf.assert_variables_initialized(), tf.assert_variables_initialized([])


def lists(tf):
    tf.Variable(1.0, name="a", trainable=False)
    with tf.variable_scope("s"):
        tf.get_variable("b", [2])
        tf.Variable(1.0, name="c", use_resource=True)
    return [
        tf.global_variables(),
        tf.trainable_variables(),
        tf.local_variables(),
        tf.trainable_variables("s"),
        tf.global_variables(scope="s/b"),
        tf.model_variables(),
        tf.get_variable("of_the_model", [], collections=[tf.GraphKeys.MODEL_VARIABLES]),
        tf.model_variables(),
        tf.moving_average_variables(),
        tf.all_variables(),
        tf.get_variable_scope().global_variables(),
        tf.get_variable_scope().name,
    ]


def get_with_dtype_names(tf):
    with tf.variable_scope("s", dtype=tf.float64):
        a = tf.get_variable("a", [2], "float32")
        b = tf.get_variable("b", (2, 3), initializer=tf.zeros_initializer(tf.int32))
        c = tf.get_variable("c", tf.TensorShape([2]), initializer=tf.ones_initializer)
        d = tf.get_variable("d", 4, tf.int64)
    return a, b, c, d


def scopes_in_scopes(tf):
    variables = []
    with tf.variable_scope("a"):
        with tf.variable_scope(None, "x"):
            variables.append(tf.get_variable("w", []))
        with tf.variable_scope("x"):
            variables.append(tf.get_variable("v", []))
        with tf.variable_scope(None, "x") as inner:
            variables.append(tf.get_variable("w", []))
    with tf.variable_scope("a", reuse=tf.AUTO_REUSE), tf.variable_scope(None, "x"):
        variables.append(tf.get_variable("w", []))
    with tf.variable_scope(inner), tf.variable_scope(None, "x"):
        variables.append(tf.get_variable("w", []))
    with tf.variable_scope(inner), tf.variable_scope(None, "x"):
        variables.append(tf.get_variable("u", []) + 1.0)
    return variables


def seeded_initializers(tf):
    tf.set_random_seed(3)
    return [
        tf.get_variable("a", [2]),
        tf.get_variable("b", [2]),
        tf.get_variable("c", [2], initializer=tf.random_normal_initializer(seed=5)),
        tf.Variable(tf.random_uniform([2]), name="d"),
        tf.get_variable("e", [2], tf.int32, tf.random_uniform_initializer(0, 9, dtype=tf.int32)),
    ]


BEHAVIOURS = {
    program.__name__: building(program)
    for program in (
        get_default,
        get_dtypes,
        get_string,
        get_initializers,
        get_variance_scaling,
        get_named_initializers,
        get_large_zeros,
        get_of_tensor,
        get_in_scope,
        get_reused,
        get_auto_reused,
        get_scope_object,
        get_default_name,
        get_scope_defaults,
        get_regularized,
        get_regularized_resource,
        get_custom_getter,
        get_local,
        get_resource,
        get_in_name_scope,
        get_in_device,
        get_in_control_dependencies,
        get_variable_op_scope,
        get_nested_names,
        get_synchronized,
        initializers_of_all,
        initializers_of_none,
        reports,
        reports_of_none,
        asserts,
        lists,
        get_with_dtype_names,
        scopes_in_scopes,
        seeded_initializers,
    )
}
