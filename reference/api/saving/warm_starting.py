"""`tf.train.warm_start`: variables of one model start from those of another. Source: TF 2.21."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Final

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.saving.checkpoint_initializers import (
    checkpoint_file,
    init_from_checkpoint,
)
from sessrun.reference.api.saving.saveables import variables_by_name
from sessrun.reference.api.saving.vocabularies import VocabInfo, matrix_initializer
from sessrun.reference.api.variables.partition_layout import PartitionInfo
from sessrun.reference.api.variables.partitioned_variable import PartitionedVariable
from sessrun.reference.api.variables.state_ops import assign
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.public import public

__all__ = ["full_name_of", "start_with_vocabulary", "variable_and_name", "warm_start"]

_LOGGER: Final = logging.getLogger("sessrun")


@public("train.warm_start")
def warm_start(
    ckpt_to_initialize_from: str | bytes | PathLike[str],
    vars_to_warm_start: object = ".*",
    var_name_to_vocab_info: Mapping[str, VocabInfo] | None = None,
    var_name_to_prev_var_name: Mapping[str, str] | None = None,
) -> None:
    """Let the initializers of variables set them to what a checkpoint has.

    Args:
      ckpt_to_initialize_from: the checkpoint's path, or a folder, whose latest one is taken.
      vars_to_warm_start: which variables: a pattern of the names of trainable ones, a list of
        patterns of any, or a list of variables; if None, those trainable ones alone whose
        vocabularies are given.
      var_name_to_vocab_info: vocabularies that have changed, by variable.
      var_name_to_prev_var_name: for variables that have another name in the checkpoint, that.

    Raises:
      ValueError: the variables are given in another way, a variable that is renamed or has a
        vocabulary is none of them, or the checkpoint does not have a name.
      NotFoundError: there is no such checkpoint.

    """
    renamed, vocabularies = var_name_to_prev_var_name or {}, var_name_to_vocab_info or {}
    grouped = _grouped(vars_to_warm_start)
    assignments: dict[str, object] = {}
    count = 0
    for name, variables in grouped.items():
        source = renamed.get(name, name)
        changed = vocabularies.get(name)
        if changed:
            _start_changed(variables, ckpt_to_initialize_from, changed, source)
        elif not vars_to_warm_start:
            continue
        else:
            if source in assignments:  # two variables start from one: in separate rounds
                init_from_checkpoint(ckpt_to_initialize_from, assignments)
                assignments = {}
            assignments[source] = variables[0] if len(variables) == 1 else variables
        count += 1
    if assignments:
        init_from_checkpoint(ckpt_to_initialize_from, assignments)
    _LOGGER.info("Warm-started %d variables.", count)
    _check_used("var_name_to_prev_var_name", set(renamed) - set(grouped), grouped)
    _check_used("var_name_to_vocab_info", set(vocabularies) - set(grouped), grouped)


def _check_used(argument: str, unused: set[str], grouped: Mapping[str, object]) -> None:
    if unused:
        raise ValueError(
            f"You provided the following variables in {argument} that were not used: {unused}. "
            f"Here is the list of viable variable names: {list(grouped)}"
        )


def _start_changed(
    variables: Sequence[object], checkpoint: object, changed: VocabInfo, source: str
) -> None:
    start_with_vocabulary(
        variables,
        changed.new_vocab,
        changed.new_vocab_size,
        checkpoint,
        changed.old_vocab,
        changed.old_vocab_size,
        changed.num_oov_buckets,
        source,
        changed.backup_initializer,
        changed.axis,
    )


def start_with_vocabulary(
    var: Any,
    current_vocab_path: object,
    current_vocab_size: int,
    prev_ckpt: Any,
    prev_vocab_path: object,
    previous_vocab_size: int = -1,
    current_oov_buckets: int = 0,
    prev_tensor_name: str | None = None,
    initializer: object = None,
    axis: int = 0,
) -> None:
    """Let a matrix' initializer take from a checkpoint what its vocabulary had there.

    Args:
      var: a variable, or parts of one.
      current_vocab_path: the vocabulary now.
      current_vocab_size: how many of its words are in use.
      prev_ckpt: a checkpoint, or a folder with some.
      prev_vocab_path: the vocabulary then.
      previous_vocab_size: how many of its words were in use; all if negative.
      current_oov_buckets: how many rows or columns follow for other words.
      prev_tensor_name: the variable's name in the checkpoint, if it was another.
      initializer: for words that are not in the old vocabulary; zeros if None.
      axis: along which the words lie: 0 or 1.

    Raises:
      ValueError: a vocabulary or the checkpoint is missing.
      TypeError: `var` is not a variable.

    """
    if not (current_vocab_path and current_vocab_size and prev_ckpt and prev_vocab_path):
        raise ValueError(
            "Invalid args: Must provide all of [current_vocab_path, "
            "current_vocab_size, prev_ckpt, prev_vocab_path}."
        )
    _, variable = variable_and_name(var)
    parts = variable if isinstance(variable, list) else [variable]
    name = prev_tensor_name or full_name_of(parts)
    total = sum(part.shape.as_list()[0] for part in parts)
    words = {"file": (current_vocab_path, prev_vocab_path), "extra": current_oov_buckets}
    for part in parts:
        shape = part.shape.as_list()
        sizes = (current_vocab_size, shape[1]) if axis == 0 else (total, current_vocab_size)
        given = _arguments(words, axis) | (
            {"old_row_vocab_size": previous_vocab_size} if axis == 0 else {}
        )
        start = matrix_initializer(
            checkpoint_file(prev_ckpt), name, sizes[0], sizes[1], initializer=initializer, **given
        )
        slice_info = part._get_save_slice_info()  # noqa: SLF001 - where a part lies
        info = PartitionInfo(slice_info.full_shape, slice_info.var_offset) if slice_info else None
        value = convert_to_tensor(start(shape=shape, partition_info=info))
        assigned = assign(part, value)
        part._initializer = assigned  # noqa: SLF001 - a variable's own


def _arguments(words: Mapping[str, Any], axis: int) -> dict[str, Any]:
    """The options of a vocabulary initializer for one axis."""
    name = ("row", "col")[axis]
    new, old = words["file"]
    return {
        f"new_{name}_vocab_file": new,
        f"old_{name}_vocab_file": old,
        f"num_{name}_oov_buckets": words["extra"],
    }


def full_name_of(var: Variable | Sequence[Variable]) -> str:
    """The name that a list of one variable, or of a variable's parts, is saved under.

    Raises:
      TypeError: the parts are of several variables.

    """
    named = variables_by_name(var)
    if len(named) > 1:
        raise TypeError(
            f"`var` = {var} passed as arg violates the constraints.  name_to_var_dict = {named}"
        )
    return next(iter(named))


def variable_and_name(
    var: Variable | Sequence[Variable], prev_tensor_name: str | None = None
) -> tuple[str, Any]:
    """The name of a variable in a checkpoint, and the variable or the list of its parts.

    Raises:
      TypeError: `var` is neither a variable nor a list of the parts of one variable.

    """
    if isinstance(var, PartitionedVariable):
        var = var._get_variable_list()  # noqa: SLF001 - its parts
    elif not isinstance(var, Variable) and not (
        isinstance(var, list) and all(isinstance(part, Variable) for part in var)
    ):
        raise TypeError(
            "var MUST be one of the following: a Variable, list of Variable or "
            f"PartitionedVariable, but is {type(var)}"
        )
    parts = var if isinstance(var, list) else [var]
    return prev_tensor_name or full_name_of(parts), var


def _is_variable(value: TensorLike) -> bool:
    return isinstance(value, Variable | PartitionedVariable)


def _grouped(wanted: object) -> dict[str, list[Any]]:
    """The variables to warm-start by name, the parts of one together."""
    graph = get_default_graph()
    if wanted is None or isinstance(wanted, str):
        variables = graph.get_collection(GraphKeys.TRAINABLE_VARIABLES, wanted)
    elif not isinstance(wanted, list):
        raise ValueError(
            f"`vars_to_warm_start must be a `list` or `str`. Given type is {type(wanted)}"
        )
    elif all(isinstance(pattern, str) for pattern in wanted):
        key = GraphKeys.GLOBAL_VARIABLES
        variables = [item for pattern in wanted for item in graph.get_collection(key, pattern)]
    elif all(map(_is_variable, wanted)):
        variables = wanted
    else:
        kinds = [type(item) for item in wanted]
        raise ValueError(
            "If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`. Given "
            f"types are {kinds}"
        )
    grouped: dict[str, list[Any]] = {}
    for variable in variables:
        name = full_name_of([variable])
        grouped.setdefault(name, []).append(variable)
    return grouped
