"""Staging areas: `StagingArea` and `MapStagingArea`. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sessrun.reference.api.argument_types import Structure, TensorLike
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity, no_op
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["BaseStagingArea", "MapStagingArea", "StagingArea"]


class BaseStagingArea:
    """The base of staging areas with and without keys.

    Args:
      dtypes: the dtype of each part of an element.
      shapes: the shape of each part, or None.
      names: the name of each part, or None; an element is then a dictionary.
      shared_name: the name under which sessions know it; its own if None.
      capacity: how many elements fit in; 0 for any number.
      memory_limit: how many bytes fit in; 0 for any number.

    Raises:
      ValueError: lists whose lengths differ, or a shared name that is not a string.

    """

    def __init__(
        self,
        dtypes: Sequence[object],
        shapes: Any = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        if shared_name is None:
            self._name = get_default_graph().unique_name(type(self).__name__)
        elif isinstance(shared_name, str):
            self._name = shared_name
        else:
            raise ValueError(f"shared_name must be a string, got {shared_name}")
        self._dtypes = dtypes
        if shapes is not None and len(shapes) != len(dtypes):
            raise ValueError("StagingArea shapes must be the same length as dtypes")
        self._shapes = [TensorShape(shape) for shape in shapes or [None for _ in dtypes]]
        if names is not None and len(names) != len(dtypes):
            raise ValueError("StagingArea names must be the same length as dtypes")
        self._names = names
        self._capacity = capacity
        self._memory_limit = memory_limit
        with name_scope(f"{self._name}_root"):
            self._root = no_op()

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def dtypes(self) -> Sequence[object]:
        """The dtype of each part of an element."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shape of each part."""
        return self._shapes

    @property
    def names(self) -> Sequence[str] | None:
        """The name of each part, or None."""
        return self._names

    @property
    def capacity(self) -> int:
        """How many elements fit in; 0 for any number."""
        return self._capacity

    @property
    def memory_limit(self) -> int:
        """How many bytes fit in; 0 for any number."""
        return self._memory_limit

    def _apply(
        self,
        op_type: str,
        inputs: Mapping[str, object],
        name: str,
        *,
        beside: bool = True,
        **attrs: object,
    ) -> Operation:
        """Build an operation on the area, by default colocated with it."""
        attrs = {
            "shared_name": self._name,
            "capacity": self._capacity,
            "memory_limit": self._memory_limit,
            **attrs,
        }
        if not beside:
            return apply_op(op_type, inputs, attrs, name)
        with get_default_graph().colocate_with(self._root):
            return apply_op(op_type, inputs, attrs, name)

    def _parts(self, values: Any, indices: Sequence[int] | None) -> tuple[list[Tensor], list[int]]:
        """The tensors to put in, and which parts they are.

        Raises:
          ValueError: number, names, dtypes or shapes of the values are not those of the area.

        """
        if isinstance(values, dict):
            if not self._names:
                raise ValueError("Staging areas must have names to enqueue a dictionary")
            if not set(values) <= set(self._names):
                raise ValueError(
                    "Keys in dictionary to put do not match names of staging area. Dictionary: "
                    f"{sorted(values)}Queue: {sorted(self._names)}"
                )
            given = [(values[name], i) for i, name in enumerate(self._names) if name in values]
            values, indices = [value for value, _ in given], [index for _, index in given]
        elif self._names:
            raise ValueError("You must enqueue a dictionary in a staging area with names")
        elif indices is None:
            raise ValueError("Indices must be supplied when inserting a list of tensors")
        elif len(indices) != len(values):
            raise ValueError(
                f"Number of indices {len(indices)} doesn't match number of values {len(values)}"
            )
        if len(values) > len(self._dtypes):
            raise ValueError(f"Unexpected number of inputs {len(values)} vs {len(self._dtypes)}")
        tensors = []
        for value, index in zip(values, indices, strict=True):
            dtype, shape = self._dtypes[index], self._shapes[index]
            if value.dtype != dtype:
                raise ValueError(
                    f"Datatypes do not match. Received val.dtype {value.dtype} and dtype {dtype}"
                )
            value.shape.assert_is_compatible_with(shape)
            tensors.append(convert_to_tensor(value, dtype=dtype, name=f"component_{index}"))
        return tensors, list(indices)

    def _taken(
        self, tensors: Sequence[Tensor], indices: Sequence[int]
    ) -> list[Tensor] | dict[str, Tensor]:
        """The result of a get: the tensors, or a dictionary where the parts have names."""
        tensors = self._here(tensors)
        for tensor, index in zip(tensors, indices, strict=False):
            tensor.set_shape(self._shapes[index])
        if self._names:
            return {self._names[i]: t for t, i in zip(tensors, indices, strict=False)}
        return tensors

    def _here(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The tensors, under new names where the open device is not the area's."""
        if no_op().device != self._root.device:
            return [identity(tensor) for tensor in tensors]
        return list(tensors)


def _listed(values: Structure) -> Any:
    if isinstance(values, dict):
        return list(values.values())
    return values if isinstance(values, list | tuple) else [values]


class StagingArea(BaseStagingArea):
    """Elements in a line; arguments as of `BaseStagingArea`."""

    def put(self, values: TensorLike, name: str | None = None) -> Operation:
        """Put an element in, once there is room.

        Args:
          values: a tensor for each part: a list, the one tensor alone, or a dictionary.
          name: the operation's name.

        Raises:
          ValueError: number, names, dtypes or shapes of the values are not those of the area.

        """
        with name_scope(name, f"{self._name}_put", _listed(values)) as scope:
            if not isinstance(values, list | tuple | dict):
                values = [values]
            parts, _ = self._parts(values, list(range(len(values))))
            return self._apply("Stage", {"values": parts}, scope)

    def get(self, name: str | None = None) -> list[Tensor] | dict[str, Tensor]:
        """Take the first element, once the area has one: a list, or a dictionary by names."""
        op = self._apply("Unstage", {}, name or f"{self._name}_get", dtypes=self._dtypes)
        return self._taken(op.outputs, range(len(self._dtypes)))

    def peek(self, index: TensorLike, name: str | None = None) -> list[Tensor] | dict[str, Tensor]:
        """The element at an index, once the area has that many elements; it is not removed."""
        op = self._apply(
            "StagePeek", {"index": index}, name or f"{self._name}_peek", dtypes=self._dtypes
        )
        return self._taken(op.outputs, range(len(self._dtypes)))

    def size(self, name: str | None = None) -> Tensor:
        """How many elements there are: a scalar int32 tensor."""
        return self._apply(
            "StageSize", {}, name or f"{self._name}_size", beside=False, dtypes=self._dtypes
        ).outputs[0]

    def clear(self, name: str | None = None) -> Operation:
        """Take all elements out."""
        return self._apply(
            "StageClear", {}, name or f"{self._name}_clear", beside=False, dtypes=self._dtypes
        )


class MapStagingArea(BaseStagingArea):
    """Elements by key, whose parts may come one by one; arguments as of `BaseStagingArea`.

    Args:
      ordered: whether the element of the smallest key is taken first, where no key is named.

    """

    def __init__(
        self,
        dtypes: Sequence[object],
        shapes: object = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        ordered: bool = False,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)
        self._prefix = "OrderedMap" if ordered else "Map"

    def put(
        self,
        key: TensorLike,
        vals: TensorLike,
        indices: Sequence[int] | None = None,
        name: str | None = None,
    ) -> Operation:
        """Give parts of an element, once there is room.

        Args:
          key: a scalar int64 tensor.
          vals: a list of tensors, or a dictionary.
          indices: which parts they are; not for a dictionary.
          name: the operation's name.

        Raises:
          ValueError: number, names, dtypes or shapes of the values are not those of the area.

        """
        with name_scope(name, f"{self._name}_put", _listed(vals)) as scope:
            parts, places = self._parts(vals, indices)
            inputs = {"key": key, "indices": places, "values": parts}
            return self._apply(self._prefix + "Stage", inputs, scope, dtypes=self._dtypes)

    def peek(
        self, key: TensorLike, indices: Sequence[int | str] | None = None, name: str | None = None
    ) -> list[Tensor] | dict[str, Tensor]:
        """Parts of the element of a key, once it is complete, without removal; they stay."""
        places, dtypes = self._places(indices)
        inputs = {"key": key, "indices": places}
        op = self._apply(self._prefix + "Peek", inputs, name or f"{self._name}_pop", dtypes=dtypes)
        return self._taken(op.outputs, places)

    def get(
        self,
        key: Any = None,
        indices: Sequence[int | str] | None = None,
        name: str | None = None,
    ) -> tuple[Tensor, list[Tensor] | dict[str, Tensor]]:
        """Take parts of an element, once it is complete: its key and the parts.

        Args:
          key: its key; None for any.
          indices: which parts, by index or by name; all if None.
          name: the operation's name.

        Raises:
          TypeError: `indices` is not a list of ints, or of names.
          ValueError: `indices` is empty, or has a name that the area does not have.

        """
        places, dtypes = self._places(indices)
        if key is not None:
            inputs = {"key": key, "indices": places}
            op = self._apply(
                self._prefix + "Unstage", inputs, name or f"{self._name}_get", dtypes=dtypes
            )
            return key, self._taken(op.outputs, places)
        op = self._apply(
            self._prefix + "UnstageNoKey",
            {"indices": places},
            name or f"{self._name}_get_nokey",
            dtypes=dtypes,
        )
        (key_tensor,) = self._here(op.outputs[:1])
        return key_tensor, self._taken(op.outputs[1:], places)

    def _places(self, indices: Sequence[int | str] | None) -> tuple[list[int], list[Any]]:
        """The indices and the dtypes of the requested parts."""
        if indices is None:
            indices = list(range(len(self._dtypes)))
        if not isinstance(indices, tuple | list):
            raise TypeError(f"Invalid indices type {type(indices)}")
        if not indices:
            raise ValueError("Empty indices")
        if all(isinstance(index, str) for index in indices):
            if self._names is None:
                raise ValueError(
                    f"String indices provided {indices}, but this Staging Area was not created "
                    "with names."
                )
            if not set(indices) <= set(self._names):
                raise ValueError(f"Named index not in Staging Area names {self._names}")
            indices = [list(self._names).index(str(index)) for index in indices]
        elif not all(isinstance(index, int) for index in indices):
            raise TypeError(f"Mixed types in indices {indices}. May only be str or int")
        places = [int(index) for index in indices]
        return places, [self._dtypes[i] for i in places]

    def size(self, name: str | None = None) -> Tensor:
        """How many complete elements there are: a scalar int32 tensor."""
        return self._plain("Size", name or f"{self._name}_size").outputs[0]

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """How many elements lack a part: a scalar int32 tensor."""
        return self._plain("IncompleteSize", name or f"{self._name}_incomplete_size").outputs[0]

    def clear(self, name: str | None = None) -> Operation:
        """Take all elements out."""
        return self._plain("Clear", name or f"{self._name}_clear")

    def _plain(self, word: str, name: str) -> Operation:
        return self._apply(self._prefix + word, {}, name, beside=False, dtypes=self._dtypes)
