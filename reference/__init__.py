"""The reference runtime: a namespace that behaves like `tensorflow.compat.v1`."""

from sessrun.reference.constant_op import constant, convert_to_tensor
from sessrun.reference.dtypes import DType, as_dtype, float32, int32
from sessrun.reference.framework_ops import (
    group,
    identity,
    name_scope,
    no_op,
    placeholder,
    placeholder_with_default,
)
from sessrun.reference.graph import Graph
from sessrun.reference.operation import Operation
from sessrun.reference.stacks import get_default_graph, reset_default_graph
from sessrun.reference.tensor import Tensor
from sessrun.reference.tensor_shape import Dimension, TensorShape

__all__ = [
    "DType", "Dimension", "Graph", "Operation", "Tensor", "TensorShape", "as_dtype", "constant",
    "convert_to_tensor", "float32", "get_default_graph", "group", "identity", "int32",
    "name_scope", "no_op", "placeholder", "placeholder_with_default", "reset_default_graph",
]  # fmt: skip
