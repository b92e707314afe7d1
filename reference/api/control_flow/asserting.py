"""`tf.Assert`: an operation that fails unless a condition holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.base import dtypes
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity, no_op
from sessrun.reference.graph.default_graph import colocate_with, control_dependencies
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["after", "assert_"]

#: Data of these dtypes is in host memory anyway, and is shown without a guard.
_ON_HOST: Final = frozenset({dtypes.string, dtypes.int32})


def after(checks: Sequence[object], value: TensorLike) -> Tensor:
    """An identity of the value that runs after the checks."""
    with (
        name_scope(None, "control_dependency", [*checks, value]) as scope,
        colocate_with(value),
        control_dependencies(checks),
    ):
        return identity(convert_to_tensor(value), name=scope)


@public("Assert", "debugging.Assert")
def assert_(
    condition: object,
    data: Any,
    summarize: int | None = None,
    name: str | None = None,
) -> Operation:
    """An operation that fails, and shows the data, unless the condition holds.

    Data that may be on another device is only looked at on the branch where it does not hold.

    Args:
      condition: a bool scalar.
      data: a list of tensors.
      summarize: how many elements of each tensor are shown, by default 3.
      name: the name of the scope.

    """
    with name_scope(name, "Assert", [condition, data]):
        shown = [convert_to_tensor(item) for item in data]
        count = 3 if summarize is None else summarize

        def check() -> Operation:
            inputs = {"condition": condition, "data": data if shown else []}
            return apply_op("Assert", inputs, {"summarize": count}, "Assert")

        if all(tensor.dtype in _ON_HOST for tensor in shown):
            return check()
        condition = convert_to_tensor(condition, name="Condition")
        guarded: Operation = cond(condition, no_op, check, name="AssertGuard").op
        return guarded
