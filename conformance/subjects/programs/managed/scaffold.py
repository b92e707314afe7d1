"""Programs of scaffolds, of `run_step_fn`, and of the savers that checkpoint hooks use."""

from __future__ import annotations

import functools
import itertools
from pathlib import Path
from typing import Final

from sessrun.conformance.subjects.programs.described import attempt, caught
from sessrun.conformance.subjects.programs.program import Plain
from sessrun.conformance.subjects.programs.saved_graphs import in_a_folder

__all__ = ["BEHAVIOURS"]

_PARTS: Final = (
    "init_op",
    "init_feed_dict",
    "ready_op",
    "ready_for_local_init_op",
    "local_init_op",
    "local_init_feed_dict",
    "summary_op",
    "saver",
    "init_fn",
)


def _named(value):
    """A part of a scaffold: its name, or that of its class."""
    if isinstance(value, dict):
        return {key.name: number for key, number in value.items()}
    return getattr(value, "name", value if value is None else type(value).__name__)


def _parts(scaffold) -> list[Plain]:
    return [[part, _named(getattr(scaffold, part))] for part in _PARTS]


def _given(tf, prefix: str):
    """An argument for every part of a scaffold."""
    fed = tf.placeholder(tf.float32, [], name=f"{prefix}_fed")
    operations = {
        part: tf.constant([], tf.string, name=f"{prefix}_{part}")
        for part in ("ready_op", "ready_for_local_init_op", "summary_op")
    }
    operations |= {part: tf.no_op(name=f"{prefix}_{part}") for part in ("init_op", "local_init_op")}
    return {
        **operations,
        "init_feed_dict": {fed: 1.0},
        "local_init_feed_dict": {fed: 2.0},
        "init_fn": lambda *_: None,
        "saver": tf.train.Saver(),
    }


def _copied(tf):
    """Scaffolds that copy the parts of another one and have one part of their own."""
    tf.get_variable("v", initializer=1.0)
    first, second = _given(tf, "first"), _given(tf, "second")
    original = tf.train.Scaffold(**first)
    copies = [
        tf.train.Scaffold(copy_from_scaffold=original, **{part: second[part]}) for part in _PARTS
    ]
    copies.append(tf.train.Scaffold(copy_from_scaffold=original))
    copies.append(tf.train.Scaffold(copy_from_scaffold=tf.train.Scaffold(), **first))
    saver_kept = [copy.saver is original.saver for copy in copies]
    partial = [tf.train.Scaffold(**{part: first[part]}) for part in _PARTS]
    finished = attempt(*(lambda copy=copy: _parts(copy.finalize()) for copy in copies[-2:]))
    return (
        [_parts(copy) for copy in copies],
        saver_kept,
        [_parts(scaffold) for scaffold in partial],
        finished,
    )


def _finalized(tf):
    """Parts that `finalize` takes from collections or creates, and errors for two candidates."""
    keys = tf.GraphKeys
    collections = (
        keys.INIT_OP,
        keys.READY_OP,
        keys.READY_FOR_LOCAL_INIT_OP,
        keys.LOCAL_INIT_OP,
        keys.SUMMARY_OP,
        keys.SAVERS,
    )

    def finalized(key, count: int):
        with tf.Graph().as_default() as graph:
            tf.get_variable("v", initializer=1.0)
            tf.get_local_variable("l", initializer=2.0)
            tf.summary.scalar("s", 3.0)
            for number in range(count):
                graph.add_to_collection(
                    key,
                    tf.train.Saver()
                    if key == keys.SAVERS
                    else tf.constant([], tf.string, name=f"kept{number}"),
                )
            scaffold = tf.train.Scaffold().finalize()
            kept = [len(graph.get_collection(key)) for key in collections]
            return _parts(scaffold), kept, graph.finalized

    def unset(key: str):
        with tf.Graph().as_default() as graph:
            make = functools.partial(tf.no_op, name="made")
            names = [_named(tf.train.Scaffold.get_or_default("a", key, make)) for _ in range(2)]
            nothing = tf.train.Scaffold.get_or_default("a", "none", lambda: None)
            return names, nothing, graph.get_all_collection_keys()

    return attempt(
        *(lambda key=key, n=n: finalized(key, n) for key in collections for n in (0, 1, 2)),
        lambda: unset("mine"),
    )


def _initialized(tf):
    """The order in which a session is initialized, and the arguments of `init_fn`."""
    tf.train.get_or_create_global_step()
    fed, local_fed = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    v, w = tf.get_variable("v", initializer=fed), tf.get_variable("w", initializer=0.5)
    local = tf.get_local_variable("l", initializer=local_fed)
    seen = []

    def note(scaffold, session) -> None:
        values = session.run([v, w]), caught(lambda: session.run(local))
        seen.append([scaffold is second, *values])

    assigned = w.assign(v * 3.0)
    first = tf.train.Scaffold(
        init_feed_dict={fed: 4.0}, local_init_feed_dict={local_fed: 7.0}, init_fn=note
    )
    own = tf.group(tf.global_variables_initializer(), name="mine")
    second = tf.train.Scaffold(copy_from_scaffold=first, init_op=own)
    with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(second)) as session:
        seen.append(session.run([v, w, local]))
        session.run(assigned)
        return [*seen, session.run([v, w, local])]


def _functions_of_steps(tf, step, add):
    """Functions for `run_step_fn`: those that are steps, and those that end the session."""

    def without(step_context):
        return step_context.session.run(add), type(step_context.session).__name__

    def both(step_context):
        one = step_context.session.run(add)
        return one, step_context.run_with_hooks(add), step_context.run_with_hooks(fetches=step)

    def stopping(step_context):
        step_context.session.run(add)
        step_context.request_stop()

    def failing(step_context):
        raise tf.errors.OutOfRangeError(None, None, "no more")

    def other(context):
        return context

    def two(step_context, more):
        return step_context.session.run(step) + more

    functions = [
        without,
        both,
        functools.partial(two, more=5),
        functools.partial(two, 5),
        two,
        other,
        lambda: 1,
        3,
    ]
    return functions, [without, stopping, failing]


def _steps(tf):
    """`run_step_fn` with and without hooks, in every kind of monitored session."""
    step = tf.train.get_or_create_global_step()
    functions, endings = _functions_of_steps(tf, step, step.assign_add(1))
    calls = []

    class Noting(tf.train.SessionRunHook):  # type: ignore[misc,name-defined]  # of the namespace
        """A hook that counts the runs that it sees."""

        def after_run(self, _context, _values) -> None:
            calls.append("run")

    outcomes = []
    for kind, last in itertools.product(
        (
            tf.train.MonitoredSession,
            tf.train.SingularMonitoredSession,
            tf.train.MonitoredTrainingSession,
        ),
        endings,
    ):
        with kind(hooks=[Noting()]) as session:
            outcomes.append(attempt(*(lambda f=f: session.run_step_fn(f) for f in functions)))
            session.run_step_fn(last)
            outcomes.append("after")
        outcomes += [
            list(calls),
            session.should_stop(),
            caught(lambda: session.run_step_fn(functions[0])),
        ]
        calls.clear()
    return outcomes


@in_a_folder
def _savers(tf):
    """The saver of a hook: the argument, the scaffold's, or the only one in the collection."""
    names = ("step", "v")

    def saved(count: int, given: str):
        folder = f"d{count}{given}"
        with tf.Graph().as_default() as graph:
            step = tf.train.get_or_create_global_step()
            v = tf.get_variable("v", initializer=3.0)
            variables = dict(zip(names, (step, v), strict=True))
            for number in range(count):
                name = names[number]
                tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver({name: variables[name]}))
            own = tf.train.Saver({"own": v, "own_step": step})
            options = {
                "saver": {"saver": own},
                "none": {},
                "scaffold": {"scaffold": tf.train.Scaffold(saver=own)},
            }[given]
            hook = tf.train.CheckpointSaverHook(folder, save_steps=2, **options)
            add = step.assign_add(1)
            hook.begin()
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                hook.after_create_session(session, None)
                for _ in range(3):
                    session.run(add)
                hook.end(session)
        latest = tf.train.latest_checkpoint(folder)
        kept = sorted(path.name for path in Path(folder).iterdir() if "tfevents" not in path.name)
        return tf.train.list_variables(latest), Path(latest).name, kept, graph.finalized

    return attempt(
        *(lambda n=n, g=g: saved(n, g) for n in range(3) for g in ("none", "saver", "scaffold"))
    )


BEHAVIOURS = {
    "copied": _copied,
    "finalized": _finalized,
    "initialized": _initialized,
    "savers of hooks": _savers,
    "steps": _steps,
}
