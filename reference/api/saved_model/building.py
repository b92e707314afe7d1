"""`tf.saved_model.Builder`: graphs and a session's variables into a folder. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

from sessrun.reference.api.saved_model import assets, names
from sessrun.reference.api.saved_model.model_files import make_folder, variables_path, write_model
from sessrun.reference.api.saved_model.signatures import op_signature_def
from sessrun.reference.api.saving.saveables import default_saveables
from sessrun.reference.api.saving.saver import Saver
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.session.session import BaseSession
from sessrun.reference.state.files import files
from sessrun.reference.state.files.file_names import as_given
from sessrun.spec.proto import DataType, MetaGraphDef, SavedModel, SignatureDef, TensorInfo
from sessrun.spec.proto.foreign import adopt

__all__ = ["SavedModelBuilder", "SignatureBuilder"]

Signatures = dict[str, SignatureDef]


class _Builder:
    """The base of both kinds of builders.

    Args:
      export_dir: the folder, which is created, or is empty.

    Raises:
      AssertionError: the folder is not empty.

    """

    def __init__(self, export_dir: str | bytes | PathLike[str]) -> None:
        self._saved_model = SavedModel(saved_model_schema_version=names.SAVED_MODEL_SCHEMA_VERSION)
        self._export_dir = as_given(export_dir)
        self._has_saved_variables = False
        self._saved_asset_files: set[str] = set()
        if not files.exists(self._export_dir):
            files.makedirs(self._export_dir)
        elif files.listdir(self._export_dir):
            raise AssertionError(
                f"Export directory {self._export_dir} already exists, and isn't empty. Please "
                "choose a different export directory, or delete all the contents of it."
            )

    def _check_state(self, *, is_first: bool) -> None:
        if is_first and self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke "
                "`add_meta_graph()` instead."
            )
        if not is_first and not self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first."
            )

    def _export(
        self,
        saver: Saver | None,
        sess: BaseSession | None = None,
        *,
        clear_devices: bool,
        strip: bool,
    ) -> MetaGraphDef:
        """Save the variables, if there is a session; the graph's message."""
        if sess is not None:
            path = variables_path(self._export_dir)
            make_folder(path.rpartition("/")[0])
        saver = saver or Saver(default_saveables(), sharded=True, allow_empty=True)
        if sess is not None:
            saver.save(sess, path, write_meta_graph=False, write_state=False)
        return saver.export_meta_graph(clear_devices=clear_devices, strip_default_attrs=strip)

    def _add(self, graph: MetaGraphDef, tags: Iterable[str], signatures: Signatures) -> None:
        graph.meta_info_def.tags.extend(tags)
        for key, signature in signatures.items():
            graph.signature_def[key].CopyFrom(signature)
        self._saved_model.meta_graphs.append(graph)

    def save(
        self,
        as_text: bool = False,
        experimental_image_format: bool = False,
        experimental_image_writer_options: object = None,
    ) -> bytes:
        """Write the file of the model.

        Args:
          as_text: whether it is a file of text.
          experimental_image_format: False; files in parts are not written.
          experimental_image_writer_options: not used.

        Returns:
          The file's path.

        Raises:
          RuntimeError: `experimental_image_format` is set.
          OpError: the file cannot be written.

        """
        del experimental_image_writer_options
        if experimental_image_format:
            raise RuntimeError(
                "No proto_splitter is provided, cannot use experimental_image_format."
            )
        make_folder(self._export_dir)
        return write_model(self._saved_model, self._export_dir, as_text=as_text).encode()


class SavedModelBuilder(_Builder):
    """Writes a saved model: graphs that share variables and assets.

    Args:
      export_dir: the folder, which is created, or is empty.

    Raises:
      AssertionError: the folder is not empty.

    """

    def add_meta_graph_and_variables(
        self,
        sess: BaseSession,
        tags: Iterable[str],
        signature_def_map: Mapping[str, object] | None = None,
        assets_collection: Iterable[object] | None = None,
        legacy_init_op: Tensor | Operation | None = None,
        clear_devices: bool = False,
        main_op: Tensor | Operation | None = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Add the default graph, and save the variables of a session.

        Args:
          sess: the session.
          tags: the tags that the graph is loaded by.
          signature_def_map: its signatures by key.
          assets_collection: constants that name files, which are copied.
          legacy_init_op: as `main_op`, by its older name.
          clear_devices: whether the requested devices are left out.
          main_op: the operation that is run once the graph is loaded.
          strip_default_attrs: whether attributes that have their defaults are left out.
          saver: what saves the variables; one for all of them by default.

        Raises:
          AssertionError: variables were saved before, or a signature has a tensor without name
            or dtype.
          KeyError: a signature has a key that is reserved.
          TypeError: `main_op` is no operation, or an asset no constant of one string.
          ValueError: the graph already has such an operation.
          OpError: a variable is not initialized, or a file cannot be written.

        """
        self._check_state(is_first=True)
        signatures = _checked(signature_def_map)
        self._add_collections(assets_collection, main_op or legacy_init_op)
        graph = self._export(saver, sess, clear_devices=clear_devices, strip=strip_default_attrs)
        self._add(graph, tags, signatures)
        self._has_saved_variables = True

    def add_meta_graph(
        self,
        tags: Iterable[str],
        signature_def_map: Mapping[str, object] | None = None,
        assets_collection: Iterable[object] | None = None,
        legacy_init_op: Tensor | Operation | None = None,
        clear_devices: bool = False,
        main_op: Tensor | Operation | None = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Add the default graph; the variables are those that were saved before.

        The arguments and errors are those of `add_meta_graph_and_variables`.

        Raises:
          AssertionError: no variables were saved.

        """
        self._check_state(is_first=False)
        signatures = _checked(signature_def_map)
        self._add_collections(assets_collection, main_op or legacy_init_op)
        graph = self._export(saver, clear_devices=clear_devices, strip=strip_default_attrs)
        self._add(graph, tags, signatures)

    def _add_collections(
        self, tensors: Iterable[object] | None, main_op: Tensor | Operation | None
    ) -> None:
        asset_paths = assets.named(tensors, assets.add_to_collection)
        assets.copied(asset_paths, self._export_dir, self._saved_asset_files)
        if main_op is None:
            return
        if not isinstance(main_op, Operation):
            raise TypeError(
                f"Expected {main_op} to be an Operation but got type {type(main_op)} instead."
            )
        graph = get_default_graph()
        for key in (names.MAIN_OP_KEY, names.LEGACY_INIT_OP_KEY):
            if graph.get_collection(key):
                raise ValueError(
                    f"Graph already contains one or more main ops under the collection {key}."
                )
        graph.add_to_collection(names.MAIN_OP_KEY, main_op)


class SignatureBuilder(_Builder):
    """Writes a saved model whose operations of loading and training are noted as signatures.

    TensorFlow has it under `tensorflow.python`, as `_SavedModelBuilder`.

    Args:
      export_dir: the folder, which is created, or is empty.

    Raises:
      AssertionError: the folder is not empty.

    """

    def add_meta_graph_and_variables(
        self,
        sess: BaseSession,
        tags: Iterable[str],
        signature_def_map: Mapping[str, object] | None = None,
        assets_list: Iterable[object] | None = None,
        clear_devices: bool = False,
        init_op: Any = None,
        train_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Add the default graph, and save the variables of a session.

        Args:
          sess: the session.
          tags: the tags that the graph is loaded by.
          signature_def_map: its signatures by key.
          assets_list: constants that name files, which are copied.
          clear_devices: whether the requested devices are left out.
          init_op: the operation that is run once the graph is loaded.
          train_op: what trains it.
          strip_default_attrs: whether attributes that have their defaults are left out.
          saver: what saves the variables; one for all of them by default.

        Raises:
          AssertionError, KeyError, TypeError, OpError: as `SavedModelBuilder`.

        """
        self._check_state(is_first=True)
        signatures = _with_operations(_checked(signature_def_map), init_op, train_op)
        graph = self._export(saver, sess, clear_devices=clear_devices, strip=strip_default_attrs)
        self._add_assets(graph, assets_list)
        self._add(graph, tags, signatures)
        self._has_saved_variables = True

    def add_meta_graph(
        self,
        tags: Iterable[str],
        signature_def_map: Mapping[str, object] | None = None,
        assets_list: Iterable[object] | None = None,
        clear_devices: bool = False,
        init_op: Any = None,
        train_op: Any = None,
        saver: Saver | None = None,
    ) -> None:
        """Add the default graph; the variables are those that were saved before.

        The arguments and errors are those of `add_meta_graph_and_variables`.

        Raises:
          AssertionError: no variables were saved.

        """
        self._check_state(is_first=False)
        signatures = _with_operations(_checked(signature_def_map), init_op, train_op)
        graph = self._export(saver, clear_devices=clear_devices, strip=True)
        self._add_assets(graph, assets_list)
        self._add(graph, tags, signatures)

    def _add_assets(self, graph: MetaGraphDef, tensors: Iterable[object] | None) -> None:
        asset_paths = assets.named(tensors, assets.add_to_message(graph))
        assets.copied(asset_paths, self._export_dir, self._saved_asset_files)


def _checked(signature_def_map: Mapping[str, object] | None) -> Signatures:
    """Signatures whose tensors have names and dtypes, and no key that is reserved."""
    signatures = {
        key: adopt(value, SignatureDef) for key, value in (signature_def_map or {}).items()
    }
    for signature in signatures.values():
        for info in (*signature.inputs.values(), *signature.outputs.values()):
            _check_info(info)
    for key in (names.INIT_OP_SIGNATURE_KEY, names.TRAIN_OP_SIGNATURE_KEY):
        if key in signatures:
            raise KeyError(f'SignatureDef map key "{key}" is reserved. Please use a different key.')
    return signatures


def _check_info(info: TensorInfo) -> None:
    encoding = info.WhichOneof("encoding")
    if encoding is None:
        raise AssertionError(
            f"Invalid `tensor_info`: {info}. All TensorInfo protos used in the SignatureDefs must "
            "have one of the 'encoding' fields (e.g., name or coo_sparse) set."
        )
    if encoding == "composite_tensor":
        for component in info.composite_tensor.components:
            _check_info(component)
    elif info.dtype == DataType.Value("DT_INVALID"):
        raise AssertionError(
            f"Invalid `tensor_info`: {info}. All TensorInfo protos used in the SignatureDefs must "
            "have the dtype field set."
        )


def _with_operations(
    signatures: Signatures, init_op: Tensor | Operation, train_op: Tensor | Operation
) -> Signatures:
    keys = ((names.INIT_OP_SIGNATURE_KEY, init_op), (names.TRAIN_OP_SIGNATURE_KEY, train_op))
    return signatures | {
        key: op_signature_def(operation, key) for key, operation in keys if operation is not None
    }
