"""`tf.saved_model.simple_save`, and operations that prepare a model once it is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike

from sessrun.reference.api.saved_model.building import SavedModelBuilder
from sessrun.reference.api.saved_model.names import DEFAULT_SERVING_SIGNATURE_DEF_KEY, SERVING
from sessrun.reference.api.saved_model.signatures import predict_signature_def
from sessrun.reference.api.tables.table_initializers import tables_initializer
from sessrun.reference.api.variables.variable_lists import (
    global_variables_initializer,
    local_variables_initializer,
)
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build.framework_ops import group
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.session.session import BaseSession

__all__ = ["main_op", "main_op_with_restore", "simple_save"]


def simple_save(
    session: BaseSession,
    export_dir: str | bytes | PathLike[str],
    inputs: Mapping[str, object],
    outputs: Mapping[str, object],
    legacy_init_op: Tensor | Operation | None = None,
) -> None:
    """Save the default graph with a session's variables and one signature.

    Args:
      session: the session.
      export_dir: the folder, which is created, or is empty.
      inputs: the signature's inputs, tensors by name.
      outputs: its outputs.
      legacy_init_op: the operation that is run once the model is loaded.

    Raises:
      AssertionError: the folder is not empty.
      ValueError: there are no inputs, or no outputs.

    """
    signature = predict_signature_def(inputs, outputs)
    builder = SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(
        session,
        tags=[SERVING],
        signature_def_map={DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature},
        assets_collection=get_default_graph().get_collection(GraphKeys.ASSET_FILEPATHS),
        main_op=legacy_init_op,
        clear_devices=True,
    )
    builder.save()


def main_op() -> Operation:
    """The operation that initializes all variables, local ones and tables too."""
    return group(
        global_variables_initializer(), local_variables_initializer(), tables_initializer()
    )


def main_op_with_restore(restore_op_name: str) -> Operation:
    """The operation that does the same and then what restores the variables.

    Args:
      restore_op_name: the restoring operation.

    """
    with default_graph.get_default_graph().control_dependencies([main_op()]):
        return group(restore_op_name)
