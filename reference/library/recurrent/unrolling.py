"""Shared parts of RNN unrolling: initial states, shapes, steps masked by sequence lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias

from sessrun.reference.api import nest
from sessrun.reference.api.argument_types import Structure
from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.ops.array_ops import (
    concat,
    expand_dims,
    rank,
    shape,
    stack,
    transpose,
    where,
)
from sessrun.reference.api.ops.fill_ops import zeros
from sessrun.reference.api.ops.math_ops import range_
from sessrun.reference.api.tensor_arrays import TensorArray
from sessrun.reference.api.variables.opened_variable_scopes import variable_scope
from sessrun.reference.api.variables.variable_scopes import VariableScope
from sessrun.reference.base.dtypes import DType, DTypeLike, int32
from sessrun.reference.base.tensor_shape import TensorShape, as_shape, tuple_of
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.get_static_value import get_static_value
from sessrun.reference.errors import bad_value
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.default_graph import colocate_with
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "Cell",
    "Lengths",
    "StateSize",
    "assert_like_rnncell",
    "batch_size_of",
    "by_time",
    "first_state",
    "joined_shape",
    "known_shape",
    "opened",
    "output_shape",
    "state_dtype",
    "step",
    "zero_output",
    "zero_states",
]


#: The size of an output or a state, its shape, or such in the structure of outputs or states.
StateSize: TypeAlias = "int | Tensor | TensorShape | Sequence[StateSize] | None"


#: The first or the last sizes of a shape: a tensor where they are known in a run only.
ShapePart: TypeAlias = "int | Tensor | TensorShape | Sequence[int | None]"


class Cell(Protocol):
    """One step of a recurrent network: from inputs and a state to an output and the next state."""

    @property
    def state_size(self) -> StateSize:
        """The sizes of its states."""

    @property
    def output_size(self) -> StateSize:
        """The sizes of its outputs."""

    def zero_state(self, batch_size: int | Tensor, dtype: DTypeLike) -> Structure:
        """Zeros for every state."""

    def __call__(self, inputs: Structure, state: Structure) -> tuple[Structure, Structure]:
        """The output and the next state."""


def assert_like_rnncell(name: str, cell: object) -> None:
    """Check that a value has the interface of an RNNCell.

    Raises:
      TypeError: something is missing.

    """
    lacks = {
        "'output_size' property is missing": not hasattr(cell, "output_size"),
        "'state_size' property is missing": not hasattr(cell, "state_size"),
        "either 'zero_state' or 'get_initial_state' method is required": not (
            hasattr(cell, "get_initial_state") or hasattr(cell, "zero_state")
        ),
        "is not callable": not callable(cell),
    }
    if any(lacks.values()):
        reasons = ", ".join(words for words, is_so in lacks.items() if is_so)
        raise TypeError(f"The argument {name!r} ({cell}) is not an RNNCell: {reasons}.")


@contextmanager
def opened(scope: VariableScope | str | None) -> Iterator[VariableScope]:
    """Open an RNN's variable scope; outside of loops with a caching device."""
    with variable_scope(scope or "rnn") as entered:
        graph = default_graph.get_default_graph()
        context = graph.scopes.control_flow
        in_loop = context is not None and context.loop() is not None
        if not in_loop and entered.caching_device is None:
            entered.set_caching_device(lambda op: op.device)
        yield entered


def _part(value: ShapePart | None) -> tuple[Tensor | None, list[int | None] | None]:
    """A partial shape as a tensor (None if unknown), and its statically known sizes."""
    if not isinstance(value, Tensor):
        sizes = TensorShape.of(tuple_of(value))
        known = sizes.as_list() if sizes.ndims is not None else None
        is_defined = sizes.is_fully_defined()
        return constant(sizes.as_list(), dtype=int32) if is_defined else None, known
    if value.shape.ndims == 0:
        return expand_dims(value, 0), get_static_value(value)
    if value.shape.ndims != 1:
        raise bad_value(f"A part of a shape must be a scalar or a vector, but is {value}")
    return value, get_static_value(value)


def joined_shape(first: ShapePart, second: ShapePart) -> Tensor:
    """Concatenate two partial shapes to one vector.

    Raises:
      ValueError: a part is not known, or is of a higher rank.

    """
    prefix, suffix = _part(first)[0], _part(second)[0]
    if prefix is None or suffix is None:
        raise bad_value(f"Provided a prefix or suffix of None: {first} and {second}")
    return concat((prefix, suffix), 0)


def known_shape(first: ShapePart | None, second: ShapePart) -> list[int | None] | None:
    """The static concatenation of two partial shapes."""
    joined = TensorShape(_part(first)[1]).concatenate(_part(second)[1])
    return joined.as_list() if joined.ndims is not None else None


def zero_states(state_size: StateSize, batch_size: int | Tensor, dtype: DTypeLike) -> Structure:
    """Zero states, in the structure of `state_size`."""

    def zero_state(size: ShapePart) -> Tensor:
        state = zeros(joined_shape(batch_size, size), dtype=dtype)
        state.set_shape(known_shape(batch_size, size))
        return state

    states: Structure = nest.map_structure(zero_state, state_size)
    return states


def zero_output(batch_size: int | Tensor, size: ShapePart, dtype: DTypeLike) -> Tensor:
    """Zeros for one output."""
    return zeros(stack(joined_shape(batch_size, size)), dtype)


def by_time(x: Tensor) -> Tensor:
    """Swap the first two dimensions, batch and time."""
    known = x.shape
    if known.rank is not None and known.rank < 2:
        return x
    order = concat(([1, 0], range_(2, rank(x))), axis=0)
    turned = transpose(x, order)
    dims: Any = known.dims
    turned.set_shape(TensorShape([dims[1], dims[0]]).concatenate(known[2:]))
    return turned


def batch_size_of(inputs: Sequence[Tensor]) -> int | Tensor:
    """The batch size of time-major inputs: an int if any input has it, else a tensor.

    Raises:
      ValueError: an input has no second dimension.

    """
    for value in inputs:
        sizes = value.sizes
        if sizes is None:
            continue
        if len(sizes) < 2:
            raise bad_value(
                f"Input tensor should have rank >= 2. Received input={value} of rank {len(sizes)}"
            )
        if sizes[1] is not None:
            return sizes[1]
    return shape(inputs[0])[1]


def state_dtype(dtype: DTypeLike | None, state: Any) -> DTypeLike:
    """The given dtype, or else the common dtype of the states.

    Raises:
      ValueError: there are no states, or they have several dtypes.

    """
    if dtype is not None:
        return dtype
    state_dtypes: list[DType] = [part.dtype for part in nest.flatten(state)]
    if not nest.is_nested(state):
        return state_dtypes[0]
    if not state_dtypes:
        raise bad_value(f"Unable to infer dtype from argument state={state}.")
    if any(other != state_dtypes[0] for other in state_dtypes):
        raise bad_value(f"Argument state={state} has tensors of different dtypes: {state_dtypes}")
    return state_dtypes[0]


def first_state(
    cell: Cell, initial_state: Structure, batch_size: int | Tensor, dtype: DTypeLike | None
) -> Structure:
    """The given initial state, or the cell's zero state.

    Raises:
      ValueError: neither a state nor a dtype is given.

    """
    if initial_state is not None:
        return initial_state
    if not dtype:
        raise bad_value("If no initial_state is provided, argument `dtype` must be specified")
    make: Callable[..., Structure] | None = getattr(cell, "get_initial_state", None)
    if make is not None:
        return make(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def output_shape(batch_size: int | None, size: int | Tensor) -> TensorShape:
    """The static shape of one output."""
    known = as_shape(get_static_value(size)) if isinstance(size, Tensor) else size
    return TensorShape([batch_size]).concatenate(known)


class Lengths:
    """The sequence lengths of the rows, with their minimum and maximum."""

    def __init__(self, lengths: Tensor, least: Tensor, most: Tensor) -> None:
        self.lengths = lengths
        self.least = least
        self.most = most


def step(
    time: Any,
    lengths: Lengths,
    zeros_: Structure,
    state: Structure,
    call: Callable[[], tuple[Structure, Structure]],
    *,
    always: bool = False,
) -> tuple[Structure, Structure]:
    """One step of a cell; rows past their sequence length keep the state and output zeros.

    Args:
      time: which step it is, a number or a scalar.
      lengths: how many steps each row takes.
      zeros_: the output of a row that has ended.
      state: the state before.
      call: computes the output and the next state.
      always: whether the cell is computed even where all rows have ended, and none could have.

    Returns:
      `(output, state)`.

    Raises:
      TypeError, ValueError: what the cell returns is nested otherwise.

    """
    flat_state, flat_zeros = nest.flatten(state), nest.flatten(zeros_)
    has_ended = time >= lengths.lengths

    def called() -> tuple[list[Tensor], list[Tensor]]:
        output, new_state = call()
        nest.assert_same_structure(zeros_, output)
        nest.assert_same_structure(state, new_state)
        return nest.flatten(output), nest.flatten(new_state)

    def kept(outputs: list[Tensor], states: list[Tensor]) -> list[Tensor]:
        pairs = [*zip(flat_zeros, outputs, strict=True), *zip(flat_state, states, strict=True)]
        return [_unless(has_ended, old, new) for old, new in pairs]

    def stepped() -> list[Tensor]:
        output, new_state = called()
        values: list[Tensor] = cond(
            time < lengths.least, lambda: output + new_state, lambda: kept(output, new_state)
        )
        return values

    if always:
        flat_results = kept(*called())
    else:
        flat_results = cond(time >= lengths.most, lambda: flat_zeros + flat_state, stepped)
    return _nested(flat_results, zeros_, state)


def _unless(has_ended: Tensor, old: Tensor, new: Tensor) -> Tensor:
    """The old value in finished rows, the new one in others."""
    if isinstance(old, TensorArray) or old.shape.rank == 0:
        return new
    with colocate_with(new):
        return where(has_ended, old, new)


def _nested(
    flat_results: list[Tensor], zeros_: Structure, state: Structure
) -> tuple[Structure, Structure]:
    """Pack flat outputs and states into structures, with the static shapes of the previous ones."""
    before = nest.flatten(zeros_) + nest.flatten(state)
    for new, old in zip(flat_results, before, strict=True):
        if not isinstance(new, TensorArray):
            new.set_shape(old.shape)
    count = len(nest.flatten(zeros_))
    output = nest.pack_sequence_as(structure=zeros_, flat_sequence=flat_results[:count])
    return output, nest.pack_sequence_as(structure=state, flat_sequence=flat_results[count:])
