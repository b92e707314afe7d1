"""`tf.train.init_from_checkpoint`: variables start from what a checkpoint has. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sessrun.reference.build import apply_op
from sessrun.reference.files import files
from sessrun.reference.files.file_names import as_given
from sessrun.reference.saving.checkpoint_reader import load_checkpoint
from sessrun.reference.saving.checkpoint_state import latest_checkpoint
from sessrun.reference.saving.saveables import saveables_of
from sessrun.reference.stacks import get_default_graph
from sessrun.reference.variables.variable_base import Variable
from sessrun.reference.variables.variable_store import store_of

__all__ = ["EXPORTS"]


def init_from_checkpoint(ckpt_dir_or_file: Any, assignment_map: Any) -> None:
    """Let the initializers of variables set them to what a checkpoint has.

    Args:
      ckpt_dir_or_file: the checkpoint's path, or a folder, whose latest one is taken.
      assignment_map: names in the checkpoint, each to a variable or to the name of one that
        `get_variable` made; or `scope/` in it to `other_scope/`, `/` for all. A mapping, or pairs.

    Raises:
      ValueError: the checkpoint does not have a name, or a variable has another shape; or a name
        is none of a variable.
      NotFoundError: there is no such checkpoint.

    """
    path = as_given(ckpt_dir_or_file)
    shapes = load_checkpoint(path).get_variable_to_shape_map()
    prefix = latest_checkpoint(path) if files.isdir(path) else path
    pairs = assignment_map.items() if isinstance(assignment_map, Mapping) else assignment_map
    made = store_of(get_default_graph()).made()
    for name, target in sorted(pairs, key=lambda pair: pair[0]):
        variable = target if isinstance(target, Variable) else made.get(target)
        if variable is None:
            for inner, key, shown in _of_scope(name, target, made):
                if key not in shapes:
                    raise ValueError(f"Tensor {key} ({shown} in {name}) is not found in "
                                     f"{path} checkpoint")  # fmt: skip
                _start_from(inner, prefix, key)
            continue
        if name not in shapes:
            raise ValueError(f"Tensor {name} is not found in {path} checkpoint {shapes}")
        if not variable.shape.is_compatible_with(shapes[name]):
            raise ValueError(
                f"Shape of variable {variable.name} ({variable.shape}) doesn't match with shape "
                f"of tensor {name} ({shapes[name]}) from checkpoint reader."
            )
        _start_from(variable, prefix, name)


def _of_scope(
    name: str, target: str, made: Mapping[str, Any]
) -> Iterator[tuple[Any, str, str]]:
    """The variables of a scope, each with its name in the checkpoint, and without the scope."""
    scope = target.rpartition("/")[0]
    if not name.endswith("/"):
        raise ValueError(
            f"Assignment map with scope only name {scope} should map to scope only {name}. "
            "Should be 'scope/': 'other_scope/'."
        )
    for full in sorted(made):
        if scope and not full.startswith(scope + "/"):
            continue
        inner = full.removeprefix(scope + "/") if scope else full
        yield made[full], inner if name == "/" else name + inner, inner


def _start_from(variable: Any, prefix: str | None, name: str) -> None:
    """Let the variable's initializer restore it."""
    graph = get_default_graph()
    with graph.device(variable.device), graph.device("/cpu:0"):
        value = apply_op(
            "RestoreV2", {"prefix": prefix, "tensor_names": [name], "shape_and_slices": [""]},
            {"dtypes": [variable.dtype.base_dtype]}, "checkpoint_initializer",
        ).outputs[0]  # fmt: skip
    (saveable,) = saveables_of([variable])
    restored = saveable.restore([value], None)
    value.set_shape(variable.shape)
    variable._initializer = getattr(restored, "op", restored)  # noqa: SLF001 - a variable's own
    variable._initial_value = value  # noqa: SLF001 - a variable's own


EXPORTS: Final[Mapping[str, Any]] = {"train.init_from_checkpoint": init_from_checkpoint}
