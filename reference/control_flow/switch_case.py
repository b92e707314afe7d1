"""`switch_case`: of many branches the one of a number is executed, as a function of the graph."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from sessrun.reference import nest, stacks
from sessrun.reference.build import apply_op
from sessrun.reference.conversion import convert_to_tensor
from sessrun.reference.framework_ops import identity
from sessrun.reference.functions.func_graph import FuncGraph
from sessrun.reference.functions.function_defs import function_def
from sessrun.reference.graph import Graph
from sessrun.reference.name_scopes import name_scope
from sessrun.reference.tensor import Tensor
from sessrun.reference.variables.opened_variable_scopes import variable_scope
from sessrun.spec.proto import FunctionDefLibrary, NameAttrList

__all__ = ["add_function", "switch_case"]

Branch = Callable[[], Any]
#: Names of functions are told apart by numbers; no two of a process have the same.
_NUMBERS: Final = itertools.count()


def switch_case(
    branch_index: Any,
    branch_fns: Any,
    default: Branch | None = None,
    name: str = "switch_case",
) -> Any:
    """What the function of a number returns.

    Args:
      branch_index: the number, an int32 scalar tensor.
      branch_fns: a list of functions, or pairs of a number and a function, or a mapping of them;
        the numbers are those from 0 on. Their results have one structure.
      default: the function for any other number; the last one if None.
      name: a name scope.

    Raises:
      TypeError: the number is no integer tensor, or a function cannot be called.
      ValueError: there is no function, the numbers have gaps, or the structures differ.

    """
    branches = _checked(branch_index, branch_fns, default)
    with name_scope(name, "case", [branch_index]), name_scope("indexed_case") as scope:
        built = [_built(branch, scope) for branch in branches]
        first = built[0][0]
        for structure, _ in built[1:]:
            nest.assert_same_structure(first, structure, expand_composites=True)
        bodies = [body for _, body in built]
        taken = list(dict.fromkeys(each for body in bodies for each in body.extra_inputs))
        outputs = _case(branch_index, bodies, taken, scope)
        results = [identity(each) for each in outputs]
    return nest.pack_sequence_as(first, results, expand_composites=True)


def _checked(index: Any, given: Any, default: Branch | None) -> list[Branch]:
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
    if all(callable(each) for each in pairs):
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


def _check_pair(pair: Any) -> None:
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise TypeError(f"Each entry in 'branch_fns' must be a 2-tuple. Received {pair}.")
    if not isinstance(pair[0], int):
        raise TypeError(f"key must be a Python `int`, got {type(pair[0])}")
    if not callable(pair[1]):
        raise TypeError(f"fn for key {pair[0]} must be callable.")


def _built(branch: Branch, scope: str) -> tuple[Any, FuncGraph]:
    """What a branch returns, and its body."""
    body = FuncGraph(f"{scope[:-1].replace('/', '_')}_branch_{next(_NUMBERS)}",
                     reads_variables=False)  # fmt: skip
    with body.as_default():
        with variable_scope("", custom_getter=body.variable):
            result = branch()
        leaves = nest.flatten(result, expand_composites=True)
        body.outputs = [body.capture(convert_to_tensor(leaf)) for leaf in leaves]
    return result, body


def _case(
    index: Tensor, bodies: Sequence[FuncGraph], taken: Sequence[Tensor], scope: str
) -> list[Tensor]:
    """The operation that runs one of the bodies; all take the same arguments."""
    graph = stacks.get_default_graph()
    for body in bodies:
        for tensor in taken:
            body.capture(tensor)
        of = dict(body.captures)
        body.inputs = [of[tensor] for tensor in taken]
    functions = [add_function(graph, body) for body in bodies]
    is_stateful = any(op.declaration.stateful and op.type != "ReadVariableOp"
                      for body in bodies for op in body.get_operations())  # fmt: skip
    shapes = [_common(outputs) for outputs in zip(*(body.outputs for body in bodies), strict=True)]
    attrs: dict[str, Any] = {
        "branches": functions, "output_shapes": shapes,
        "Tout": [output.dtype.base_dtype for output in bodies[0].outputs],
    }  # fmt: skip
    inputs = {"branch_index": index, "input": list(taken)}
    return apply_op("Case" if is_stateful else "StatelessCase", inputs, attrs, scope).outputs


def _common(outputs: Sequence[Tensor]) -> Any:
    shape = outputs[0].shape
    for output in outputs[1:]:
        shape = shape.most_specific_compatible_shape(output.shape)
    return shape


def add_function(graph: Graph, body: FuncGraph) -> NameAttrList:
    """Put a body into the library of a graph as a function of its name; what calls it."""
    definition = function_def(body, body.name, is_exact=True, attrs={})
    graph.add_functions(FunctionDefLibrary(function=[definition]))
    return NameAttrList(name=body.name)


EXPORTS: Final[Mapping[str, Any]] = {"switch_case": switch_case}
