"""`where` and `where_v2`: selection by a condition, or the indices where it is true."""

from __future__ import annotations

from sessrun.reference.api.ops.cast_ops import one
from sessrun.reference.base import dtypes
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["where", "where_v2"]


@public("where")
def where(
    condition: TensorLike,
    x: TensorLike | None = None,
    y: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Select x where the condition is true, else y; without both, the indices where it is true.

    Raises:
      ValueError: only one of x and y is given.

    """
    if (x is None) != (y is None):
        raise bad_value("x and y must both be non-None or both be None.")
    if x is None:
        with name_scope(name, "Where", [condition]) as scope:
            flags = convert_to_tensor(condition, preferred_dtype=dtypes.bool_, name="condition")
            return one("Where", {"input": flags}, scope)
    return one("Select", {"condition": condition, "t": x, "e": y}, name)


@public("where_v2")
def where_v2(
    condition: TensorLike,
    x: TensorLike | None = None,
    y: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """As `where`, but the condition, x and y broadcast.

    Raises:
      ValueError: only one of x and y is given.

    """
    if x is None or y is None:
        return where(condition, x, y, name)
    return one("SelectV2", {"condition": condition, "t": x, "e": y}, name)
