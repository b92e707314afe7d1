"""Reference variables: those that `tf.Variable` creates by default.

`v` is a `VariableV2`, `v/Assign` sets it to the initial value, `v/read` is its value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.variables import initial_values, state_ops
from sessrun.reference.api.variables.save_slices import SaveSliceInfo
from sessrun.reference.api.variables.variable_arguments import DeviceChoice
from sessrun.reference.api.variables.variable_base import VariableV1
from sessrun.reference.api.variables.variable_traits import collections_of, traits_of
from sessrun.reference.base.dtypes import DType, DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape, as_shape
from sessrun.reference.base.upper_functions import UPPER
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import (
    convert_to_tensor,
    register_tensor_conversion_function,
)
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.errors import bad_value
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.name_scopes import init_scope, name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import VariableDef

__all__ = ["RefVariable"]


class RefVariable(VariableV1):
    """A variable that operations take by reference; the arguments are those of `create`."""

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Iterable[str] | None = None,
        validate_shape: bool = True,
        caching_device: DeviceChoice = None,
        name: str | None = None,
        dtype: Any = None,
        constraint: Callable[[Tensor], Tensor] | None = None,
        synchronization: object = None,
        aggregation: object = None,
        shape: Any = None,
    ) -> None:
        if initial_value is None:
            raise bad_value("initial_value must be specified.")
        self._traits = traits_of(name, trainable, constraint, synchronization, aggregation)
        wanted = collections_of(collections, trainable=self._traits.trainable)
        graph = default_graph.get_default_graph()
        values = [] if callable(initial_value) else [initial_value]
        with (
            graph.control_dependencies(None),
            name_scope(name, "Variable", values) as scope,
        ):
            self._build(initial_value, scope, dtype, shape, validate_shape=validate_shape)
            device = _device_of_reads(self._variable, caching_device)
            with device:
                self._snapshot = identity(self._variable, name="read")
        graph.add_to_collections(wanted, self)

    def _build(
        self,
        initial_value: TensorLike | Callable[[], TensorLike],
        scope: str,
        dtype: DTypeLike,
        shape: ShapeLike,
        *,
        validate_shape: bool,
    ) -> None:
        """Make the buffer and the operation that sets it."""
        graph = default_graph.get_default_graph()
        is_function = callable(initial_value)
        with initial_values.colocated_with_new(graph, scope) if is_function else nullcontext():
            if callable(initial_value):
                initial = initial_values.value_of_function(initial_value, dtype)
            else:
                initial = convert_to_tensor(initial_value, dtype=dtype, name="initial_value")
                initial_values.check_not_in_control_flow(initial, scope)
            if shape is None and validate_shape:
                shape = initial.shape
            attrs = {"shape": as_shape(shape), "dtype": initial.dtype.base_dtype}
            self._variable = apply_op("VariableV2", {}, attrs, scope or None).outputs[0]
        if validate_shape and not initial.shape.is_fully_defined():
            raise bad_value(f"initial_value must have a shape specified: {initial}")
        self._initial_value = initial
        self.dtype = self._variable.dtype
        guarded = initial_values.safe_initial_value(scope, initial)
        assignment = state_ops.assign(self._variable, guarded, validate_shape=validate_shape)
        self._initializer = assignment.op

    @classmethod
    def of_proto(cls, proto: VariableDef, import_scope: str | None) -> RefVariable:
        """The variable whose operations the default graph has.

        Raises:
          KeyError: the graph does not have one of them.

        """
        self = cls.__new__(cls)
        graph = default_graph.get_default_graph()
        find = initial_values.imported_element(graph, import_scope)
        self._variable = find(proto.variable_name)
        self._initializer = find(proto.initializer_name)
        named = proto.initial_value_name
        self._initial_value = find(named) if named else None
        self._snapshot = find(proto.snapshot_name)
        self.dtype = self._variable.dtype
        self._traits = traits_of(
            proto.variable_name, proto.trainable, None, proto.synchronization, proto.aggregation
        )
        if proto.HasField("save_slice_info_def"):
            self._save_slice_info = SaveSliceInfo(
                save_slice_info_def=proto.save_slice_info_def, import_scope=import_scope
            )
        return self

    # -- properties

    @property
    def op(self) -> Operation:
        """The operation that holds it."""
        return self._variable.op

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._variable.shape

    def set_shape(self, shape: ShapeLike) -> None:
        """Narrow the static shape of the variable and of its value.

        Raises:
          InvalidArgumentValueError: no tensor has both shapes.

        """
        self._variable.set_shape(shape)
        self._snapshot.set_shape(shape)

    def _as_graph_element(self) -> Tensor:
        return self._variable

    def _ref(self) -> Tensor:
        return self._variable

    # -- reading

    def value(self) -> Tensor:
        """The value: `v/read`."""
        return self._snapshot

    def read_value(self) -> Tensor:
        """The value, by a new read operation, after the control dependencies that are open here."""
        return identity(self._variable, name="read")

    def initialized_value(self) -> Tensor:
        """Its value if it is initialized, else its initial value: for initial values of others.

        The initial value may itself depend on variables that are not initialized, and works then,
        too; TensorFlow fails for such chains or not, depending on the order of execution.
        """
        with init_scope():
            is_there = state_ops.is_variable_initialized(self)
            assigned = getattr(self._initializer, "op", self._initializer)
            value: Tensor = UPPER["cond"](is_there, self.read_value, lambda: assigned.inputs[1])
            return value

    # -- setting

    def assign(
        self,
        value: TensorLike,
        use_locking: bool | None = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Tensor | Operation:
        """Set it; gives the reference, or with `read_value` off the operation."""
        assignment = state_ops.assign(self._variable, value, use_locking=use_locking, name=name)
        result: Tensor | Operation = assignment if read_value else assignment.op
        return result

    def assign_add(
        self,
        delta: TensorLike,
        use_locking: bool | None = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Tensor | Operation:
        """Add to it; gives the reference, or with `read_value` off the operation."""
        assignment = state_ops.assign_add(self._variable, delta, use_locking=use_locking, name=name)
        result: Tensor | Operation = assignment if read_value else assignment.op
        return result

    def assign_sub(
        self,
        delta: TensorLike,
        use_locking: bool | None = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Tensor | Operation:
        """Subtract from it; gives the reference, or with `read_value` off the operation."""
        assignment = state_ops.assign_sub(self._variable, delta, use_locking=use_locking, name=name)
        result: Tensor | Operation = assignment if read_value else assignment.op
        return result

    def _slice_assigned(
        self, bounds: dict[str, Tensor], value: TensorLike, attrs: dict[str, int], name: str
    ) -> Tensor:
        inputs = {"ref": self._variable, **bounds, "value": value}
        return apply_op("StridedSliceAssign", inputs, attrs, name).outputs[0]

    def count_up_to(self, limit: int) -> Tensor:
        """The value before it is increased by 1; OutOfRangeError in a run if it is `limit`."""
        return state_ops.count_up_to(self._variable, limit)

    # -- as data

    def to_proto(self, export_scope: str | None = None) -> VariableDef | None:
        """The names of its operations, without `export_scope`; None if it is outside of that."""
        return initial_values.variable_def(
            self, self._snapshot.name, export_scope, is_resource=False
        )


def _device_of_reads(
    variable: Tensor, caching_device: DeviceChoice
) -> AbstractContextManager[None]:
    graph: Graph = variable.graph
    if caching_device is not None:
        return graph.device(caching_device)
    return graph.colocate_with(variable.op)


def _to_tensor(
    variable: RefVariable,
    dtype: DType | None = None,
    name: str | None = None,
    as_ref: bool = False,
) -> Tensor:
    del name
    if dtype is not None and not dtype.is_compatible_with(variable.dtype):
        raise bad_value(
            f"Incompatible type conversion requested to type '{dtype.name}' for variable of "
            f"type '{variable.dtype.name}'"
        )
    return variable._ref() if as_ref else variable.value()  # noqa: SLF001 - the two are one module


register_tensor_conversion_function(RefVariable, _to_tensor)
