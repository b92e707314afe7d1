"""Functions that come with a gradient of their own: `custom_gradient` and what is made with it.

The results, the arguments and the variables that are used go through one `IdentityN`, whose
gradient is the function's. Source: TF 2.21.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final

from sessrun.reference.api import nest
from sessrun.reference.api.variables.opened_variable_scopes import variable_scope
from sessrun.reference.api.variables.resource_variables import ResourceVariable
from sessrun.reference.api.variables.variable_scopes import get_variable_scope
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.generated import identity_n
from sessrun.reference.build.gradient_registry import RegisterGradient, is_differentiable
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.build.static_values import maker_of
from sessrun.reference.gradient.backprop import gradients
from sessrun.reference.gradient.choices import UnconnectedGradients
from sessrun.reference.graph import stacks
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = [
    "custom_gradient",
    "dependent_variables",
    "grad_pass_through",
    "recompute_grad",
    "variable_by_name",
]

_NUMBERS: Final = itertools.count()
_READS: Final = frozenset({"ReadVariableOp", "ResourceGather", "ResourceGatherNd"})
_VARIABLES: Final = frozenset({"VarHandleOp", "VariableV2"})


@public("custom_gradient")
def custom_gradient(f: Any = None) -> Any:
    """A decorator: the gradient of `f` is what `f` says it is.

    Args:
      f: from tensors, which may be nested, to what it gives and a function `g(*grad_ys)` that gives
        a gradient for each tensor it took. Where `f` uses resource variables besides, `g` takes
        them as `variables`, too, and gives two lists.

    Raises:
      ValueError: on a call: there are keyword arguments, or a gradient is missing.
      TypeError: on a call: it makes a variable that is a reference, or `g` takes no `variables`.

    """
    if f is None:
        return custom_gradient

    return _Decorated(f)


class _Decorated:
    """A function with a gradient of its own; as an attribute of a class, a method of it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self._function = function

    def __get__(self, instance: Any, owner: Any = None) -> _Decorated:
        if instance is None:
            return self
        return _Decorated(self._function.__get__(instance, owner))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ValueError(
                "The custom_gradient decorator currently supports keywords arguments only when "
                "eager execution is enabled."
            )
        return _called(self._function, args)


def _called(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What the function gives for these arguments, with its gradient."""
    name = f"CustomGradient-{next(_NUMBERS)}"
    taken = nest.map_structure(convert_to_tensor, args, expand_composites=True)
    graph = stacks.get_default_graph()
    before, first = set(_scope_variables()), len(graph.get_operations())
    result, grad_fn = function(*taken)
    flat_args = nest.flatten(taken, expand_composites=True)
    results = [convert_to_tensor(each) for each in nest.flatten(result, expand_composites=True)]
    if not all(isinstance(each, ResourceVariable) for each in set(_scope_variables()) - before):
        raise TypeError(
            "All variables used by a function wrapped with @custom_gradient must be "
            "`ResourceVariable`s. Ensure that no `variable_scope` is created with "
            "`use_resource=False`."
        )
    read = [maker_of(op.inputs[0]) for op in graph.get_operations()[first:] if op.type in _READS]
    used = {each.name: each for each in (*_read(read), *dependent_variables(flat_args, results))}
    variables = [used[name] for name in sorted(used)]
    _check_takes_variables(grad_fn, variables)

    def gradient(_op: Operation, *grads: Any) -> list[Any]:
        return [*[None] * len(results), *_asked(grad_fn, grads[: len(results)], variables)]

    RegisterGradient(name)(gradient)
    with graph.gradient_override_map({"IdentityN": name}):
        outputs = identity_n([*results, *flat_args, *variables])
    for variable in variables:
        convert_to_tensor(variable)  # which TensorFlow reads once more
    return nest.pack_sequence_as(result, outputs[: len(results)], expand_composites=True)


def _scope_variables() -> list[Any]:
    scope = get_variable_scope()
    return [*scope.global_variables(), *scope.local_variables()]


def dependent_variables(input_ops: Sequence[Tensor], output_ops: Sequence[Tensor]) -> list[Any]:
    """The trainable variables that tensors depend on by what can be differentiated.

    Args:
      input_ops: tensors that nothing is looked for behind.
      output_ops: the tensors that depend on them.

    Raises:
      ValueError: as `variable_by_name`.

    """
    stops = {tensor.op for tensor in input_ops}
    waiting = [identity(result).op for result in output_ops]
    seen: set[Operation] = set()
    found: list[Any] = []
    while waiting:
        op = waiting.pop(0)
        if op in seen or op in stops:
            continue
        seen.add(op)
        if op.type in _VARIABLES:
            found.append(variable_by_name(op.name))
        if is_differentiable(op.type):
            waiting.extend(tensor.op for tensor in op.inputs)
    return [each for each in found if each is not None]


def _global_variables() -> list[Any]:
    found = stacks.get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES)
    return [each for each in found if isinstance(getattr(each, "op", None), Operation)]


def variable_by_name(var_name: str) -> Any:
    """The global variable whose operation has this name; None if it is not trainable.

    Raises:
      ValueError: there is none, or several are trainable.

    """
    named = [each for each in _global_variables() if each.op.name == var_name]
    if not named:
        raise ValueError(f"Unsuccessful at finding variable {var_name}.")
    trainable = [each for each in named if each.trainable]
    if len(trainable) > 1:
        raise ValueError(
            f"Unsuccessful at finding trainable variable {var_name}. Number of candidates: "
            f"{len(trainable)}. Candidates: {trainable}"
        )
    return trainable[0] if trainable else None


def _read(ops: Sequence[Operation]) -> list[Any]:
    """The trainable variables that these operations are."""
    return [each for each in _global_variables() if each.op in ops and each.trainable]


def _check_takes_variables(grad_fn: Callable[..., Any], variables: Sequence[Any]) -> None:
    spec = inspect.getfullargspec(grad_fn)
    if variables and "variables" not in {*spec.args, *spec.kwonlyargs} and not spec.varkw:
        raise TypeError(
            "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function "
            f"uses variables: {variables}"
        )


def _asked(
    grad_fn: Callable[..., Any], grads: Sequence[Any], variables: Sequence[Any]
) -> list[Any]:
    """The gradients of the arguments and of the variables."""
    if not variables:
        return nest.flatten(grad_fn(*grads))
    of_args, of_variables = grad_fn(*grads, variables=list(variables))
    if len(of_variables) != len(variables):
        raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
    return [*nest.flatten(of_args), *of_variables]


@public("grad_pass_through")
def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives what `f` gives, whose gradient is that of doing nothing."""

    def passed(*args: Any) -> Any:
        def gradient(*grads: Any, variables: Any = None) -> Any:
            return grads if variables is None else (grads, [None] * len(variables))

        return f(*args), gradient

    decorated: Callable[..., Any] = functools.wraps(f)(custom_gradient(passed))
    return decorated


@public("recompute_grad")
def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives what `f` gives, and computes it once more for its gradient.

    What `f` computes is not kept until the gradient is there.
    """

    def computed(*args: Any) -> Any:
        scope = get_variable_scope()

        def gradient(*grads: Any, variables: Any = None) -> Any:
            graph = stacks.get_default_graph()
            waits = [each.values if isinstance(each, IndexedSlices) else each for each in grads]
            with graph.control_dependencies(waits):
                again = nest.map_structure(identity, args, expand_composites=True)
            with variable_scope(scope):
                result = f(*again)
            by = [*nest.flatten(again, expand_composites=True), *(variables or ())]
            found = gradients(
                nest.flatten(result),
                by,
                grad_ys=list(grads),
                unconnected_gradients=UnconnectedGradients.ZERO,
            )
            count = len(by) - len(variables or ())
            return found if variables is None else (found[:count], found[count:])

        return f(*args), gradient

    decorated: Callable[..., Any] = functools.wraps(f)(custom_gradient(computed))
    return decorated
