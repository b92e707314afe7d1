"""Functions that come with a gradient of their own: `custom_gradient` and what is made with it.

The results, the arguments and the variables that are used go through one `IdentityN`, whose
gradient is the function's. Source: TF 2.21.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from sessrun.reference import nest, stacks
from sessrun.reference.conversion import convert_to_tensor
from sessrun.reference.differentiation.backprop import gradients
from sessrun.reference.differentiation.choices import UnconnectedGradients
from sessrun.reference.differentiation.registry import RegisterGradient, is_differentiable
from sessrun.reference.framework_ops import identity
from sessrun.reference.generated import identity_n
from sessrun.reference.graph_keys import GraphKeys
from sessrun.reference.indexed_slices import IndexedSlices
from sessrun.reference.operation import Operation
from sessrun.reference.tensor import Tensor
from sessrun.reference.variables.opened_variable_scopes import variable_scope
from sessrun.reference.variables.resource_variables import ResourceVariable
from sessrun.reference.variables.variable_scopes import get_variable_scope

__all__ = ["custom_gradient", "grad_pass_through", "recompute_grad"]

_NUMBERS: Final = itertools.count()
_READS: Final = frozenset({"ReadVariableOp", "ResourceGather", "ResourceGatherNd"})
_VARIABLES: Final = frozenset({"VarHandleOp", "VariableV2"})


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

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ValueError(
                "The custom_gradient decorator currently supports keywords arguments only when "
                "eager execution is enabled."
            )
        return _called(f, args)

    return decorated


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
    read = [tensor.op for op in graph.get_operations()[first:] if op.type in _READS
            for tensor in op.inputs[:1]]  # fmt: skip
    variables = _variables_of([*read, *_handles_behind(results, flat_args)])
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


def _handles_behind(results: Sequence[Tensor], args: Sequence[Tensor]) -> Iterator[Operation]:
    """The variables that the results depend on by what can be differentiated."""
    stops = {tensor.op for tensor in args}
    waiting = [identity(result).op for result in results]
    seen: set[Operation] = set()
    while waiting:
        op = waiting.pop(0)
        if op in seen or op in stops:
            continue
        seen.add(op)
        if op.type in _VARIABLES:
            yield op
        if is_differentiable(op.type):
            waiting.extend(tensor.op for tensor in op.inputs)


def _variables_of(ops: Sequence[Operation]) -> list[Any]:
    """The trainable variables that these operations are, by name, each once."""
    known = {
        each.op: each
        for each in stacks.get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES)
        if isinstance(getattr(each, "op", None), Operation)
    }
    found = {known[op].name: known[op] for op in ops if op in known and known[op].trainable}
    return [found[name] for name in sorted(found)]


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
        raise ValueError(
            "Must return gradient for each variable from @custom_gradient grad_fn."
        )
    return [*nest.flatten(of_args), *of_variables]


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives what `f` gives, whose gradient is that of doing nothing."""

    def passed(*args: Any) -> Any:
        def gradient(*grads: Any, variables: Any = None) -> Any:
            return grads if variables is None else (grads, [None] * len(variables))

        return f(*args), gradient

    decorated: Callable[..., Any] = functools.wraps(f)(custom_gradient(passed))
    return decorated


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
            found = gradients(nest.flatten(result), by, grad_ys=list(grads),
                              unconnected_gradients=UnconnectedGradients.ZERO)  # fmt: skip
            count = len(by) - len(variables or ())
            return found if variables is None else (found[:count], found[count:])

        return f(*args), gradient

    decorated: Callable[..., Any] = functools.wraps(f)(custom_gradient(computed))
    return decorated


EXPORTS: Final[Mapping[str, Any]] = {
    function.__name__: function for function in (custom_gradient, grad_pass_through, recompute_grad)
}
