"""Resource variables: a handle `v`, read by `ReadVariableOp` and set by `AssignVariableOp`.

Each read is a separate operation, so that control dependencies determine the value it sees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NoReturn

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.variables import initial_values
from sessrun.reference.api.variables.save_slices import SaveSliceInfo
from sessrun.reference.api.variables.variable_arguments import DeviceChoice
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variable_traits import (
    collections_of,
    traits_of,
)
from sessrun.reference.base.dtypes import DType, DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape, as_shape
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import (
    convert_to_tensor,
    register_tensor_conversion_function,
)
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.errors import bad_value
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import VariableDef
from sessrun.spec.proto.foreign import adopt

__all__ = ["ResourceVariable", "UnreadVariable", "is_resource_variable"]


class ResourceVariable(Variable):
    """A variable behind a handle; the arguments are those of `create`.

    Attributes:
      handle: the resource tensor that operations on it take.

    """

    handle: Tensor
    _read: Tensor
    _cached: Tensor | None = None
    _caching_device: DeviceChoice = None
    _is_initialized: Tensor | None = None
    _validate_shape = True

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Iterable[str] | None = None,
        validate_shape: bool = True,
        caching_device: DeviceChoice = None,
        name: str | None = None,
        dtype: Any = None,
        variable_def: VariableDef | None = None,
        import_scope: str | None = None,
        constraint: Callable[[Tensor], Tensor] | None = None,
        distribute_strategy: object = None,
        synchronization: object = None,
        aggregation: object = None,
        shape: Any = None,
    ) -> None:
        del distribute_strategy  # this runtime has no strategies
        if variable_def is not None:
            self._become(adopt(variable_def, VariableDef), import_scope)
            return
        if initial_value is None:
            raise bad_value("The `initial_value` arg to `tf.Variable` must be specified.")
        self._traits = traits_of(name, trainable, constraint, synchronization, aggregation)
        self._validate_shape = validate_shape
        self._caching_device = caching_device
        wanted = collections_of(collections, trainable=self._traits.trainable)
        graph = default_graph.get_default_graph()
        values = [] if callable(initial_value) else [initial_value]
        with (
            graph.control_dependencies(None),
            name_scope(name, "Variable", values) as scope,
        ):
            self._build(initial_value, scope, dtype, shape)
        graph.add_to_collections(wanted, self)

    def _build(
        self,
        initial_value: TensorLike | Callable[[], TensorLike],
        scope: str,
        dtype: DTypeLike,
        shape: ShapeLike,
    ) -> None:
        """Make the handle, and the operations that every resource variable has."""
        graph = default_graph.get_default_graph()
        with initial_values.colocated_with_new(graph, scope):
            given = initial_value if callable(initial_value) else lambda: initial_value
            initial = initial_values.value_of_function(given, dtype)
            initial_values.check_not_in_control_flow(initial, scope)
            wanted = initial.shape if shape is None else as_shape(shape)
            if not initial.shape.is_compatible_with(wanted):
                raise bad_value(
                    f"In this `tf.Variable` creation, the initial value's shape ({initial.shape}) "
                    f"is not compatible with the explicitly supplied `shape` argument ({wanted})."
                )
            self._initial_value = initial
            self.dtype = initial.dtype.base_dtype
            attrs = {
                "dtype": self.dtype,
                "shape": wanted,
                "debug_name": scope,
                "shared_name": scope.removesuffix("/"),
            }
            self.handle = apply_op("VarHandleOp", {}, attrs, scope or None).outputs[0]
        with graph.name_scope("IsInitialized"):
            self._is_initialized = self._known_state(None)
        with (
            graph.name_scope("Assign") as assign,
            graph.colocate_with(None, ignore_existing=True),
            graph.device(self.handle.device),
        ):
            guarded = initial_values.safe_initial_value(scope, initial)
            inputs = {"resource": self.handle, "value": guarded}
            self._initializer = apply_op("AssignVariableOp", inputs, {}, assign)
        self._make_read(graph)

    def _make_read(self, graph: Graph) -> None:
        with graph.name_scope("Read"):
            with graph.device(self.handle.device):
                self._read = self._read_here()
            if self._caching_device is not None:
                with (
                    graph.colocate_with(None, ignore_existing=True),
                    graph.device(self._caching_device),
                ):
                    self._cached = identity(self._read)

    @classmethod
    def of_proto(cls, proto: VariableDef, import_scope: str | None) -> ResourceVariable:
        """The variable whose operations the default graph has.

        Raises:
          KeyError: the graph does not have one of them.

        """
        self = cls.__new__(cls)
        self._become(proto, import_scope)
        return self

    def _become(self, proto: VariableDef, import_scope: str | None) -> None:
        """Be the variable whose operations the default graph has."""
        find = initial_values.imported_element(default_graph.get_default_graph(), import_scope)
        self.handle = find(proto.variable_name)
        self._initializer = find(proto.initializer_name)
        named = proto.initial_value_name
        self._initial_value = find(named) if named else None
        self._read = find(proto.snapshot_name)
        if self._read.op.type != "ReadVariableOp":
            self._cached = self._read
        self.dtype = self._read.dtype
        self._traits = traits_of(
            proto.variable_name, proto.trainable, None, proto.synchronization, proto.aggregation
        )
        if proto.HasField("save_slice_info_def"):
            self._save_slice_info = SaveSliceInfo(
                save_slice_info_def=proto.save_slice_info_def, import_scope=import_scope
            )

    # -- properties

    @property
    def op(self) -> Operation:
        """The operation of its handle."""
        return self.handle.op

    @property
    def device(self) -> str:
        """The device that the handle requests; empty if none."""
        return self.handle.device

    @property
    def create(self) -> Operation:
        """The operation that sets it to its initial value."""
        return self.initializer

    @property
    def _handle(self) -> Tensor:
        return self.handle

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return as_shape(self.handle.op.attrs["shape"])

    def set_shape(self, shape: ShapeLike) -> None:
        """Check that the variable may have this shape.

        Raises:
          InvalidArgumentValueError: the variable has an incompatible shape.

        """
        if not self.shape.is_compatible_with(as_shape(shape)):
            raise bad_value(f"The variable {self.name} of shape {self.shape} cannot be {shape}.")

    def _as_graph_element(self) -> Tensor:
        return self._read

    @property
    def _graph_element(self) -> Tensor:
        return self._read

    @property
    def _cached_value(self) -> Tensor | None:
        return self._cached

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether it has been set: a bool scalar."""
        with default_graph.graph_for(self.graph).as_default():
            return self._known_state(name)

    def _known_state(self, name: str | None) -> Tensor:
        return apply_op("VarIsInitializedOp", {"resource": self.handle}, {}, name).outputs[0]

    # -- reading

    def _after(self) -> AbstractContextManager[None]:
        """The `with` of what comes before a read or an update."""
        return nullcontext()

    def _read_here(self) -> Tensor:
        inputs, attrs = {"resource": self.handle}, {"dtype": self.dtype}
        if self._caching_device is None or not hasattr(self, "_read"):
            return apply_op("ReadVariableOp", inputs, attrs).outputs[0]
        graph = default_graph.graph_for(self.graph)
        with graph.colocate_with(None, ignore_existing=True), graph.device(self._caching_device):
            return apply_op("ReadVariableOp", inputs, attrs).outputs[0]

    def value(self) -> Tensor:
        """The value, read anew unless it is cached on a device."""
        if self._cached is not None:
            return self._cached
        graph = default_graph.graph_for(self.graph)
        with (
            graph.as_default(),
            self._after(),
            graph.colocate_with(None, ignore_existing=True),
        ):
            return self._read_here()

    def read_value(self) -> Tensor:
        """The value, by a new read operation, after the control dependencies that are open here."""
        with default_graph.graph_for(self.graph).as_default(), self._after():
            with name_scope("Read"):
                value = self._read_here()
            return identity(value)

    # -- setting

    def assign(
        self,
        value: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Variable | Operation:
        """Set it; gives a variable whose reads see the value, or the operation."""
        del use_locking  # updates of a resource variable always lock
        with default_graph.graph_for(self.graph).as_default(), self._after():
            tensor = convert_to_tensor(value, dtype=self.dtype)
            if not self.shape.is_compatible_with(tensor.shape):
                raise bad_value(
                    f"Cannot assign value to variable '{self.name}': Shape mismatch. The variable "
                    f"shape {self.shape}, and the assigned value shape {tensor.shape} are "
                    "incompatible."
                )
            attrs = {"validate_shape": self._validate_shape and self.shape.is_fully_defined()}
            inputs = {"resource": self.handle, "value": tensor}
            op = apply_op("AssignVariableOp", inputs, attrs, name)
            return UnreadVariable(self, op) if read_value else op

    def assign_add(
        self,
        delta: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Variable | Operation:
        """Add to it; gives a variable whose reads see the sum, or the operation."""
        del use_locking  # updates of a resource variable always lock
        return self._combined("AssignAddVariableOp", delta, name, read_value=read_value)

    def assign_sub(
        self,
        delta: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Variable | Operation:
        """Subtract from it; gives a variable whose reads see the result, or the operation."""
        del use_locking  # updates of a resource variable always lock
        return self._combined("AssignSubVariableOp", delta, name, read_value=read_value)

    @property
    def _handle_name(self) -> str:
        return self.name

    @property
    def _unique_id(self) -> str:
        return self._shared_name

    def _combined(
        self, op_type: str, delta: TensorLike, name: str | None, *, read_value: bool
    ) -> Variable | Operation:
        with default_graph.graph_for(self.graph).as_default(), self._after():
            with self._after_cached():
                tensor = convert_to_tensor(delta, dtype=self.dtype)
                op = apply_op(op_type, {"resource": self.handle, "value": tensor}, {}, name)
            return UnreadVariable(self, op) if read_value else op

    def sparse_read(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The rows at these indices; the other rows are not read."""
        inputs = {"resource": self.handle, "indices": indices}
        with default_graph.graph_for(self.graph).as_default(), self._after():
            name = "Gather" if name is None else name
            return apply_op("ResourceGather", inputs, {"dtype": self.dtype}, name).outputs[0]

    def gather_nd(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The slices at these index vectors; the other slices are not read."""
        inputs = {"resource": self.handle, "indices": indices}
        with default_graph.graph_for(self.graph).as_default(), self._after():
            name = "GatherNd" if name is None else name
            op = apply_op("ResourceGatherNd", inputs, {"dtype": self.dtype}, name)
            return identity(op.outputs[0])

    def _slice_assigned(
        self, bounds: dict[str, Tensor], value: TensorLike, attrs: dict[str, int], name: str
    ) -> UnreadVariable:
        with default_graph.graph_for(self.graph).as_default(), self._after():
            inputs = {
                "ref": self.handle,
                **bounds,
                "value": convert_to_tensor(value, dtype=self.dtype),
            }
            return UnreadVariable(self, apply_op("ResourceStridedSliceAssign", inputs, attrs, name))

    def batch_scatter_update(
        self, sparse_delta: object, use_locking: bool = False, name: str | None = None
    ) -> Tensor | Variable:
        """`tf.batch_scatter_update` with the indices and the values of IndexedSlices.

        Raises:
          TypeError: `sparse_delta` is not IndexedSlices.

        """
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(
                "Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: "
                f"{sparse_delta}"
            )
        return super().batch_scatter_update(sparse_delta, use_locking, name)

    def initialized_value(self) -> NoReturn:
        """Raise NotImplementedError: only reference variables have one."""
        raise NotImplementedError("initialized_value() of a resource variable")

    def _scattered(self, op_type: str, inputs: dict[str, object], name: str | None) -> Variable:
        with default_graph.graph_for(self.graph).as_default(), self._after():
            updates = convert_to_tensor(inputs["updates"], dtype=self.dtype)
            handle = "ref" if "Nd" in op_type else "resource"  # as the two families call it
            given = {handle: self.handle, **inputs, "updates": updates}
            return UnreadVariable(self, apply_op(op_type, given, {}, name))

    def _after_cached(self) -> AbstractContextManager[None]:
        """The `with` of an update that runs after the cached copy of the value was read."""
        if self._cached is None:
            return nullcontext()
        return default_graph.graph_for(self.graph).control_dependencies([self._cached])

    def count_up_to(self, limit: int) -> Tensor:
        """The value before it is increased by 1; OutOfRangeError in a run if it is `limit`."""
        inputs, attrs = {"resource": self.handle}, {"limit": limit, "T": self.dtype}
        with default_graph.graph_for(self.graph).as_default():
            return apply_op("ResourceCountUpTo", inputs, attrs).outputs[0]

    # -- as data

    def to_proto(self, export_scope: str | None = None) -> VariableDef | None:
        """The names of its operations, without `export_scope`; None if it is outside of that."""
        snapshot = self._read if self._cached is None else self._cached
        return initial_values.variable_def(self, snapshot.name, export_scope, is_resource=True)

    def numpy(self) -> NoReturn:
        """Raise NotImplementedError: nothing runs before a session runs it."""
        raise NotImplementedError("numpy() is only available when eager execution is enabled.")

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NoReturn:
        self.numpy()

    def __bool__(self) -> bool:
        return bool(self.read_value())

    def __copy__(self) -> ResourceVariable:
        return self

    def __deepcopy__(self, memo: object) -> NoReturn:
        raise NotImplementedError("A variable can be copied only when eager execution is enabled.")

    def _refuse_augmented(self, _: TensorLike) -> NoReturn:
        raise RuntimeError(
            "`variable += value` with `tf.Variable`s is not supported. Use `variable.assign_add("
            "value)` to modify the variable, or `out = variable + value` if you need to get a new "
            "output Tensor."
        )

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ipow__ = _refuse_augmented


class UnreadVariable(ResourceVariable):
    """A resource variable after an update: operations that read or update it wait for the update.

    Its name is the name of the update's operation.
    """

    def __init__(self, variable: ResourceVariable, update: Operation) -> None:
        self.handle = variable.handle
        self.dtype = variable.dtype
        self._update = update
        self._initializer = variable._initializer  # noqa: SLF001 - the same class
        self._initial_value = variable._initial_value  # noqa: SLF001 - the same class
        self._traits = variable._traits  # noqa: SLF001 - the same class
        self._validate_shape = variable._validate_shape  # noqa: SLF001 - the same class
        self._read = None  # type: ignore[assignment]  # in a function nothing is fetched
        if (
            not default_graph.get_default_graph().building_function
        ):  # only a run needs the variable to exist
            with self._after():
                self._read = self._read_here()

    @property
    def op(self) -> Operation:
        """The operation of the update."""
        return self._update

    @property
    def name(self) -> str:
        """The name of the update's operation."""
        return self._update.name

    def _after(self) -> AbstractContextManager[None]:
        return default_graph.graph_for(self.graph).control_dependencies([self._update])


def _to_tensor(
    variable: ResourceVariable,
    dtype: DType | None = None,
    name: str | None = None,
    as_ref: bool = False,
) -> Tensor:
    del name
    if dtype is not None and not dtype.is_compatible_with(variable.dtype):
        raise bad_value(
            f"Incompatible type conversion requested to type {dtype.name} for `tf.Variable of "
            f"type {variable.dtype.name}. (Variable: {variable!r})"
        )
    return variable.handle if as_ref else variable.value()


register_tensor_conversion_function(ResourceVariable, _to_tensor)


def is_resource_variable(var: Variable | Sequence[Variable]) -> bool:
    """Whether it is a resource variable."""
    return isinstance(var, ResourceVariable)
