"""Constant folding: operations whose inputs are constants are computed once, with the plan.

Gradients are full of them: the shapes that they broadcast or cut to, and ones of these shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from sessrun.reference.base.host_arrays import set_writeable
from sessrun.reference.base.quiet_arithmetic import quietly
from sessrun.reference.session.execute.steps import Kernel, Value

__all__ = ["FOLDED", "GIVEN", "folded"]

#: The operations: their kernels take nothing but their inputs, and cannot wait.
FOLDED: Final = frozenset(
    {
        "Add",
        "AddV2",
        "BroadcastGradientArgs",
        "Cast",
        "ConcatOffset",
        "ConcatV2",
        "DivNoNan",
        "DynamicStitch",
        "ExpandDims",
        "Fill",
        "FloorDiv",
        "FloorMod",
        "InvertPermutation",
        "Maximum",
        "Minimum",
        "Mul",
        "Neg",
        "OnesLike",
        "Pack",
        "Prod",
        "Range",
        "Rank",
        "RealDiv",
        "Reshape",
        "Shape",
        "ShapeN",
        "Size",
        "Slice",
        "Squeeze",
        "StridedSlice",
        "Sub",
        "Tile",
        "Transpose",
        "ZerosLike",
    }
)
#: Operations whose value, if any, is the same in every run of a session: the compiler computes it.
GIVEN: Final = frozenset(
    {
        "Const",
        "FIFOQueueV2",
        "NoOp",
        "PaddingFIFOQueueV2",
        "PriorityQueueV2",
        "RandomShuffleQueueV2",
        "VarHandleOp",
        "Variable",
        "VariableV2",
    }
)
#: The largest output that a plan keeps, in bytes.
_LARGEST: Final = 2**20


def folded(function: Kernel, inputs: Sequence[Value], count: int) -> Sequence[Value] | None:
    """The outputs of a kernel of one of these operations; None if they are not to be kept.

    Args:
      function: the bound kernel.
      inputs: the values of its inputs, constants.
      count: how many outputs it has.

    """
    if any(isinstance(value, np.ndarray) and value.dtype == object for value in inputs):
        return None
    try:
        result = quietly(function, *inputs)
    except Exception:  # noqa: BLE001 - the run that needs it raises it again
        return None
    outputs = (result,) if count == 1 else tuple(result)
    if not all(isinstance(value, np.ndarray | np.generic) for value in outputs):
        return None
    if sum(value.nbytes for value in outputs) > _LARGEST:
        return None
    for value in outputs:
        if isinstance(value, np.ndarray):
            set_writeable(value, False)
    return outputs
