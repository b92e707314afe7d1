"""Faults of SAVING: saved models that are loaded or written otherwise."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from google.protobuf.message import Message

from sessrun.conformance.faulty.framework import Overlay, fault, override
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.library import Builder
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Session


def _models(tf: Namespace, **names: Call | Overlay) -> Namespace:
    """The namespace with these names of `saved_model` replaced."""
    return override(tf, saved_model=Overlay(tf.saved_model, names))


def _loading(tf: Namespace, change: Call) -> Namespace:
    """The namespace where `change(conforming, sess, tags, folder, options)` loads a model."""

    def load(sess: Session, tags: Sequence[str], export_dir: str, **options: Argument) -> Message:
        return change(tf.saved_model.load, sess, tags, export_dir, options)

    return _models(tf, load=load, loader=Overlay(tf.saved_model.loader, {"load": load}))


def _building(tf: Namespace, **methods: Call) -> Namespace:
    """The namespace whose SavedModel builders have these methods."""
    return _models(tf, Builder=type("Builder", (tf.saved_model.Builder,), methods))


@fault("SAVING-080", "The variables of a model that is loaded are initialized, not restored.")
def loaded_models_are_initialized(tf: Namespace) -> Namespace:
    """Run the initializers of all variables once a model in text form is loaded."""

    def change(
        conforming: Call,
        sess: Session,
        tags: Sequence[str],
        folder: str,
        options: Mapping[str, Argument],
    ) -> Message:
        meta_graph = conforming(sess, tags, folder, **options)
        is_text = os.path.exists(os.path.join(folder, "saved_model.pbtxt"))
        if is_text:
            with sess.graph.as_default():
                sess.run(tf.global_variables_initializer())
        return meta_graph

    return _loading(tf, change)


@fault("SAVING-081", "The message of a loaded model has no signatures.")
def loaded_models_have_no_signatures(tf: Namespace) -> Namespace:
    """Clear `signature_def` of the returned MetaGraphDef."""

    def change(
        conforming: Call,
        sess: Session,
        tags: Sequence[str],
        folder: str,
        options: Mapping[str, Argument],
    ) -> Message:
        meta_graph = conforming(sess, tags, folder, **options)
        meta_graph.ClearField("signature_def")
        return meta_graph

    return _loading(tf, change)


@fault("SAVING-095", "Tags find a graph in the order of their names only.")
def tags_are_in_order(tf: Namespace) -> Namespace:
    """Refuse tags that are not sorted."""

    def change(conforming: Call, sess: Session, tags: Any, folder: str, options: Any) -> Any:
        if list(tags) != sorted(tags):
            raise RuntimeError("no graph has these tags")
        return conforming(sess, tags, folder, **options)

    return _loading(tf, change)


@fault("SAVING-096", "A graph that has the tags, and others, is found.")
def more_tags_are_found(tf: Namespace) -> Namespace:
    """Ask for two tags where one is given and is not there alone."""

    def change(
        conforming: Call,
        sess: Session,
        tags: Sequence[str],
        folder: str,
        options: Mapping[str, Argument],
    ) -> Message:
        try:
            return conforming(sess, tags, folder, **options)
        except RuntimeError:
            if list(tags) != ["a"]:
                raise
            return conforming(sess, ["a", "b"], folder, **options)

    return _loading(tf, change)


@fault("SAVING-083", "A folder without a model has an empty one.")
def no_model_is_empty(tf: Namespace) -> Namespace:
    """Give an empty message."""

    def change(
        conforming: Call,
        sess: Session,
        tags: Sequence[str],
        folder: str,
        options: Mapping[str, Argument],
    ) -> Message:
        try:
            return conforming(sess, tags, folder, **options)
        except OSError:
            return tf.MetaGraphDef()

    return _loading(tf, change)


def _without(name: str) -> Callable[[Builder, dict[str, Argument]], object]:
    return lambda _builder, options: options.pop(name, None)


def _adding(tf: Namespace, change: Callable[[Builder, dict[str, Argument]], object]) -> Namespace:
    """The namespace whose builders' options are changed before the first graph is added."""

    def add(
        self: Builder,
        sess: Session,
        tags: Sequence[str],
        signature_def_map: Mapping[str, Message] | None = None,
        **options: Argument,
    ) -> None:
        change(self, options)
        conforming = tf.saved_model.Builder.add_meta_graph_and_variables
        conforming(self, sess, tags, signature_def_map, **options)

    return _building(tf, add_meta_graph_and_variables=add)


@fault("SAVING-084", "The main operation of a model is forgotten unless it has assets.")
def main_operations_are_forgotten(tf: Namespace) -> Namespace:
    """Drop `main_op` where no assets are given."""

    def change(_builder: Builder, options: dict[str, Argument]) -> None:
        if not options.get("assets_collection"):
            options.pop("main_op", None)

    return _adding(tf, change)


@fault("SAVING-085", "Assets are left where they are.")
def assets_are_left(tf: Namespace) -> Namespace:
    """Drop `assets_collection`."""
    return _adding(tf, _without("assets_collection"))


@fault("SAVING-086", "A model is written beside what is in a folder.")
def full_folders_take_models(tf: Namespace) -> Namespace:
    """Make the builder for a folder in it."""

    class Builder(tf.saved_model.Builder):  # type: ignore[misc, name-defined]
        def __init__(self, export_dir: str) -> None:
            is_full = os.path.isdir(export_dir) and os.listdir(export_dir)
            super().__init__(os.path.join(export_dir, "model") if is_full else export_dir)

    return _models(tf, Builder=Builder)


@fault("SAVING-087", "A graph that is added later is the first one's again.")
def added_graphs_are_lost(tf: Namespace) -> Namespace:
    """Add nothing."""
    return _building(tf, add_meta_graph=lambda *_args, **_options: None)


@fault("SAVING-100", "A graph without variables may be a model's first.")
def first_graphs_lack_variables(tf: Namespace) -> Namespace:
    """Pass over the error."""

    def add_meta_graph(self: Builder, *args: Argument, **options: Argument) -> None:
        try:
            tf.saved_model.Builder.add_meta_graph(self, *args, **options)
        except AssertionError as error:
            if "add_meta_graph_and_variables" not in str(error):
                raise

    return _building(tf, add_meta_graph=add_meta_graph)


@fault("SAVING-101", "Only a folder with a model of bytes may have a model.")
def text_is_no_model(tf: Namespace) -> Namespace:
    """Look for the other file alone."""

    def maybe_saved_model_directory(export_dir: str) -> bool:
        return os.path.exists(os.path.join(export_dir, "saved_model.pb"))

    return _models(tf, maybe_saved_model_directory=maybe_saved_model_directory)


@fault("SAVING-088", "A model is loaded under its own names.")
def import_scopes_are_forgotten(tf: Namespace) -> Namespace:
    """Forget the option."""

    def change(
        conforming: Call,
        sess: Session,
        tags: Sequence[str],
        folder: str,
        options: Mapping[str, Argument],
    ) -> Message:
        more = {name: option for name, option in options.items() if name != "import_scope"}
        return conforming(sess, tags, folder, **more)

    return _loading(tf, change)


@fault("SAVING-089", "A signature may have a tensor without a name.")
def unfit_signatures_are_taken(tf: Namespace) -> Namespace:
    """Pass over the error."""

    def add(
        self: Builder, sess: Session, tags: Sequence[str], *args: Argument, **options: Argument
    ) -> None:
        conforming = tf.saved_model.Builder.add_meta_graph_and_variables
        try:
            conforming(self, sess, tags, *args, **options)
        except AssertionError as error:
            if "tensor_info" not in str(error):
                raise

    return _building(tf, add_meta_graph_and_variables=add)
