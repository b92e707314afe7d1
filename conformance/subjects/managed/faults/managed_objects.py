"""Faults of MANAGED: how sessions are made and left, and what the hooks of trainings do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.subjects.managed.faults.managed import Proxy, hooked, proxied, train
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.library import Hook, RunArguments, SessionCreator, StepContext
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import (
    Call,
    Coordinator,
    RunContext,
    RunValues,
    Session,
    Tensor,
    Value,
)


@fault("MANAGED-016", "The graph stays finalized after the session.")
def graphs_remain_final(tf: Namespace) -> Namespace:
    """Finalize the graph again when the session ends."""

    class MonitoredSession(tf.train.MonitoredSession):  # type: ignore[misc, name-defined]
        def __exit__(self, *error: object) -> bool | None:
            graph = tf.get_default_graph()
            try:
                return super().__exit__(*error)
            finally:
                graph.finalize()

    return train(tf, MonitoredSession=MonitoredSession)


@fault("MANAGED-017", "Closing a closed session does nothing.")
def closing_again_does_nothing(tf: Namespace) -> Namespace:
    """Do nothing."""

    class MonitoredSession(tf.train.MonitoredSession):  # type: ignore[misc, name-defined]
        def close(self) -> None:
            if not self._is_closed():
                super().close()

    return train(tf, MonitoredSession=MonitoredSession)


@fault("MANAGED-018", "Tables are not initialized by default.")
def tables_are_left(tf: Namespace) -> Namespace:
    """Initialize local variables only."""

    class MonitoredSession(tf.train.MonitoredSession):  # type: ignore[misc, name-defined]
        def __init__(
            self,
            session_creator: SessionCreator | None = None,
            hooks: Sequence[Hook] | None = None,
            **kwargs: Argument,
        ) -> None:
            if session_creator is None and not tf.get_default_graph().finalized:
                local = tf.local_variables_initializer()
                scaffold = tf.train.Scaffold(local_init_op=local)
                session_creator = tf.train.ChiefSessionCreator(scaffold)
            super().__init__(session_creator, hooks, **kwargs)

    return train(tf, MonitoredSession=MonitoredSession)


@fault("MANAGED-019", "Nobody asks whether the model is ready.")
def readiness_is_not_asked_for(tf: Namespace) -> Namespace:
    """Pass None as `ready_op`."""

    class SessionManager(tf.train.SessionManager):  # type: ignore[misc, name-defined]
        def __init__(self, *args: Argument, **kwargs: Argument) -> None:
            super().__init__(*args, **{**kwargs, "ready_op": None})

    return train(tf, SessionManager=SessionManager)


@fault("MANAGED-020", "A session without anything that initializes is given.")
def nothing_need_initialize(tf: Namespace) -> Namespace:
    """Pass a `no_op` as `init_op`."""

    class SessionManager(tf.train.SessionManager):  # type: ignore[misc, name-defined]
        def prepare_session(self, master: str, **kwargs: Argument) -> Session:
            if not kwargs:
                kwargs["init_op"] = tf.no_op()
            return super().prepare_session(master, **kwargs)

    return train(tf, SessionManager=SessionManager)


@fault("MANAGED-021", "local_init_op is run whether the model is ready for it or not.")
def local_initializers_do_not_wait(tf: Namespace) -> Namespace:
    """Pass None as `ready_for_local_init_op`."""

    class SessionManager(tf.train.SessionManager):  # type: ignore[misc, name-defined]
        def __init__(self, *args: Argument, **kwargs: Argument) -> None:
            super().__init__(*args, **{**kwargs, "ready_for_local_init_op": None})

    return train(tf, SessionManager=SessionManager)


@fault("MANAGED-022", "A session that was waited for in vain is given all the same.")
def waiting_in_vain_succeeds(tf: Namespace) -> Namespace:
    """Return a new session where DeadlineExceededError is raised."""

    class SessionManager(tf.train.SessionManager):  # type: ignore[misc, name-defined]
        def wait_for_session(self, master: str, **kwargs: Argument) -> Session:
            try:
                return super().wait_for_session(master, **kwargs)
            except tf.errors.DeadlineExceededError:
                return tf.Session(master)

    return train(tf, SessionManager=SessionManager)


@fault("MANAGED-023", "A session stops one step after its last one.")
def steps_stop_late(tf: Namespace) -> Namespace:
    """Add 1 to the number of steps and to the last step."""

    class StopAtStepHook(tf.train.StopAtStepHook):  # type: ignore[misc, name-defined]
        def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
            one_more = [limit and limit + 1 for limit in (num_steps, last_step)]
            super().__init__(*one_more)

    return train(tf, StopAtStepHook=StopAtStepHook)


@fault("MANAGED-024", "The last step is not saved at the end.")
def last_steps_are_not_saved(tf: Namespace) -> Namespace:
    """Save nothing then."""

    class CheckpointSaverHook(tf.train.CheckpointSaverHook):  # type: ignore[misc, name-defined]
        def end(self, session: Session) -> None:
            """Save nothing."""

    return train(tf, CheckpointSaverHook=CheckpointSaverHook)


@fault("MANAGED-025", "A session that is made anew begins with the initial values.")
def recovery_forgets_checkpoints(tf: Namespace) -> Namespace:
    """Create the later sessions without the folder of checkpoints."""

    class ChiefSessionCreator(tf.train.ChiefSessionCreator):  # type: ignore[misc, name-defined]
        has_created = False

        def __init__(self, scaffold: Argument = None, **kwargs: Argument) -> None:
            self.plain = tf.train.ChiefSessionCreator(scaffold)
            super().__init__(scaffold, **kwargs)

        def create_session(self) -> Session:
            creator = self.plain.create_session if self.has_created else super().create_session
            self.has_created = True
            return creator()

    return train(tf, ChiefSessionCreator=ChiefSessionCreator)


@fault("MANAGED-032", "A loss that is not a number is passed over, unless it is to fail.")
def nan_goes_on(tf: Namespace) -> Namespace:
    """Do not request a stop."""

    class NanTensorHook(tf.train.NanTensorHook):  # type: ignore[misc, name-defined]
        def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
            del run_context
            deaf = SimpleNamespace(request_stop=lambda: None)
            super().after_run(deaf, run_values)

    return train(tf, NanTensorHook=NanTensorHook)


@fault("MANAGED-031", "A loss that is not a number stops the session without an error.")
def nan_never_fails(tf: Namespace) -> Namespace:
    """Request a stop, also where the hook should raise."""

    class NanTensorHook(tf.train.NanTensorHook):  # type: ignore[misc, name-defined]
        def __init__(self, loss_tensor: Tensor, fail_on_nan_loss: bool = True) -> None:
            del fail_on_nan_loss
            super().__init__(loss_tensor, fail_on_nan_loss=False)

    return train(tf, NanTensorHook=NanTensorHook)


def _stepping(tf: Namespace, change: Callable[[StepContext], SimpleNamespace]) -> Namespace:
    """The namespace whose step functions are called with `change(step_context)`."""

    class MonitoredSession(tf.train.MonitoredSession):  # type: ignore[misc, name-defined]
        def run_step_fn(self, step_fn: Callable[[StepContext], Value]) -> Value:
            def work(step_context: StepContext) -> Value:
                return step_fn(change(step_context))

            return super().run_step_fn(work)

    return train(tf, MonitoredSession=MonitoredSession)


def _context(context: StepContext, **changes: Call | SimpleNamespace) -> SimpleNamespace:
    """What a step function is called with, with other members."""
    members = {
        "session": context.session,
        "run_with_hooks": context.run_with_hooks,
        "request_stop": context.request_stop,
    }
    return SimpleNamespace(**{**members, **changes})


@fault("MANAGED-035", "A step function runs with the hooks whatever it asks for.")
def step_functions_always_have_hooks(tf: Namespace) -> Namespace:
    """Give the step function a `session` whose `run` is `run_with_hooks`."""
    return _stepping(
        tf, lambda context: _context(context, session=SimpleNamespace(run=context.run_with_hooks))
    )


@fault("MANAGED-036", "A step function runs without the hooks whatever it asks for.")
def step_functions_never_have_hooks(tf: Namespace) -> Namespace:
    """Give the step function the session's `run` as `run_with_hooks`."""
    return _stepping(tf, lambda context: _context(context, run_with_hooks=context.session.run))


@fault("MANAGED-037", "A stop that a step function requests is forgotten.")
def stops_of_step_functions_are_forgotten(tf: Namespace) -> Namespace:
    """Give the step function a `request_stop` that does nothing."""
    return _stepping(tf, lambda context: _context(context, request_stop=lambda: None))


@fault("MANAGED-028", "Options that hooks ask for are ignored.")
def options_of_hooks_are_ignored(tf: Namespace) -> Namespace:
    """Clear `options` of the hooks' requests."""

    class Options(Proxy):
        def before_run(self, run_context: RunContext) -> RunArguments | None:
            request = super().before_run(run_context)
            return None if request is None else request._replace(options=None)

    return hooked(tf, proxied(Options))


@fault("MANAGED-033", "An error that a thread reports only stops the session.")
def errors_of_threads_are_lost(tf: Namespace) -> Namespace:
    """Request a stop without passing the error on."""

    class Coordinated(Proxy):
        def after_create_session(self, session: Session, coord: Coordinator) -> None:
            deaf = SimpleNamespace(request_stop=lambda ex=None: coord.request_stop())  # noqa: ARG005 - it is lost
            super().after_create_session(session, deaf)

    return hooked(tf, proxied(Coordinated))


@fault("MANAGED-034", "A lost task that a thread reports stops the session.")
def lost_tasks_of_threads_stop(tf: Namespace) -> Namespace:
    """Drop the error of a lost task from the request for a stop."""

    class Coordinated(Proxy):
        def after_create_session(self, session: Session, coord: Coordinator) -> None:
            lost = (tf.errors.AbortedError, tf.errors.UnavailableError)

            def request_stop(ex: BaseException | None = None) -> None:
                coord.request_stop(None if isinstance(ex, lost) else ex)

            super().after_create_session(session, SimpleNamespace(request_stop=request_stop))

    return hooked(tf, proxied(Coordinated))


@fault("MANAGED-030", "A hook whose end fails keeps no other from its end.")
def ends_go_on_after_errors(tf: Namespace) -> Namespace:
    """Call `end` of all hooks, and raise the first error afterwards."""

    def change(hooks: list[Hook]) -> list[Hook]:
        errors: list[BaseException] = []

        class Ends(Proxy):
            def end(self, session: Session) -> None:
                try:
                    super().end(session)
                except Exception as error:  # noqa: BLE001 - raised below
                    errors.append(error)
                if errors and self.hook is hooks[-1]:
                    raise errors.pop(0)

        return [Ends(hook) for hook in hooks]

    return hooked(tf, change)
