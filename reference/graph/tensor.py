"""Tensor: an output of an operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol, TypeAlias

from sessrun.reference.base import tensor_shape
from sessrun.reference.base.dimension import Dimension
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.references import Reference
from sessrun.reference.base.tensor_shape import Shape, ShapeLike, TensorShape
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.default_session import DefaultSession, FeedDict, get_default_session
from sessrun.reference.public import public

if TYPE_CHECKING:
    import numpy as np

    from sessrun.reference.base.dtypes import DType
    from sessrun.reference.graph.graph import Graph
    from sessrun.reference.graph.operation import Operation

__all__ = ["OPERATORS", "Overloads", "Tensor", "TensorLike"]


class _OfArrays:
    """An attribute that numpy's arrays have and tensors do not; a program may set it."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, tensor: object, owner: type) -> NoReturn:
        raise AttributeError(
            f"'{owner.__name__}' object has no attribute '{self._name}'. If you are looking for "
            "numpy-related methods: fetch the value with `Session.run`, or use the function of "
            "the namespace that does it",
            name=self._name,
            obj=tensor,
        )


class OperatorNotAllowedInGraphError(TypeError):
    """An operator of Python needs the value of a tensor while the graph is still being built."""


class _Convertible(Protocol):
    """Base class of objects with a registered conversion: variables, IndexedSlices."""

    @property
    def name(self) -> str:
        """The name of the tensor or variable."""

    @property
    def dtype(self) -> DType:
        """The dtype of its elements."""

    @property
    def shape(self) -> TensorShape:
        """Its static shape."""


#: What `convert_to_tensor` makes a tensor of: a tensor, a variable, an array, numbers, text, a
#: static shape, or a list of these.
TensorLike: TypeAlias = (
    "Tensor | _Convertible | np.ndarray | np.generic | complex | str | bytes | TensorShape"
    " | Dimension | Sequence[TensorLike]"
)
#: What selects along one dimension of a tensor: an index, a slice, a new axis, a mask.
Slices: TypeAlias = "TensorLike | slice | EllipsisType | None"

#: The functions of the Python operators, by method name; `api.overloads` registers them.
OPERATORS: Final[dict[str, Callable[..., Tensor]]] = {}


class Overloads:
    """The operators of tensors and variables; the other operand is converted to a tensor."""

    __slots__ = ()

    @property
    def graph(self) -> Graph:
        """The graph it belongs to."""
        raise NotImplementedError

    def __add__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__add__"](self, other)

    def __radd__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__radd__"](self, other)

    def __sub__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__sub__"](self, other)

    def __rsub__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__rsub__"](self, other)

    def __mul__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__mul__"](self, other)

    def __rmul__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__rmul__"](self, other)

    def __truediv__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__truediv__"](self, other)

    def __rtruediv__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__rtruediv__"](self, other)

    def __floordiv__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__floordiv__"](self, other)

    def __rfloordiv__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__rfloordiv__"](self, other)

    def __mod__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__mod__"](self, other)

    def __rmod__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__rmod__"](self, other)

    def __pow__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__pow__"](self, other)

    def __rpow__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__rpow__"](self, other)

    def __matmul__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__matmul__"](self, other)

    def __rmatmul__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__rmatmul__"](self, other)

    def __and__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__and__"](self, other)

    def __rand__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__rand__"](self, other)

    def __or__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__or__"](self, other)

    def __ror__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__ror__"](self, other)

    def __xor__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__xor__"](self, other)

    def __rxor__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__rxor__"](self, other)

    def __lt__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__lt__"](self, other)

    def __le__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__le__"](self, other)

    def __gt__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__gt__"](self, other)

    def __ge__(self, other: TensorLike) -> Tensor:
        return OPERATORS["__ge__"](self, other)

    def __neg__(self) -> Tensor:
        return OPERATORS["__neg__"](self)

    def __abs__(self) -> Tensor:
        return OPERATORS["__abs__"](self)

    def __invert__(self) -> Tensor:
        return OPERATORS["__invert__"](self)

    def __getitem__(self, key: Slices | tuple[Slices, ...]) -> Tensor:
        return OPERATORS["__getitem__"](self, key)


#: The names of the operators on tensors; equality is Python's own.
OVERLOADABLE: Final = frozenset(
    {name for name in vars(Overloads) if callable(vars(Overloads)[name])} | {"__eq__", "__ne__"}
)


@public("Tensor")
class Tensor(Overloads):
    """A symbolic value: output number `value_index` of `op`. Compared and hashed by identity.

    Nothing but itself equals it, whatever the other object says (as a wildcard of `mock` does).
    The hash is that of `object`: every feed and every look-up of a plan would pay for another.

    Args:
      op: the operation that computes it.
      value_index: which of its outputs it is.
      dtype: the dtype of its elements.
      shape: its static shape.

    """

    # Programs set attributes on tensors: the first one creates the dict.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_consumers",
        "_name",
        "_sizes",
        "dtype",
        "op",
        "value_index",
    )

    #: The operators that a program may give another meaning to.
    OVERLOADABLE_OPERATORS = OVERLOADABLE

    __hash__ = object.__hash__

    # numpy arrays leave binary operators to us.
    __array_priority__ = 100

    def __init__(self, op: Operation, value_index: int, dtype: DType, shape: Shape) -> None:
        self.op = op
        self.value_index = value_index
        self.dtype = dtype
        self._sizes = shape
        self._name: str | None = None
        self._consumers: list[Operation] | None = None

    def __eq__(self, other: object) -> bool:
        return self is other

    @property
    def graph(self) -> Graph:
        """The graph it belongs to."""
        return self.op.graph

    @property
    def name(self) -> str:
        """`op_name:index`."""
        name = self._name
        if name is None:
            name = self._name = f"{self.op.name}:{self.value_index}"
        return name

    @property
    def device(self) -> str:
        """The device that its operation requests; empty if none."""
        return self.op.device

    @property
    def sizes(self) -> Shape:
        """The static shape as the runtime holds it: a tuple with None, or None."""
        return self._sizes

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return TensorShape.of(self._sizes)

    def _shape_as_list(self) -> list[int | None] | None:
        """The static sizes; None if the rank is not known. TensorFlow has it, and tests use it."""
        return None if self._sizes is None else list(self._sizes)

    @property
    def ndim(self) -> int | None:
        """The static rank, or None."""
        return None if self._sizes is None else len(self._sizes)

    def get_shape(self) -> TensorShape:
        """The static shape."""
        return TensorShape.of(self._sizes)

    def set_shape(self, shape: ShapeLike) -> None:
        """Merge a shape into the static shape.

        Raises:
          InvalidArgumentValueError: no tensor has both shapes.

        """
        sizes = tensor_shape.tuple_of(shape)
        try:
            self._sizes = tensor_shape.merge(self._sizes, sizes)
        except ValueError:
            own, other = map(tensor_shape.shape_text, (self._sizes, sizes))
            raise bad_value(
                f"The shapes of {self.name} must be compatible, but are {own} and {other}."
            ) from None

    def consumers(self) -> list[Operation]:
        """The operations that take it as an input, in the order of their creation."""
        return list(self._consumers or ())

    def _add_consumer(self, operation: Operation) -> None:
        if self._consumers is None:
            self._consumers = []
        self._consumers.append(operation)

    def _drop_consumer(self, operation: Operation) -> None:
        if self._consumers is not None and operation in self._consumers:
            self._consumers.remove(operation)

    def eval(self, feed_dict: FeedDict | None = None, session: DefaultSession | None = None) -> Any:
        """Its value in `session`, or in the default session.

        Raises:
          ValueError: there is no session, or its graph is another.

        """
        session = session if session is not None else get_default_session()
        if session is None:
            raise ValueError(
                "Cannot evaluate tensor using `eval()`: No default session is registered. Use "
                "`with sess.as_default()` or pass an explicit session to `eval(session=sess)`"
            )
        if session.graph is not self.graph:
            raise ValueError(
                "Cannot use the given session to evaluate tensor: "
                "the tensor's graph is different from the session's graph."
            )
        return session.run(self, feed_dict)

    def ref(self) -> Reference:
        """A stand-in that is compared by identity."""
        return Reference(self)

    def experimental_ref(self) -> Reference:
        """A hashable reference, as `ref`."""
        return Reference(self)

    def _as_node_def_input(self) -> str:
        return self.op.name if self.value_index == 0 else self.name

    def _shape_tuple(self) -> Shape:
        return self._sizes

    def __copy__(self) -> Tensor:
        return self

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Any name may be asked for: programs set attributes on tensors."""

    T = _OfArrays()
    astype = _OfArrays()
    clip = _OfArrays()
    data = _OfArrays()
    ravel = _OfArrays()
    reshape = _OfArrays()
    size = _OfArrays()
    tolist = _OfArrays()
    transpose = _OfArrays()

    def __bool__(self) -> NoReturn:
        raise OperatorNotAllowedInGraphError(
            "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed in Graph mode. Use "
            "`tf.cond`, or fetch its value with `Session.run`."
        )

    def __iter__(self) -> NoReturn:
        raise OperatorNotAllowedInGraphError(
            "Iterating over a symbolic `tf.Tensor` is not allowed in Graph mode. Use `tf.unstack`, "
            "or fetch its value with `Session.run`."
        )

    def __len__(self) -> NoReturn:
        raise TypeError(
            f"len is not well defined for a symbolic Tensor ({self.name}). "
            "Please call `x.shape` rather than `len(x)` for shape information."
        )

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NoReturn:
        raise NotImplementedError(
            f"Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array."
        )

    def __repr__(self) -> str:
        shape = "<unknown>" if self._sizes is None else tensor_shape.shape_text(self._sizes)
        return f"<tf.Tensor '{self.name}' shape={shape} dtype={self.dtype.name}>"

    def __str__(self) -> str:
        shape = "" if self._sizes is None else f", shape={self.shape}"
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name}{device})'
