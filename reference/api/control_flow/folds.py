"""`foldl`, `foldr` and `scan`: functions applied to the elements of tensors, in loops.

The elements are those along the first dimension of each tensor of a structure. Source: the graphs
that TensorFlow 2.21 makes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sessrun.reference.api import nest
from sessrun.reference.api.argument_types import Structure, TensorLike
from sessrun.reference.api.control_flow.while_loops import while_loop
from sessrun.reference.api.ops.array_ops import shape
from sessrun.reference.api.tensor_arrays import TensorArray
from sessrun.reference.api.variables.variable_scopes import get_variable_scope
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["check_callable", "foldl", "foldr", "reading_variables_where_used", "scan", "write_all"]


@contextmanager
def reading_variables_where_used() -> Iterator[None]:
    """In the `with`, a variable is read on the device of the operation that reads it."""
    scope = get_variable_scope()
    if scope.caching_device is not None:
        yield
        return
    scope.set_caching_device(lambda op: op.device)
    try:
        yield
    finally:
        scope.set_caching_device(None)


class _Elements:
    """The elements of the tensors of a structure.

    Attributes:
      tensors: the tensors, flat.
      count: the size of the first dimension: an int, or a tensor where it is not known statically.

    """

    def __init__(self, structure: object, *, for_scan: bool = False) -> None:
        self._structure = structure
        self.tensors = [convert_to_tensor(leaf, name="elem") for leaf in nest.flatten(structure)]
        first = self.tensors[0]
        if first.shape.ndims == 0:
            raise IndexError("Elements in elems must be 1+ dimensional Tensors, not scalars")
        self.count: Any = first.shape.with_rank_at_least(1)[0].value
        if self.count is None or not (self.count or for_scan):  # only `scan` knows a zero
            self.count = shape(first)[0]
        arrays = [
            TensorArray(
                tensor.dtype,
                self.count,
                dynamic_size=False,
                infer_shape=True,
                element_shape=tensor.shape[1:] if for_scan else None,
            )
            for tensor in self.tensors
        ]
        pairs = zip(arrays, self.tensors, strict=True)
        self._arrays = [array.unstack(tensor) for array, tensor in pairs]

    def at(self, index: Any) -> Any:
        """The elements at an index, nested like the tensors.

        Args:
          index: an int, a tensor, or a function that makes a new index tensor for each element.

        """
        read = [array.read(_converted_index(index)) for array in self._arrays]
        return nest.pack_sequence_as(self._structure, read)

    def with_count(self, results: list[Tensor]) -> list[Tensor]:
        """The results, with the static number of elements set as their first dimension."""
        known = self.tensors[0].shape[:1]
        for tensor in self.tensors[1:]:
            known = known.merge_with(tensor.shape.with_rank_at_least(1)[:1])
        for result in results:
            result.set_shape(TensorShape(known).concatenate(result.shape[1:]))
        return results


def write_all(arrays: list[TensorArray], index: Any, values: list[Tensor]) -> list[TensorArray]:
    """Write a value to each TensorArray at an index, as for `_Elements.at`; the new arrays."""
    return [
        array.write(_converted_index(index), value)
        for array, value in zip(arrays, values, strict=True)
    ]


def _array_of(count: TensorLike, first: Tensor, *, infer_shape: bool) -> TensorArray:
    """A TensorArray for results like the first one."""
    shape = first.shape if infer_shape else None
    return TensorArray(
        first.dtype, count, dynamic_size=False, infer_shape=infer_shape, element_shape=shape
    )


def _converted_index(index: TensorLike) -> TensorLike:
    return index() if callable(index) else index


def check_callable(fn: Callable[..., object]) -> None:
    """Check that an argument is a function.

    Raises:
      TypeError: `fn` is not callable, and has a `__name__`.
      AttributeError: `fn` is not callable, and has no `__name__`, as in TF 2.21.

    """
    if not callable(fn):
        raise TypeError(f"{fn.__name__} is not callable.")


@public("foldl")
def foldl(
    fn: Callable[..., object],
    elems: Structure,
    initializer: object = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Combine the elements by a function, one after the other, the first one first.

    Args:
      fn: maps the accumulator and the next elements to the new accumulator.
      elems: tensors with the same number of elements along the first dimension.
      initializer: the first accumulator; by default the first elements.
      parallel_iterations: as for `while_loop`.
      back_prop: as for `while_loop`.
      swap_memory: as for `while_loop`.
      name: a name scope.

    Raises:
      TypeError: the function cannot be called.
      IndexError: a tensor has no first dimension.

    """
    check_callable(fn)
    with name_scope(name, "foldl", nest.flatten(elems)), reading_variables_where_used():
        elements = _Elements(elems)
        accumulator = elements.at(0) if initializer is None else initializer
        start = constant(1 if initializer is None else 0)

        def compute(index: Tensor, accumulator: object) -> Any:
            accumulator = fn(accumulator, elements.at(index))
            return [index + 1, accumulator]

        _, accumulator = while_loop(
            lambda index, _: index < elements.count,
            compute,
            [start, accumulator],
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=elements.count,
        )
        return accumulator


@public("foldr")
def foldr(
    fn: Callable[..., object],
    elems: Structure,
    initializer: object = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """As `foldl`, the last elements first."""
    check_callable(fn)
    with name_scope(name, "foldr", nest.flatten(elems)), reading_variables_where_used():
        elements = _Elements(elems)
        start = elements.count if initializer is not None else elements.count - 1
        accumulator = elements.at(start) if initializer is None else initializer

        def compute(index: Tensor, accumulator: object) -> Any:
            index = index - 1
            return [index, fn(accumulator, elements.at(index))]

        _, accumulator = while_loop(
            lambda index, _: index > 0,
            compute,
            [start, accumulator],
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=elements.count,
        )
        return accumulator


@public("scan")
def scan(
    fn: Callable[..., object],
    elems: Structure,
    initializer: object = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """The accumulators of `foldl` after every element, stacked.

    Args:
      fn: as for `foldl`.
      elems: as for `foldl`.
      initializer: as for `foldl`.
      parallel_iterations: as for `while_loop`.
      back_prop: as for `while_loop`.
      swap_memory: as for `while_loop`.
      infer_shape: whether the results of all steps have the same shape.
      reverse: whether the last elements come first.
      name: a name scope.

    Raises:
      TypeError: the function cannot be called, or the types of its structure are not the
        initializer's.
      ValueError: its results have another structure than the initializer.
      IndexError: a tensor has no first dimension.

    """
    check_callable(fn)
    like = elems if initializer is None else initializer
    with name_scope(name, "scan", nest.flatten(elems)), reading_variables_where_used():
        elements = _Elements(elems, for_scan=True)
        count = elements.count

        def first() -> Any:  # a new tensor for each element, as in TensorFlow's graphs
            return count - 1 if reverse else 0

        accumulator = elements.at(first) if initializer is None else initializer
        accumulator = [convert_to_tensor(tensor) for tensor in nest.flatten(accumulator)]
        arrays = [_array_of(count, tensor, infer_shape=infer_shape) for tensor in accumulator]
        done = 0
        if initializer is None:
            arrays, done = write_all(arrays, first, accumulator), 1

        def compute(index: Tensor, accumulator: object, arrays: Any) -> Any:
            results = fn(nest.pack_sequence_as(like, accumulator), elements.at(index))
            nest.assert_same_structure(like, results)
            flat = nest.flatten(results)
            arrays = write_all(arrays, index, flat)
            return (index - 1 if reverse else index + 1), flat, arrays

        start = count - 1 - done if reverse else done
        _, _, arrays = while_loop(
            (lambda index, *_: index >= 0) if reverse else (lambda index, *_: index < count),
            compute,
            (start, accumulator, arrays),
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        return nest.pack_sequence_as(
            like, elements.with_count([tensor.stack() for tensor in arrays])
        )
