"""Loading saved models: the graph, its variables, then its initialization. Source: TF 2.21."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from os import PathLike
from typing import Any, Final

from sessrun.reference.api.saved_model import names
from sessrun.reference.api.saved_model.model_files import (
    assets_folder,
    maybe_saved_model_directory,
    read_model,
    variables_path,
)
from sessrun.reference.api.saved_model.signatures import load_op_from_signature_def
from sessrun.reference.api.saving.meta_graph_import import imported
from sessrun.reference.api.saving.saver import Saver
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.session.session import BaseSession
from sessrun.reference.state.files.file_names import as_given
from sessrun.reference.state.files.files import join
from sessrun.spec.proto import AssetFileDef, MetaGraphDef, SavedModel

__all__ = [
    "SavedModelLoader",
    "get_asset_tensors",
    "get_init_op",
    "get_train_op",
    "load",
    "maybe_saved_model_directory",
    "parse_saved_model",
]

_LOGGER: Final = logging.getLogger("sessrun")

parse_saved_model = read_model


def load(
    sess: BaseSession,
    tags: Iterable[str],
    export_dir: str | bytes | PathLike[str],
    import_scope: str | None = None,
    **saver_kwargs: object,
) -> MetaGraphDef:
    """Load a saved model into a session and its graph.

    Args:
      sess: the session.
      tags: the tags of the graph that is wanted, all of them.
      export_dir: the model's folder.
      import_scope: a name scope for all; the message that is returned is without it.
      **saver_kwargs: as `import_meta_graph` has them.

    Returns:
      The graph's message, with its signatures.

    Raises:
      OSError: there is no model in the folder.
      RuntimeError: the model has no graph with these tags.
      OpError: the variables cannot be restored, or what prepares the graph fails.

    """
    return SavedModelLoader(export_dir).load(sess, tags, import_scope, **saver_kwargs)


class SavedModelLoader:
    """Loads a saved model, as a whole or step by step.

    Args:
      export_dir: the model's folder.

    Raises:
      OSError: there is no model in it.

    """

    def __init__(self, export_dir: str | bytes | PathLike[str]) -> None:
        self._export_dir = export_dir
        self._variables_path = variables_path(export_dir)
        self._saved_model = read_model(export_dir)

    @property
    def export_dir(self) -> str | bytes | PathLike[str]:
        """The model's folder."""
        return self._export_dir

    @property
    def variables_path(self) -> str:
        """The path of the checkpoint of its variables."""
        return self._variables_path

    @property
    def saved_model(self) -> SavedModel:
        """The SavedModel message of the model's file."""
        return self._saved_model

    def get_meta_graph_def_from_tags(self, tags: Iterable[str]) -> MetaGraphDef:
        """The graph that has exactly these tags.

        Raises:
          RuntimeError: no graph has these tags.

        """
        wanted = set(tags)
        there = [set(graph.meta_info_def.tags) for graph in self._saved_model.meta_graphs]
        if wanted in there:
            return self._saved_model.meta_graphs[there.index(wanted)]
        raise RuntimeError(
            f"MetaGraphDef associated with tags {str(tags).strip('[]')} could not be found in "
            f"SavedModel, with available tags '{there}'."
        )

    def load_graph(
        self,
        graph: Graph,
        tags: Iterable[str],
        import_scope: str | None = None,
        **saver_kwargs: Any,
    ) -> tuple[Saver | None, list[Tensor | Operation] | None]:
        """Add the graph of these tags to one.

        Args:
          graph: where to.
          tags: all of its tags.
          import_scope: a name scope for all.
          **saver_kwargs: as `import_meta_graph` has them.

        Returns:
          Its saver, and what `return_elements` names.

        Raises:
          RuntimeError: the model has no graph with these tags.

        """
        definition = self.get_meta_graph_def_from_tags(tags)
        with graph.as_default():
            return imported(definition, import_scope=import_scope, **saver_kwargs)

    def restore_variables(
        self, sess: BaseSession, saver: Saver | None, import_scope: str | None = None
    ) -> None:
        """Restore the variables of the model into a session.

        Args:
          sess: the session.
          saver: what restores them.
          import_scope: the name scope that they are in.

        Raises:
          ValueError: there are variables, but no saver.
          OpError: the variables cannot be restored.

        """
        keys = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.SAVEABLE_OBJECTS)
        with sess.graph.as_default():
            if isinstance(saver, Saver):
                saver.restore(sess, self._variables_path)
            elif saver is None and not any(
                sess.graph.get_collection(key, import_scope) for key in keys
            ):
                _LOGGER.info("The specified SavedModel has no variables.")
            else:
                raise ValueError(
                    "No tf.train.Saver object was passed to the function "
                    "`SavedModelLoader.restore_variables`. Since there are variables in the graph, "
                    "a saver is required."
                )

    def run_init_ops(
        self, sess: BaseSession, tags: Iterable[str], import_scope: str | None = None
    ) -> None:
        """Run the operation that initializes the graph with these tags, with its assets fed.

        Args:
          sess: the session.
          tags: all of the graph's tags.
          import_scope: the name scope that it was imported under.

        Raises:
          RuntimeError: no graph has these tags, or several operations initialize it.

        """
        definition = self.get_meta_graph_def_from_tags(tags)
        with sess.graph.as_default():
            assets = get_asset_tensors(self._export_dir, definition, import_scope=import_scope)
            operation = get_init_op(definition, import_scope)
            if operation is not None:
                sess.run([operation], feed_dict=assets)

    def load(
        self,
        sess: BaseSession,
        tags: Iterable[str],
        import_scope: str | None = None,
        **saver_kwargs: object,
    ) -> MetaGraphDef:
        """Load the graph of these tags into a session, as `tf.saved_model.load` does."""
        with sess.graph.as_default():
            saver, _ = self.load_graph(sess.graph, tags, import_scope, **saver_kwargs)
            self.restore_variables(sess, saver, import_scope)
            self.run_init_ops(sess, tags, import_scope)
        return self.get_meta_graph_def_from_tags(tags)


def get_asset_tensors(
    export_dir: str | bytes | PathLike[str],
    meta_graph_def_to_load: MetaGraphDef,
    import_scope: str | None = None,
) -> dict[str, bytes]:
    """The paths of assets by the tensors that name them.

    Args:
      export_dir: the model's folder.
      meta_graph_def_to_load: the graph's message.
      import_scope: a name scope that is put before the tensors' names.

    """
    assets = list(meta_graph_def_to_load.asset_file_def)
    collections = meta_graph_def_to_load.collection_def
    if not assets and names.ASSETS_KEY in collections:
        for packed in collections[names.ASSETS_KEY].any_list.value:
            assets.append(AssetFileDef())
            packed.Unpack(assets[-1])
    folder = assets_folder(as_given(export_dir))
    scope = f"{import_scope}/" if import_scope else ""
    return {
        scope + asset.tensor_info.name: join(folder, asset.filename).encode() for asset in assets
    }


def _of_signature(
    definition: MetaGraphDef, key: str, import_scope: str | None
) -> Tensor | Operation | None:
    if key not in definition.signature_def:
        return None
    result: Tensor | Operation | None = load_op_from_signature_def(
        definition.signature_def[key], key, import_scope
    )
    return result


def _of_collection(definition: MetaGraphDef, key: str) -> Any:
    if key not in definition.collection_def:
        return None
    there = definition.collection_def[key].node_list.value
    if len(there) != 1:
        raise RuntimeError(
            f"Expected exactly one SavedModel init op. Found {len(there)}: {list(there)}."
        )
    return get_default_graph().get_collection(key)[0]


def get_init_op(
    meta_graph_def: MetaGraphDef, import_scope: str | None = None
) -> Tensor | Operation | None:
    """The operation that initializes an imported graph, or None.

    Args:
      meta_graph_def: its message.
      import_scope: the name scope that it was imported under.

    Raises:
      RuntimeError: there are several in a collection.
      NotFoundError: a signature names what the graph does not have.

    """
    init_op = _of_signature(meta_graph_def, names.INIT_OP_SIGNATURE_KEY, import_scope)
    for key in (names.MAIN_OP_KEY, names.LEGACY_INIT_OP_KEY):
        if init_op is None:
            init_op = _of_collection(meta_graph_def, key)
    return init_op


def get_train_op(
    meta_graph_def: MetaGraphDef, import_scope: str | None = None
) -> Tensor | Operation | None:
    """The training operation of an imported graph, or None; arguments as of `get_init_op`."""
    train_op = _of_signature(meta_graph_def, names.TRAIN_OP_SIGNATURE_KEY, import_scope)
    return _of_collection(meta_graph_def, names.TRAIN_OP_KEY) if train_op is None else train_op
