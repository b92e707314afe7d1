"""`PartitionedVariable`: variables that are the parts of one larger variable. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.array_ops import concat, split
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base.dtypes import DType
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.conversion import register_tensor_conversion_function
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["PartitionedVariable"]


class PartitionedVariable:
    """The parts of a variable, in the order of their offsets, with operations on all of them.

    Args:
      name: the name of the partitioned variable.
      shape: its shape.
      dtype: its dtype.
      variable_list: the parts, each with its SaveSliceInfo, in any order.
      partitions: how many parts there are along each axis.

    Raises:
      TypeError: the parts or their numbers are no list or tuple.
      ValueError: there is no part, a part has no SaveSliceInfo or one of another full shape, or
        a number of parts is not positive.

    """

    def __init__(
        self,
        name: str,
        shape: Sequence[int] | TensorShape,
        dtype: DType,
        variable_list: Sequence[Variable],
        partitions: Sequence[int],
    ) -> None:
        for what, given in (("variable_list", variable_list), ("partitions", partitions)):
            if not isinstance(given, list | tuple):
                raise TypeError(f"{what} is not a list or tuple: {given}")
        if any(count < 1 for count in partitions):
            raise ValueError(f"partition values must be positive: {partitions}")
        if not variable_list:
            raise ValueError("variable_list may not be empty")
        self._name, self.shape, self.dtype = name, shape, dtype
        self._partitions = partitions
        self._parts = _in_order(variable_list, shape, partitions)

    @property
    def name(self) -> str:
        """The name of the partitioned variable."""
        return self._name

    def get_shape(self) -> Sequence[int] | TensorShape:
        """The shape of the partitioned variable."""
        return self.shape

    def __iter__(self) -> Iterator[Variable]:
        return iter(self._parts)

    def __len__(self) -> int:
        axes = self._partition_axes()
        if len(axes) > 1:
            raise ValueError(f"Cannot get a length for {len(axes)} > 1 partition axes")
        return len(self._parts)

    def _get_variable_list(self) -> list[Variable]:
        return self._parts

    def _get_partitions(self) -> Sequence[int]:
        return self._partitions

    def _partition_axes(self) -> list[int]:
        """The axes along which there are several parts; the first one if there is none."""
        return [axis for axis, count in enumerate(self._partitions) if count > 1] or [0]

    def _axis(self, doing: str) -> int:
        axes = self._partition_axes()
        if len(axes) > 1:
            raise NotImplementedError(f"Cannot {doing} along more than one dimension: {axes}")
        return axes[0]

    def as_tensor(self) -> Tensor:
        """The concatenated values of the parts.

        Raises:
          NotImplementedError: there are several parts along several axes.

        """
        with get_default_graph().control_dependencies(None):
            return self._concat()

    def _concat(self) -> Tensor:
        """The concatenated values, after the control dependencies that are open here."""
        joined: TensorLike = self._parts[0]
        if len(self._parts) > 1:
            axis = self._axis("concatenate")
            with name_scope(f"{self.name}/ConcatPartitions/"):
                joined = concat(self._parts, axis)
        with name_scope(None):
            return identity(joined, name=self.name)

    def assign(
        self,
        value: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> list[Tensor | Operation | Variable]:
        """Assign the parts; returns the results of their `assign`.

        Args:
          value: a tensor of the full shape, a PartitionedVariable, or a list of values.
          use_locking: as of a variable.
          name: the operations' name.
          read_value: True; where it is off TensorFlow looks for an operation of the operation.

        Raises:
          AttributeError: `read_value` is off.
          NotImplementedError: there are several parts along several axes.
          ValueError: there are more or fewer values than parts, or a shape is wrong.

        """
        return self._applied("assign", value, use_locking, name, read_value)

    def assign_add(
        self,
        value: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> list[Tensor | Operation | Variable]:
        """Add to every part; arguments and errors are those of `assign`."""
        return self._applied("assign_add", value, use_locking, name, read_value)

    def assign_sub(
        self,
        value: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> list[Tensor | Operation | Variable]:
        """Subtract from every part; arguments and errors are those of `assign`."""
        return self._applied("assign_sub", value, use_locking, name, read_value)

    def _applied(
        self, update: str, value: TensorLike, use_locking: bool, name: str | None, read_value: bool
    ) -> list[Tensor | Operation | Variable]:
        axis = self._axis("do assign action")
        if isinstance(value, list | PartitionedVariable):
            pieces = list(value)
        else:
            pieces = split(value, [int(part.shape[axis]) for part in self._parts], axis=axis)
        assignments = [
            _method(part, update)(piece, use_locking, name, read_value)
            for part, piece in zip(self._parts, pieces, strict=True)
        ]
        return assignments if read_value else [assignment.op for assignment in assignments]


def _in_order(
    parts: Sequence[Variable], shape: Sequence[int] | TensorShape, partitions: Sequence[int]
) -> list[Variable]:
    """The parts in the order of their offsets; they must have SaveSliceInfos of this shape."""
    with_slices = [(part, part._get_save_slice_info()) for part in parts]  # noqa: SLF001 - its name there
    slices = {part: slice_info for part, slice_info in with_slices if slice_info is not None}
    if len(slices) < len(with_slices):
        raise ValueError(
            f"All variables must have a save_slice_info available: {[part.name for part in parts]}"
        )
    if len(shape) != len(partitions):
        raise ValueError(f"len(shape) != len(partitions): {shape} vs. {partitions}")
    full = [list(slice_info.full_shape or ()) for slice_info in slices.values()]
    if any(full_shape != list(shape) for full_shape in full):
        raise ValueError(
            f"All variables' full shapes must match shape: {shape}; but full shapes were: {full}"
        )
    return sorted(parts, key=lambda part: list(slices[part].var_offset or ()))


def _method(part: Variable, update: str) -> Any:
    method: Callable[..., Tensor] = getattr(part, update)
    return method


def _converted(
    value: PartitionedVariable,
    dtype: DType | None = None,
    name: str | None = None,
    as_ref: bool = False,
) -> Tensor:
    del name
    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        raise ValueError(
            f"Incompatible type conversion requested to type {dtype.name!r} for "
            f"variable of type {value.dtype.name!r}"
        )
    if as_ref:
        raise NotImplementedError("PartitionedVariable doesn't support being used as a reference.")
    return value.as_tensor()


register_tensor_conversion_function(PartitionedVariable, _converted)
