"""Programs of critical sections: nodes, errors, mutual exclusion."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Action

__all__ = ["BEHAVIOURS"]


def _counting(tf, v) -> Action:
    """A function that reads a variable and then increments it."""

    def count():
        value = v.value()
        with tf.control_dependencies([value]):
            raised = v.assign_add(tf.constant(2.0))
            with tf.control_dependencies([raised]):
                return tf.identity(value), {"now": tf.identity(raised)}

    return count


def _built(tf):
    section = tf.CriticalSection(shared_name="shared")
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    with tf.name_scope("outer"):
        section.execute(_counting(tf, v))
        section.execute(_counting(tf, v), name="named")
    tf.CriticalSection(name="own")
    graph = tf.get_default_graph()
    nodes = [
        [
            op.name,
            op.type,
            [i.name for i in op.inputs],
            [i.name for i in op.control_inputs],
            op.colocation_groups(),
        ]
        for op in graph.get_operations()
    ]
    return [
        section.name,
        nodes,
        len(tf.get_collection("critical_sections")),
        len(tf.get_collection("critical_section_executions")),
    ]


def _counted(tf):
    section = tf.CriticalSection()
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    taken = [section.execute(_counting(tf, v)) for _ in range(30)]
    looped = tf.while_loop(lambda i: i < 5, lambda i: section.execute(lambda: i + 1), [0])
    chosen = tf.cond(
        tf.constant(True), lambda: section.execute(lambda: tf.constant(7)), lambda: tf.constant(8)
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = session.run(taken)
        return [
            sorted(value for value, _ in values),
            [state["now"] - value for value, state in values],
            session.run([looped, chosen, v]),
        ]


def _refused(tf):
    section, other = tf.CriticalSection(shared_name="shared"), tf.CriticalSection()
    same = tf.CriticalSection(shared_name="shared")
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    count = _counting(tf, v)
    section.execute(count)

    def executed(where, what: Action, **options) -> Action:
        return lambda: where.execute(what, **options) is not None

    return attempt(
        executed(section, lambda: section.execute(count)),
        executed(other, count),
        executed(other, count, exclusive_resource_access=False),
        executed(same, count),
        executed(section, lambda: same.execute(count)),
        executed(section, lambda: None),
        lambda: tf.CriticalSection(critical_section_def=3),
    )


def _after_failures(tf):
    section = tf.CriticalSection()
    failing = section.execute(lambda: tf.check_numerics(tf.constant(1.0) / tf.constant(0.0), "x"))
    working = section.execute(lambda: tf.constant(3))
    held = tf.raw_ops.MutexLock(mutex=tf.raw_ops.MutexV2(shared_name="held"))
    with tf.Session() as session:
        return attempt(
            lambda: session.run(failing),
            lambda: session.run(working),
            lambda: session.run(held.op),
            lambda: session.run(held.op),
            lambda: run(tf, working),
        )


BEHAVIOURS = {
    "built": _built,
    "counted": _counted,
    "refused": _refused,
    "after_failures": _after_failures,
}
