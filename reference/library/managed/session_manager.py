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
      local_init_op: is run in each session, once the model is ready for it.
      ready_op: gives the names of what is not initialized.
      ready_for_local_init_op: gives the names of what `local_init_op` still waits for.
      graph: the graph of the sessions, by default the default graph.
      recovery_wait_secs: how long to wait between two looks.
      local_init_run_options: the options of the run of `local_init_op`.
      local_init_feed_dict: what it is fed.

    Raises:
      ValueError: there is a `ready_for_local_init_op` and no `local_init_op`.

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
          init_op: initializes the model.
          saver: restores it.
          checkpoint_dir: the folder of the checkpoints; the latest is restored.
          checkpoint_filename_with_path: the checkpoint to restore instead.
          wait_for_checkpoint: whether to wait until there is a checkpoint.
          max_wait_secs: how long.
          config: the configuration of the session.
          init_feed_dict: what `init_op` is fed.
          init_fn: is called after `init_op` with the session.

        Raises:
          RuntimeError: nothing was restored and there is nothing that initializes, or the model
            is not ready after all that.
          ValueError: there are a folder and a checkpoint.

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
        """A session, and whether its model was restored and is ready; arguments as above.

        Raises:
          ValueError: there are a folder and a checkpoint.

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
        lack = " for local init"
        if did_local:
            did_local, reason = self._model_ready(sess)
            lack = ""
        if not did_local:
            text = "Restoring model from %s did not make model ready%s: %s"
            log_messages.info(text, source, lack, reason)
            return sess, False
        log_messages.info("Restored model from %s", source)
        return sess, True

    def wait_for_session(
        self, master: str, config: ConfigProto | None = None, max_wait_secs: float | None = math.inf
    ) -> Session:
        """A session whose model another worker initializes: check it until it is ready.

        Raises:
          DeadlineExceededError: it was not within `max_wait_secs`.

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
        """Run `local_init_op` if the model is ready for it."""
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
    """The result of a readiness op, which returns the names of uninitialized variables.

    The model is ready if the value is None, of int32 or empty. It is not if the run fails
    because a variable is uninitialized.
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
