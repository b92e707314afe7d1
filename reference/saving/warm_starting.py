"""`tf.train.warm_start`: variables of one model start from those of another. Source: TF 2.21."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

from sessrun.reference import errors
from sessrun.reference.graph_keys import GraphKeys
from sessrun.reference.saving.checkpoint_initializers import init_from_checkpoint
from sessrun.reference.saving.saveables import variables_by_name
from sessrun.reference.stacks import get_default_graph
from sessrun.reference.variables.variable_base import Variable
from sessrun.reference.variables.variable_parts import PartitionedVariable

__all__ = ["EXPORTS", "warm_start"]

_LOGGER: Final = logging.getLogger("sessrun")


def warm_start(
    ckpt_to_initialize_from: Any,
    vars_to_warm_start: Any = ".*",
    var_name_to_vocab_info: Mapping[str, Any] | None = None,
    var_name_to_prev_var_name: Mapping[str, str] | None = None,
) -> None:
    """Let the initializers of variables set them to what a checkpoint has.

    Args:
      ckpt_to_initialize_from: the checkpoint's path, or a folder, whose latest one is taken.
      vars_to_warm_start: which variables: a pattern of the names of trainable ones, a list of
        patterns of any, or a list of variables; none if None.
      var_name_to_vocab_info: vocabularies that have changed, by variable; they are not followed.
      var_name_to_prev_var_name: for variables that have another name in the checkpoint, that.

    Raises:
      ValueError: the variables are given in another way, a variable that is renamed is none of
        them, or the checkpoint does not have a name.
      UnimplementedError: a vocabulary has changed.
      NotFoundError: there is no such checkpoint.

    """
    if var_name_to_vocab_info:
        raise errors.UnimplementedError(None, None, "Vocabularies cannot be followed here")
    renamed = var_name_to_prev_var_name or {}
    grouped = _grouped(vars_to_warm_start)
    assignments: dict[str, Any] = {}
    for name, variables in grouped.items() if vars_to_warm_start else ():
        source = renamed.get(name, name)
        if source in assignments:  # two variables start from one: each in a round of its own
            init_from_checkpoint(ckpt_to_initialize_from, assignments)
            assignments = {}
        assignments[source] = variables[0] if len(variables) == 1 else variables
    if assignments:
        init_from_checkpoint(ckpt_to_initialize_from, assignments)
    _LOGGER.info("Warm-started %d variables.", len(grouped))
    unused = set(renamed) - set(grouped)
    if unused:
        raise ValueError(
            f"You provided the following variables in var_name_to_prev_var_name that were not "
            f"used: {unused}. Here is the list of viable variable names: {list(grouped)}"
        )


def _is_variable(value: Any) -> bool:
    return isinstance(value, Variable | PartitionedVariable)


def _grouped(wanted: Any) -> dict[str, list[Any]]:
    """The variables that are meant, those that are parts of one together."""
    graph = get_default_graph()
    if wanted is None or isinstance(wanted, str):
        found = graph.get_collection(GraphKeys.TRAINABLE_VARIABLES, wanted)
    elif not isinstance(wanted, list):
        raise ValueError(
            f"`vars_to_warm_start must be a `list` or `str`. Given type is {type(wanted)}"
        )
    elif all(isinstance(pattern, str) for pattern in wanted):
        every = GraphKeys.GLOBAL_VARIABLES
        found = [each for pattern in wanted for each in graph.get_collection(every, pattern)]
    elif all(map(_is_variable, wanted)):
        found = wanted
    else:
        kinds = [type(each) for each in wanted]
        raise ValueError(
            "If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`. Given "
            f"types are {kinds}"
        )
    grouped: dict[str, list[Any]] = {}
    for variable in found:
        (name,) = variables_by_name([variable])
        grouped.setdefault(name, []).append(variable)
    return grouped


EXPORTS: Final[Mapping[str, Any]] = {"train.warm_start": warm_start}
