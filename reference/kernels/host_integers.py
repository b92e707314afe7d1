"""Operations on int32 that a GPU leaves to the host: shapes, counters, axes.

TensorFlow registers them on a GPU's device with inputs and outputs in host memory. Shapes and
loop counters would otherwise be copied back and forth in every run.
Control flow passes such values, and conditions, through the host as well.
"""

from __future__ import annotations

from typing import Final

from sessrun.reference.base.flow_ops import FLOW
from sessrun.reference.kernels.registry import Attrs

__all__ = ["is_left_to_host"]

#: Operations that compute int32 on the host.
_OF_INTEGERS: Final = frozenset(
    {
        "Abs",
        "Add",
        "AddN",
        "AddV2",
        "BroadcastArgs",
        "BroadcastGradientArgs",
        "Concat",
        "ConcatOffset",
        "ConcatV2",
        "Const",
        "Div",
        "Equal",
        "ExpandDims",
        "Fill",
        "FloorDiv",
        "FloorMod",
        "Greater",
        "GreaterEqual",
        "Identity",
        "InvertPermutation",
        "Less",
        "LessEqual",
        "Max",
        "Maximum",
        "Min",
        "Minimum",
        "Mod",
        "Mul",
        "Neg",
        "NotEqual",
        "OnesLike",
        "Pack",
        "PreventGradient",
        "Prod",
        "Range",
        "RealDiv",
        "Reshape",
        "ReverseV2",
        "Sign",
        "Slice",
        "Snapshot",
        "Split",
        "SplitV",
        "Square",
        "Squeeze",
        "StopGradient",
        "StridedSlice",
        "Sub",
        "Sum",
        "Tile",
        "TruncateDiv",
        "Unpack",
        "ZerosLike",
    }
)
#: The attributes that hold the dtype of an operation's values; the first present one counts.
_DTYPE_ATTRS: Final = ("T", "dtype", "Tidx")


def is_left_to_host(op_type: str, attrs: Attrs) -> bool:
    """Whether a GPU's kernel of an operation takes, computes and gives values in host memory.

    Args:
      op_type: the operation's type.
      attrs: its attributes, dtypes by name.

    """
    dtype = next((attrs[name] for name in _DTYPE_ATTRS if name in attrs), "")
    if op_type in FLOW:
        return dtype in {"bool", "int32"}
    return op_type in _OF_INTEGERS and dtype == "int32"
