"""`tensorflow.python.ops.resource_variable_ops`: what programs do with handles of variables.

Here stands what has no public name; `mirror` finds the rest.
"""

from __future__ import annotations

from typing import Any

from sessrun.reference.build import apply_op
from sessrun.reference.constant_op import constant
from sessrun.reference.dtypes import as_dtype, int32
from sessrun.reference.python.mirror import of_places
from sessrun.reference.static_values import handle_shape
from sessrun.reference.tensor import Tensor

__all__ = ["variable_shape"]

__getattr__ = of_places("ops.resource_variable_ops")


def variable_shape(handle: Tensor, out_type: Any = None) -> Tensor:
    """The shape of the variable behind a handle; a constant where it is known already.

    Args:
      handle: the handle, a resource tensor.
      out_type: the dtype of the result, int32 or int64; by default int32.

    """
    wanted = int32 if out_type is None else as_dtype(out_type)
    sizes = handle_shape(handle)
    if sizes is None or None in sizes:
        return apply_op("VariableShape", {"input": handle}, {"out_type": wanted}).outputs[0]
    return constant(list(sizes), wanted)
