"""Programs that create variables: members, initial values, errors."""

from __future__ import annotations

import functools
from typing import Final

import numpy as np

from sessrun.conformance.subjects.programs.described import caught

__all__ = ["BEHAVIOURS"]

#: Reference variables, resource variables.
KINDS: Final = (False, True)


def construction_errors(tf):
    outcomes = []
    for kind in KINDS:
        make = functools.partial(tf.Variable, use_resource=kind)
        for given in (
            {},
            {"initial_value": None},
            {"initial_value": 1.0, "collections": "mine"},
            {"initial_value": 1.0, "constraint": 3},
            {"initial_value": 1.0, "name": "a b"},
            {"initial_value": 1.5, "dtype": tf.int32},
            {"initial_value": "a", "dtype": tf.float32},
            {"initial_value": [[1], [2, 3]]},
            {"initial_value": 1.0, "name": 3},
            {"initial_value": 1.0, "trainable": False},
            {"initial_value": 1.0, "shape": [2]},
            {"initial_value": [1.0, 2.0], "shape": [2]},
            {"initial_value": 1.0, "synchronization": 7},
            {"initial_value": lambda: None},
            {"initial_value": lambda x: x},
            {"initial_value": 1.0, "aggregation": 7},
            {
                "initial_value": 1.0,
                "trainable": True,
                "synchronization": tf.VariableSynchronization.ON_READ,
            },
        ):
            outcomes.append(caught(functools.partial(make, **given)))  # noqa: PERF401 - as the rest
        unknown = tf.placeholder(tf.float32, [None])
        outcomes.append(caught(functools.partial(make, unknown)))
        wrong = tf.placeholder(tf.int32, [2])
        outcomes.append(caught(functools.partial(make, wrong, dtype=tf.float32)))
    return outcomes


def properties(tf):
    results = []
    for kind in KINDS:
        with tf.name_scope("n"), tf.device("/cpu:0"):
            v = tf.Variable([[1.0, 2.0]], name="v", use_resource=kind)
        results += [
            v.name,
            v.dtype.name,
            v.shape.as_list(),
            v.get_shape().as_list(),
            v.device,
            v.op.name,
            v.op.type,
            v.graph is tf.get_default_graph(),
            v.trainable,
            v.initializer.name,
            v.initial_value.name,
            v.constraint,
            type(v) is tf.Variable,
            hash(v) == hash(v),
            v.synchronization.name,
            v.aggregation.name,
            caught(lambda v=v: len(v)),
            caught(lambda v=v: np.asarray(v)),
            caught(lambda v=v: v.set_shape([1, 2])),
            caught(lambda v=v: setattr(v, "name", "x")),
            caught(lambda v=v: v.experimental_ref() == v.ref()),
            tf.is_tensor(v),
            caught(lambda v=v: v.handle.name),
            tf.get_default_graph().as_graph_element(v).name,
            (np.float32(2) * v).name,
            (v == 3) if True else None,
            tf.shape(v).name,
            caught(lambda v=v: v.numpy()),
            caught(lambda v=v: v.is_initialized().name),
        ]
    return results


def protos(tf):
    results = []
    for kind in KINDS:
        v = tf.Variable([1.0, 2.0], name="v", use_resource=kind, trainable=not kind)
        proto = v.to_proto()
        with tf.name_scope("s"):
            u = tf.Variable(1.0, name="u", use_resource=kind)
        results += [
            proto,
            u.to_proto(export_scope="s"),
            u.to_proto(export_scope="s_1"),
            v.to_proto(export_scope="other"),
            u.to_proto(export_scope="q"),
        ]
        if kind:  # TensorFlow 2.21 restores a reference variable from it
            continue
        again = tf.Variable.from_proto(proto)
        results += [
            again.name,
            again.dtype.name,
            again.trainable,
            again.initializer.name,
            again.value().name,
            again.initial_value.name,
            type(again) is type(v),
            again is v,
            again.op is v.op,
            again.shape.as_list(),
            str(again.to_proto()) == str(proto),
        ]
    return results


def variable_lists(tf):
    tf.Variable(1.0, name="a")
    with tf.variable_scope("s"):
        tf.get_variable("b", [2], trainable=False)
    return [
        tf.global_variables(),
        tf.trainable_variables(),
        tf.global_variables("s"),
        tf.global_variables("x"),
        tf.trainable_variables(scope="a"),
        tf.local_variables(),
        caught(lambda: tf.variables_initializer(None)),
        caught(lambda: tf.variables_initializer([3])),
        caught(lambda: tf.report_uninitialized_variables([3])),
        caught(tf.resource_variables_enabled),
    ]


def initial_values(tf):
    tf.set_random_seed(7)
    results = []
    for name, shape in (("zeros", [2, 2]), ("ones", [3]), ("constant", [2])):
        initializer = getattr(tf.initializers, name)
        given = {"value": 4} if name == "constant" else {}
        with tf.Session() as session:
            results.append(session.run(initializer(**given)(shape)))
            results.append(session.run(initializer(**given)(shape, dtype=tf.int32)))
    for initializer in (
        tf.random_uniform_initializer(-2.0, 3.0),
        tf.initializers.he_uniform(),
        tf.glorot_uniform_initializer(),
        tf.truncated_normal_initializer(),
    ):
        with tf.Session() as session:
            value = session.run(initializer([100, 10]))
            results += [value.shape, bool(-3 < value.min() < 0 < value.max() < 3.5)]
    results += [
        caught(lambda: tf.variance_scaling_initializer(scale=0.0)),
        caught(lambda: tf.variance_scaling_initializer(mode="x")),
        caught(lambda: tf.variance_scaling_initializer(distribution="x")),
        caught(lambda: tf.truncated_normal_initializer(dtype=tf.int32)),
        caught(lambda: tf.constant_initializer({})),
        caught(lambda: tf.glorot_uniform_initializer(dtype=tf.int32)),
        caught(lambda: tf.random_normal_initializer()([2], dtype=tf.int32)),
        caught(lambda: tf.random_uniform_initializer()([2], dtype=tf.int32).dtype.name),
        caught(lambda: tf.zeros_initializer()([2], dtype=tf.string)),
        caught(lambda: tf.constant_initializer([1, 2, 3], verify_shape=True)([2])),
        sorted(tf.glorot_uniform_initializer().get_config().items(), key=str).__len__(),
        str(tf.constant_initializer(2.0).get_config()),
        str(tf.random_normal_initializer(seed=3).get_config()),
        str(tf.glorot_normal_initializer().get_config()),
        str(tf.zeros_initializer().get_config()),
        type(tf.ones_initializer.from_config({"dtype": "float32"})).__name__,
    ]
    return results


def initial_values_of_loops(tf):
    """An output of a loop may be an initial value, a tensor within a loop may not."""
    w = tf.Variable(2.0, name="w")
    _, doubled = tf.while_loop(lambda i, _: i < 3, lambda i, x: (i + 1, 2 * x), (0, 1.0))
    v = tf.Variable(doubled + w.initialized_value(), name="v")

    def body(i):
        tf.Variable(tf.zeros([]), name="inside")
        return i + 1

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [
            session.run(v),
            v.initializer.inputs[1] is v.initial_value,
            caught(lambda: tf.while_loop(lambda i: i < 3, body, (0,))),
        ]


def slices_of_a_variable(tf):
    """`SaveSliceInfo.from_spec` without a name, and with invalid specs."""
    info = tf.Variable.SaveSliceInfo
    words = ("0", "a b", "0 0:0", "0 a,0:0:0", "0 0,a:0:0", "2 3 0,1:1,2")
    return [
        info(None, [2, 3], [0, 2], [1, 1]).spec,
        *(caught(lambda spec=spec: info.from_spec(spec).spec) for spec in words),
    ]


def updates_and_gathers_that_do_not_fit(tf):
    v = tf.Variable([0, 1, 2, 3], use_resource=True, name="v")

    def gathered(batch_dims: int, known: bool):
        indices = tf.constant([1]) if known else tf.placeholder(tf.int32)
        return tf.raw_ops.ResourceGather(
            resource=v.handle, indices=indices, dtype=tf.int32, batch_dims=batch_dims
        ).shape.as_list()

    return [
        [caught(lambda: v.assign_add(1)), caught(lambda: v.assign_sub([1, 2]))],
        [
            caught(functools.partial(gathered, batch_dims, known))
            for batch_dims in (0, 1, 9, -1)
            for known in (True, False)
        ],
    ]


BEHAVIOURS = {
    program.__name__: program
    for program in (
        construction_errors,
        properties,
        protos,
        variable_lists,
        initial_values,
        initial_values_of_loops,
        updates_and_gathers_that_do_not_fit,
    )
} | {
    "places_in_a_whole": slices_of_a_variable,
}
