"""`tf.saved_model.signature_def_utils.MethodNameUpdater`."""

from __future__ import annotations

import os
from os import PathLike

from sessrun.reference.api.saved_model.model_files import read_model, text_path, write_model
from sessrun.reference.state.files import files

__all__ = ["MethodNameUpdater"]


class MethodNameUpdater:
    """Changes the method names of the signatures of a saved model.

    Args:
      export_dir: its folder.

    Raises:
      OSError: there is no model in it.

    """

    def __init__(self, export_dir: str | bytes | PathLike[str]) -> None:
        self._export_dir = export_dir
        self._saved_model = read_model(export_dir)

    def replace_method_name(
        self, signature_key: str, method_name: str, tags: object = None
    ) -> None:
        """Set the method name of a signature.

        Args:
          signature_key: the signature's key.
          method_name: the method name.
          tags: one tag, or the list of all, of the graph; all graphs if None.

        Raises:
          ValueError: a name is empty, or there is no such graph, or it has no such signature.

        """
        if not signature_key:
            raise ValueError("`signature_key` must be defined.")
        if not method_name:
            raise ValueError("`method_name` must be defined.")
        if tags is not None and not isinstance(tags, list):
            tags = [tags]
        is_known = False
        for graph in self._saved_model.meta_graphs:
            if tags is not None and set(tags) != set(graph.meta_info_def.tags):
                continue
            if signature_key not in graph.signature_def:
                raise ValueError(
                    f"MetaGraphDef associated with tags {tags} does not have a signature_def with "
                    f"key: '{signature_key}'."
                )
            graph.signature_def[signature_key].method_name = method_name
            is_known = True
        if not is_known:
            raise ValueError(
                f"MetaGraphDef associated with tags {tags} could not be found in SavedModel."
            )

    def save(self, new_export_dir: str | None = None) -> None:
        """Write the model, as text if it was read from one.

        Args:
          new_export_dir: the folder; that of the model by default.

        Raises:
          OpError: the file cannot be written.

        """
        is_text = files.exists(text_path(self._export_dir))
        target = os.fspath(new_export_dir or self._export_dir)
        write_model(self._saved_model, target, as_text=is_text)
