"""TensorShape: the static shapes of tensors in the API of `compat.v1`.

Inside the runtime a shape is a plain tuple with None for an unknown dimension, or None for an
unknown rank.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any, SupportsIndex, TypeAlias, overload

from sessrun.reference.base.dimension import Dimension, as_dimension, dimension_value
from sessrun.reference.errors import bad_value
from sessrun.reference.public import public
from sessrun.spec.proto import TensorShapeProto

__all__ = [
    "Dimension",
    "Shape",
    "ShapeLike",
    "TensorShape",
    "as_shape",
    "dimension_at_index",
    "dimension_value",
    "shape_text",
    "tuple_of",
    "unknown_shape",
]

#: A static shape inside the runtime.
Shape = tuple[int | None, ...] | None
#: What `TensorShape` is made of: another one, its message, or sizes (None for an unknown one).
ShapeLike: TypeAlias = (
    "TensorShape | TensorShapeProto | Iterable[int | Dimension | None] | int | None"
)


@public("TensorShape")
class TensorShape:
    """The static shape of a tensor: known, partially known (unknown dimensions), or unknown.

    Args:
      dims: None for an unknown rank, a dimension, or an iterable of dimensions; a dimension is
        None, an int, or a Dimension. Also a TensorShapeProto or another TensorShape.

    Raises:
      TypeError: a dimension is not an integer.
      ValueError: a dimension is negative.

    """

    __slots__ = ("_sizes",)

    #: Programs for both versions of TensorFlow read it: this is the behaviour of the first.
    _v2_behavior = False

    def __init__(self, dims: ShapeLike) -> None:
        self._sizes = tuple_of(dims)

    @classmethod
    def of(cls, sizes: Shape) -> TensorShape:
        """The TensorShape of a tuple or None, which is not checked."""
        self = object.__new__(cls)
        self._sizes = sizes
        return self

    @property
    def sizes(self) -> Shape:
        """The shape as the runtime holds it."""
        return self._sizes

    @property
    def dims(self) -> list[Dimension] | None:
        """A list of Dimension, or None for an unknown rank."""
        return None if self._sizes is None else [Dimension(size) for size in self._sizes]

    @property
    def ndims(self) -> int | None:
        """The rank, or None."""
        return None if self._sizes is None else len(self._sizes)

    @property
    def rank(self) -> int | None:
        """The rank, or None."""
        return self.ndims

    def __len__(self) -> int:
        if self._sizes is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._sizes)

    def __bool__(self) -> bool:
        return self._sizes is not None

    def __iter__(self) -> Iterator[Dimension]:
        if self._sizes is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter([Dimension(size) for size in self._sizes])

    @overload
    def __getitem__(self, key: slice) -> TensorShape: ...

    @overload
    def __getitem__(self, key: SupportsIndex) -> Dimension: ...

    def __getitem__(self, key: slice | SupportsIndex) -> TensorShape | Dimension:
        if self._sizes is not None:
            if isinstance(key, slice):
                return TensorShape.of(self._sizes[key])
            return Dimension(self._sizes[operator.index(key)])
        if not isinstance(key, slice):
            return Dimension(None)
        start, stop = key.start or 0, key.stop
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        # The length of a slice of an unknown rank is known, unless it counts from the end.
        if stop is None or start < 0 or stop < 0:
            return TensorShape.of(None)
        return TensorShape.of((None,) * max(0, stop - start))

    def as_list(self) -> list[int | None]:
        """The dimensions as a list with None for unknown ones.

        Raises:
          ValueError: the rank is unknown.

        """
        if self._sizes is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._sizes)

    def as_proto(self) -> TensorShapeProto:
        """The shape as a TensorShapeProto."""
        return proto_of(self._sizes)

    def num_elements(self) -> int | None:
        """The number of elements, or None if a dimension or the rank is unknown."""
        if self._sizes is None:
            return None
        count = 1
        for size in self._sizes:
            if size is None:
                return None
            count *= size
        return count

    def is_fully_defined(self) -> bool:
        """Whether the rank and every dimension are known."""
        return self._sizes is not None and None not in self._sizes

    def assert_is_fully_defined(self) -> None:
        """Raise ValueError unless the shape is fully defined."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def is_compatible_with(self, other: ShapeLike) -> bool:
        """Whether some tensor could have both shapes."""
        sizes = as_shape(other).sizes
        if self._sizes is None or sizes is None:
            return True
        return len(self._sizes) == len(sizes) and all(
            a is None or b is None or a == b for a, b in zip(self._sizes, sizes, strict=True)
        )

    def assert_is_compatible_with(self, other: ShapeLike) -> None:
        """Raise ValueError unless some tensor could have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def is_subtype_of(self, other: object) -> bool:
        """Whether every tensor of this shape also has the shape `other`."""
        if not isinstance(other, TensorShape):
            return False
        if other.sizes is None:
            return True
        return (
            self._sizes is not None
            and len(self._sizes) == len(other.sizes)
            and all(b is None or a == b for a, b in zip(self._sizes, other.sizes, strict=True))
        )

    def merge_with(self, other: ShapeLike) -> TensorShape:
        """The shape that a tensor of both shapes has.

        Raises:
          ValueError: there is no such tensor.

        """
        return TensorShape.of(merge(self._sizes, as_shape(other).sizes))

    def concatenate(self, other: ShapeLike) -> TensorShape:
        """The dimensions of this shape followed by those of `other`."""
        sizes = as_shape(other).sizes
        if self._sizes is None or sizes is None:
            return TensorShape.of(None)
        return TensorShape.of(self._sizes + sizes)

    def __add__(self, other: ShapeLike) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: ShapeLike) -> TensorShape:
        return as_shape(other).concatenate(self)

    def assert_has_rank(self, rank: int) -> None:
        """Raise ValueError unless the rank may be `rank`."""
        if self.ndims not in {None, rank}:
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other: ShapeLike) -> None:
        """Raise ValueError unless both shapes may have one rank."""
        ndims = as_shape(other).ndims
        if self.ndims is not None and ndims is not None and self.ndims != ndims:
            raise ValueError(f"Shapes {self} and {as_shape(other)} must have the same rank")

    def with_rank(self, rank: int) -> TensorShape:
        """The shape itself, of rank `rank`.

        Raises:
          ValueError: the shape has another rank.

        """
        self.assert_has_rank(rank)
        return self if self._sizes is not None else TensorShape.of((None,) * rank)

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """The shape itself; ValueError if its rank is less than `rank`."""
        if self.ndims is not None and self.ndims < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """The shape itself; ValueError if its rank is more than `rank`."""
        if self.ndims is not None and self.ndims > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def most_specific_compatible_shape(self, other: ShapeLike) -> TensorShape:
        """The most specific shape that tensors of both shapes have."""
        sizes = as_shape(other).sizes
        if self._sizes is None or sizes is None or len(self._sizes) != len(sizes):
            return TensorShape.of(None)
        pairs = zip(self._sizes, sizes, strict=True)
        return TensorShape.of(tuple(a if a == b else None for a, b in pairs))

    def most_specific_common_supertype(self, others: Iterable[object]) -> TensorShape | None:
        """The most specific shape that all their tensors have; None if one is no TensorShape."""
        common: TensorShape | None = self
        for other in others:
            if not isinstance(other, TensorShape):
                return None
            common = None if common is None else common.most_specific_compatible_shape(other)
        return common

    @classmethod
    def experimental_type_proto(cls) -> type[TensorShapeProto]:
        """The class of the message of a shape."""
        return TensorShapeProto

    @classmethod
    def experimental_from_proto(cls, proto: TensorShapeProto) -> TensorShape:
        """The shape of a message."""
        return cls(proto)

    def experimental_as_proto(self) -> TensorShapeProto:
        """The same as `as_proto`."""
        return self.as_proto()

    def __eq__(self, other: object) -> bool:
        try:
            return self._sizes == tuple_of(other)
        except TypeError:  # as in TensorFlow, a ValueError of a negative size passes
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._sizes)

    def __reduce__(self) -> tuple[type[TensorShape], tuple[list[Dimension] | None]]:
        return TensorShape, (self.dims,)

    def __repr__(self) -> str:
        return f"TensorShape({self.dims})"

    def __str__(self) -> str:
        return shape_text(self._sizes)


def as_shape(value: ShapeLike) -> TensorShape:
    """`value` itself if it is a TensorShape, else the TensorShape it stands for."""
    return value if isinstance(value, TensorShape) else TensorShape(value)


def tuple_of(dims: Any) -> Shape:
    """The runtime's form of anything `TensorShape` accepts; raises as it does."""
    if isinstance(dims, TensorShape):
        return dims.sizes
    if dims is None:
        return None
    if isinstance(dims, int | Dimension):
        return (as_dimension(dims).value,)
    full_name = getattr(getattr(dims, "DESCRIPTOR", None), "full_name", "")
    if full_name.endswith(".TensorShapeProto"):
        return of_proto(dims)
    try:
        items = list(dims)
    except TypeError:
        return (as_dimension(dims).value,)
    return tuple(
        item if type(item) is int and item >= 0 else as_dimension(item).value for item in items
    )


def of_proto(proto: TensorShapeProto) -> Shape:
    """The shape that a TensorShapeProto says; -1 is an unknown dimension."""
    if proto.unknown_rank:
        return None
    return tuple(None if dim.size == -1 else int(dim.size) for dim in proto.dim)


def proto_of(sizes: Shape) -> TensorShapeProto:
    """The TensorShapeProto of a shape."""
    if sizes is None:
        return TensorShapeProto(unknown_rank=True)
    return TensorShapeProto(
        dim=[TensorShapeProto.Dim(size=-1 if size is None else size) for size in sizes]
    )


def merge(left: Shape, right: Shape) -> Shape:
    """The static shape of a tensor that has both shapes.

    Raises:
      InvalidArgumentValueError: there is no such tensor.

    """
    if left is None or right is None:
        return right if left is None else left
    if len(left) == len(right):
        merged = tuple(a if b is None else b for a, b in zip(left, right, strict=True))
        if all(a is None or a == b for a, b in zip(left, merged, strict=True)):
            return merged
    raise bad_value(f"Shapes {shape_text(left)} and {shape_text(right)} are not compatible")


def shape_text(sizes: Shape) -> str:
    """The shape for people: `(?, 3)`, `(3,)`, `()`, `<unknown>`."""
    if sizes is None:
        return "<unknown>"
    items = ["?" if size is None else str(size) for size in sizes]
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def unknown_shape(rank: int | None = None, ndims: int | None = None) -> TensorShape:
    """A shape of unknown dimensions, and of unknown rank if none is given."""
    known = rank if rank is not None else ndims
    return TensorShape.of(None if known is None else (None,) * known)


@public("dimension_at_index")
def dimension_at_index(shape: TensorShape, index: SupportsIndex) -> Dimension:
    """The Dimension at `index`; an unknown one if the rank is unknown."""
    dimension: Dimension = shape[operator.index(index)]
    return dimension
