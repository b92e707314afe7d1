"""Programs of the global step: lookup, creation, reads, increments."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.program import Action

__all__ = ["BEHAVIOURS"]


def _looked_up(tf):
    """`get_global_step` looks in the collection, then for the name; several steps are refused."""
    train = tf.train
    graphs = []

    def among(*steps: Action) -> Action:
        def look():
            with tf.Graph().as_default() as graph:
                for step in steps:
                    tf.add_to_collection(tf.GraphKeys.GLOBAL_STEP, step())
                graphs.append(graph)
                step_or_none = train.get_global_step()
                return [
                    step_or_none if step_or_none is None else step_or_none.name,
                    train.get_or_create_global_step().name,
                ]

        return look

    def named(dtype) -> Action:
        def look():
            with tf.Graph().as_default():
                tf.placeholder(dtype, [], name="global_step")
                return train.get_global_step()

        return look

    return attempt(
        among(),
        among(lambda: tf.Variable(0)),
        among(lambda: tf.constant(1)),
        among(lambda: tf.Variable(0), lambda: tf.Variable(1)),
        among(lambda: tf.constant(1.0)),
        among(lambda: tf.constant([1, 2])),
        among(lambda: 3),
        named(tf.int32),
        named(tf.float32),
    )


def _incremented(tf):
    """The increment of the global step waits for the cached read."""
    util = module_of(tf, "training.training_util")
    outcomes = attempt(lambda: util._increment_global_step(1))
    for resource in (False, True):
        with tf.Graph().as_default() as graph, tf.variable_scope("", use_resource=resource):
            step = tf.train.get_or_create_global_step()
            with tf.name_scope("inner"):
                more = util._increment_global_step(2)
            read = util._get_or_create_global_step_read()
            with tf.Session() as session:
                session.run(step.initializer)
                outcomes += [session.run([read, more])[0], session.run(read)]
                outcomes.append(tf.train.global_step(session, step))
            outcomes += [read is util._get_or_create_global_step_read(), nodes(graph)]
    return outcomes


def _reads(tf):
    """The cached read gives the initial value of an uninitialized step; a step may be a tensor."""
    util = module_of(tf, "training.training_util")
    key = "global_step_read_op_cache"
    outcomes = [util._get_or_create_global_step_read()]
    tf.train.create_global_step()
    outcomes.append(run(tf, util._get_or_create_global_step_read()))
    tf.add_to_collection(key, tf.constant(1))
    outcomes += attempt(util._get_or_create_global_step_read, tf.train.create_global_step)
    with tf.Graph().as_default():
        tf.placeholder_with_default(5, [], name="global_step")
        read = util._get_or_create_global_step_read()
        outcomes += [read, run(tf, read)]
    return outcomes


BEHAVIOURS = {
    "found": _looked_up,
    "incremented": _incremented,
    "reads": _reads,
}
