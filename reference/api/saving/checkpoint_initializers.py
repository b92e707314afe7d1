"""`tf.train.init_from_checkpoint`: variables start from what a checkpoint has. Source: TF 2.21."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Final

from sessrun.reference.api.saving.checkpoint_reader import load_checkpoint
from sessrun.reference.api.saving.checkpoint_state import latest_checkpoint
from sessrun.reference.api.saving.saveables import saveables_of
from sessrun.reference.api.variables.partitioned_variable import PartitionedVariable
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variable_store import store_of
from sessrun.reference.build.build import apply_op
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.public import public
from sessrun.reference.state.files import files
from sessrun.reference.state.files.file_names import as_given

__all__ = ["checkpoint_file"]

#: What the name of a part ends with.
_PART: Final = re.compile(r"/part_\d+$")


@public("train.init_from_checkpoint")
def init_from_checkpoint(
    ckpt_dir_or_file: str | bytes | PathLike[str],
    assignment_map: Mapping[str, object] | Iterable[tuple[str, object]],
) -> None:
    """Let the initializers of variables set them to what a checkpoint has.

    Args:
      ckpt_dir_or_file: the checkpoint's path, or a folder, whose latest one is taken.
      assignment_map: names in the checkpoint, each to a variable or to the name of one that
        `get_variable` created; or `scope/` in it to `other_scope/`, `/` for all. A mapping, or
        pairs.

    Raises:
      ValueError: the checkpoint does not have a name, or a variable has another shape; or a name
        is none of a variable.
      NotFoundError: there is no such checkpoint.

    """
    path = as_given(ckpt_dir_or_file)
    shapes = load_checkpoint(path).get_variable_to_shape_map()
    prefix = checkpoint_file(path)
    pairs = assignment_map.items() if isinstance(assignment_map, Mapping) else assignment_map
    variables = store_of(get_default_graph()).variables_by_name()
    for name, target in sorted(pairs, key=lambda pair: pair[0]):
        variable = _variable_named(variables, target)
        if variable is None:
            for inner, key, shown in _of_scope(name, target, variables):
                if key not in shapes:
                    raise ValueError(
                        f"Tensor {key} ({shown} in {name}) is not found in {path} checkpoint"
                    )
                _start_from(inner, prefix, key)
            continue
        if name not in shapes:
            raise ValueError(f"Tensor {name} is not found in {path} checkpoint {shapes}")
        _check_shape(variable, name, shapes[name])
        _start_from(variable, prefix, name)


def checkpoint_file(path: str | bytes | PathLike[str]) -> Any:
    """The path, or the latest checkpoint in a folder."""
    return latest_checkpoint(path) if files.isdir(path) else path


def _variable_named(variables: Mapping[str, object], target: Any) -> Any:
    """The variable of `assignment_map`, or the list of its parts; None if there is none."""
    if isinstance(target, PartitionedVariable):
        return target._get_variable_list()  # noqa: SLF001 - its parts
    if isinstance(target, Variable | list):
        return target
    if target in variables:
        return variables[target]
    names = (f"{target}/part_{number}" for number in itertools.count())
    parts = itertools.takewhile(variables.__contains__, names)
    return [variables[name] for name in parts] or None


def _check_shape(variable: Any, name: str, saved: Sequence[int]) -> None:
    if isinstance(variable, list):
        return  # slices are compared with the full shape when they are restored
    if not variable.shape.is_compatible_with(saved):
        raise ValueError(
            f"Shape of variable {variable.name} ({variable.shape}) doesn't match with shape "
            f"of tensor {name} ({saved}) from checkpoint reader."
        )


def _of_scope(
    name: str, target: str, variables: Mapping[str, object]
) -> Iterator[tuple[Variable | list[Variable], str, str]]:
    """The variables of a scope, each with its name in the checkpoint, and without the scope."""
    scope = target.rpartition("/")[0]
    if not name.endswith("/"):
        raise ValueError(
            f"Assignment map with scope only name {scope} should map to scope only {name}. "
            "Should be 'scope/': 'other_scope/'."
        )
    for full in sorted({_PART.sub("", full_name) for full_name in variables}):
        if scope and not full.startswith(scope + "/"):
            continue
        inner = full.removeprefix(scope + "/") if scope else full
        yield _variable_named(variables, full), inner if name == "/" else name + inner, inner


def _start_from(variable: Any, prefix: str | None, name: str) -> None:
    """Let the variable's initializer restore it, or the initializers of its parts."""
    if isinstance(variable, list):
        wholes: set[str] = set()
        for part in variable:
            wholes.add(part._get_save_slice_info().full_name)  # noqa: SLF001 - where a part lies
            if len(wholes) > 1:
                raise ValueError(f"Slices must all be from the same tensor: {sorted(wholes)}")
            _start_from(part, prefix, name)
        return
    graph = get_default_graph()
    slice_info = variable._get_save_slice_info()  # noqa: SLF001 - where a part lies
    spec = slice_info.spec if slice_info else ""
    with graph.device(variable.device), graph.device("/cpu:0"):
        value = apply_op(
            "RestoreV2",
            {"prefix": prefix, "tensor_names": [name], "shape_and_slices": [spec]},
            {"dtypes": [variable.dtype.base_dtype]},
            "checkpoint_initializer",
        ).outputs[0]
    (saveable,) = saveables_of({name: [variable]} if slice_info else [variable])
    restored = saveable.restore([value], None)
    value.set_shape(variable.shape)
    variable._initializer = restored  # noqa: SLF001 - a variable's own
    variable._initial_value = value  # noqa: SLF001 - a variable's own
