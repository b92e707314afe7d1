"""SparseTensor: indices, values and a shape; fed and fetched as a SparseTensorValue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, Final, NamedTuple, TypeGuard

from sessrun.reference.api.ops.cast_ops import cast, one
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.build.composites import CompositeTensor
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.expansions import register_session_run_conversion_functions
from sessrun.reference.build.get_static_value import seen_shape
from sessrun.reference.errors import bad_type
from sessrun.reference.graph.default_session import DefaultSession, FeedDict, get_default_session
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = [
    "SparseTensor",
    "SparseTensorValue",
    "convert_to_tensor_or_sparse_tensor",
    "is_sparse",
    "sparse_dense_truediv",
]


#: Bytes of the widest integer that is divided as float32.
_SHORT: Final = 2


@public("SparseTensorValue")
class SparseTensorValue(NamedTuple):
    """The value of a fetched SparseTensor; it may be fed to one.

    Attributes:
      indices: int64, shape [N, rank].
      values: shape [N].
      dense_shape: int64, shape [rank].

    """

    indices: Any
    values: Any
    dense_shape: Any


@public("SparseTensor", "sparse.SparseTensor")
class SparseTensor(CompositeTensor):
    """The elements of a tensor that are not zero, by their indices.

    Args:
      indices: int64, shape [N, rank].
      values: any dtype, shape [N].
      dense_shape: int64, shape [rank].

    Raises:
      ValueError: the three shapes cannot belong together.

    """

    _is_tensor_like = True  # for `tf.is_tensor`

    def __init__(self, indices: object, values: object, dense_shape: object) -> None:
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = convert_to_tensor(indices, dtypes.int64, name="indices")
            self._values = convert_to_tensor(values, name="values")
            self._dense_shape = convert_to_tensor(dense_shape, dtypes.int64, name="dense_shape")
        places = self._indices.shape.with_rank(2)
        count = self._values.shape.with_rank(1)
        size_shape = self._dense_shape.shape.with_rank(1)
        places[0].assert_is_compatible_with(count[0])
        places[1].assert_is_compatible_with(size_shape[0])
        self._static: TensorShape | None = None

    @classmethod
    def from_value(cls, sparse_tensor_value: object) -> SparseTensor:
        """A SparseTensor of the same parts as another one, or as a SparseTensorValue.

        Raises:
          TypeError: `sparse_tensor_value` is neither.

        """
        if isinstance(sparse_tensor_value, SparseTensor):
            return cls(*sparse_tensor_value.parts())
        if not isinstance(sparse_tensor_value, SparseTensorValue):
            raise bad_type(f"Neither a SparseTensor nor SparseTensorValue: {sparse_tensor_value}.")
        return cls(*sparse_tensor_value)

    @property
    def indices(self) -> Tensor:
        """The indices, int64 of shape [N, rank]."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """The values, of shape [N]."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """The dense shape, int64 of shape [rank]."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The static dense shape."""
        return self._static if self._static is not None else seen_shape(self._dense_shape)

    def get_shape(self) -> TensorShape:
        """The static dense shape."""
        return self.shape

    def set_shape(self, shape: ShapeLike) -> None:
        """Merge a shape into the static dense shape; ValueError if they are incompatible."""
        self._static = self.shape.merge_with(shape)

    def known_as(self, shape: TensorShape) -> SparseTensor:
        """The same tensors with this static dense shape."""
        result = copy(self)
        result._static = shape  # noqa: SLF001 - of the same class
        return result

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the values."""
        return self._values.dtype

    @property
    def op(self) -> Operation:
        """The operation that makes the values."""
        return self._values.op

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._indices.graph

    def consumers(self) -> list[Operation]:
        """The operations that take one of its parts, without repetition."""
        return list(dict.fromkeys(op for part in self.parts() for op in part.consumers()))

    def with_values(self, new_values: object) -> SparseTensor:
        """A sparse tensor with the same indices and shape and other values.

        Args:
          new_values: any dtype, shape [N].

        Raises:
          ValueError: there are more or fewer of them than indices.

        """
        return SparseTensor(self._indices, new_values, self._dense_shape)

    def eval(self, feed_dict: FeedDict | None = None, session: DefaultSession | None = None) -> Any:
        """Its value in `session`, or in the default session: a SparseTensorValue.

        Raises:
          ValueError: there is no session, or its graph is another.

        """
        used = session if session is not None else get_default_session()
        if used is None:
            raise ValueError("Cannot evaluate a SparseTensor: no default session is registered.")
        if used.graph is not self.graph:
            raise ValueError("Cannot evaluate a SparseTensor in the session of another graph.")
        return used.run(self, feed_dict)

    def parts(self) -> list[Tensor]:
        """Its tensors: indices, values, dense shape."""
        return [self._indices, self._values, self._dense_shape]

    def with_parts(self, parts: Sequence[Tensor]) -> SparseTensor:
        """A sparse tensor of other tensors, with the same static shape."""
        other = SparseTensor(*parts)
        other.set_shape(self.shape)
        return other

    def __mul__(self, other: object) -> SparseTensor:
        """The products with the elements of a dense tensor, which is broadcast."""
        return self._with_dense("SparseDenseCwiseMul", "mul", other)

    def __div__(self, other: object) -> SparseTensor:
        """The quotients by the elements of a dense tensor, in the tensor's dtype."""
        return self._with_dense("SparseDenseCwiseDiv", "div", other)

    def __truediv__(self, other: object) -> SparseTensor:
        """The quotients by the elements of a dense tensor; integers are divided as floats."""
        return sparse_dense_truediv(self, other)

    def _times_dense(self, other: object) -> SparseTensor:
        return self._with_dense("SparseDenseCwiseMul", "mul", other)

    def _with_dense(self, op_type: str, word: str, other: object) -> SparseTensor:
        with name_scope(None, word, [*self.parts(), other]) as scope:
            dense = convert_to_tensor(other, self.dtype.base_dtype, name="y")
            inputs = {
                "sp_indices": self._indices,
                "sp_values": self._values,
                "sp_shape": self._dense_shape,
                "dense": dense,
            }
            return SparseTensor(self._indices, one(op_type, inputs, scope), self._dense_shape)

    def _mapped(self, function: Callable[[Tensor], Tensor]) -> SparseTensor:
        return self.with_parts([function(part) for part in self.parts()])

    def __repr__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices}, values={self._values}, "
            f"dense_shape={self._dense_shape})"
        )


def sparse_dense_truediv(sp_t: SparseTensor, dense: object) -> SparseTensor:
    """The quotients of a sparse tensor's elements by a dense one's; integers are so as floats.

    Raises:
      TypeError: the dtypes differ.

    """
    with name_scope(None, "truediv", [sp_t.indices, dense]) as outer:
        divisor = convert_to_tensor(dense, sp_t.dtype.base_dtype, name="y")
        with name_scope(outer) as scope:
            values = sp_t.values
            dtype = values.dtype.base_dtype
            if dtype.is_integer:
                wide = dtypes.float32 if dtype.size <= _SHORT else dtypes.float64
                values, divisor = cast(values, wide), cast(divisor, wide)
            inputs = {
                "sp_indices": sp_t.indices,
                "sp_values": values,
                "sp_shape": sp_t.dense_shape,
                "dense": divisor,
            }
            quotients = one("SparseDenseCwiseDiv", inputs, scope)
        return SparseTensor(sp_t.indices, quotients, sp_t.dense_shape)


def is_sparse(x: object) -> TypeGuard[SparseTensor | SparseTensorValue]:
    """Whether it is a SparseTensor or a SparseTensorValue."""
    return isinstance(x, SparseTensor | SparseTensorValue)


@public("convert_to_tensor_or_sparse_tensor")
def convert_to_tensor_or_sparse_tensor(
    value: object, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor | SparseTensor:
    """A SparseTensor unchanged; a SparseTensorValue as a SparseTensor of constants; else a Tensor.

    Raises:
      RuntimeError: the value is sparse and has another dtype.
      InvalidArgumentTypeError, InvalidArgumentValueError: as `convert_to_tensor`.

    """
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if isinstance(value, SparseTensor):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise RuntimeError(
                f"Sparse dtype mismatch: requested={dtypes.as_dtype(dtype).name}, "
                f"actual={value.dtype.name}"
            )
        return value
    return convert_to_tensor(value, dtype, name)


register_session_run_conversion_functions(
    SparseTensor,
    lambda sparse: (sparse.parts(), lambda values: SparseTensorValue(*values)),
    lambda sparse, value: list(zip(sparse.parts(), value, strict=False)),
    lambda sparse: sparse.parts(),
)
