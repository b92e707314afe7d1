"""What `Variable` of a module path is: only we and TensorFlow have the paths."""

from __future__ import annotations

import importlib
from typing import Any

from sessrun.conformance.subjects.programs.described import caught


def of_version_two(tf: Any) -> Any:
    """`Variable` of `python.ops.variables` makes resource variables, whatever the default is."""
    package = "tensorflow" if tf.__name__.startswith("tensorflow") else "sessrun.reference"
    variables = importlib.import_module(f"{package}.python.ops.variables")
    seen: list[Any] = []

    def creator(next_creator: Any, **arguments: Any) -> Any:
        seen.append(sorted(arguments))
        return next_creator(**arguments)

    with tf.variable_creator_scope(creator):
        v = variables.Variable([1.0, 2.0], name="v", trainable=False)
    any_shape = variables.Variable([1.0], shape=tf.TensorShape(None), name="any_shape")
    first = tf.Variable(3.0, name="first")
    second = variables.VariableAggregationV2.MEAN
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(any_shape.assign([[1.0], [2.0]]))
        values = session.run([v, any_shape, first])
    return [
        seen,
        v.op.type,
        v.trainable,
        [each.name for each in tf.global_variables()],
        [isinstance(each, variables.Variable) for each in (v, first, tf.constant(1.0))],
        [isinstance(each, tf.Variable) for each in (v, first, tf.constant(1.0))],
        issubclass(tf.Variable, variables.Variable),
        values,
        second == tf.VariableAggregation.MEAN,
        second == tf.VariableAggregation.SUM,
        second == 2,
        len({second, tf.VariableAggregation.MEAN}),
        variables.Variable(1.0, aggregation=second).aggregation == second,
        variables.Variable(variable_def=v.to_proto()).op is v.op,
        caught(lambda: variables.Variable(variable_def=first.to_proto())),
        caught(lambda: variables.Variable(1.0, collections=["mine"])),
        tf.get_collection("mine"),
        caught(lambda: variables.Variable()),
    ]


BEHAVIOURS = {"of version two": of_version_two}
