"""TensorInfo messages: which tensor of a graph is an input or output of a signature."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base import dtypes
from sessrun.reference.base.tensor_shape import unknown_shape
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.name_prefixes import under
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import DataType, TensorInfo
from sessrun.spec.proto.foreign import adopt

__all__ = [
    "build_tensor_info",
    "get_element_from_tensor_info",
    "get_tensor_from_tensor_info",
    "of_operation",
]


def build_tensor_info(tensor: Any) -> TensorInfo:
    """The message about a tensor.

    Args:
      tensor: a Tensor, a variable, or a SparseTensor.

    """
    message = TensorInfo(
        dtype=DataType.Name(dtypes.as_dtype(tensor.dtype).as_datatype_enum),
        tensor_shape=tensor.get_shape().as_proto(),
    )
    if isinstance(tensor, SparseTensor):
        message.coo_sparse.values_tensor_name = tensor.values.name
        message.coo_sparse.indices_tensor_name = tensor.indices.name
        message.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        message.name = tensor.name
    return message


def of_operation(operation: Operation) -> TensorInfo:
    """The message that names an operation, without dtype and shape."""
    return TensorInfo(name=operation.name, tensor_shape=unknown_shape().as_proto())


def get_tensor_from_tensor_info(
    tensor_info: object, graph: Graph | None = None, import_scope: str | None = None
) -> Tensor | SparseTensor:
    """The tensor that a message is about.

    Args:
      tensor_info: the TensorInfo.
      graph: where it is looked up, the default graph if None.
      import_scope: a name scope that is put before its name.

    Returns:
      A Tensor, or a SparseTensor.

    Raises:
      KeyError: the graph does not have it.
      ValueError: the message names none.

    """
    info = adopt(tensor_info, TensorInfo)
    graph = graph or get_default_graph()
    encoding = info.WhichOneof("encoding")
    if encoding == "name":
        return graph.get_tensor_by_name(under(import_scope, info.name))
    if encoding == "coo_sparse":
        parts = info.coo_sparse
        names = (parts.indices_tensor_name, parts.values_tensor_name, parts.dense_shape_tensor_name)
        return SparseTensor(*(graph.get_tensor_by_name(under(import_scope, n)) for n in names))
    raise ValueError(
        f"Invalid TensorInfo.encoding: {encoding}. Expected `coo_sparse`, or `name` for a dense "
        "tensor."
    )


def get_element_from_tensor_info(
    tensor_info: object, graph: Graph | None = None, import_scope: str | None = None
) -> Tensor | Operation:
    """The tensor or operation that a message names; arguments as `get_tensor_from_tensor_info`.

    Raises:
      KeyError: the graph does not have it.

    """
    name = adopt(tensor_info, TensorInfo).name
    result: Tensor | Operation = (graph or get_default_graph()).as_graph_element(
        under(import_scope, name)
    )
    return result
