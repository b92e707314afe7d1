"""Faults of SAVING on the API surface: savers, checkpoints by name, meta graphs."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sessrun.conformance.faulty.framework import Overlay, fault, override
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.library import Saved, Saver, Step
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array, Call, Graph, Session
from sessrun.spec.proto.graph_pb2 import GraphDef


def _training(tf: Namespace, **names: Call) -> Namespace:
    """The namespace with these names of `train` replaced."""
    return override(tf, train=Overlay(tf.train, names))


def _saver(
    tf: Namespace,
    *,
    options: Callable[[dict[str, Argument]], dict[str, Argument]] | None = None,
    var_list: Callable[[Saved], Saved] | None = None,
    save: Callable[..., str] | None = None,
    restore: Callable[..., None] | None = None,
) -> Namespace:
    """The namespace whose savers are made, save or restore otherwise.

    Args:
      tf: the conforming namespace.
      options: from the keyword arguments of a saver to others.
      var_list: from its variables to others.
      save: `save(conforming, saver, sess, path, step, options)` instead of `Saver.save`.
      restore: `restore(conforming, saver, sess, path)` instead of `Saver.restore`.

    """

    class Saver(tf.train.Saver):  # type: ignore[misc, name-defined]
        def __init__(self, variables: Saved | None = None, **given: Argument) -> None:
            if options is not None:
                given = options(given)
            super().__init__(variables if var_list is None else var_list(variables), **given)

        def save(
            self,
            sess: Session,
            save_path: str,
            global_step: Step | None = None,
            *args: Argument,
            **given: Argument,
        ) -> str:
            if save is None:
                return super().save(sess, save_path, global_step, *args, **given)
            return save(super().save, self, sess, save_path, global_step, given)

        def restore(self, sess: Session, save_path: str) -> None:
            if restore is None:
                super().restore(sess, save_path)
            else:
                restore(super().restore, self, sess, save_path)

    return _training(tf, Saver=Saver)


def _turning(
    tf: Namespace, change: Callable[[Exception], Exception | None], *classes: type[Exception]
) -> Namespace:
    """The namespace where an error of `Saver.restore` is replaced, or passed over for None."""

    def restore(conforming: Call, _saver: Saver, sess: Session, path: str) -> None:
        try:
            conforming(sess, path)
        except classes as error:
            other = change(error)
            if other is not None:
                raise other from error

    return _saver(tf, restore=restore)


@fault("SAVING-040", "A variable that holds nothing but zeros is not restored.")
def zeros_are_not_restored(tf: Namespace) -> Namespace:
    """Load the zeros again after the restore."""

    def restore(conforming: Call, _saver: Saver, sess: Session, path: str) -> None:
        before = _value(tf, sess, "v")
        conforming(sess, path)
        if before is not None and not before.any():
            sess.graph.get_collection("variables")[0].load(before, sess)

    return _saver(tf, restore=restore)


def _value(tf: Namespace, sess: Session, name: str) -> Array | None:
    try:
        return sess.run(sess.graph.get_tensor_by_name(f"{name}:0"))
    except (KeyError, tf.errors.OpError):
        return None


@fault("SAVING-041", "The path that is saved is told without the number of steps.")
def paths_without_numbers(tf: Namespace) -> Namespace:
    """Return the path without the step where the step is no int."""

    def save(
        conforming: Call,
        _saver: Saver,
        sess: Session,
        path: str,
        step: Step,
        given: Mapping[str, Argument],
    ) -> str:
        saved = conforming(sess, path, step, **given)
        plain = step is not None and not isinstance(step, int)
        return path if plain else saved

    return _saver(tf, save=save)


@fault("SAVING-042", "Numbers of steps are as long as they are.")
def numbers_are_not_padded(tf: Namespace) -> Namespace:
    """Forget the option."""
    return _saver(
        tf, options=lambda given: {k: v for k, v in given.items() if k != "pad_step_number"}
    )


@fault("SAVING-043", "One checkpoint more is kept than asked for.")
def one_more_is_kept(tf: Namespace) -> Namespace:
    """Keep three checkpoints where two are asked for, and list the last two."""

    class Saver(tf.train.Saver):  # type: ignore[misc, name-defined]
        def __init__(self, *args: Argument, **given: Argument) -> None:
            self._more = given.get("max_to_keep") == 2
            if self._more:
                given["max_to_keep"] = 3
            super().__init__(*args, **given)

        @property
        def last_checkpoints(self) -> list[str]:
            checkpoints: list[str] = super().last_checkpoints
            return checkpoints[-2:] if self._more else checkpoints

    return _training(tf, Saver=Saver)


@fault("SAVING-044", "Not more than five checkpoints are ever kept.")
def at_most_five_are_kept(tf: Namespace) -> Namespace:
    """Keep five where all were to be kept."""

    def options(given: dict[str, Argument]) -> dict[str, Argument]:
        return given | {"max_to_keep": given.get("max_to_keep", 5) or 5}

    return _saver(tf, options=options)


@fault("SAVING-045", "No checkpoint is kept for good.")
def none_is_kept_for_good(tf: Namespace) -> Namespace:
    """Forget the option."""
    return _saver(
        tf,
        options=lambda given: {
            k: v for k, v in given.items() if k != "keep_checkpoint_every_n_hours"
        },
    )


@fault("SAVING-046", "The latest checkpoint is that of the highest number.")
def the_highest_number_is_the_latest(tf: Namespace) -> Namespace:
    """Return the path with the highest step in the folder."""

    def latest_checkpoint(folder: str, latest_filename: str | None = None) -> str | None:
        latest = tf.train.latest_checkpoint(folder, latest_filename)
        if latest is None or "-" not in os.path.basename(latest):
            return latest
        stem = latest.rpartition("-")[0]
        numbers = [
            path.rpartition("-")[2].removesuffix(".index")
            for path in glob.glob(glob.escape(stem) + "-*.index")
        ]
        return f"{stem}-{max(map(int, numbers))}"

    return _training(tf, latest_checkpoint=latest_checkpoint)


@fault("SAVING-047", "The latest checkpoint of a folder without any is empty text.")
def no_latest_is_empty(tf: Namespace) -> Namespace:
    """Return "" where TensorFlow returns None, if the folder is missing or has only `other`."""

    def latest_checkpoint(folder: str, latest_filename: str | None = None) -> str | None:
        latest = tf.train.latest_checkpoint(folder, latest_filename)
        names = os.listdir(folder) if os.path.isdir(folder) else ["other"]
        return "" if latest is None and names == ["other"] else latest

    return _training(tf, latest_checkpoint=latest_checkpoint)


@fault("SAVING-048", "There is one list of checkpoints in a folder, whatever its name.")
def one_list_of_checkpoints(tf: Namespace) -> Namespace:
    """Forget the name when saving."""

    def save(
        conforming: Call,
        _saver: Saver,
        sess: Session,
        path: str,
        step: Step,
        given: Mapping[str, Argument],
    ) -> str:
        return conforming(
            sess, path, step, **{k: v for k, v in given.items() if k != "latest_filename"}
        )

    return _saver(tf, save=save)


@fault("SAVING-049", "Variables are saved under their own names, whatever a dict says.")
def names_of_dicts_are_forgotten(tf: Namespace) -> Namespace:
    """Take the variables of a dict that names two of them, one by the name of the other."""

    def var_list(given: Saved) -> Saved:
        if isinstance(given, dict) and set(given) == {"first", "w"}:
            return list(given.values())
        return given

    return _saver(tf, var_list=var_list)


@fault("SAVING-050", "A saver of some variables restores the others too.")
def others_are_restored_too(tf: Namespace) -> Namespace:
    """Restore all variables where `var_list` is one of two."""

    def var_list(given: Saved) -> Saved:
        every = tf.global_variables()
        if isinstance(given, list) and len(given) == 1 and len(every) == 2:
            other = next(variable for variable in every if variable is not given[0])
            return every if other.name == "w:0" else given
        return given

    return _saver(tf, var_list=var_list)


@fault("SAVING-051", "Restoring from where there is no checkpoint raises NotFoundError.")
def no_checkpoint_is_not_found(tf: Namespace) -> Namespace:
    """Raise it instead of ValueError."""
    return _turning(tf, lambda error: tf.errors.NotFoundError(None, None, str(error)), ValueError)


@fault("SAVING-052", "A variable that the checkpoint lacks is left as it is.")
def lacking_variables_are_left(tf: Namespace) -> Namespace:
    """Pass over the error."""
    return _turning(tf, lambda _: None, tf.errors.NotFoundError)


@fault("SAVING-053", "A variable of another shape is left as it is.")
def other_shapes_are_left(tf: Namespace) -> Namespace:
    """Pass over the error."""
    return _turning(tf, lambda _: None, tf.errors.InvalidArgumentError)


@fault("SAVING-054", "What is restored has the shape that was saved.")
def shapes_are_not_changed(tf: Namespace) -> Namespace:
    """Forget the option."""
    return _saver(tf, options=lambda given: {k: v for k, v in given.items() if k != "reshape"})


@fault("SAVING-055", "All devices save into one data file.")
def devices_share_a_file(tf: Namespace) -> Namespace:
    """Forget the option."""
    return _saver(tf, options=lambda given: {k: v for k, v in given.items() if k != "sharded"})


@fault("SAVING-056", "The parts of a variable are saved one by one.")
def parts_are_saved_one_by_one(tf: Namespace) -> Namespace:
    """Pass the parts of a partitioned variable by their names."""

    def var_list(given: Saved) -> Saved:
        if not isinstance(given, list) or not any(hasattr(v, "_get_variable_list") for v in given):
            return given
        parts = [part for variable in given for part in variable]
        return {part.op.name: part for part in parts}

    return _saver(tf, var_list=var_list)


@fault("SAVING-057", "A saver of nothing saves nothing.")
def savers_of_nothing(tf: Namespace) -> Namespace:
    """Pass `allow_empty=True`."""
    return _saver(tf, options=lambda given: given | {"allow_empty": True})


@fault("SAVING-058", "Of two variables of one name the last is saved.")
def the_last_of_a_name(tf: Namespace) -> Namespace:
    """Keep the last variable of each name in `var_list`."""

    def var_list(given: Saved) -> Saved:
        if not isinstance(given, list) or any(hasattr(v, "_get_variable_list") for v in given):
            return given
        return list({variable.name: variable for variable in given}.values())

    return _saver(tf, var_list=var_list)


@fault("SAVING-059", "The meta graph is always written.")
def meta_graphs_are_always_written(tf: Namespace) -> Namespace:
    """Export the meta graph where `write_state` is False."""

    def save(
        conforming: Call,
        saver: Saver,
        sess: Session,
        path: str,
        step: Step,
        given: Mapping[str, Argument],
    ) -> str:
        saved = conforming(sess, path, step, **given)
        if given.get("write_state") is False:
            saver.export_meta_graph(f"{saved}.meta")
        return saved

    return _saver(tf, save=save)


def _importing(
    tf: Namespace, change: Callable[[Callable[[], Saver | None], str], object]
) -> Namespace:
    """The namespace where `change(conforming, file)` is what `import_meta_graph` gives."""

    def import_meta_graph(file: str, *args: Argument, **given: Argument) -> object:
        return change(lambda: tf.train.import_meta_graph(file, *args, **given), file)

    return _training(tf, import_meta_graph=import_meta_graph)


@fault("SAVING-060", "The saver of an imported graph restores nothing.")
def imported_savers_restore_nothing(tf: Namespace) -> Namespace:
    """Give a saver whose restoring initializes."""

    class Saver:
        def restore(self, sess: Session, _path: str) -> None:
            with sess.graph.as_default():
                sess.run(tf.global_variables_initializer())

    return _importing(tf, lambda conforming, _file: Saver() if conforming() else None)


@fault("SAVING-061", "A meta graph that is not there is an empty one.")
def no_meta_graph_is_empty(tf: Namespace) -> Namespace:
    """Give no saver."""
    return _importing(tf, lambda conforming, file: conforming() if os.path.exists(file) else None)


@fault("SAVING-062", "Collections of numbers do not come back.")
def collections_do_not_come_back(tf: Namespace) -> Namespace:
    """Clear the collection `numbers` after the import."""

    def change(conforming: Callable[[], Saver | None], _file: str) -> Saver | None:
        saver = conforming()
        tf.get_default_graph().clear_collection("numbers")
        return saver

    return _importing(tf, change)


@fault("SAVING-063", "A graph is always written as text.")
def graphs_are_written_as_text(tf: Namespace) -> Namespace:
    """Forget the option."""

    def write_graph(graph: Graph, folder: str, name: str, as_text: bool = True) -> str:
        del as_text
        return tf.train.write_graph(graph, folder, name)

    return _training(tf, write_graph=write_graph)


@fault("SAVING-064", "Variables become constants of their initial values.")
def constants_of_initial_values(tf: Namespace) -> Namespace:
    """Take a session of its own."""

    def convert(sess: Session, *args: Argument, **given: Argument) -> GraphDef:
        with sess.graph.as_default(), tf.Session(graph=sess.graph) as fresh:
            fresh.run(tf.global_variables_initializer())
            return tf.graph_util.convert_variables_to_constants(fresh, *args, **given)

    names = {"convert_variables_to_constants": convert}
    return override(tf, graph_util=Overlay(tf.graph_util, names))


@fault("SAVING-065", "The variables of a checkpoint are listed backwards.")
def variables_are_listed_backwards(tf: Namespace) -> Namespace:
    """Turn the list round."""
    return _training(tf, list_variables=lambda path: tf.train.list_variables(path)[::-1])


@fault("SAVING-093", "A variable of a checkpoint is the last one, whatever its name.")
def the_last_variable_is_loaded(tf: Namespace) -> Namespace:
    """Load the last of those that are listed, where the name is one of them."""

    def load_variable(path: str, name: str) -> Any:
        names = [listed for listed, _ in tf.train.list_variables(path)]
        return tf.train.load_variable(path, names[-1] if name in names[:-1] else name)

    return _training(tf, load_variable=load_variable)


@fault("SAVING-094", "A variable that a checkpoint lacks is None.")
def lacking_values_are_none(tf: Namespace) -> Namespace:
    """Pass over the error."""

    def load_variable(path: str, name: str) -> Array | None:
        try:
            return tf.train.load_variable(path, name)
        except tf.errors.NotFoundError:
            return None

    return _training(tf, load_variable=load_variable)


@fault("SAVING-067", "Variables are initialized as ever, whatever checkpoint they are to have.")
def checkpoints_do_not_initialize(tf: Namespace) -> Namespace:
    """Do nothing."""
    return _training(tf, init_from_checkpoint=lambda *_: None)


@fault("SAVING-068", "The checkpoints that are kept are listed with the latest first.")
def the_latest_is_listed_first(tf: Namespace) -> Namespace:
    """Reverse `last_checkpoints`."""

    class Saver(tf.train.Saver):  # type: ignore[misc, name-defined]
        @property
        def last_checkpoints(self) -> list[str]:
            checkpoints: list[str] = super().last_checkpoints
            return checkpoints[::-1]

    return _training(tf, Saver=Saver)


@fault("SAVING-069", "There is a checkpoint of every path in a folder of one.")
def every_path_is_a_checkpoint(tf: Namespace) -> Namespace:
    """Look for any index in the folder."""

    def checkpoint_exists(path: str) -> bool:
        return bool(glob.glob(os.path.join(glob.escape(os.path.dirname(path)), "*.index")))

    return _training(tf, checkpoint_exists=checkpoint_exists)


@fault("SAVING-070", "Checkpoints are listed by their whole paths.")
def paths_are_not_relative(tf: Namespace) -> Namespace:
    """Forget the option."""
    return _saver(
        tf, options=lambda given: {k: v for k, v in given.items() if k != "save_relative_paths"}
    )


@fault("SAVING-071", "Variables that are not initialized are saved as they would be.")
def saving_initializes(tf: Namespace) -> Namespace:
    """Initialize, and save again."""

    def save(
        conforming: Call,
        _saver: Saver,
        sess: Session,
        path: str,
        step: Step,
        given: Mapping[str, Argument],
    ) -> str:
        try:
            return conforming(sess, path, step, **given)
        except tf.errors.FailedPreconditionError:
            with sess.graph.as_default():
                sess.run(tf.global_variables_initializer())
            return np.asarray(conforming(sess, path, step, **given)).item()

    return _saver(tf, save=save)
