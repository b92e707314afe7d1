"""Named checks of monitored sessions: which hook is called when, and how the session ends.

`life` makes a monitored session of a counter with hooks that write down their calls, fail and ask
to stop when they are told to, and returns what was written down. A call of a hook is `a.before`,
a run's value `ran 1000`: 1000 for each step the counter has made, plus what was fed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, Required, TypedDict

from sessrun.spec.cases.library import Hook, RunArguments, StepContext
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Coordinator, RunContext, RunValues, Session, Tensor
from sessrun.spec.forms import Json

__all__ = ["HookPlan", "checkpoints", "life", "merged_options", "own_session", "steps", "threads"]

_STEP: Final = 1000
_PYTHON: Final = {
    cls.__name__: cls for cls in (ArithmeticError, RuntimeError, StopIteration, ValueError)
}


class HookPlan(TypedDict, total=False):
    """What a hook does in which call; the argument `hooks` of `life` describes the members."""

    name: Required[str]
    raises: Sequence[Sequence[str | int]]
    stops: Sequence[Sequence[str | int]]
    feeds: int
    fetches: bool


def _error(tf: Namespace, kind: str) -> BaseException:
    if kind in _PYTHON:
        return _PYTHON[kind]("as planned")
    error: BaseException = getattr(tf.errors, kind)(None, None, "as planned")
    return error


class _Plan:
    """Writes down the calls of a hook, and fails and asks to stop as planned.

    Args:
      tf: the namespace.
      plan: what the hook does.
      log: the list that calls are added to.

    """

    def __init__(self, tf: Namespace, plan: HookPlan, log: list[str]) -> None:
        self._tf = tf
        self._plan = plan
        self._log = log
        self._calls: Counter[str] = Counter()

    def note(self, method: str, more: str = "", context: RunContext | None = None) -> None:
        """Log a call, then ask to stop or raise if the plan says so for this call."""
        self._calls[method] += 1
        self._log.append(f"{self._plan['name']}.{method}{more}")
        if context is not None and [method, self._calls[method]] in self._plan.get("stops", ()):
            context.request_stop()
        for where, count, kind in self._plan.get("raises", ()):
            if (where, count) == (method, self._calls[method]):
                raise _error(self._tf, str(kind))


def _hook(tf: Namespace, plan: HookPlan, log: list[str], key: Tensor) -> Hook:
    """A hook that follows the plan; `key` is the tensor that it feeds and fetches."""
    note = _Plan(tf, plan, log).note

    class Hook(tf.train.SessionRunHook):  # type: ignore[misc, name-defined]
        def begin(self) -> None:
            note("begin")

        def after_create_session(self, session: Session, coord: Coordinator) -> None:
            del coord
            note("created", f" {session.run(key)}")

        def before_run(self, run_context: RunContext) -> RunArguments | None:
            note("before", context=run_context)
            feeds = {key: plan["feeds"]} if "feeds" in plan else None
            if not feeds and not plan.get("fetches"):
                return None
            fetches = {"fed": key} if plan.get("fetches") else None
            return tf.train.SessionRunArgs(fetches, feed_dict=feeds)

        def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
            results = run_values.results
            note("after", "" if results is None else f" {results['fed']}", run_context)

        def end(self, session: Session) -> None:
            note("end", " closed" if session is None else f" {session.run(key)}")

    return Hook()


def life(
    tf: Namespace,
    hooks: Sequence[HookPlan],
    body: Sequence[str],
    kind: str = "MonitoredSession",
    finalized: bool | None = None,
) -> list[str]:
    """The calls and values of a monitored session.

    Args:
      tf: the namespace.
      hooks: each a `name`; `raises`, a list of (method, count of its call, error); `stops`, a
        list of (method, count of its call); `feeds`, a number; `fetches`, whether it fetches.
      body: what is done in the `with`: `step`, `step 5` with something fed, `try step` that goes
        on after an error, `stop?`, `raise KIND`, `close`.
      kind: the class of the session.
      finalized: whether the graph is finalized before; None: not, and nobody asks.

    """
    log: list[str] = []
    with tf.Graph().as_default() as graph:
        counter = tf.Variable(0, use_resource=False)
        fed = tf.placeholder_with_default(tf.constant(0), [], name="fed")
        step = tf.assign_add(counter, 1) * _STEP + fed
        if finalized:
            tf.train.Scaffold().finalize()
        planned = [_hook(tf, plan, log, fed) for plan in hooks]
        try:
            session = getattr(tf.train, kind)(hooks=planned)
        except Exception as error:  # noqa: BLE001 - the exception is the result
            return [*log, f"refused {type(error).__name__}"]
        if finalized is not None:
            log.append(f"final {graph.finalized}")
        try:
            with session:
                for action in body:
                    _do(tf, session, action, (step, fed), log)
            log.append("left")
        except Exception as error:  # noqa: BLE001 - the same
            log.append(f"raised {type(error).__name__}")
        log.append(f"stop {session.should_stop()}")
        if finalized is not None:
            log.append(f"final {graph.finalized}")
    return log


def _do(
    tf: Namespace, session: Session, action: str, nodes: tuple[Tensor, Tensor], log: list[str]
) -> None:
    """One action of the body."""
    step, fed = nodes
    word, _, more = action.partition(" ")
    if word == "try":
        try:
            _do(tf, session, more, nodes, log)
        except Exception as error:  # noqa: BLE001 - the exception is the result
            log.append(f"caught {type(error).__name__}")
    elif word == "step":
        feeds = {fed: int(more)} if more else None
        log.append(f"ran {session.run(step, feed_dict=feeds)}")
        if feeds is not None and len(feeds) != 1:
            log.append("feeds changed")
    elif word == "stop?":
        log.append(f"stop {session.should_stop()}")
    elif word == "raise":
        raise _error(tf, more)
    else:
        session.close()


def steps(tf: Namespace, last: int | None, number: int | None, start: int) -> list[int]:
    """The steps after each run of a session with a StopAtStepHook, until it is to stop."""
    seen: list[int] = []
    with tf.Graph().as_default():
        counter = tf.train.get_or_create_global_step()
        add = tf.assign_add(counter, 1)
        scaffold = tf.train.Scaffold(init_op=tf.assign(counter, start))
        hook = tf.train.StopAtStepHook(num_steps=number, last_step=last)
        creator = tf.train.ChiefSessionCreator(scaffold)
        with tf.train.MonitoredSession(creator, [hook]) as session:
            while not session.should_stop():
                seen.append(int(session.run(add)))
    return seen


def checkpoints(
    tf: Namespace, folder: str, every: int, runs: int, lost: int | None = None
) -> list[Json]:
    """The steps of each save, the last step, and the step of a session that is made later.

    Args:
      tf: the namespace.
      folder: of the checkpoints.
      every: the steps from one checkpoint to the next.
      runs: how many runs are made.
      lost: at which run a task is lost.

    """
    saved: list[int] = []

    class Listener(tf.train.CheckpointSaverListener):  # type: ignore[misc, name-defined]
        def before_save(self, session: Session, global_step_value: int) -> None:
            del session
            saved.append(int(global_step_value))

    class Loses(tf.train.SessionRunHook):  # type: ignore[misc, name-defined]
        calls = 0

        def before_run(self, run_context: RunContext) -> None:
            del run_context
            self.calls += 1
            if self.calls == lost:
                raise tf.errors.UnavailableError(None, None, "as planned")

    last = 0
    for listeners, count in (([Listener()], runs), ([], 0)):
        with tf.Graph().as_default():
            counter = tf.train.get_or_create_global_step()
            add = tf.assign_add(counter, 1)
            scaffold = tf.train.Scaffold()
            creator = tf.train.ChiefSessionCreator(scaffold, checkpoint_dir=folder)
            hooks = [
                Loses(),
                tf.train.CheckpointSaverHook(
                    folder, save_steps=every, scaffold=scaffold, listeners=listeners
                ),
            ]
            with tf.train.MonitoredSession(creator, hooks if count else []) as session:
                for _ in range(count):
                    last = int(session.run(add))
                again = int(session.run(counter))
    return [saved, last, again]


def own_session(tf: Namespace, hooked: bool, stops: bool) -> list[str]:
    """The calls of hooks around a step function, which runs with them or in the session below.

    Args:
      tf: the namespace.
      hooked: whether the step function runs its fetch with the hooks.
      stops: whether it requests a stop afterwards.

    Returns:
      the log: the hook's calls, `ran` with the value, `went on` if the block of the session went
      on behind the step function, and `left` if the block raised no error.

    """
    log: list[str] = []
    with tf.Graph().as_default():
        fed = tf.placeholder_with_default(tf.constant(0), [], name="fed")
        hook = _hook(tf, {"name": "a"}, log, fed)

        def work(step_context: StepContext) -> None:
            run = step_context.run_with_hooks if hooked else step_context.session.run
            log.append(f"ran {run(fed, feed_dict={fed: 3})}")
            if stops:
                step_context.request_stop()

        with tf.train.MonitoredSession(hooks=[hook]) as session:
            session.run_step_fn(work)
            log.append("went on")
        log.append("left")
    return log


def merged_options(tf: Namespace, levels: Sequence[int], timeouts: Sequence[int]) -> list[int]:
    """The trace level and timeout of a run whose caller and hooks each give RunOptions."""
    seen: list[int] = []

    def asking(level: int, timeout: int) -> Hook:
        class Hook(tf.train.SessionRunHook):  # type: ignore[misc, name-defined]
            def before_run(self, run_context: RunContext) -> RunArguments | None:
                del run_context
                options = tf.RunOptions(trace_level=level, timeout_in_ms=timeout)
                return tf.train.SessionRunArgs(None, options=options)

            def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
                del run_context
                seen[:] = [run_values.options.trace_level, run_values.options.timeout_in_ms]

        return Hook()

    with tf.Graph().as_default():
        value = tf.constant(1.0)
        pairs = list(zip(levels, timeouts, strict=True))
        own = tf.RunOptions(trace_level=pairs[0][0], timeout_in_ms=pairs[0][1])
        hooks = [asking(*pair) for pair in pairs[1:]]
        with tf.train.MonitoredSession(hooks=hooks) as session:
            session.run(value, options=own)
    return seen


def threads(tf: Namespace, kind: str) -> list[str]:
    """The log of a session after a thread reports an error to the coordinator, or asks to stop."""
    log: list[str] = []
    coords: list[Coordinator] = []

    class Hook(tf.train.SessionRunHook):  # type: ignore[misc, name-defined]
        def after_create_session(self, session: Session, coord: Coordinator) -> None:
            del session
            log.append("created")
            coords.append(coord)

    def ask(coord: Coordinator) -> None:
        try:
            raise _error(tf, kind)  # noqa: TRY301 - an error that is being handled is reported
        except Exception as error:  # noqa: BLE001 - an exception of the expected class
            coord.request_stop(error)

    with tf.Graph().as_default():
        value = tf.constant(7)
        try:
            with tf.train.MonitoredSession(hooks=[Hook()]) as session:
                if kind:
                    ask(coords[-1])
                else:
                    coords[-1].request_stop()
                log.append(f"ran {session.run(value)}")
                log.append(f"stop {session.should_stop()}")
            log.append("left")
        except Exception as error:  # noqa: BLE001 - the exception is the result
            log.append(f"raised {type(error).__name__}")
    return log
