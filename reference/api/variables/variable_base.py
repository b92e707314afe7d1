"""What every variable is: `Variable`, `tf.Variable`, and the options both of its kinds share.

A reference variable (`ref_variables.py`) is a buffer that operations take by reference; a
resource variable (`resource_variables.py`) is a handle that operations read and set.
"""

from __future__ import annotations

import functools
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.variables import save_slices, state_ops
from sessrun.reference.api.variables.state_ops import batch_scatter_update
from sessrun.reference.api.variables.variable_traits import (
    Traits,
    VariableAggregation,
    VariableSynchronization,
)
from sessrun.reference.base.references import Reference
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.base.upper_functions import UPPER
from sessrun.reference.build import indexed_slices
from sessrun.reference.graph.default_session import DefaultSession, get_default_session
from sessrun.reference.graph.tensor import Overloads, Slices, Tensor
from sessrun.spec.proto import VariableDef

if TYPE_CHECKING:
    from sessrun.reference.base.dtypes import DType
    from sessrun.reference.graph.graph import Graph
    from sessrun.reference.graph.operation import Operation
    from sessrun.spec.proto import VariableDef

__all__ = ["Variable", "VariableV1"]


class _Creation(ABCMeta):
    """Makes `tf.Variable(...)` a reference variable or a resource variable, by its arguments."""

    def __call__(cls, *args: object, **kwargs: object) -> Any:
        if cls.__module__ != __name__:
            return super().__call__(*args, **kwargs)
        make = UPPER["create" if issubclass(cls, VariableV1) else "create_resource"]
        return make(*args, **kwargs)


class Variable(metaclass=_Creation):
    """A tensor that is kept between runs of a session.

    `Variable(initial_value, ...)` makes a resource variable, with the arguments of
    `variables.create_resource`; `tf.Variable` is `VariableV1`. Compared and hashed by identity.
    Operators read it: `v + 1` is an operation on its value.

    Attributes:
      dtype: its dtype; a reference type (`float32_ref`) for a reference variable.

    """

    # numpy arrays leave binary operators to us.
    __array_priority__ = 100
    _is_tensor_like = True
    #: For programs that read it: variables are never distributed.
    _distribute_strategy = None

    dtype: DType
    _traits: Traits
    _initializer: Operation
    _initial_value: Tensor | None
    _save_slice_info: save_slices.SaveSliceInfo | None = None

    SaveSliceInfo = save_slices.SaveSliceInfo

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        """Whether it is the other: nothing else equals a variable, whatever that says."""
        return self is other

    # -- properties

    @property
    @abstractmethod
    def op(self) -> Operation:
        """The operation that holds it."""

    @property
    @abstractmethod
    def shape(self) -> TensorShape:
        """The static shape."""

    @abstractmethod
    def _as_graph_element(self) -> Tensor:
        """The tensor that a fetch or a feed of the variable denotes."""

    @property
    def name(self) -> str:
        """`op_name:0`."""
        return self.op.name + ":0"

    @property
    def _shared_name(self) -> str:
        return self.name.partition(":")[0]

    @property
    def graph(self) -> Graph:
        """The graph it belongs to."""
        return self.op.graph

    @property
    def device(self) -> str:
        """The requested device; empty if none."""
        return self.op.device

    def get_shape(self) -> TensorShape:
        """The static shape."""
        return self.shape

    def _shape_as_list(self) -> list[int | None] | None:
        return None if self.shape.ndims is None else self.shape.as_list()

    @property
    def initializer(self) -> Operation:
        """The operation that sets it to its initial value."""
        return self._initializer

    @property
    def initial_value(self) -> Tensor | None:
        """The tensor it starts from."""
        return self._initial_value

    @property
    def trainable(self) -> bool:
        """Whether optimizers train it by default."""
        return self._traits.trainable

    @property
    def constraint(self) -> Callable[[Tensor | Variable], Tensor] | None:
        """The function that an optimizer applies to the value after an update, or None."""
        return self._traits.constraint

    @property
    def synchronization(self) -> VariableSynchronization:
        """The mode that it was created with."""
        return self._traits.synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        """The mode that it was created with."""
        return self._traits.aggregation

    # -- reading

    @abstractmethod
    def value(self) -> Tensor:
        """The value, as operators see it."""

    @abstractmethod
    def read_value(self) -> Tensor:
        """The value, by a new read operation, after the control dependencies that are open here."""

    def eval(self, session: DefaultSession | None = None) -> Any:
        """Its value in `session`, or in the default session.

        Raises:
          ValueError: there is no session, or its graph is another.
          FailedPreconditionError: the variable is not initialized in the session.

        """
        return self._as_graph_element().eval(session=session)

    # -- setting

    @abstractmethod
    def assign(
        self,
        value: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Tensor | Variable | Operation:
        """Set it. Gives what reads the new value, or with `read_value` off the operation.

        Raises:
          InvalidArgumentTypeError, InvalidArgumentValueError: the value is not of its dtype or
            shape.

        """

    @abstractmethod
    def assign_add(
        self,
        delta: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Tensor | Variable | Operation:
        """Add to it; the result and the errors are those of `assign`."""

    @abstractmethod
    def assign_sub(
        self,
        delta: TensorLike,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Tensor | Variable | Operation:
        """Subtract from it; the result and the errors are those of `assign`."""

    @abstractmethod
    def count_up_to(self, limit: int) -> Tensor:
        """The value before it is increased by 1; OutOfRangeError in a run if it is `limit`."""

    def batch_scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Tensor | Variable:
        """`tf.batch_scatter_update` with the indices and the values of IndexedSlices.

        Raises:
          TypeError: `sparse_delta` is not IndexedSlices.

        """
        result: Tensor | Variable = batch_scatter_update(
            self, sparse_delta.indices, sparse_delta.values, use_locking, name
        )
        return result

    def load(self, value: TensorLike, session: DefaultSession | None = None) -> None:
        """Set it in a session now, without a new operation: the initial value is fed.

        Raises:
          ValueError: there is no session, or the value has another shape.

        """
        session = session if session is not None else get_default_session()
        if session is None:
            raise ValueError(
                "Either session argument should be provided or default session should be "
                "established"
            )
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    # -- as data

    def _set_save_slice_info(self, save_slice_info: save_slices.SaveSliceInfo | None) -> None:
        """Set its offset in a partitioned variable, by which checkpoints save it as a slice."""
        self._save_slice_info = save_slice_info

    def _get_save_slice_info(self) -> save_slices.SaveSliceInfo | None:
        return self._save_slice_info

    @abstractmethod
    def to_proto(self, export_scope: str | None = None) -> VariableDef | None:
        """The names of its operations, without `export_scope`; None if it is outside of that."""

    @staticmethod
    def from_proto(variable_def: VariableDef, import_scope: str | None = None) -> Variable:
        """The variable whose operations the default graph has, under `import_scope`.

        Raises:
          KeyError: the graph does not have one of them.

        """
        variable: Variable = UPPER["create"](variable_def=variable_def, import_scope=import_scope)
        return variable

    # -- Python

    def ref(self) -> Reference:
        """A stand-in that is compared by identity."""
        return Reference(self)

    def experimental_ref(self) -> Reference:
        """A hashable reference, as `ref`."""
        return Reference(self)

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.read_value())

    def __getitem__(self, key: Slices | tuple[Slices, ...]) -> Tensor:
        """A part of its value, which has a method `assign(value, name=None)` if it is a slice."""
        part: Any = self.value()[key]
        if part.op.type == "StridedSlice":
            part.assign = functools.partial(self._assign_slice, part.op)
        return part  # type: ignore[no-any-return]  # it takes an attribute of a program's own

    def _assign_slice(
        self, taken: Operation, value: TensorLike, name: str | None = None
    ) -> Tensor | Variable:
        """Assign to the part that a StridedSlice takes; returns the result of `assign`."""
        attrs = {key: value for key, value in taken.attrs.items() if key.endswith("_mask")}
        bounds = dict(zip(("begin", "end", "strides"), taken.inputs[1:], strict=True))
        return self._slice_assigned(bounds, value, attrs, name or f"{taken.name}/_assign/")

    @abstractmethod
    def _slice_assigned(
        self, bounds: dict[str, Tensor], value: TensorLike, attrs: dict[str, int], name: str
    ) -> Tensor | Variable:
        """Assign to the part that these bounds and masks denote."""

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"


class VariableV1(Variable):
    """`tf.Variable`: it makes variables of either kind, with the arguments of `variables.create`.

    As in TensorFlow 2.21 a resource variable is a `Variable`, and no instance of this class.
    """


def _reading(operator: str) -> Callable[..., Tensor]:
    """The operator of tensors, on the variable's value."""

    @functools.wraps(getattr(Overloads, operator))
    def apply(self: Variable, *operands: TensorLike) -> Any:
        return getattr(self.value(), operator)(*operands)

    return apply


def _scattering(kind: str) -> Callable[..., Tensor | Variable]:
    """The method that combines rows with those of IndexedSlices."""

    def scatter(
        self: Variable, sparse_delta: object, use_locking: bool = False, name: str | None = None
    ) -> Any:
        if not isinstance(sparse_delta, indexed_slices.IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta}")
        apply = getattr(state_ops, f"scatter_{kind}")
        return apply(self, sparse_delta.indices, sparse_delta.values, use_locking, name)

    scatter.__name__ = f"scatter_{kind}"
    scatter.__qualname__ = f"Variable.scatter_{kind}"
    scatter.__doc__ = f"`tf.scatter_{kind}` with the indices and the values of IndexedSlices."
    return scatter


def _scattering_slices(kind: str) -> Callable[..., Tensor | Variable]:
    """The method that combines slices at index vectors with updates."""

    def scatter(
        self: Variable, indices: TensorLike, updates: TensorLike, name: str | None = None
    ) -> Any:
        apply = getattr(state_ops, f"scatter_nd_{kind}")
        return apply(self, indices, updates, use_locking=True, name=name)

    scatter.__name__ = f"scatter_nd_{kind}"
    scatter.__qualname__ = f"Variable.scatter_nd_{kind}"
    scatter.__doc__ = f"`scatter_nd_{kind}` of state_ops."
    return scatter


for _name in ("update", "add", "sub", "mul", "div", "min", "max"):
    setattr(Variable, f"scatter_{_name}", _scattering(_name))
for _name in ("update", "add", "sub", "min", "max"):
    setattr(Variable, f"scatter_nd_{_name}", _scattering_slices(_name))

_OPERATORS: Final = tuple(
    name
    for name, method in vars(Overloads).items()
    if name.startswith("__") and callable(method) and name not in vars(Variable)
)
for _name in _OPERATORS:
    setattr(Variable, _name, _reading(_name))
