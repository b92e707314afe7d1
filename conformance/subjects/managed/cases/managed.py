"""Vectors of MANAGED: which hook is called when, and how a session is made, lost and closed."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, api_case
from sessrun.conformance.subjects.managed.hook_schedules import expected


def _life(c: ApiAuthor, hooks: Any, body: list[str], **more: Any) -> None:
    """Run the check `managed.life` on these hooks and actions, and expect what its model says."""
    want = expected(hooks, body, **more)
    c.named_check("managed.life", want, hooks=hooks, body=body, **more)


@api_case(
    "MANAGED-001",
    title="Hooks begin in order, once, though the session is made twice.",
)
def hooks_begin_once(c: ApiAuthor) -> None:
    lost = ["created", 1, "AbortedError"]
    _life(c, [{"name": "b"}, {"name": "a", "raises": [lost]}], ["step"])


@api_case("MANAGED-001", title="An operation that a hook adds in begin can be fetched.")
def begin_may_add_operations(c: ApiAuthor) -> None:
    c.named_check("managed_parts.added_in_begin", 12, value=12)


@api_case("MANAGED-002", title="Hooks are told of each session that is made.")
def hooks_are_told_of_sessions(c: ApiAuthor) -> None:
    lost = ["before", 2, "AbortedError"]
    _life(c, [{"name": "a"}, {"name": "b", "raises": [lost]}], ["step", "step", "step"])


@api_case("MANAGED-002", title="Variables are initialized when a hook is told of the session.")
def variables_are_there_for_hooks(c: ApiAuthor) -> None:
    c.named_check("managed_parts.seen_when_created", [5], value=5)


@api_case("MANAGED-003", title="Before and after a run the hooks are called in their order.")
def hooks_keep_their_order(c: ApiAuthor) -> None:
    _life(c, [{"name": name} for name in "cab"], ["step", "step 4"])


@api_case("MANAGED-004", title="What hooks fetch is of the caller's run.")
def hooks_fetch(c: ApiAuthor) -> None:
    hooks = [{"name": "a", "fetches": True}, {"name": "b"}]
    _life(c, hooks, ["step", "step 17", "step"])


@api_case("MANAGED-004", title="A step that a hook fetches too is made once.")
def a_step_is_made_once(c: ApiAuthor) -> None:
    c.named_check("managed_parts.fetched_step", [[1, 1], [2, 2]], runs=2)


@api_case("MANAGED-005", title="A hook feeds each run.")
def hooks_feed(c: ApiAuthor) -> None:
    hooks = [{"name": "a", "feeds": 41}, {"name": "b", "fetches": True}]
    _life(c, hooks, ["step", "step"])


@api_case("MANAGED-005", title="The caller's dictionary of feeds stays as it is.")
def feeds_of_the_caller_stay(c: ApiAuthor) -> None:
    c.named_check("managed_parts.fed_together", [7, 1], hook=3, caller=4)


@api_case("MANAGED-006", title="A tensor that two hooks feed is refused.")
def two_hooks_feed_one_tensor(c: ApiAuthor) -> None:
    hooks = [{"name": "a", "feeds": 1}, {"name": "b", "feeds": 1}]
    _life(c, hooks, ["try step", "stop?"])


@api_case("MANAGED-006", title="A tensor that a hook and the caller feed is refused.")
def a_hook_and_the_caller_feed_one_tensor(c: ApiAuthor) -> None:
    _life(c, [{"name": "a", "feeds": 1}, {"name": "b"}], ["step", "try step 5", "step"])


@api_case("MANAGED-007", title="A hook that asks to stop after a run stops the session.")
def hooks_stop_after(c: ApiAuthor) -> None:
    hooks = [{"name": "a", "stops": [["after", 2]]}, {"name": "b"}]
    _life(c, hooks, ["stop?", "step", "stop?", "step", "stop?"])


@api_case("MANAGED-007", title="A hook that asks to stop before a run stops the session after it.")
def hooks_stop_before(c: ApiAuthor) -> None:
    _life(c, [{"name": "a", "stops": [["before", 1]]}], ["step 3", "stop?"])


@api_case("MANAGED-008", title="A run after a stop is refused, and no hook is called.")
def runs_after_a_stop_are_refused(c: ApiAuthor) -> None:
    hooks = [{"name": "a", "stops": [["after", 1]]}]
    _life(c, hooks, ["step", "try step", "try step 2", "stop?"])


@api_case("MANAGED-009", title="Hooks end in order, in a session that runs.")
def hooks_end(c: ApiAuthor) -> None:
    _life(c, [{"name": "b"}, {"name": "a"}], ["step"])


@api_case("MANAGED-009", title="Hooks end when the session is closed.")
def hooks_end_with_close(c: ApiAuthor) -> None:
    c.named_check("managed_parts.ended_by_close", ["begin", "end 3"], value=3)


@api_case("MANAGED-010", title="An error leaves the block, and no hook is told of the end.")
def errors_leave_the_block(c: ApiAuthor) -> None:
    for kind in ("ValueError", "InternalError"):
        _life(c, [{"name": "a"}], ["step", f"raise {kind}"])


@api_case("MANAGED-010", title="A lost task that is noticed outside of a run leaves the block.")
def lost_tasks_leave_the_block(c: ApiAuthor) -> None:
    _life(c, [{"name": "a"}], ["step", "raise AbortedError"])


@api_case("MANAGED-011", title="The end of the input ends a block as planned.")
def the_end_of_the_input(c: ApiAuthor) -> None:
    _life(c, [{"name": "a"}], ["step", "raise OutOfRangeError"])
    _life(c, [{"name": "a", "raises": [["before", 2, "OutOfRangeError"]]}], ["step", "step"])


@api_case("MANAGED-011", title="StopIteration ends a block as planned.")
def stop_iteration_ends(c: ApiAuthor) -> None:
    _life(c, [{"name": "a", "raises": [["after", 1, "StopIteration"]]}], ["step", "step"])


@api_case("MANAGED-012", title="A run that loses a task is made again in a new session.")
def lost_tasks_are_recovered_from(c: ApiAuthor) -> None:
    lost = ["before", 3, "AbortedError"]
    _life(c, [{"name": "a"}, {"name": "b", "raises": [lost]}], ["step"] * 4)


@api_case(
    "MANAGED-012",
    title="A task that is lost after the run, and again, is recovered from.",
)
def tasks_are_lost_again(c: ApiAuthor) -> None:
    lost = [["after", 2, "UnavailableError"], ["after", 3, "AbortedError"]]
    _life(c, [{"name": "a", "raises": lost}, {"name": "b", "fetches": True}], ["step"] * 3)


@api_case(
    "MANAGED-012",
    title="A task that is lost while the session is made is recovered from.",
)
def tasks_are_lost_in_the_making(c: ApiAuthor) -> None:
    lost = [["created", 1, "UnavailableError"], ["created", 2, "UnavailableError"]]
    _life(c, [{"name": "a", "raises": lost}], ["step"])


@api_case("MANAGED-013", title="A SingularMonitoredSession tells its caller of a lost task.")
def singular_sessions_do_not_recover(c: ApiAuthor) -> None:
    for kind in ("AbortedError", "UnavailableError"):
        hook = {"name": "a", "raises": [["before", 2, kind]]}
        _life(c, [hook], ["step", "try step", "step"], kind="SingularMonitoredSession")


@api_case("MANAGED-014", title="After an error of a hook the session goes on.")
def sessions_go_on(c: ApiAuthor) -> None:
    for method in ("before", "after"):
        hook = {"name": "a", "raises": [[method, 2, "InternalError"]]}
        _life(c, [hook], ["step", "try step", "stop?", "step"])


@api_case("MANAGED-015", title="When a hook fails before a run, nothing runs.")
def nothing_runs(c: ApiAuthor) -> None:
    hooks = [{"name": "a"}, {"name": "b", "raises": [["before", 1, "ValueError"]]}, {"name": "c"}]
    _life(c, hooks, ["try step", "step"])


@api_case("MANAGED-016", title="The graph is finalized for the time of the session.")
def graphs_are_finalized(c: ApiAuthor) -> None:
    _life(c, [], ["step"], finalized=False)
    _life(c, [], ["raise ValueError"], finalized=False)


@api_case("MANAGED-016", title="A graph that was finalized before stays so.")
def graphs_stay_finalized(c: ApiAuthor) -> None:
    _life(c, [], ["step"], finalized=True)


@api_case("MANAGED-017", title="A session that is closed cannot be closed again.")
def closing_again_is_refused(c: ApiAuthor) -> None:
    session = c.tf.train.MonitoredSession()
    c.check(session.should_stop(), want=False)
    session.close()
    c.check(session.should_stop(), want=True)
    c.raises("RuntimeError", session.close)


@api_case("MANAGED-018", title="Variables and tables are initialized.")
def all_is_initialized(c: ApiAuthor) -> None:
    tf = c.tf
    keys = c.tf.GraphKeys.LOCAL_VARIABLES
    shared = tf.Variable(np.float32(1.5), use_resource=False)
    local = tf.Variable([2, 3], collections=[keys], trainable=False, use_resource=True)
    pairs = tf.lookup.KeyValueTensorInitializer(["x", "y"], [10, 20])
    table = tf.lookup.StaticHashTable(pairs, -1)
    numbers = table.lookup(tf.constant(["y", "z"]))
    with c.within(tf.train.MonitoredSession()) as session:
        c.check(session.run(shared), np.float32(1.5))
        c.check(session.run(local)[1], np.int32(3))
        c.check(session.run(numbers)[0], np.int32(20))


@api_case("MANAGED-019", title="A variable that nothing initializes is reported.")
def uninitialized_variables_are_reported(c: ApiAuthor) -> None:
    tf = c.tf
    v = tf.Variable(1.0, use_resource=False)
    tf.Variable(2, use_resource=True)
    manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    c.raises("RuntimeError", lambda: manager.prepare_session("", init_op=v.initializer))


@api_case("MANAGED-019", title="A model that is initialized is ready.")
def initialized_models_are_ready(c: ApiAuthor) -> None:
    tf = c.tf
    fed = tf.placeholder(tf.int64, [2])
    v = tf.Variable(fed, use_resource=False)
    manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    session = manager.prepare_session(
        "", init_op=tf.global_variables_initializer(), init_feed_dict={fed: [7, 8]}
    )
    c.check(session.run(v)[1], np.int64(8))


@api_case("MANAGED-020", title="A session without anything that initializes is refused.")
def nothing_initializes(c: ApiAuthor) -> None:
    manager = c.tf.train.SessionManager()
    c.raises("RuntimeError", lambda: manager.prepare_session(""))


@api_case("MANAGED-021", title="A local variable is made of a global one once that is ready.")
def local_variables_wait(c: ApiAuthor) -> None:
    tf = c.tf
    v = tf.Variable(3, use_resource=False)
    w = tf.Variable(v + 1, collections=[tf.GraphKeys.LOCAL_VARIABLES], use_resource=False)
    waiting = tf.report_uninitialized_variables(tf.global_variables())
    manager = tf.train.SessionManager(local_init_op=w.initializer, ready_for_local_init_op=waiting)
    session = manager.prepare_session("", init_op=v.initializer)
    c.check(session.run(w), np.int32(4))
    c.raises("RuntimeError", lambda: manager.prepare_session(""))


@api_case("MANAGED-022", title="A session whose model nobody initializes is waited for in vain.")
def waiting_ends(c: ApiAuthor) -> None:
    tf = c.tf
    tf.Variable(1, use_resource=False)
    manager = tf.train.SessionManager(
        ready_op=tf.report_uninitialized_variables(), recovery_wait_secs=0.01
    )
    c.raises("DeadlineExceededError", lambda: manager.wait_for_session("", max_wait_secs=0.05))


@api_case("MANAGED-023", title="A session stops at its last step.")
def sessions_stop_at_a_step(c: ApiAuthor) -> None:
    c.named_check("managed.steps", [1, 2, 3], last=3, number=None, start=0)
    c.named_check("managed.steps", [6, 7], last=7, number=None, start=5)


@api_case("MANAGED-023", title="A session stops after a number of steps.")
def sessions_stop_after_steps(c: ApiAuthor) -> None:
    c.named_check("managed.steps", [11, 12], last=None, number=2, start=10)
    c.named_check("managed.steps", [1, 2, 3, 4], last=None, number=4, start=0)


@api_case("MANAGED-024", title="A checkpoint is written at once, every two steps, and at the end.")
def checkpoints_are_written(c: ApiAuthor) -> None:
    path = c.path("ckpt")
    c.named_check("managed.checkpoints", [[0, 2, 4, 5], 5, 5], folder=path, every=2, runs=5)


@api_case("MANAGED-024", title="The last step is not saved twice.")
def last_steps_are_saved_once(c: ApiAuthor) -> None:
    path = c.path("ckpt")
    c.named_check("managed.checkpoints", [[0, 3], 3, 3], folder=path, every=3, runs=3)


@api_case("MANAGED-025", title="A session that is made anew goes on from the last checkpoint.")
def checkpoints_are_restored(c: ApiAuthor) -> None:
    path = c.path("ckpt")
    want = [[0, 2, 2, 4], 4, 4]
    c.named_check("managed.checkpoints", want, folder=path, every=2, runs=5, lost=4)


@api_case("MANAGED-025", title="Where there is a checkpoint, init_op is not run.")
def init_op_is_not_run(c: ApiAuthor) -> None:
    tf = c.tf
    v = tf.Variable(1, use_resource=False)
    never_fed = tf.placeholder(tf.int32, [])
    saver = tf.train.Saver()
    before = tf.Session()
    before.run(v.assign(4).op)
    saver.save(before, c.path("model"))
    fails = tf.group(v.initializer, tf.identity(never_fed))
    scaffold = tf.train.Scaffold(init_op=fails, saver=saver)
    creator = tf.train.ChiefSessionCreator(scaffold, checkpoint_dir=c.path())
    with c.within(tf.train.MonitoredSession(creator)) as session:
        c.check(session.run(v), np.int32(4))


@api_case("MANAGED-031", title="A loss that is not a number fails.")
def nan_fails(c: ApiAuthor) -> None:
    want = ["ran 1.0", "raised NanLossDuringTrainingError"]
    c.named_check("managed_parts.losses", want, values=[1.0, float("nan")], fails=True)


@api_case("MANAGED-032", title="A loss that is not a number stops, if that is wanted.")
def nan_stops(c: ApiAuthor) -> None:
    want = ["ran 2.0", "ran nan", "stopped"]
    c.named_check("managed_parts.losses", want, values=[2.0, float("nan")], fails=False)


@api_case("MANAGED-035", title="A step function runs below the hooks.")
def step_functions_run_below_hooks(c: ApiAuthor) -> None:
    want = ["a.begin", "a.created 0", "ran 3", "went on", "a.end 0", "left"]
    c.named_check("managed.own_session", want, hooked=False, stops=False)


@api_case("MANAGED-036", title="A step function runs with the hooks.")
def step_functions_run_with_hooks(c: ApiAuthor) -> None:
    hooked = ["a.before", "a.after"]
    want = ["a.begin", "a.created 0", *hooked, "ran 3", "went on", "a.end 0", "left"]
    c.named_check("managed.own_session", want, hooked=True, stops=False)


@api_case("MANAGED-037", title="A stop that a step function requests ends the block.")
def step_functions_request_stops(c: ApiAuthor) -> None:
    want = ["a.begin", "a.created 0", "ran 3", "a.end 0", "left"]
    c.named_check("managed.own_session", want, hooked=False, stops=True)


@api_case("MANAGED-028", title="The largest trace level and timeout count.")
def options_are_merged(c: ApiAuthor) -> None:
    for levels, timeouts in (([0, 1, 0], [0, 60000, 5000]), ([3, 1], [30000, 20000])):
        want = [max(levels), max(timeouts)]
        c.named_check("managed.merged_options", want, levels=levels, timeouts=timeouts)


@api_case("MANAGED-033", title="An error of a thread stops the session and is raised at its end.")
def errors_of_threads(c: ApiAuthor) -> None:
    for kind in ("InternalError", "ValueError"):
        want = ["created", "ran 7", "stop True", f"raised {kind}"]
        c.named_check("managed.threads", want, kind=kind)


@api_case("MANAGED-034", title="A lost task that a thread tells of makes the session anew.")
def threads_lose_tasks(c: ApiAuthor) -> None:
    for kind in ("AbortedError", "UnavailableError"):
        want = ["created", "ran 7", "created", "stop False", "left"]
        c.named_check("managed.threads", want, kind=kind)
    c.named_check("managed.threads", ["created", "ran 7", "stop True", "left"], kind="")


@api_case("MANAGED-030", title="Three hooks that feed, fetch, fail and stop, all at once.")
def schedules_of_hooks(c: ApiAuthor) -> None:
    hooks = [
        {"name": "a", "feeds": 9, "raises": [["after", 1, "AbortedError"]]},
        {"name": "b", "fetches": True, "raises": [["created", 2, "UnavailableError"]]},
        {"name": "c", "stops": [["after", 3]], "raises": [["before", 3, "StopIteration"]]},
    ]
    _life(c, hooks, ["step", "try step", "stop?", "step", "stop?"])


@api_case("MANAGED-030", title="A hook whose end fails is the last one whose end is called.")
def ends_of_hooks_fail(c: ApiAuthor) -> None:
    hooks = [{"name": "a", "raises": [["end", 1, "InternalError"]]}, {"name": "b"}]
    _life(c, hooks, ["step"])
