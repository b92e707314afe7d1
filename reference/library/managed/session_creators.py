"""Session creators of monitored sessions (TF 2.21)."""

from __future__ import annotations

import abc
from typing import Any, Final

from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.library.managed.scaffold import Scaffold
from sessrun.reference.library.managed.session_manager import SessionManager
from sessrun.reference.public import public
from sessrun.reference.session.session import Session
from sessrun.spec.proto import ConfigProto

__all__ = ["ChiefSessionCreator", "SessionCreator", "WorkerSessionCreator"]

_HALF_AN_HOUR_S: Final = 30 * 60


@public("train.SessionCreator")
class SessionCreator(abc.ABC):
    """Makes sessions."""

    @abc.abstractmethod
    def create_session(self) -> Any:
        """A new session."""
        raise NotImplementedError(f"create_session is not implemented for {self}.")


class _OfScaffold(SessionCreator):
    """Creates sessions of the default graph by a scaffold."""

    def __init__(self, scaffold: Scaffold | None, master: str, config: ConfigProto | None) -> None:
        self._scaffold = scaffold or Scaffold()
        self._master = master
        self._config = config
        self._manager: SessionManager | None = None

    def _finalized(self) -> SessionManager:
        """The manager of the sessions, once the scaffold is finalized."""
        scaffold = self._scaffold
        scaffold.finalize()
        if self._manager is None:
            self._manager = SessionManager(
                local_init_op=scaffold.local_init_op,
                local_init_feed_dict=scaffold.local_init_feed_dict,
                ready_op=scaffold.ready_op,
                ready_for_local_init_op=scaffold.ready_for_local_init_op,
                graph=get_default_graph(),
            )
        return self._manager


@public("train.ChiefSessionCreator")
class ChiefSessionCreator(_OfScaffold):
    """Creates sessions and restores or initializes their model.

    Args:
      scaffold: what makes the model ready; all defaults if it is None.
      master: the target of the sessions.
      config: their configuration.
      checkpoint_dir: the folder of checkpoints; the latest is restored.
      checkpoint_filename_with_path: the checkpoint to restore instead.

    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: ConfigProto | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
    ) -> None:
        super().__init__(scaffold, master, config)
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint_path = checkpoint_filename_with_path

    def create_session(self) -> Session:
        """A new session; the scaffold is finalized before.

        Raises:
          RuntimeError: the model is not ready after all that initializes it.
          ValueError: there are a folder and a checkpoint.

        """
        manager = self._finalized()
        return manager.prepare_session(
            self._master,
            saver=self._scaffold.saver,
            checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_path,
            config=self._config,
            init_op=self._scaffold.init_op,
            init_feed_dict=self._scaffold.init_feed_dict,
            init_fn=self._scaffold.init_fn,
        )


@public("train.WorkerSessionCreator")
class WorkerSessionCreator(_OfScaffold):
    """Creates sessions and waits until the chief has initialized their model.

    Args:
      scaffold: what tells whether the model is ready; all defaults if it is None.
      master: the target of the sessions.
      config: their configuration.
      max_wait_secs: how long to wait for the model.

    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: ConfigProto | None = None,
        max_wait_secs: float = _HALF_AN_HOUR_S,
    ) -> None:
        super().__init__(scaffold, master, config)
        self._max_wait_secs = max_wait_secs

    def create_session(self) -> Session:
        """A new session; the scaffold is finalized before.

        Raises:
          DeadlineExceededError: the model was not ready in time.

        """
        manager = self._finalized()
        return manager.wait_for_session(
            self._master, config=self._config, max_wait_secs=self._max_wait_secs
        )
