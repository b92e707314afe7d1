"""Variable scopes as objects, the defaults they give, and `tf.get_variable`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sessrun.reference.api.variables.partition_layout import Partitioner
from sessrun.reference.api.variables.partitioned_variable import PartitionedVariable
from sessrun.reference.api.variables.variable_arguments import DeviceChoice
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variable_store import AUTO_REUSE, Request, Reuse, store_of
from sessrun.reference.api.variables.variable_traits import (
    VariableAggregation,
    VariableSynchronization,
)
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = [
    "DEFAULTS",
    "VariableScope",
    "get_local_variable",
    "get_partitioned_variable",
    "get_variable",
    "get_variable_scope",
]

#: What a scope gives to inner scopes, and to `get_variable` where the call says nothing.
DEFAULTS: Final = (
    "initializer",
    "regularizer",
    "caching_device",
    "partitioner",
    "custom_getter",
    "dtype",
    "use_resource",
)


@public("VariableScope")
class VariableScope:
    """An open or closed variable scope: a name and defaults for `get_variable`.

    Attributes:
      initializer: the default initializer.
      regularizer: the default regularizer.
      caching_device: the default caching device.
      partitioner: the default partitioner.
      custom_getter: wraps how variables are got.
      dtype: the default dtype.
      use_resource: whether variables are resource variables; None for the general default.
      constraint: the default constraint.

    """

    def __init__(
        self,
        reuse: Reuse,
        name: str = "",
        initializer: object = None,
        regularizer: object = None,
        caching_device: DeviceChoice = None,
        partitioner: object = None,
        custom_getter: object = None,
        name_scope: str = "",  # noqa: A002, RUF100 - TensorFlow's signature
        dtype: DTypeLike = dtypes.float32,
        use_resource: bool | None = None,
        constraint: object = None,
    ) -> None:
        self._name = name
        self._reuse = reuse
        self._name_scope = name_scope
        self.initializer = initializer
        self.regularizer = regularizer
        self.caching_device = caching_device
        self.partitioner = partitioner
        self.custom_getter = custom_getter
        self.dtype = dtype
        self.use_resource = use_resource
        self.constraint = constraint

    @property
    def name(self) -> str:
        """The full name, without a final "/"; empty for the root."""
        return self._name

    @property
    def original_name_scope(self) -> str:
        """The name scope that was opened with it, with a final "/"."""
        return self._name_scope

    @property
    def reuse(self) -> Any:
        """Whether variables are shared: True, False or AUTO_REUSE."""
        return self._reuse

    def reuse_variables(self) -> None:
        """Share variables from now on, and make none."""
        self._reuse = True

    def set_initializer(self, initializer: object) -> None:
        """Set the default initializer."""
        self.initializer = initializer

    def set_regularizer(self, regularizer: Callable[[Tensor], Tensor | None]) -> None:
        """Set the default regularizer."""
        self.regularizer = regularizer

    def set_caching_device(self, caching_device: DeviceChoice) -> None:
        """Set the default caching device."""
        self.caching_device = caching_device

    def set_partitioner(self, partitioner: object) -> None:
        """Set the default partitioner."""
        self.partitioner = partitioner

    def set_custom_getter(self, custom_getter: Callable[..., object]) -> None:
        """Set the custom getter."""
        self.custom_getter = custom_getter

    def set_dtype(self, dtype: DTypeLike) -> None:
        """Set the default dtype."""
        self.dtype = dtype

    def set_use_resource(self, use_resource: bool) -> None:
        """Set whether variables are resource variables."""
        self.use_resource = use_resource

    def get_collection(self, name: str | None) -> list[object]:
        """The items of the default graph's collection whose names are in this scope."""
        scope = self._name + "/" if self._name else ""
        return get_default_graph().get_collection(name, scope)

    def trainable_variables(self) -> list[Any]:
        """The trainable variables of this scope."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        """The global variables of this scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        """The local variables of this scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(
        self, request: Request, custom_getter: Callable[..., object] | None = None
    ) -> Any:
        """Share or create a variable, with this scope's defaults; raises as `get_variable`."""
        with name_scope(None):  # a variable's name depends on variable scopes only
            _check_dtype(request)
            getter = self.custom_getter if custom_getter is None else custom_getter
            return store_of(get_default_graph()).get(self.completed(request), getter)

    def completed(self, request: Request) -> Request:
        """The request with this scope's name before its own, and its defaults."""
        filled = {
            key: getattr(self, key)
            for key in (*DEFAULTS, "constraint")
            if key != "custom_getter" and getattr(request, key) is None
        }
        if request.reuse is None:
            filled["reuse"] = self._reuse
        # A variable without a name of its own in a scope is called "scope/", as slots are.
        name = f"{self._name}/{request.name}" if self._name else request.name
        return replace(request, name=name, **filled)


def _check_dtype(request: Request) -> None:
    value, dtype = request.initializer, request.dtype
    if dtype is None or value is None or callable(value):
        return
    initial_dtype = convert_to_tensor(value).dtype.base_dtype
    if initial_dtype != dtype:
        raise bad_value(
            f"Initializer type '{initial_dtype}'"
            f" and explicit dtype '{dtypes.as_dtype(dtype)}' don't match."
        )


@dataclass(eq=False)
class Scopes:
    """The open variable scopes of a graph in a thread.

    Attributes:
      current: the open scope (see `variable_scopes`).
      counts: how often each full scope name was opened.

    """

    current: Any
    counts: dict[str, int] = field(default_factory=dict)

    def open(self, name: str) -> None:
        """Count an opening of the scope of this full name."""
        self.counts[name] = self.counts.get(name, 0) + 1

    def forget_inside(self, name: str) -> None:
        """Let the scopes inside the scope of this full name start anew."""
        for known in self.counts:
            if known.startswith(name + "/"):
                self.counts[known] = 0

    def unique(self, prefix: str) -> str:
        """`prefix`, numbered if the open scope has had an inner scope of that name."""
        outer = self.current.name + "/" if self.current.name else ""
        number, name = 0, prefix
        while self.counts.get(outer + name, 0):
            number += 1
            name = f"{prefix}_{number}"
        return name


def scopes_of(graph: Graph) -> Scopes:
    """The open variable scopes of the graph in this thread."""
    scopes: Scopes | None = graph.scopes.variables
    if scopes is None:
        scopes = graph.scopes.variables = Scopes(VariableScope(False))
    return scopes


@public("get_variable_scope")
def get_variable_scope() -> VariableScope:
    """The variable scope that is open in this thread and the default graph."""
    scope: VariableScope = scopes_of(get_default_graph()).current
    return scope


@public("get_variable")
def get_variable(
    name: str,
    shape: ShapeLike = None,
    dtype: DTypeLike | None = None,
    initializer: object = None,
    regularizer: Callable[[Tensor], Tensor | None] | None = None,
    trainable: bool | None = None,
    collections: Iterable[str] | None = None,
    caching_device: DeviceChoice = None,
    partitioner: Partitioner | None = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Callable[..., object] | None = None,
    constraint: Callable[[Tensor], Tensor] | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """Share or create the variable of a name in the open variable scope.

    Args:
      name: its name in the scope.
      shape: its shape; not with an initializer that is a value.
      dtype: its dtype; by default the scope's, which is float32.
      initializer: a value, a function `initializer(shape, dtype=...)`, or a class of such; by
        default Glorot uniform for floats, zeros for integers, bool and string.
      regularizer: a function from the variable to a loss, which is kept in a collection.
      trainable: as for `tf.Variable`.
      collections: as for `tf.Variable`.
      caching_device: as for `tf.Variable`.
      partitioner: a function `partitioner(shape=..., dtype=...)` that says how many parts there
        are along each axis; the result is then a PartitionedVariable.
      validate_shape: as for `tf.Variable`.
      use_resource: whether it is a resource variable.
      custom_getter: a function that is called instead, with the usual one as `getter`.
      constraint: as for `tf.Variable`.
      synchronization: as for `tf.Variable`.
      aggregation: as for `tf.Variable`.

    Raises:
      ValueError: the variable exists and is not to be shared, or does not exist and is not to
        be created, or is of another shape or dtype; or it cannot be created.

    """
    request = Request(
        name,
        shape,
        dtype,
        initializer,
        regularizer,
        None,
        trainable,
        collections,
        caching_device,
        partitioner,
        validate_shape,
        use_resource,
        constraint,
        synchronization,
        aggregation,
    )
    return get_variable_scope().get_variable(request, custom_getter)


def get_partitioned_variable(
    name: str | None,
    shape: ShapeLike = None,
    dtype: DTypeLike | None = None,
    initializer: object = None,
    regularizer: Callable[[Tensor], Tensor | None] | None = None,
    trainable: bool | None = True,
    collections: Iterable[str] | None = None,
    caching_device: DeviceChoice = None,
    partitioner: Partitioner | None = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    constraint: Callable[[Tensor], Tensor] | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> PartitionedVariable:
    """`get_variable` of a variable that is cut; without a name it has the open scope's.

    Raises:
      ValueError: as `get_variable`; or the scope has a custom getter, or there is no partitioner.

    """
    scope = get_variable_scope()
    if scope.custom_getter is not None:
        raise ValueError(
            "Partitioned variables cannot be made by slicing where a custom getter is set: "
            f"{scope.custom_getter}. Use get_variable with a partitioner instead."
        )
    request = Request(
        name or "",
        shape,
        dtype,
        initializer,
        regularizer,
        None,
        trainable,
        collections,
        caching_device,
        partitioner,
        validate_shape,
        use_resource,
        constraint,
        synchronization,
        aggregation,
    )
    # Unlike a variable, parts without a name have exactly the scope's name.
    parts_name = "/".join(filter(None, (scope.name, request.name)))
    complete = replace(scope.completed(request), name=parts_name)
    if complete.partitioner is None:
        raise ValueError("No partitioner was specified")
    with name_scope(None):
        return store_of(get_default_graph()).get_partitioned(complete)


@public("get_local_variable")
def get_local_variable(
    name: str,
    shape: ShapeLike = None,
    dtype: DTypeLike | None = None,
    initializer: object = None,
    regularizer: Callable[[Tensor], Tensor | None] | None = None,
    trainable: bool | None = False,
    collections: Iterable[str] | None = None,
    caching_device: DeviceChoice = None,
    partitioner: Partitioner | None = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Callable[..., object] | None = None,
    constraint: Callable[[Tensor], Tensor] | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Variable:
    """`get_variable` of a local variable, which is never trainable."""
    del trainable
    variable: Variable = get_variable(
        name,
        shape,
        dtype,
        initializer,
        regularizer,
        False,
        [*(collections or ()), GraphKeys.LOCAL_VARIABLES],
        caching_device,
        partitioner,
        validate_shape,
        use_resource,
        custom_getter,
        constraint,
        synchronization,
        aggregation,
    )
    return variable


@public("no_regularizer")
def no_regularizer(_: object) -> None:
    """A regularizer that gives no loss: turns a scope's default off."""


public("AUTO_REUSE")(AUTO_REUSE)
