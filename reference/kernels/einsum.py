"""The kernel of sums of products over named dimensions (Einstein's convention).

Two tensors are brought into the form of a batch of matrix products: what only one of them has and
the result has not is summed before, then come shared dimensions, free ones, and those summed over.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.attribute_text import attribute_text
from sessrun.reference.kernels.elementwise import widened
from sessrun.reference.kernels.products import product
from sessrun.reference.kernels.registry import kernel

__all__: list[str] = []

#: The names of dimensions: a letter, or a number counted from the end of the ellipsis.
Labels = list[Any]


def _labels(text: str, rank: int) -> Labels:
    """The name of each dimension of an operand.

    Raises:
      KernelError: it has another rank.

    """
    before, dots, behind = text.partition("...")
    hidden = rank - len(before) - len(behind)
    if hidden < 0 or (hidden and not dots):
        raise InvalidArgument(
            f"Expected input to have rank {len(before) + len(behind)} but got: {rank}"
        )
    return [*before, *range(hidden - 1, -1, -1), *behind]


def _parsed(equation: str, inputs: Sequence[Any]) -> tuple[list[Labels], Labels]:
    left, arrow, right = equation.replace(" ", "").partition("->")
    parts = left.split(",")
    if not arrow or len(parts) != len(inputs) or len(inputs) > 2:
        raise InvalidArgument(
            f"Expected an equation of {len(inputs)} inputs, at most 2: {equation}"
        )
    names = [_labels(part, x.ndim) for part, x in zip(parts, inputs, strict=True)]
    hidden = max(sum(isinstance(name, int) for name in labels) for labels in names)
    before, dots, behind = right.partition("...")
    if hidden and not dots:
        raise InvalidArgument(
            f"Output subscripts must have an ellipsis: the inputs' stands for {hidden} dimensions"
        )
    return names, [*before, *range(hidden - 1, -1, -1), *behind]


def _sizes(inputs: Sequence[Any], names: list[Labels]) -> dict[Any, int]:
    """The size of each dimension; those of the ellipsis broadcast.

    Raises:
      KernelError: two sizes of one name differ.

    """
    found: dict[Any, int] = {}
    for x, labels in zip(inputs, names, strict=True):
        for name, size in zip(labels, x.shape, strict=True):
            known = found.setdefault(name, size)
            if known == size:
                continue
            if not isinstance(name, int) or 1 not in {known, size}:
                raise InvalidArgument(f"Expected dimension {known} of label {name!r}, got {size}")
            found[name] = size if known == 1 else known
    return found


def _alone(xp: Any, x: Any, labels: Labels, kept: set[Any]) -> tuple[Any, Labels]:
    """One operand with diagonals taken of repeated names, and summed over what is not kept."""
    for name in sorted({each for each in labels if labels.count(each) > 1}, key=str):
        while labels.count(name) > 1:
            first = labels.index(name)
            second = labels.index(name, first + 1)
            x = xp.diagonal(x, axis1=first, axis2=second)  # the diagonal comes last
            labels = [each for place, each in enumerate(labels) if place not in {first, second}]
            labels.append(name)
    summed = tuple(place for place, name in enumerate(labels) if name not in kept)
    if summed:
        x = xp.sum(x, axis=summed, dtype=x.dtype)
    return x, [name for name in labels if name in kept]


def _moved(xp: Any, x: Any, labels: Labels, wanted: Labels) -> Any:
    """The dimensions in another order; a name that is lacking is a dimension of size 1."""
    x = xp.transpose(x, [labels.index(name) for name in wanted if name in labels])
    shape = iter(x.shape)
    return x.reshape([next(shape) if name in labels else 1 for name in wanted])


def _product(
    xp: Any, pair: Sequence[Any], names: list[Labels], result: Labels, sizes: dict[Any, int]
) -> tuple[Any, Labels]:
    """The product of two operands as a batch of matrices."""
    both = [name for name in names[0] if name in names[1]]
    hidden = [name for name in dict.fromkeys(names[0] + names[1]) if isinstance(name, int)]
    batch = [*hidden, *(name for name in both if name in result and name not in hidden)]
    inner = [name for name in both if name not in result and name not in hidden]
    free = [
        [name for name in labels if name not in both and name not in hidden] for labels in names
    ]
    left = _moved(xp, pair[0], names[0], [*batch, *free[0], *inner])
    right = _moved(xp, pair[1], names[1], [*batch, *inner, *free[1]])
    rows, depth, columns = (
        math.prod(sizes[name] for name in part) for part in (free[0], inner, free[1])
    )
    count = len(batch)
    found = product(
        xp,
        left.reshape((*left.shape[:count], rows, depth)),
        right.reshape((*right.shape[:count], depth, columns)),
    )
    ends = [sizes[name] for name in (*free[0], *free[1])]
    return found.reshape((*found.shape[:count], *ends)), [*batch, *free[0], *free[1]]


def _spread(xp: Any, x: Any, labels: Labels, result: Labels, sizes: dict[Any, int]) -> Any:
    """The result's dimensions in order; a repeated name makes a diagonal in zeros."""
    once = list(dict.fromkeys(result))
    x = xp.transpose(x, [labels.index(name) for name in once])
    if len(once) == len(result):
        return x
    whole = xp.zeros([sizes[name] for name in result], dtype=x.dtype)
    places = []
    for name in result:
        shape = [sizes[name] if each == name else 1 for each in once]
        places.append(xp.arange(sizes[name]).reshape(shape))
    whole[tuple(places)] = x
    return whole


@kernel("Einsum")
@widened
def einsum(xp: Any, *inputs: Any, equation: Any) -> Any:
    """The sum of products that an equation of one or two inputs says.

    Raises:
      KernelError: the inputs do not fit the equation.

    """
    names, result = _parsed(attribute_text(equation), inputs)
    sizes = _sizes(inputs, names)
    operands = []
    for place, (x, labels) in enumerate(zip(inputs, names, strict=True)):
        others = {name for other in (*names[:place], *names[place + 1 :]) for name in other}
        operands.append(_alone(xp, x, labels, {*result, *others}))
    if len(operands) == 1:
        value, labels = operands[0]
    else:
        pair, listed = zip(*operands, strict=True)
        value, labels = _product(xp, pair, list(listed), result, sizes)
        value, labels = _alone(xp, value, labels, set(result))
    return _spread(xp, value, labels, result, sizes)
