"""`custom_gradient`: a decorator of functions that bring their own gradient.

The results, the arguments and the variables that are used go through one `IdentityN`, whose
gradient is computed by the function that comes with them. Source: TF 2.21.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final

from sessrun.reference.api import nest
from sessrun.reference.api.argument_types import Structure
from sessrun.reference.api.variables.resource_variables import ResourceVariable
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variable_scopes import get_variable_scope
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.generated import identity_n
from sessrun.reference.build.gradient_registry import (
    Gradient,
    RegisterGradient,
    is_differentiable,
)
from sessrun.reference.build.shape_inference_values import maker_of
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = [
    "custom_gradient",
    "dependent_variables",
    "grad_pass_through",
    "variable_by_name",
]

_NUMBERS: Final = itertools.count()
_READS: Final = frozenset({"ReadVariableOp", "ResourceGather", "ResourceGatherNd"})
_VARIABLES: Final = frozenset({"VarHandleOp", "VariableV2"})


@public("custom_gradient")
def custom_gradient(f: Any = None) -> Any:
    """A decorator: the gradient of `f` is computed by the function that `f` returns.

    Args:
      f: takes tensors, which may be nested, and returns its result and a function `g(*grad_ys)`,
        which returns a gradient for each of these tensors. If `f` uses resource variables, `g`
        takes them as the keyword argument `variables` and returns two lists: the gradients by the
        tensors and those by the variables.

    Raises:
      ValueError: on a call: there are keyword arguments, or a gradient is missing.
      TypeError: on a call: it makes a reference variable, or `g` takes no `variables`.

    """
    if f is None:
        return custom_gradient

    return _Decorated(f)


class _Decorated:
    """A function with a custom gradient; as an attribute of a class it binds like a method."""

    def __init__(self, function: Callable[..., object]) -> None:
        functools.update_wrapper(self, function)
        self._function = function

    def __get__(self, instance: object, owner: Any = None) -> _Decorated:
        if instance is None:
            return self
        return _Decorated(self._function.__get__(instance, owner))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ValueError(
                "The custom_gradient decorator currently supports keywords arguments only when "
                "eager execution is enabled."
            )
        return _result(self._function, args)


def _result(function: Callable[..., Any], args: tuple[Structure, ...]) -> Any:
    """The result of a function for these arguments, with the function's gradient."""
    name = f"CustomGradient-{next(_NUMBERS)}"
    arguments = nest.map_structure(convert_to_tensor, args, expand_composites=True)
    graph = default_graph.get_default_graph()
    before, first = set(_scope_variables()), len(graph.get_operations())
    result, grad_fn = function(*arguments)
    flat_args = nest.flatten(arguments, expand_composites=True)
    results = [convert_to_tensor(leaf) for leaf in nest.flatten(result, expand_composites=True)]
    if not all(isinstance(v, ResourceVariable) for v in set(_scope_variables()) - before):
        raise TypeError(
            "All variables used by a function wrapped with @custom_gradient must be "
            "`ResourceVariable`s. Ensure that no `variable_scope` is created with "
            "`use_resource=False`."
        )
    read = [maker_of(op.inputs[0]) for op in graph.get_operations()[first:] if op.type in _READS]
    used = {v.name: v for v in (*_variables_of(read), *dependent_variables(flat_args, results))}
    variables = [used[name] for name in sorted(used)]
    _check_takes_variables(grad_fn, variables)

    def gradient(_op: Operation, *grads: Gradient) -> list[Gradient]:
        return [*[None] * len(results), *_gradients(grad_fn, grads[: len(results)], variables)]

    RegisterGradient(name)(gradient)
    with graph.gradient_override_map({"IdentityN": name}):
        outputs = identity_n([*results, *flat_args, *variables])
    for variable in variables:
        convert_to_tensor(variable)  # which TensorFlow reads once more
    return nest.pack_sequence_as(result, outputs[: len(results)], expand_composites=True)


def _scope_variables() -> list[Variable]:
    """The variables of the current variable scope."""
    scope = get_variable_scope()
    return [*scope.global_variables(), *scope.local_variables()]


def dependent_variables(
    input_ops: Sequence[Tensor], output_ops: Sequence[Tensor]
) -> list[Variable]:
    """The trainable variables that tensors depend on by differentiable operations.

    Args:
      input_ops: tensors whose own inputs are not searched.
      output_ops: the tensors that depend on the variables.

    Raises:
      ValueError: as `variable_by_name`.

    """
    stops = {tensor.op for tensor in input_ops}
    waiting = [identity(result).op for result in output_ops]
    seen: set[Operation] = set()
    variables: list[Variable | None] = []
    while waiting:
        op = waiting.pop(0)
        if op in seen or op in stops:
            continue
        seen.add(op)
        if op.type in _VARIABLES:
            variables.append(variable_by_name(op.name))
        if is_differentiable(op.type):
            waiting.extend(tensor.op for tensor in op.inputs)
    return [v for v in variables if v is not None]


def _global_variables() -> list[Any]:
    variables = default_graph.get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES)
    return [v for v in variables if isinstance(getattr(v, "op", None), Operation)]


def variable_by_name(var_name: str) -> Variable | None:
    """The global variable whose operation has this name; None if it is not trainable.

    Raises:
      ValueError: no variable has the name, or several that are trainable.

    """
    named = [v for v in _global_variables() if v.op.name == var_name]
    if not named:
        raise ValueError(f"Unsuccessful at finding variable {var_name}.")
    trainable = [v for v in named if v.trainable]
    if len(trainable) > 1:
        raise ValueError(
            f"Unsuccessful at finding trainable variable {var_name}. Number of candidates: "
            f"{len(trainable)}. Candidates: {trainable}"
        )
    return trainable[0] if trainable else None


def _variables_of(ops: Sequence[Operation]) -> list[Variable]:
    """The trainable variables whose operations these are."""
    return [v for v in _global_variables() if v.op in ops and v.trainable]


def _check_takes_variables(grad_fn: Callable[..., object], variables: Sequence[object]) -> None:
    spec = inspect.getfullargspec(grad_fn)
    if variables and "variables" not in {*spec.args, *spec.kwonlyargs} and not spec.varkw:
        raise TypeError(
            "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function "
            f"uses variables: {variables}"
        )


def _gradients(
    grad_fn: Callable[..., Any], grads: Sequence[Gradient], variables: Sequence[Variable]
) -> list[Gradient]:
    """The gradients of the arguments and of the variables."""
    if not variables:
        return nest.flatten(grad_fn(*grads))
    of_args, of_variables = grad_fn(*grads, variables=list(variables))
    if len(of_variables) != len(variables):
        raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
    return [*nest.flatten(of_args), *of_variables]


@public("grad_pass_through")
def grad_pass_through(f: Callable[..., object]) -> Callable[..., Any]:
    """A function with the results of `f` and the gradient of the identity."""

    def passed(*args: Structure) -> Any:
        def gradient(*grads: Gradient, variables: Any = None) -> Any:
            return grads if variables is None else (grads, [None] * len(variables))

        return f(*args), gradient

    wrapped: Callable[..., Any] = functools.wraps(f)(custom_gradient(passed))
    return wrapped
