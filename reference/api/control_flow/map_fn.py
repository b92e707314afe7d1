"""`map_fn`: a function of the elements of tensors and sparse tensors, in a loop.

The elements are those along the first dimension of each value of a structure. Source: the graphs
that TensorFlow 2.21 makes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sessrun.reference.api import nest
from sessrun.reference.api.argument_types import Structure
from sessrun.reference.api.batched_specs import decoded, encoded, encoded_rows, encoded_spec
from sessrun.reference.api.composite_conversions import convert_to_tensor_or_composite
from sessrun.reference.api.control_flow.folds import (
    check_callable,
    reading_variables_where_used,
    write_all,
)
from sessrun.reference.api.control_flow.while_loops import read_outside, while_loop
from sessrun.reference.api.ops.array_ops import shape
from sessrun.reference.api.tensor_arrays import TensorArray
from sessrun.reference.api.type_specs import (
    BatchableTypeSpec,
    SparseTensorSpec,
    TensorSpec,
    TypeSpec,
    type_spec_from_value,
)
from sessrun.reference.base.tensor_shape import Dimension, TensorShape
from sessrun.reference.build.constant_op import constant
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

# ruff: noqa: SLF001 - the specs of rows and of batches have TensorFlow's names

__all__ = ["map_fn"]


@public("map_fn")
def map_fn(
    fn: Callable[[Any], Any],
    elems: Structure,
    dtype: object = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: object = None,
) -> Any:
    """Apply a function to the elements of tensors and stack its results.

    Args:
      fn: from the elements at one index, nested as the values are, to its results.
      elems: tensors or sparse tensors with the same number of elements along the first dimension.
      dtype: an older name of `fn_output_signature`.
      parallel_iterations: as for `while_loop`.
      back_prop: as for `while_loop`.
      swap_memory: as for `while_loop`.
      infer_shape: whether all results have one shape.
      name: a name scope.
      fn_output_signature: dtypes or specs of the results, in their structure; by default those of
        `elems`.

    Raises:
      TypeError: the function cannot be called, the structure of its results is another, or values
        of a kind that cannot be stacked are passed or declared.
      ValueError: there is no value, one has no first dimension, their numbers of elements differ,
        or a result is not what its spec says.

    """
    check_callable(fn)
    elems = _read(elems)
    asked = dtype if fn_output_signature is None else fn_output_signature
    specs = _specs(elems, asked)
    with name_scope(name, "map", nest.flatten(elems)):
        with reading_variables_where_used():
            given = _Elements(elems)
            start, results = constant(0), given.empty(specs, infer_shape=infer_shape)

            def compute(index: Tensor, results: Any) -> Any:
                outcome = fn(given.at(index))
                nest.assert_same_structure(elems if asked is None else asked, outcome)
                kept = write_all(results, index, _encoded_results(nest.flatten(outcome), specs))
                return index + 1, kept

            _, results = while_loop(
                lambda index, _: index < given.count,
                compute,
                (start, results),
                parallel_iterations=parallel_iterations or 10,
                back_prop=back_prop,
                swap_memory=swap_memory,
                maximum_iterations=given.count,
            )
            stacked = given.stacked(results)
        pairs = zip(specs, stacked, strict=True)
        result = [decoded(spec._batch(given.known.value), tensor) for spec, tensor in pairs]
        return nest.pack_sequence_as(elems if asked is None else asked, result)


def _read(elems: Structure) -> Any:
    """The values, with variables read outside of the loop.

    Raises:
      ValueError: `elems` has no tensors.

    """
    values = nest.map_structure(read_outside, elems)
    if not nest.flatten(values):
        raise ValueError(
            "elems must be a Tensor or (possibly nested) sequence of Tensors. Got "
            f"{values}, which does not contain any Tensors."
        )
    return values


def _specs(elems: Structure, asked: object) -> list[Any]:
    """The specs of the results: the declared ones, or those of the elements without their sizes."""
    if asked is not None:
        return [
            item if isinstance(item, TypeSpec) else TensorSpec(None, item)
            for item in nest.flatten(asked)
        ]
    given: list[object] = [type_spec_from_value(item) for item in nest.flatten(elems)]
    return [
        type(item)(None, item.dtype) if isinstance(item, TensorSpec | SparseTensorSpec) else item
        for item in given
    ]


class _Elements:
    """The elements of values.

    Args:
      values: tensors and sparse tensors, nested as the program nests them.

    Attributes:
      known: the number of elements, as far as it is known.
      count: how many: an int, or a tensor where that is not known.

    Raises:
      TypeError: a value has no rows.
      ValueError: the first one is a scalar, or their numbers of elements differ.

    """

    def __init__(self, values: Structure) -> None:
        self._values = values
        self._specs = [type_spec_from_value(leaf) for leaf in nest.flatten(values)]
        flat = [convert_to_tensor_or_composite(leaf, name="elem") for leaf in nest.flatten(values)]
        if flat[0].shape.ndims == 0:
            raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
        for leaf in flat:
            spec = type_spec_from_value(leaf)
            if not isinstance(spec, BatchableTypeSpec):
                raise TypeError(f"map_fn can not consume {spec} inputs: got {leaf!r}")
        tensors = [encoded_rows(leaf) for leaf in flat]
        sizes = [Dimension(leaf.shape.with_rank_at_least(1)[0]) for leaf in tensors]
        self.known = sizes[0]
        for leaf in sizes[1:]:
            self.known.assert_is_compatible_with(leaf)
        self.count: int | Tensor = self.known.value or shape(tensors[0])[0]
        arrays = [
            TensorArray(leaf.dtype, self.count, dynamic_size=False, infer_shape=True)
            for leaf in tensors
        ]
        pairs = zip(arrays, tensors, strict=True)
        self._arrays = [array.unstack(tensor) for array, tensor in pairs]

    def at(self, index: Any) -> Any:
        """The elements at an index, nested as the values are."""
        rows = [array.read(index) for array in self._arrays]
        pairs = zip(self._specs, rows, strict=True)
        return nest.pack_sequence_as(
            self._values,
            [decoded(spec._unbatch(), row) for spec, row in pairs],  # type: ignore[attr-defined]  # checked to have rows
        )

    def empty(self, specs: Sequence[object], *, infer_shape: bool) -> list[TensorArray]:
        """Empty TensorArrays for the results, one for each spec.

        Raises:
          TypeError: results of this kind cannot be represented as tensors.

        """
        for spec in specs:
            if not isinstance(spec, BatchableTypeSpec):
                raise TypeError(f"map_fn can not generate {spec} outputs")
        return [
            TensorArray(
                spec.dtype,
                self.count,
                dynamic_size=False,
                infer_shape=infer_shape,
                element_shape=spec.shape,
            )
            for spec in map(encoded_spec, specs)
        ]

    def stacked(self, results: Sequence[TensorArray]) -> list[Tensor]:
        """The results as tensors of as many rows."""
        tensors = [array.stack() for array in results]
        for tensor in tensors:
            tensor.set_shape(TensorShape([self.known]).concatenate(tensor.shape[1:]))
        return tensors


def _encoded_results(values: Sequence[object], specs: Sequence[object]) -> list[Tensor]:
    """The tensors that results become.

    Raises:
      ValueError: a result is not compatible with its spec.

    """
    for value, spec in zip(values, specs, strict=True):
        if isinstance(spec, SparseTensorSpec) and not spec.is_compatible_with(value):
            raise ValueError(
                f"Error in map_fn:\n  Expected `fn` to return a:\n    {spec}\n  But it returned "
                f"a:\n    {type_spec_from_value(value)}\n    (value={value})\n  To fix, update the "
                "`fn_output_signature` (or `dtype`) argument to `map_fn`."
            )
    return [encoded(item) for item in values]
