"""`switch_case`: executes the branch that an integer tensor selects; branches are functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.functional_branches import (
    CASE,
    build_branch_op,
    build_branches,
)
from sessrun.reference.api.functions.branch_graphs import function_name
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["indexed_case", "switch_case"]

Branch = Callable[[], object]


@public("switch_case")
def switch_case(
    branch_index: TensorLike,
    branch_fns: object,
    default: Branch | None = None,
    name: str = "switch_case",
) -> Any:
    """Execute the function that an integer tensor selects.

    Args:
      branch_index: the number, an int32 scalar tensor.
      branch_fns: a list of functions, or pairs of a number and a function, or a mapping of them;
        the numbers are those from 0 on. Their results have one structure.
      default: the function for any other number; the last one if None.
      name: a name scope.

    Raises:
      TypeError: the number is no integer tensor, a function cannot be called, or the structures
        differ.
      ValueError: there is no function, the numbers have gaps, or one takes what another one
        has in its body.

    """
    branches = _checked(branch_index, branch_fns, default)
    with name_scope(name, "case", [branch_index]):
        return indexed_case(branch_index, branches)


def indexed_case(
    branch_index: TensorLike, branch_fns: Sequence[Branch], name: str = "indexed_case"
) -> Any:
    """Execute the function that an integer tensor selects, of functions in their order.

    Raises:
      TypeError: the number is a Python int, or the structures of the results differ.
      ValueError: a function takes a tensor of another one's body.

    """
    if isinstance(branch_index, int):
        raise TypeError("branch_index must not be a Python int", branch_index)
    with name_scope(name) as scope:
        names = [function_name(scope, f"branch{number}") for number in range(len(branch_fns))]
        index = convert_to_tensor(branch_index, name="branch_index")
        bodies = build_branches(CASE, names, branch_fns, index)
        return build_branch_op(CASE, index, bodies, scope)


def _checked(index: TensorLike, given: object, default: Branch | None) -> list[Branch]:
    """The functions in the order of their numbers, the default one last."""
    if not isinstance(index, Tensor):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(index)}")
    if not index.dtype.is_integer:
        raise TypeError(f"'branch_index' must be an integer Tensor, got {index.dtype}")
    if not given:
        raise ValueError("Must provide at least one item in 'branch_fns'")
    if not isinstance(given, list | tuple | dict):
        raise TypeError("'branch_fns' must be a list, tuple, or dict")
    pairs = list(given.items()) if isinstance(given, dict) else list(given)
    if all(callable(branch) for branch in pairs):
        pairs = list(enumerate(pairs))
    for pair in pairs:
        _check_pair(pair)
    keys = sorted(key for key, _ in pairs)
    if keys != list(range(len(keys))):
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(keys)}) but found "
            f"{{{','.join(map(str, keys))}}}"
        )
    functions = [function for _, function in sorted(pairs, key=lambda pair: pair[0])]
    return functions if default is None else [*functions, default]


def _check_pair(pair: object) -> None:
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise TypeError(f"Each entry in 'branch_fns' must be a 2-tuple. Received {pair}.")
    if not isinstance(pair[0], int):
        raise TypeError(f"key must be a Python `int`, got {type(pair[0])}")
    if not callable(pair[1]):
        raise TypeError(f"fn for key {pair[0]} must be callable.")
