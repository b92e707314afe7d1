"""Programs of members of variables: protos, copies, batched scatters, loads."""

from __future__ import annotations

import copy
import operator
from typing import Final

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, caught, run
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.variable_graphs import building

__all__ = ["BEHAVIOURS"]

#: Reference variables, resource variables.
KINDS: Final = (False, True)


def _batches_scattered(tf):
    """`batch_scatter_update`, which replaces elements in every batch."""
    outcomes = []
    for kind in KINDS:
        v = tf.Variable(np.zeros([2, 3], np.float32), use_resource=kind)
        w = tf.Variable(np.zeros([2, 3, 2], np.float32), use_resource=kind)
        delta = tf.IndexedSlices([[9.0], [8.0]], [[0], [2]])
        unknown = tf.placeholder(tf.int32)
        outcomes += attempt(
            lambda v=v: _after(tf, tf.batch_scatter_update(v, [[1], [2]], [[5.0], [6.0]]), v),
            lambda v=v: _after(tf, tf.batch_scatter_update(v, [1], [[1.0, 2.0, 3.0]]), v),
            lambda w=w: _after(tf, tf.batch_scatter_update(w, [[1], [0]], np.ones([2, 1, 2])), w),
            lambda v=v, delta=delta: _after(tf, v.batch_scatter_update(delta), v),
            lambda v=v, delta=delta: _after(tf, v.batch_scatter_update(delta, name="rows"), v),
            lambda v=v: v.batch_scatter_update([[1.0]]),
            lambda v=v, at=unknown: tf.batch_scatter_update(v, at, [[5.0]]),
            lambda v=v: tf.batch_scatter_update(v, [[0.5]], [[5.0]]),
            lambda v=v: _after(tf, tf.batch_scatter_update(v, [[7], [0]], [[5.0], [6.0]]), v),
        )
    return outcomes


def _after(tf, update, variable):
    """The value of an update, and the variable's value afterwards."""
    with tf.Session() as session:
        session.run(variable.initializer)
        return [session.run(update), session.run(variable)]


@building
def _graph_of_a_batch(tf):
    v = tf.Variable(np.zeros([2, 3], np.float32), name="v", use_resource=True)
    return tf.identity(tf.batch_scatter_update(v, [[1], [2]], [[5.0], [6.0]], name="rows"))


def _copies(tf):
    """Copies of variables, their conversions to Python values, and in-place operators."""
    outcomes = []
    for kind in KINDS:
        v = tf.Variable([1.0], use_resource=kind)
        outcomes += attempt(
            lambda v=v: copy.copy(v) is v,
            lambda v=v: copy.deepcopy(v) is v,
            lambda v=v: v.initialized_value().shape,
            lambda v=v: v.numpy(),
            lambda v=v: np.asarray(v),
            lambda v=v: bool(v),
            lambda v=v: len(v),
        )
        updates = (operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow)
        outcomes += [caught(lambda v=v, u=update: u(v, 1.0).dtype.name) for update in updates]
    return outcomes


def _members(tf):
    outcomes = []
    for kind in KINDS:
        v = tf.Variable([1.0, 2.0], name="v", use_resource=kind)
        outcomes += attempt(
            lambda v=v: v.create is v.initializer,
            lambda v=v: v.set_shape([2]),
            lambda v=v: v.set_shape([None]),
            lambda v=v: v.set_shape([3]),
            lambda v=v: v.shape,
            lambda v=v: v.get_shape(),
            lambda v=v: v.op.type,
            lambda v=v: v.device,
            lambda v=v: v.experimental_ref() == v.ref(),
            lambda v=v: v.ref().deref() is v,
            lambda v=v: isinstance(v, tf.Variable),
            lambda v=v: str(v.aggregation),
            lambda v=v: str(v.synchronization),
            lambda v=v: v.constraint,
            lambda v=v: [
                v.aggregation == tf.VariableAggregation.NONE,
                v.aggregation == tf.VariableAggregation.SUM,
                v.aggregation in {tf.VariableAggregation.NONE},
            ],
        )
        is_resource = module_of(tf, "ops.resource_variable_ops").is_resource_variable
        outcomes += [is_resource(v), is_resource(v.value()), is_resource(3)]
    return outcomes


def _of_protos(tf):
    """A variable that is restored from its VariableDef, by the operations in the graph."""
    outcomes = []
    for kind in KINDS:
        with tf.variable_scope(f"s{kind}", use_resource=kind):
            v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
            cut = tf.get_variable("cut", [4], partitioner=tf.fixed_size_partitioner(2))
            cached = tf.get_variable("cached", [1], caching_device="/cpu:0")
        for variable in (v, next(iter(cut)), cached):
            message = variable.to_proto()
            again = tf.Variable(variable_def=message, use_resource=kind)
            outcomes += [
                again.op is variable.op,
                again.name,
                again.to_proto() == message,
                again.shape,
            ]
        outcomes += attempt(
            lambda v=v, k=kind: tf.Variable(1.0, variable_def=v.to_proto(), use_resource=k).name,
            lambda v=v: v.to_proto(v.op.name.partition("/")[0]),
            lambda v=v: v.to_proto("q"),
            lambda v=v, k=kind: run(tf, tf.Variable(variable_def=v.to_proto(), use_resource=k)),
        )
    outcomes += attempt(
        lambda: tf.Variable.from_proto(tf.Variable(1, name="r").to_proto()).name,
        lambda: tf.Variable.from_proto(tf.Variable(1, name="r").to_proto(), "elsewhere"),
    )
    return outcomes


def _initializers_of_groups(tf):
    """The deprecated names of functions that initialize several variables."""
    v = tf.Variable(1.0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    w = tf.Variable(2.0)
    with tf.Session() as session:
        session.run(tf.initialize_local_variables())
        outcomes = [session.run(v), session.run(tf.report_uninitialized_variables())]
        session.run(tf.initialize_variables([w]))
        session.run(tf.initialize_all_variables())
        outcomes += [session.run(w), [variable.name for variable in tf.all_variables()]]
    with tf.Graph().as_default():
        outcomes += [tf.assert_variables_initialized(), tf.assert_variables_initialized([])]
        tf.raw_ops.VariableV2(shape=[], dtype=tf.float32)
        outcomes.append(caught(lambda: tf.Session().run(tf.assert_variables_initialized())))
    return outcomes


def _loads(tf):
    """`load` of a value into a session or into the default one."""
    outcomes = []
    for kind in KINDS:
        v = tf.Variable([1.0], use_resource=kind)
        outcomes.append(caught(lambda v=v: v.load([2.0])))
        with tf.Session() as session:
            v.load([3.0])
            outcomes += [session.run(v), caught(lambda v=v: v.load([[4.0]])), session.run(v)]
    return outcomes


BEHAVIOURS = {
    "batches scattered": _batches_scattered,
    "graph of a batch": _graph_of_a_batch,
    "copies": _copies,
    "members": _members,
    "of protos": _of_protos,
    "initializers of groups": _initializers_of_groups,
    "loads": _loads,
}
