"""`recompute_grad`: a function that is computed once more for its gradient. Source: TF 2.21."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from sessrun.reference.api import nest
from sessrun.reference.api.custom_gradients import custom_gradient
from sessrun.reference.api.variables.opened_variable_scopes import variable_scope
from sessrun.reference.api.variables.variable_scopes import get_variable_scope
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.gradient_registry import Gradient
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.gradient.aggregation import UnconnectedGradients
from sessrun.reference.gradient.backprop import gradients
from sessrun.reference.graph import default_graph
from sessrun.reference.public import public

__all__ = ["recompute_grad"]


@public("recompute_grad")
def recompute_grad(f: Callable[..., TensorLike]) -> Callable[..., Any]:
    """A function with the results of `f`, which is called once more when its gradient is made.

    What `f` computes the first time need not be kept until the gradient is computed.
    """

    def computed(*args: TensorLike) -> Any:
        scope = get_variable_scope()

        def gradient(*grads: Gradient, variables: Any = None) -> Any:
            graph = default_graph.get_default_graph()
            waits = [grad.values if isinstance(grad, IndexedSlices) else grad for grad in grads]
            with graph.control_dependencies(waits):
                copies = nest.map_structure(identity, args, expand_composites=True)
            with variable_scope(scope):
                result = f(*copies)
            sources = [*nest.flatten(copies, expand_composites=True), *(variables or ())]
            by_sources = gradients(
                nest.flatten(result),
                sources,
                grad_ys=list(grads),
                unconnected_gradients=UnconnectedGradients.ZERO,
            )
            count = len(sources) - len(variables or ())
            if variables is None:
                return by_sources
            return by_sources[:count], by_sources[count:]

        return f(*args), gradient

    wrapped: Callable[..., Any] = functools.wraps(f)(custom_gradient(computed))
    return wrapped
