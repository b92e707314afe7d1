"""`tf.train.Optimizer`: computes gradients of a loss and applies them to variables.

A subclass overrides what begins with an underscore and is said to be for subclasses. Source: TF
2.21, whose graphs these are node for node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from sessrun.reference.api import nest
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.variables.opened_variable_scopes import variable_scope
from sessrun.reference.api.variables.resource_variables import ResourceVariable
from sessrun.reference.api.variables.state_ops import assign_add
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variable_lists import trainable_variables
from sessrun.reference.api.variables.variable_scopes import VariableScope, get_variable
from sessrun.reference.api.variables.variables import create
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import group, tuple_
from sessrun.reference.build.indexed_slices import (
    IndexedSlices,
    convert_to_tensor_or_indexed_slices,
)
from sessrun.reference.gradient.backprop import gradients
from sessrun.reference.graph.default_graph import (
    colocate_with,
    control_dependencies,
    get_collection,
    get_collection_ref,
    get_default_graph,
)
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.name_scopes import init_scope, name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.optimizers.optimizables import (
    Applied,
    Target,
    deduplicated,
    target_of,
)
from sessrun.reference.library.optimizers.slots import (
    create_slot,
    create_slot_with_initializer,
    create_zeros_slot,
)
from sessrun.reference.public import public

__all__ = ["Optimizer"]


@public("train.Optimizer")
class Optimizer:
    """Base class of optimizers.

    Args:
      use_locking: whether updates of reference variables take a lock.
      name: the scope of the operations, and the name of slots.
      use_own_namescope_for_non_slot_vars: whether variables that are no slots stand in a variable
        scope of that name.

    Raises:
      ValueError: there is no name.

    """

    #: Gradients are applied as they come.
    GATE_NONE: Final = 0
    #: No gradient of an operation's inputs is used before all of them are computed.
    GATE_OP: Final = 1
    #: No gradient is used before all of them are computed.
    GATE_GRAPH: Final = 2

    def __init__(
        self, use_locking: bool, name: str, use_own_namescope_for_non_slot_vars: bool = False
    ) -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._non_slot_variable_scope: VariableScope | None = None
        if use_own_namescope_for_non_slot_vars:
            with variable_scope(None, default_name=name) as scope:
                self._non_slot_variable_scope = scope
        self._slots: dict[str, dict[object, object]] = {}
        self._non_slot_dict: dict[tuple[str, object], object] = {}

    def get_name(self) -> str:
        """The name it was given."""
        return self._name

    # -- what a program calls

    def minimize(
        self,
        loss: Tensor,
        global_step: Variable | None = None,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: TensorLike | None = None,
    ) -> Operation:
        """`compute_gradients`, then `apply_gradients`.

        Raises:
          ValueError: no variable has a gradient, or as `compute_gradients` and `apply_gradients`.

        """
        pairs = self.compute_gradients(
            loss,
            var_list,
            gate_gradients,
            aggregation_method,
            colocate_gradients_with_ops,
            grad_loss,
        )
        if all(gradient is None for gradient, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not "
                f"support gradients, between variables {[str(v) for _, v in pairs]} and loss "
                f"{loss}."
            )
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(
        self,
        loss: Tensor,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: TensorLike | None = None,
    ) -> list[tuple[Tensor | IndexedSlices | None, Variable]]:
        """Pairs (gradient of the loss, variable).

        Args:
          loss: a tensor, or a function that makes it.
          var_list: the variables, or tensors; by default all trainable ones.
          gate_gradients: one of the `GATE_` constants.
          aggregation_method: one of AggregationMethod.
          colocate_gradients_with_ops: whether gradients are where what they differentiate is.
          grad_loss: a tensor that the gradient is multiplied by.

        Raises:
          ValueError: `gate_gradients` is not one of its constants, a variable has a dtype that
            cannot be optimized, or there are no variables.
          NotImplementedError: an element of `var_list` is neither a variable nor a tensor.

        """
        loss = loss() if callable(loss) else loss
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                f"Optimizer.GATE_GRAPH.  Not {gate_gradients}"
            )
        self._assert_valid_dtypes([loss])
        if grad_loss is not None:
            self._assert_valid_dtypes([grad_loss])
        if var_list is None:
            resources = get_collection(GraphKeys.TRAINABLE_RESOURCE_VARIABLES)
            wanted = [*trainable_variables(), *resources]
        else:
            wanted = nest.flatten(var_list)
        sources = [target_of(v).target() for v in wanted]
        if not wanted:
            raise ValueError("No variables to optimize.")
        grads: Sequence[Tensor | IndexedSlices | None] = gradients(
            loss,
            sources,
            grad_ys=grad_loss,
            gate_gradients=gate_gradients == self.GATE_OP,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gate_gradients == self.GATE_GRAPH:
            grads = tuple_(grads)
        pairs = list(zip(grads, wanted, strict=True))
        self._assert_valid_dtypes(
            [v for gradient, v in pairs if gradient is not None and v.dtype != dtypes.resource]
        )
        return pairs

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Tensor | IndexedSlices | None, Variable]],
        global_step: Variable | Tensor | None = None,
        name: str | None = None,
        skip_gradients_aggregation: bool = False,
    ) -> Operation:
        """The operation that applies gradients to variables.

        Args:
          grads_and_vars: pairs as `compute_gradients` gives them; None for no gradient.
          global_step: a variable that counts one more after all of them are changed.
          name: the scope of the operations; by default the optimizer's name.
          skip_gradients_aggregation: without effect, since there is a single replica.

        Returns:
          The operation that applies them; with `global_step` the one that also increments it.

        Raises:
          TypeError: a gradient is no tensor, nor IndexedSlices, nor None.
          ValueError: there are no pairs, or no gradients.
          NotImplementedError: an object to update is not a variable.

        """
        del skip_gradients_aggregation
        pairs = tuple(grads_and_vars)
        if not pairs:
            raise ValueError("No variables provided.")
        converted = [(_as_gradient(gradient), v, target_of(v)) for gradient, v in pairs]
        used = [v for gradient, v, _ in converted if gradient is not None]
        if not used:
            raise ValueError(
                f"No gradients provided for any variable: {[str(v) for _, v, _ in converted]}."
            )
        with init_scope():
            self._create_slots(used)
        with name_scope(name, self._name) as scope:
            self._prepare()
            updates = [
                self._update(target, gradient, v)
                for gradient, v, target in converted
                if gradient is not None
            ]
            update = self._counted(updates, global_step, scope)
            operation = update if isinstance(update, Operation) else update.op
            kept = get_collection_ref(GraphKeys.TRAIN_OP)
            if operation not in kept:
                kept.append(operation)
            return operation

    def _update(self, target: Target, gradient: Tensor | IndexedSlices, v: Variable) -> Applied:
        with name_scope(f"update_{v.op.name}"), colocate_with(v):
            return target.update_op(self, gradient)

    def _counted(
        self, updates: Sequence[Applied], global_step: Any, scope: str
    ) -> Tensor | Operation:
        if global_step is None:
            return self._finish(updates, scope)
        finished = self._finish(updates, "update")
        with control_dependencies([finished]), colocate_with(global_step):
            if not isinstance(global_step, ResourceVariable):
                step: Tensor = assign_add(global_step, 1, name=scope)
                return step
            inputs = {
                "resource": global_step.handle,
                "value": convert_to_tensor(1, dtype=global_step.dtype),
            }
            counted: Operation = apply_op("AssignAddVariableOp", inputs, {}, scope)
            return counted

    # -- slots

    def get_slot(self, var: Variable, name: str) -> object:
        """A variable's slot of this name, or None."""
        named = self._slots.get(name)
        return named.get(_key(var)) if named else None

    def get_slot_names(self) -> list[str]:
        """The names of slots, sorted."""
        return sorted(self._slots)

    def variables(self) -> list[Variable]:
        """The optimizer's own variables (slots and others) in the default graph, sorted by name."""
        graph = get_default_graph()
        variables = [*self._non_slot_variables()]
        for named in self._slots.values():
            variables.extend(named.values())
        return sorted((v for v in variables if v.op.graph is graph), key=lambda v: str(v.name))

    def _slot_dict(self, slot_name: str) -> dict[object, object]:
        return self._slots.setdefault(slot_name, {})

    def _get_or_make_slot(self, var: Variable, val: Tensor, slot_name: str, op_name: str) -> object:
        """For subclasses: get or create a slot with a tensor's value as initial value."""
        named, key = self._slot_dict(slot_name), _key(var)
        if key not in named:
            named[key] = create_slot(var, val, op_name)
        return named[key]

    def _get_or_make_slot_with_initializer(
        self,
        var: Variable,
        initializer: Callable[..., Tensor] | TensorLike,
        shape: TensorShape,
        dtype: DType,
        slot_name: str,
        op_name: str,
    ) -> object:
        """For subclasses: get or create a slot with an initializer."""
        named, key = self._slot_dict(slot_name), _key(var)
        if key not in named:
            named[key] = create_slot_with_initializer(var, initializer, shape, dtype, op_name)
        return named[key]

    def _zeros_slot(self, var: Variable, slot_name: str, op_name: str) -> object:
        """For subclasses: get or create a slot of zeros."""
        named, key = self._slot_dict(slot_name), _key(var)
        if key not in named:
            named[key] = create_zeros_slot(var, op_name)
        return named[key]

    def _create_non_slot_variable(
        self, initial_value: TensorLike, name: str, colocate_with: Variable
    ) -> object:
        """For subclasses: get or create a non-slot variable, one per graph."""
        key = (name, colocate_with.graph)
        if key not in self._non_slot_dict:
            self._non_slot_dict[key] = self._own_variable(initial_value, name, colocate_with)
        return self._non_slot_dict[key]

    def _own_variable(self, initial_value: TensorLike, name: str, beside: Variable) -> Variable:
        use_resource = isinstance(beside, ResourceVariable)
        with colocate_with(beside):
            if self._non_slot_variable_scope is None:
                return create(initial_value, name=name, trainable=False, use_resource=use_resource)
            with name_scope(""), variable_scope(self._non_slot_variable_scope):
                variable: Variable = get_variable(
                    name, initializer=initial_value, trainable=False, use_resource=use_resource
                )
                return variable

    def _get_non_slot_variable(self, name: str, graph: Graph | None = None) -> object:
        return self._non_slot_dict.get((name, graph))

    def _non_slot_variables(self) -> Iterable[Any]:
        return self._non_slot_dict.values()

    # -- what subclasses override

    def _assert_valid_dtypes(self, tensors: Iterable[Any]) -> None:
        valid = self._valid_dtypes()
        for tensor in tensors:
            dtype = tensor.dtype.base_dtype
            if dtype not in valid:
                raise ValueError(
                    f"Invalid type {dtype!r} for {tensor.name}, expected: {list(valid)}."
                )

    def _valid_dtypes(self) -> set[dtypes.DType]:
        """The dtypes that losses and variables may have."""
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}

    def _create_slots(self, var_list: list[Variable]) -> None:
        """Overridden by subclasses: create the slots of the variables."""

    def _prepare(self) -> None:
        """Overridden by subclasses: create shared tensors, such as hyperparameters."""

    def _apply_dense(self, grad: Tensor, var: Variable) -> Applied:
        """Overridden by subclasses: apply a dense gradient to a reference variable."""
        raise NotImplementedError

    def _resource_apply_dense(self, grad: Tensor, handle: Variable) -> Applied:
        """Overridden by subclasses: apply a dense gradient to a resource variable."""
        raise NotImplementedError

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Tensor, handle: Variable, indices: Tensor
    ) -> Applied:
        """Apply a sparse gradient with repeated indices to a resource variable."""
        summed, distinct = deduplicated(grad, indices)
        return self._resource_apply_sparse(summed, handle, distinct)

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Applied:
        """Overridden by subclasses: apply a sparse gradient (unique indices) to a resource."""
        raise NotImplementedError

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Variable) -> Applied:
        """Apply a sparse gradient with repeated indices to a reference variable."""
        summed, distinct = deduplicated(grad.values, grad.indices)
        return self._apply_sparse(IndexedSlices(summed, distinct, grad.dense_shape), var)

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Applied:
        """Overridden by subclasses: apply a sparse gradient (unique indices) to a reference."""
        raise NotImplementedError

    def _finish(self, update_ops: Sequence[Applied], name_scope: str) -> Operation:
        """Overridden by subclasses: group the updates, after all variables are updated."""
        return group(*update_ops, name=name_scope)

    def _call_if_callable(self, param: TensorLike | Callable[[], TensorLike]) -> TensorLike:
        return param() if callable(param) else param


def _as_gradient(gradient: Tensor | IndexedSlices | None) -> Tensor | IndexedSlices | None:
    if gradient is None:
        return None
    try:
        converted = convert_to_tensor_or_indexed_slices(gradient)
    except TypeError:
        raise TypeError(
            f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {gradient}"
        ) from None
    if not isinstance(converted, Tensor | IndexedSlices):
        raise TypeError(f"Gradient must be a Tensor, IndexedSlices, or None: {converted}")
    return converted


def _key(var: Variable) -> tuple[Graph, str]:
    """The key of a variable's slots."""
    return var.op.graph, var.op.name
