"""Applies the formula of an optimizer to a variable and its slots, dense or by rows.

All of them are locked meanwhile, even without `use_locking`, in an order that is
the same for all operations. Their arrays are updated in place if there are no other references.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sessrun.reference.base.arrays import Array, ArrayModule, DType
from sessrun.reference.base.half_arrays import Halves
from sessrun.reference.base.kernel_errors import Internal, InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels import fused
from sessrun.reference.kernels.formulas import Formula, Numbers
from sessrun.reference.kernels.host import HOST, frozen
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.products import grouped, shared_out
from sessrun.reference.kernels.registry import Bind, KernelFunction, VariableBuffer, binder
from sessrun.reference.kernels.resources import Handle
from sessrun.reference.kernels.written_buffers import written
from sessrun.spec.operations import Operation
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["DenseStep", "formula"]

#: The number of elements to which a formula is applied at a time in host memory: temporaries stay
#: in the cache, and a call of numpy lasts long enough for threads to share the blocks.
_BLOCK: Final = 131072
#: The number of elements from which on threads share the blocks.
_SHARED: Final = 2 * _BLOCK
#: The number of float16 from which on they are converted to float32 together.
_MANY: Final = 2048
#: The names of inputs in messages, if they differ.
_SPOKEN: Final = {
    "l1": "l1 regularization strength",
    "l2": "l2 regularization strength",
    "l2_shrinkage": "l2 shrinkage regularization strength",
}
#: The names of the gradient among the inputs.
_GRADIENTS: Final = ("grad", "delta")


def formula(*rules: str) -> Callable[[Formula], Formula]:
    """Register a formula for all declared forms of update rules (`Adam`: `ApplyAdam`...)."""

    def register(function: Formula) -> Formula:
        for rule in rules:
            for form in ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply"):
                declared = OPERATIONS.get(form + rule)
                if declared is not None:
                    _register(declared, function)
        return function

    return register


def _register(declared: Operation, function: Formula) -> None:
    names = [arg.name for arg in declared.inputs]
    variables = [arg.name for arg in declared.inputs if arg.is_ref or arg.dtype == "resource"]
    gradient = next(name for name in names if name in _GRADIENTS)
    others = {*variables, gradient, "indices"}
    numbers_of = {name: number for number, name in enumerate(names)}
    places = {name: number for name, number in numbers_of.items() if name not in others}
    held = tuple(numbers_of[name] for name in variables)
    slope, rows = numbers_of[gradient], numbers_of.get("indices")

    def bind(bind: Bind) -> KernelFunction:
        attrs = {name: value for name, value in bind.attrs.items() if isinstance(value, bool)}
        step = DenseStep(
            function,
            variables,
            gradient,
            held,
            slope,
            places,
            attrs,
            bind.xp,
            bool(declared.outputs),
        )
        if rows is None:
            return step

        def compute(*inputs: Any) -> object:
            buffers = [_buffer(inputs[number]) for number in held]
            numbers = step.numbers([inputs[number] for number in places.values()])
            _train_rows(numbers, function, variables, buffers, inputs[slope], inputs[rows])
            return inputs[held[0]] if declared.outputs else None

        return compute

    bind.__module__ = function.__module__
    hosted = tuple(name for name in variables if not declared.outputs)
    binder(declared.name, devices=declared.devices, host_inputs=hosted)(bind)


@dataclass(frozen=True, slots=True, eq=False)
class DenseStep:
    """The kernel of a step for a variable and its slots.

    Attributes:
      formula: the formula.
      variables: the names of the inputs that the variable and its slots are.
      gradient: the name of the gradient.
      held: the numbers of the inputs that the variable and its slots are.
      slope: the number of the gradient.
      scalars: the numbers of the scalar inputs, by name.
      attrs: the attributes that the formula looks at.
      xp: the array module.
      is_given_back: whether the operation has the variable as its output.

    """

    formula: Formula
    variables: Sequence[str]
    gradient: str
    held: tuple[int, ...]
    slope: int
    scalars: Mapping[str, int]
    attrs: Mapping[str, bool]
    xp: ArrayModule
    is_given_back: bool

    def __call__(self, *inputs: Any) -> object:
        """Update the variable; takes the inputs of the operation."""
        held = [inputs[number] for number in self.held]
        self.update(held, [inputs[number] for number in self.scalars.values()], inputs[self.slope])
        return held[0] if self.is_given_back else None

    def update(
        self, held: Sequence[Handle | VariableBuffer], scalars: Sequence[Array], grad: Array
    ) -> None:
        """Update the variable and slots that are held, by scalars in the order of their names."""
        buffers = [_buffer(given) for given in held]
        numbers = self.numbers(scalars)
        _train(numbers, self.formula, self.variables, buffers, self.gradient, grad)

    def train(self, scalars: Sequence[Array], grad: Array, arrays: Sequence[Array]) -> None:
        """Apply the formula to arrays, which have the shape of the gradient."""
        _apply(self.numbers(scalars), self.formula, grad, arrays)

    def numbers(self, scalars: Sequence[Array]) -> Numbers:
        """The numbers of the formula.

        Raises:
          InvalidArgument: one of them is no scalar.

        """
        numbers = Numbers(xp=self.xp, **self.attrs)
        for name, value in zip(self.scalars, scalars, strict=True):
            if value.ndim:
                spoken = _SPOKEN.get(name, name)
                raise InvalidArgument(f"{spoken} is not a scalar: {_shape(value)}")
            setattr(numbers, name, value)
        return numbers


def _buffer(given: Handle | VariableBuffer) -> VariableBuffer:
    return given.find(Internal) if isinstance(given, Handle) else given


def _shape(array: Array) -> str:
    return "[" + ",".join(map(str, array.shape)) + "]"


def _update(
    names: Sequence[str],
    buffers: Sequence[VariableBuffer],
    check: Callable[[tuple[int, ...]], None],
    update: Callable[[Sequence[Array]], None],
) -> None:
    """Update the arrays of variables, which no other operation sees meanwhile.

    Args:
      names: the names of the inputs that the variables are.
      buffers: the variables, the trained one first; one may come twice.
      check: refuses the other inputs; called with the shape of the variables.
      update: changes the arrays of the variables in place.

    """
    locked = sorted(set(buffers), key=id)
    for buffer in locked:
        buffer.lock.acquire()
    arrays: list[Array] = []
    try:
        check(_shape_of_all(names, buffers))
        arrays.extend(map(written, locked))
        update([arrays[locked.index(buffer)] for buffer in buffers])
    finally:
        for buffer, array in zip(locked, arrays, strict=False):
            buffer.value = frozen(array)
        for buffer in locked:
            buffer.lock.release()


def _shape_of_all(names: Sequence[str], buffers: Sequence[VariableBuffer]) -> tuple[int, ...]:
    """The shape of these variables; refuses those without a value, or of another shape."""
    first: tuple[int, ...] = buffers[0].read().shape
    for name, buffer in zip(names[1:], buffers[1:], strict=True):
        shape = buffer.read().shape
        if shape != first:
            raise InvalidArgument(
                f"var and {name} do not have the same shape{bracketed(first)} {bracketed(shape)}"
            )
    return first


def _train(
    h: Numbers,
    function: Formula,
    names: Sequence[str],
    buffers: Sequence[VariableBuffer],
    name: str,
    grad: Array,
) -> None:
    """Apply the formula to the variables without conversion."""

    def check(shape: tuple[int, ...]) -> None:
        if shape != grad.shape:
            raise InvalidArgument(
                f"var and {name} do not have the same shape{bracketed(shape)} {_shape(grad)}"
            )

    _update(names, buffers, check, lambda arrays: _apply(h, function, grad, arrays))


def _apply(h: Numbers, function: Formula, grad: Array, arrays: Sequence[Array]) -> None:
    """Apply the formula to arrays of the gradient's shape, to large ones block by block."""
    h.one, h.zero = _one_and_zero(arrays[0].dtype)
    if h.xp is not HOST or grad.size <= _BLOCK:
        _call(h, function, grad, arrays)
        return
    steps, *flat = (array.reshape(-1) for array in (grad, *arrays))

    def update(starts: Sequence[int]) -> None:
        for start in starts:
            part = slice(start, start + _BLOCK)
            _call(h, function, steps[part], [array[part] for array in flat])

    starts = grouped(range(0, grad.size, _BLOCK))
    shared_out(update, starts, None if grad.size >= _SHARED else 0)


@functools.cache
def _one_and_zero(dtype: DType) -> tuple[Any, Any]:
    """The numbers 1 and 0 of a dtype."""
    return dtype.type(1), dtype.type(0)


def _call(h: Numbers, function: Formula, grad: Array, arrays: Sequence[Array]) -> None:
    """Apply the formula to the arrays; many float16 are computed in single precision."""
    if h.xp is not HOST and fused.update(h, function, grad, arrays):
        return
    if h.xp is not HOST or grad.size < _MANY or grad.dtype != "float16":
        function(h, grad, *arrays)
        return
    held = [Halves.of(array) for array in arrays]
    function(h, Halves.of(grad), *held)
    for array, halves in zip(arrays, held, strict=True):
        array[...] = halves.halves()


def _train_rows(
    h: Numbers,
    function: Formula,
    names: Sequence[str],
    buffers: Sequence[VariableBuffer],
    grad: Array,
    indices: Array,
) -> None:
    """Apply the formula to rows of the variables."""

    def update(arrays: Sequence[Array]) -> None:
        h.one, h.zero = _one_and_zero(arrays[0].dtype)
        for positions in _rounds(h.xp, indices, max(1, _BLOCK // max(1, grad[:1].size))):
            rows = indices[positions]
            parts = [array[rows] for array in arrays]
            _call(h, function, grad[positions], parts)
            for array, part in zip(arrays, parts, strict=True):
                array[rows] = part

    _update(names, buffers, lambda shape: _check_rows(h.xp, shape, grad, indices), update)


def _check_rows(xp: ArrayModule, shape: Sequence[int], grad: Array, indices: Array) -> None:
    if not shape:
        raise InvalidArgument("var must be at least 1 dimensional")
    require_rank(1, indices=indices)
    if grad.ndim != len(shape):
        raise InvalidArgument(
            f"var and grad must have as many dimensions: {len(shape)}, not {grad.ndim}"
        )
    for axis, (variable_size, gradient_size) in enumerate(zip(shape, grad.shape, strict=True)):
        if axis and variable_size != gradient_size:
            raise InvalidArgument(f"var and grad must match in dimension {axis}")
    if grad.shape[0] != indices.shape[0]:
        raise InvalidArgument("grad must be the same size as indices in the first dimension.")
    if 0 in shape[1:]:
        raise InvalidArgument("Inner dimension should be greater than zero.")
    wrong = (indices < 0) | (indices >= shape[0])
    if bool(xp.any(wrong)):
        position = int(xp.argmax(wrong))
        raise InvalidArgument(
            f"Index {int(indices[position])} at offset {position} in indices is out of range"
        )


def _rounds(xp: ArrayModule, indices: Array, most: int) -> Iterator[Array | slice]:
    """Positions in the indices, at most so many at a time, whose indices are distinct.

    Equal indices come in different rounds, in their order.
    """
    count = indices.shape[0]
    order = xp.argsort(indices, kind="stable")
    ordered = indices[order]
    begins = xp.ones(count, dtype="bool")
    begins[1:] = ordered[1:] != ordered[:-1]
    nth = xp.arange(count)
    if bool(xp.all(begins)):
        for start in range(0, count, most):
            yield slice(start, start + most)
        return
    nth = nth - xp.maximum.accumulate(xp.where(begins, nth, 0))
    turn = 0
    while True:
        positions = order[nth == turn]
        if not positions.shape[0]:
            return
        for start in range(0, positions.shape[0], most):
            yield positions[start : start + most]
        turn += 1
