"""`tf.train.basic_train_loop`: calls a step again and again under a supervisor. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sessrun.reference import errors
from sessrun.reference.library.managed.supervisor import Supervisor
from sessrun.reference.public import public

__all__ = ["basic_train_loop"]


@public("train.basic_train_loop")
def basic_train_loop(
    supervisor: Supervisor,
    train_step_fn: Callable[..., object],
    args: Sequence[object] | None = None,
    kwargs: Mapping[str, object] | None = None,
    master: str = "",
) -> None:
    """Call a function until the supervisor stops; start again when a task of the cluster was lost.

    Args:
      supervisor: makes the session and says when to stop.
      train_step_fn: is called with the session and the arguments.
      args: its arguments after the session.
      kwargs: its keyword arguments.
      master: the target of the session.

    """
    while True:
        try:
            with supervisor.managed_session(master) as sess:
                while not supervisor.should_stop():
                    train_step_fn(sess, *(args or ()), **(kwargs or {}))
        except errors.AbortedError:
            continue
        return
