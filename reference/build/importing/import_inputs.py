"""The inputs of an imported node, held against the declaration of its op type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sessrun.reference.base.attributes import Attrs
from sessrun.reference.base.dtypes import of_name
from sessrun.reference.build.signature import Signature
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.operations import ArgDecl

__all__ = ["grouped"]


def grouped(
    declared: Signature, name: str, tensors: Sequence[Tensor], attrs: Mapping[str, object]
) -> list[Tensor | list[Tensor]]:
    """The inputs by declared argument; their number and dtypes are those declared.

    Args:
      declared: the declaration.
      name: the operation's name in the graph.
      tensors: its data inputs.
      attrs: its attributes.

    Raises:
      InvalidArgumentValueError: there are too many or too few, or one is of another dtype.

    """
    wanted = [_wanted_dtypes(arg, attrs, len(tensors)) for arg in declared.inputs]
    count = sum(map(len, wanted))
    if count != len(tensors):
        pairs = zip(declared.inputs, wanted, strict=True)
        shown = ", ".join(_shown(dtype, arg) for arg, part in pairs for dtype in part)
        raise bad_value(
            f"NodeDef expected inputs '{shown}' do not match {len(tensors)} inputs specified; "
            f"NodeDef: {{{{node {name}}}}}"
        )
    groups = []
    start = 0
    for arg, dtypes in zip(declared.inputs, wanted, strict=True):
        part = list(tensors[start : start + len(dtypes)])
        for offset, (tensor, dtype) in enumerate(zip(part, dtypes, strict=True)):
            _check_input(name, start + offset, tensor, dtype, arg)
        groups.append(part[0] if arg.number_attr is None and arg.type_list_attr is None else part)
        start += len(dtypes)
    return groups


def _wanted_dtypes(arg: ArgDecl, attrs: Attrs, given: int) -> list[str]:
    """The dtypes of an argument's tensors; of a list longer than all inputs its beginning."""
    if arg.type_list_attr is not None:
        results: list[str] = list(attrs[arg.type_list_attr])
        return results
    dtype: Any = arg.dtype if arg.type_attr is None else attrs[arg.type_attr]
    return [dtype] * (1 if arg.number_attr is None else min(attrs[arg.number_attr], given + 1))


def _check_input(name: str, index: int, tensor: Tensor, dtype: str, arg: ArgDecl) -> None:
    fits = tensor.dtype.spec_name == dtype
    if not fits or (arg.is_ref and not tensor.dtype._is_ref_dtype):  # noqa: SLF001 - DType's own notion
        raise bad_value(
            f"Input {index} of node {name} was passed {tensor.dtype.opdef_name} from "
            f"{tensor.name} incompatible with expected {_shown(dtype, arg)}."
        )


def _shown(dtype: str, arg: ArgDecl) -> str:
    return of_name(dtype).opdef_name + ("_ref" if arg.is_ref else "")
