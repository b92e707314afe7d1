"""`tf.train.SessionManager`: sessions with an initialized or restored model. Source: TF 2.21."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import numpy as np

from sessrun.reference import errors
from sessrun.reference.api.saving.checkpoint_state import get_checkpoint_state
from sessrun.reference.api.saving.saver import Saver
from sessrun.reference.base import log_messages
from sessrun.reference.graph.default_graph import get_collection, get_default_graph
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.managed.scaffold import LOADED_INITIALIZERS
from sessrun.reference.public import public
from sessrun.reference.session.session import Session
from sessrun.spec.proto import ConfigProto, RunOptions

__all__ = ["SessionManager", "readiness"]

_TWO_HOURS_S: Final = 7200
#: The result of a check: whether the model is ready, and the reason if it is not.
_Readiness: TypeAlias = tuple[bool, str | None]


@public("train.SessionManager")
class SessionManager:
    """Creates sessions whose model is ready: restored, initialized here or by another worker.

    Args:
      local_init_op: an operation that is run in each session once the model is ready for it.
      ready_op: a string tensor of the names of the variables that are not initialized.
      ready_for_local_init_op: a string tensor of the names of the variables that must be
        initialized before `local_init_op` and are not.
      graph: the graph of the sessions, by default the default graph.
      recovery_wait_secs: the seconds between two checks.
      local_init_run_options: the RunOptions for `local_init_op`.
      local_init_feed_dict: the feed_dict for `local_init_op`.

    Raises:
      ValueError: there is a `ready_for_local_init_op` without a `local_init_op`.

    """

    def __init__(
        self,
        local_init_op: Tensor | Operation | None = None,
        ready_op: Tensor | None = None,
        ready_for_local_init_op: Tensor | None = None,
        graph: Graph | None = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: RunOptions | None = None,
        local_init_feed_dict: Mapping[object, object] | None = None,
    ) -> None:
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError(
                "If you pass a ready_for_local_init_op you must also pass a local_init_op , "
                f"ready_for_local_init_op [{ready_for_local_init_op}]"
            )
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = get_default_graph() if graph is None else graph
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options
        self._local_init_feed_dict = local_init_feed_dict

    def prepare_session(
        self,
        master: str,
        init_op: Tensor | Operation | None = None,
        saver: Saver | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = _TWO_HOURS_S,
        config: ConfigProto | None = None,
        init_feed_dict: Mapping[object, object] | None = None,
        init_fn: Callable[[Session], object] | None = None,
    ) -> Session:
        """A session whose model is restored, or else initialized.

        Args:
          master: the target of the session.
          init_op: the operation that initializes the model.
          saver: the Saver that restores the model.
          checkpoint_dir: the folder of the checkpoints; the latest is restored.
          checkpoint_filename_with_path: a single checkpoint to restore, in place of a folder.
          wait_for_checkpoint: whether to wait for a checkpoint in the folder.
          max_wait_secs: how many seconds to wait for it.
          config: the configuration of the session.
          init_feed_dict: the feed_dict for `init_op`.
          init_fn: a function that is called with the session after `init_op`.

        Raises:
          RuntimeError: no checkpoint was restored and there is neither `init_op`, `init_fn` nor
            `local_init_op`, or the model is not ready after they ran.
          ValueError: both a folder and a single checkpoint are given.

        """
        sess, is_restored = self._restored(
            master,
            saver,
            checkpoint_dir,
            checkpoint_filename_with_path,
            max_wait_secs if wait_for_checkpoint else 0,
            config,
        )
        if not is_restored:
            if init_op is None and not init_fn and self._local_init_op is None:
                raise RuntimeError(
                    "Model is not initialized and no init_op or init_fn or local_init_op was given"
                )
            if init_op is not None:
                sess.run(init_op, feed_dict=init_feed_dict)
            if init_fn:
                init_fn(sess)
        did_local, reason = self._try_local_init(sess)
        initialized_by = f"Init op: {_name_of(init_op)}, init fn: {init_fn}"
        if not did_local:
            raise RuntimeError(
                "Init operations did not make model ready for local_init.  "
                f"{initialized_by}, error: {reason}"
            )
        is_ready, reason = self._model_ready(sess)
        if not is_ready:
            raise RuntimeError(
                f"Init operations did not make model ready.  {initialized_by}, "
                f"local_init_op: {self._local_init_op}, error: {reason}"
            )
        return sess

    def recover_session(
        self,
        master: str,
        saver: Saver | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = _TWO_HOURS_S,
        config: ConfigProto | None = None,
    ) -> tuple[Session, bool]:
        """A session, and whether its model was restored and is ready.

        The arguments are those of `prepare_session`.

        Raises:
          ValueError: both a folder and a single checkpoint are given.

        """
        sess, is_restored = self._restored(
            master,
            saver,
            checkpoint_dir,
            checkpoint_filename_with_path,
            max_wait_secs if wait_for_checkpoint else 0,
            config,
        )
        did_local, reason = self._try_local_init(sess)
        if not is_restored:
            return sess, False
        source = checkpoint_dir or checkpoint_filename_with_path
        purpose = " for local init"
        if did_local:
            did_local, reason = self._model_ready(sess)
            purpose = ""
        if not did_local:
            text = "Restoring model from %s did not make model ready%s: %s"
            log_messages.info(text, source, purpose, reason)
            return sess, False
        log_messages.info("Restored model from %s", source)
        return sess, True

    def wait_for_session(
        self, master: str, config: ConfigProto | None = None, max_wait_secs: float | None = math.inf
    ) -> Session:
        """A session whose model another worker initializes; waits until the model is ready.

        Raises:
          DeadlineExceededError: the model was not ready within `max_wait_secs` seconds.

        """
        limit = math.inf if max_wait_secs is None else max_wait_secs
        deadline = time.time() + limit
        while True:
            sess = Session(master, graph=self._graph, config=config)
            not_ready = None
            is_ready, not_ready_for_local = self._try_local_init(sess)
            if is_ready:
                is_ready, not_ready = self._model_ready(sess)
            if is_ready:
                return sess
            with contextlib.suppress(Exception):
                sess.close()
            if max(0, deadline - time.time()) < self._recovery_wait_secs:
                text = f"Session was not ready after waiting {int(limit)} secs."
                raise errors.DeadlineExceededError(None, None, text)
            log_messages.info(
                "Waiting for model to be ready.  Ready_for_local_init_op:  %s, ready: %s",
                not_ready_for_local,
                not_ready,
            )
            time.sleep(self._recovery_wait_secs)

    def _restored(
        self,
        master: str,
        saver: Saver | None,
        folder: str | None,
        path: str | None,
        max_wait_secs: float,
        config: ConfigProto | None,
    ) -> tuple[Session, bool]:
        """A session, and whether its model was restored."""
        sess = Session(master, graph=self._graph, config=config)
        if folder and path:
            raise ValueError(
                "Can not provide both checkpoint_dir and checkpoint_filename_with_path."
            )
        if not saver or not (folder or path):
            return sess, False
        if path:
            _restore(sess, saver, path)
            return sess, True
        waited = 0.0
        state = get_checkpoint_state(folder)
        while not state or not state.model_checkpoint_path:
            if waited >= max_wait_secs:
                return sess, False
            log_messages.info("Waiting for checkpoint to be available.")
            time.sleep(self._recovery_wait_secs)
            waited += self._recovery_wait_secs
            state = get_checkpoint_state(folder)
        _restore(sess, saver, state.model_checkpoint_path)
        saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        return sess, True

    def _model_ready(self, sess: Session) -> _Readiness:
        return readiness(self._ready_op, sess, "Model not ready")

    def _model_ready_for_local_init(self, sess: Session) -> _Readiness:
        return readiness(self._ready_for_local_init_op, sess, "Model not ready for local init")

    def _try_local_init(self, sess: Session) -> _Readiness:
        """Run `local_init_op` if the model is ready for it; True too if there is no such op."""
        if self._local_init_op is None:
            return True, None
        is_ready, reason = self._model_ready_for_local_init(sess)
        if not is_ready:
            return False, reason
        log_messages.info("Running local_init_op.")
        sess.run(
            self._local_init_op,
            feed_dict=self._local_init_feed_dict,
            options=self._local_init_run_options,
        )
        log_messages.info("Done running local_init_op.")
        return True, None


def _restore(sess: Session, saver: Saver, path: str) -> None:
    """Restore a model after running the initializers of loaded models."""
    initializers = get_collection(LOADED_INITIALIZERS)
    if initializers:
        sess.run(initializers)
    saver.restore(sess, path)


def readiness(op: Tensor | Operation | None, sess: Session, text: str) -> _Readiness:
    """Run a readiness op, whose value are the names of uninitialized variables.

    The model is ready if the value is None, of dtype int32, or empty. It is not ready if the run
    fails because a variable is uninitialized.
    """
    if op is None:
        return True, None
    try:
        value = sess.run(op)
    except errors.FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            log_messages.warning("%s : error [%s]", text, str(error))
            raise
        return False, str(error)
    if value is None or value.dtype == np.int32 or value.size == 0:
        return True, None
    return False, "Variables not initialized: " + ", ".join(name.decode() for name in value)


def _name_of(item: object) -> str:
    if item is None:
        return "None"
    return str(getattr(item, "name", f"<no name for {type(item)}>"))
