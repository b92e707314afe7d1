"""`tf.train.Saver`: the variables of a graph into checkpoints, and back. Source: TF 2.21."""

from __future__ import annotations

import logging
import numbers
import os
import time
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, Final

from sessrun.reference import errors
from sessrun.reference.api.saving import meta_graph, saver_graph
from sessrun.reference.api.saving.checkpoint_state import (
    checkpoint_exists,
    get_checkpoint_mtimes,
    meta_graph_path,
    remove_checkpoint,
    update_checkpoint_state_internal,
)
from sessrun.reference.api.saving.saveables import default_saveables, saveables_of
from sessrun.reference.api.variables.global_step import global_step as steps_of
from sessrun.reference.graph.name_prefixes import under
from sessrun.reference.public import public
from sessrun.reference.session.session import BaseSession
from sessrun.reference.state.files import files
from sessrun.reference.state.files.file_names import as_given
from sessrun.spec.proto import MetaGraphDef, SaverDef
from sessrun.spec.proto.foreign import adopt

__all__ = ["Saver"]

_LOGGER: Final = logging.getLogger("sessrun")
_SECONDS_PER_HOUR: Final = 3600


@public("train.Saver")
class Saver:
    """Saves variables to checkpoints, and restores them.

    Args:
      var_list: the variables, or a dict of names to them; by default all global variables and
        what else the graph has to save.
      reshape: whether restored values take the static shapes of the variables.
      sharded: whether the variables of each device are saved to a separate file.
      max_to_keep: how many checkpoints are kept; all of them if 0 or None.
      keep_checkpoint_every_n_hours: how often one is kept for good.
      name: the name scope of the operations.
      restore_sequentially: not used, as in TensorFlow: all are restored by one operation.
      saver_def: a SaverDef of operations that the graph has; no others are built then.
      builder: None.
      defer_build: whether the operations are built by a later call of `build`.
      allow_empty: whether there may be no variables.
      write_version: the version of the format.
      pad_step_number: whether numbers of steps in names have eight digits at least.
      save_relative_paths: whether the file `checkpoint` names checkpoints relative to itself.
      filename: where to save where a run does not say.

    Raises:
      TypeError: an element of `var_list` is not a variable, or `write_version` is unknown.
      ValueError: there are no variables, two have one name, or both `defer_build` and `var_list`
        are given.
      UnimplementedError: there is a `builder`.

    """

    def __init__(
        self,
        var_list: object = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: SaverDef | None = None,
        builder: object = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = SaverDef.V2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ) -> None:
        del restore_sequentially
        if defer_build and var_list:
            raise ValueError(
                "If `var_list` is provided then build cannot be deferred. Either set "
                "defer_build=False or var_list=None."
            )
        if builder is not None:
            raise errors.UnimplementedError(None, None, "Savers are made without a builder here")
        self._var_list = var_list
        self._reshape = reshape
        self._sharded = sharded
        self._max_to_keep = max_to_keep
        self._hours = keep_checkpoint_every_n_hours
        self._name = name
        self._filename = filename
        self._allow_empty = allow_empty
        self._is_empty = False
        self._is_built = False
        self._write_version = write_version
        self._pad_step_number = pad_step_number
        self._save_relative_paths = save_relative_paths
        #: Checkpoints and when they were written, the latest last.
        self._kept: list[tuple[str, float]] = []
        self._leaving: list[tuple[str, float]] = []
        self._next_for_good = 0.0
        self.saver_def: Any = None
        if saver_def is not None:
            self.saver_def = _adopted(saver_def)
        if not defer_build:
            self.build()
        if self.saver_def is not None:
            self._check_saver_def()
            self._write_version = self.saver_def.version

    def build(self) -> None:
        """Make the operations.

        Raises:
          ValueError: there are no variables.

        """
        if self._is_built:
            return
        self._is_built = True
        if self.saver_def is None:
            if self._var_list is None:
                self._var_list = default_saveables()
            if not self._var_list:
                if not self._allow_empty:
                    raise ValueError("No variables to save")
                self._is_empty = True
                return
            self.saver_def = saver_graph.build(
                saveables_of(self._var_list),
                name=self._name,
                filename=self._filename,
                sharded=self._sharded,
                reshape=self._reshape,
                version=self._write_version,
                max_to_keep=self._max_to_keep or 0,
                hours=self._hours,
            )
        elif self._name:  # the scope that they were imported under
            for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
                setattr(self.saver_def, field, under(self._name, getattr(self.saver_def, field)))
        self._check_saver_def()
        hours = self.saver_def.keep_checkpoint_every_n_hours
        self._next_for_good = time.time() + hours * _SECONDS_PER_HOUR

    def _check_saver_def(self) -> None:
        for field in ("save_tensor_name", "restore_op_name"):
            if not getattr(self.saver_def, field):
                raise ValueError(f"saver_def must specify the {field}: {self.saver_def}")

    # -- which checkpoints there are

    @property
    def last_checkpoints(self) -> list[str]:
        """The checkpoints that are kept, the latest last."""
        return [path for path, _ in self._kept]

    def set_last_checkpoints(self, last_checkpoints: list[str]) -> None:
        """Take these for the checkpoints written so far; none of them is kept for good.

        Raises:
          AssertionError: `last_checkpoints` is not a list.

        """
        if not isinstance(last_checkpoints, list):
            raise AssertionError  # noqa: TRY004 - as TensorFlow
        self._kept = [(path, float("inf")) for path in last_checkpoints]

    def set_last_checkpoints_with_time(
        self, last_checkpoints_with_time: list[tuple[str, float]]
    ) -> None:
        """Take these for the checkpoints written so far, with the times of writing.

        Raises:
          AssertionError: `last_checkpoints_with_time` is not a list.

        """
        if not isinstance(last_checkpoints_with_time, list):
            raise AssertionError  # noqa: TRY004 - as TensorFlow
        self._kept = last_checkpoints_with_time

    def recover_last_checkpoints(self, checkpoint_paths: Iterable[str]) -> None:
        """Take the checkpoints of a list that still exist for those written so far."""
        kept = []
        for path in checkpoint_paths:
            times = get_checkpoint_mtimes([path])
            if times:
                kept.append((path, times[0]))
        self._kept = kept

    def _note(self, path: str) -> None:
        """Count a checkpoint; one that is too many is to go."""
        if not self.saver_def.max_to_keep:
            return
        self._kept = [entry for entry in self._kept if entry[0] != path]
        self._kept.append((path, time.time()))
        if len(self._kept) > self.saver_def.max_to_keep:
            self._leaving.append(self._kept.pop(0))

    def _drop_old(self, suffix: str) -> None:
        """Delete the oldest excess checkpoint, unless `keep_checkpoint_every_n_hours` keeps it."""
        if not self._leaving:
            return
        path, written = self._leaving.pop(0)
        if written > self._next_for_good:
            hours = self.saver_def.keep_checkpoint_every_n_hours
            self._next_for_good += hours * _SECONDS_PER_HOUR
            return
        try:
            remove_checkpoint(path, self.saver_def.version, suffix)
        except errors.OpError as error:
            _LOGGER.warning("Ignoring: %s", error)

    # -- saving and restoring

    def save(
        self,
        sess: BaseSession,
        save_path: str | bytes | PathLike[str],
        global_step: object = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> str | None:
        """Save the variables of a session.

        Args:
          sess: the session.
          save_path: the path that the names of the files begin with.
          global_step: a number that is added to it, or what a session computes as one.
          latest_filename: the name of the file that lists checkpoints, `checkpoint` by default.
          meta_graph_suffix: the end of the name of the graph's file.
          write_meta_graph: whether the graph is saved too.
          write_state: whether the list is brought up to date, and old checkpoints removed.
          strip_default_attrs: whether the graph's file leaves out attributes that are defaults.
          save_debug_info: not written here.

        Returns:
          The checkpoint's path, or None if there are no variables.

        Raises:
          RuntimeError: the operations have not been created.
          TypeError: `sess` is not a session, or `save_path` is not a path.
          ValueError: `latest_filename` has a folder or is the path's name, or the folder of the
            checkpoint cannot be created.
          OpError: a variable is not initialized, or a file cannot be written.

        """
        del save_debug_info
        if not self._is_built:
            raise RuntimeError("`build()` should be called before save if defer_build==True")
        base = _path(save_path)
        latest = _checked_latest(latest_filename or "checkpoint")
        target = self._numbered(sess, base, global_step)
        if global_step is None and os.path.basename(base) == latest and not self._sharded:
            raise ValueError(
                f"'latest_filename' collides with 'save_path': '{latest}' and '{base}'"
            )
        if not isinstance(sess, BaseSession):
            raise TypeError(f"'sess' must be a Session; {sess}")
        saved: str | None = None
        if not self._is_empty:
            saved = self._run(sess, base, target)
            if write_state:
                self._note(saved)
                self._write_state(os.path.dirname(base), saved, latest)
                self._drop_old(meta_graph_suffix)
        if write_meta_graph:
            path = meta_graph_path(target, meta_graph_suffix)
            with sess.graph.as_default():
                self.export_meta_graph(path, strip_default_attrs=strip_default_attrs)
        return saved

    def _numbered(self, sess: BaseSession, base: str, global_step: Any) -> str:
        """The path with the number of steps."""
        if global_step is None:
            return base
        if not isinstance(global_step, numbers.Integral):
            global_step = steps_of(sess, global_step)
        return f"{base}-{int(global_step):0{8 if self._pad_step_number else 1}d}"

    def _run(self, sess: BaseSession, base: str, target: str) -> str:
        names = self.saver_def
        try:
            saved: bytes = sess.run(names.save_tensor_name, {names.filename_tensor_name: target})
        except (errors.FailedPreconditionError, errors.NotFoundError) as error:
            folder = os.path.dirname(base)
            if not files.isdir(folder):  # nor is an empty one, as TensorFlow sees it
                raise ValueError(
                    f"Parent directory of {base} doesn't exist, can't save."
                ) from error
            raise
        return saved.decode()

    def _write_state(self, folder: str, saved: str, latest: str) -> None:
        update_checkpoint_state_internal(
            folder, saved, self.last_checkpoints, latest, self._save_relative_paths
        )

    def restore(self, sess: BaseSession, save_path: str | bytes | PathLike[str]) -> None:
        """Restore the variables of a session from a checkpoint.

        Args:
          sess: the session.
          save_path: the checkpoint's path.

        Raises:
          ValueError: there is no checkpoint of that path.
          NotFoundError: the checkpoint lacks a variable.
          InvalidArgumentError: a variable has another dtype or shape in the checkpoint.
          DataLossError: the checkpoint's files are damaged.

        """
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        path = _path(save_path)
        if not checkpoint_exists(path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {path}")
        _LOGGER.info("Restoring parameters from %s", path)
        names = self.saver_def
        try:
            sess.run(names.restore_op_name, {names.filename_tensor_name: path})
        except errors.NotFoundError as error:
            reason = "a Variable name or other graph key that is missing"
            raise _restoring_failed(error, reason) from error
        except errors.InvalidArgumentError as error:
            reason = "a mismatch between the current graph and the graph"
            raise _restoring_failed(error, reason) from error

    # -- as data

    def as_saver_def(self) -> SaverDef:
        """Its SaverDef."""
        return self.saver_def  # type: ignore[no-any-return]  # one once it is built

    def to_proto(self, export_scope: str | None = None) -> SaverDef | None:
        """The SaverDef, without `export_scope` in its names; None if it is outside of that."""
        if export_scope is None:
            return self.saver_def  # type: ignore[no-any-return]  # one once it is built
        return meta_graph.saver_def_in(self.saver_def, export_scope)

    @staticmethod
    def from_proto(saver_def: SaverDef, import_scope: str | None = None) -> Saver:
        """The saver whose operations the default graph has, under `import_scope`."""
        return Saver(saver_def=saver_def, name=import_scope)

    def export_meta_graph(
        self,
        filename: str | bytes | PathLike[str] | None = None,
        collection_list: Sequence[str] | None = None,
        as_text: bool = False,
        export_scope: str | None = None,
        clear_devices: bool = False,
        clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> MetaGraphDef:
        """The default graph with its collections and this saver; see `tf.train.export_meta_graph`.

        The arguments and errors are those of that function.
        """
        return meta_graph.export_meta_graph(
            filename,
            saver_def=self.saver_def,
            collection_list=collection_list,
            as_text=as_text,
            export_scope=export_scope,
            clear_devices=clear_devices,
            clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs,
            save_debug_info=save_debug_info,
        )


def _adopted(saver_def: SaverDef) -> SaverDef:
    try:
        return adopt(saver_def, SaverDef)
    except TypeError as error:
        raise ValueError(f"saver_def must be a saver_pb2.SaverDef: {saver_def}") from error


def _path(path: str | bytes | PathLike[str]) -> str:
    try:
        return as_given(path)
    except TypeError as error:
        raise TypeError(f"Expected binary or unicode string, got {path!r}") from error


def _checked_latest(name: str) -> str:
    if os.path.dirname(name):
        raise ValueError("'latest_filename' must not contain path components")
    return name


def _restoring_failed(error: errors.OpError, reason: str) -> errors.OpError:
    message = (
        f"Restoring from checkpoint failed. This is most likely due to {reason} from the "
        "checkpoint. Please ensure that you have not altered the graph expected based on the "
        f"checkpoint. Original error:\n\n{error}"
    )
    return errors.make(error.error_code, message, error.node_def, error.op)


public("train.SaverDef")(SaverDef)
