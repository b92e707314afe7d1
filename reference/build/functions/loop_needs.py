"""Which variables of a loop an iteration must compute, where only some of them are taken.

TensorFlow lowers a loop of functions to single operations before a run, and prunes those that
nothing needs, even those with effects.
"""

from __future__ import annotations

from collections.abc import Iterable

from sessrun.reference.graph.function_library import FunctionLibrary
from sessrun.spec.proto import FunctionDef

__all__ = ["needed_variables"]


def needed_variables(
    library: FunctionLibrary, condition: str, body: str, wanted: frozenset[int], count: int
) -> frozenset[int]:
    """The numbers of the variables that are wanted, or that those and the condition depend on.

    Args:
      library: the functions of the loop's graph.
      condition: the name of its condition.
      body: that of its body.
      wanted: the numbers of the variables whose last values are taken.
      count: how many variables it has.

    """
    every = frozenset(range(count))
    goes_on, following = library.definition(condition), library.definition(body)
    if goes_on is None or following is None or not _is_plain(following, count):
        return every
    needed = wanted | _arguments_of(goes_on, goes_on.ret.values())
    results = [following.ret.get(result.name, "") for result in following.signature.output_arg]
    while True:
        more = needed | _arguments_of(following, (results[number] for number in needed))
        if more == needed:
            return needed
        needed = more


def _is_plain(function: FunctionDef, count: int) -> bool:
    """Whether all arguments and results are single tensors, as many of both."""
    given = (function.signature.input_arg, function.signature.output_arg)
    return all(
        len(args) == count and not any(arg.number_attr or arg.type_list_attr for arg in args)
        for args in given
    )


def _arguments_of(function: FunctionDef, results: Iterable[str]) -> frozenset[int]:
    """The numbers of the arguments that results depend on, or what must run in every call."""
    numbers = {arg.name: number for number, arg in enumerate(function.signature.input_arg)}
    inputs = {node.name: node.input for node in function.node_def}
    waiting = [*results, *function.control_ret.values()]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop().removeprefix("^").partition(":")[0]
        if name not in seen:
            seen.add(name)
            waiting.extend(inputs.get(name, ()))
    return frozenset(numbers[name] for name in seen if name in numbers)
