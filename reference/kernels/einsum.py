"""The kernel of sums of products over named dimensions (Einstein's convention).

Two tensors are brought into the form of batched matrices: dimensions that only one has and
the result lacks are summed first; then come shared dimensions, free ones, and those summed over.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.attribute_text import attribute_text
from sessrun.reference.kernels.elementwise import widened
from sessrun.reference.kernels.products import product
from sessrun.reference.kernels.registry import kernel

#: The label of a dimension: a letter, or its number from the end of the ellipsis.
Label = str | int
#: The labels of all dimensions of a tensor.
Labels = list[Label]


def _labels(text: str, rank: int) -> Labels:
    """The label of each dimension of an operand.

    Raises:
      KernelError: the operand has another rank.

    """
    before, dots, behind = text.partition("...")
    hidden = rank - len(before) - len(behind)
    if hidden < 0 or (hidden and not dots):
        raise InvalidArgument(
            f"Expected input to have rank {len(before) + len(behind)} but got: {rank}"
        )
    return [*before, *range(hidden - 1, -1, -1), *behind]


def _parsed(equation: str, inputs: Sequence[Array]) -> tuple[list[Labels], Labels]:
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


def _sizes(inputs: Sequence[Array], names: list[Labels]) -> dict[Label, int]:
    """The size of each dimension; those of the ellipsis broadcast.

    Raises:
      KernelError: two sizes of one name differ.

    """
    sizes: dict[Label, int] = {}
    for x, labels in zip(inputs, names, strict=True):
        for name, size in zip(labels, x.shape, strict=True):
            known = sizes.setdefault(name, size)
            if known == size:
                continue
            if not isinstance(name, int) or 1 not in {known, size}:
                raise InvalidArgument(f"Expected dimension {known} of label {name!r}, got {size}")
            sizes[name] = size if known == 1 else known
    return sizes


def _alone(xp: ArrayModule, x: Array, labels: Labels, kept: set[Label]) -> tuple[Array, Labels]:
    """One operand with the diagonals of repeated labels, summed over labels that are not kept."""
    for name in sorted({label for label in labels if labels.count(label) > 1}, key=str):
        while labels.count(name) > 1:
            first = labels.index(name)
            second = labels.index(name, first + 1)
            x = xp.diagonal(x, axis1=first, axis2=second)  # the diagonal comes last
            labels = [label for axis, label in enumerate(labels) if axis not in {first, second}]
            labels.append(name)
    summed = tuple(axis for axis, name in enumerate(labels) if name not in kept)
    if summed:
        x = xp.sum(x, axis=summed, dtype=x.dtype)
    return x, [name for name in labels if name in kept]


def _moved(xp: ArrayModule, x: Array, labels: Labels, wanted: Labels) -> Array:
    """The operand transposed to the wanted labels; a missing label becomes a size of 1."""
    x = xp.transpose(x, [labels.index(name) for name in wanted if name in labels])
    shape = iter(x.shape)
    return x.reshape([next(shape) if name in labels else 1 for name in wanted])


def _product(
    xp: ArrayModule,
    pair: Sequence[Array],
    names: list[Labels],
    result: Labels,
    sizes: dict[Label, int],
) -> tuple[Array, Labels]:
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
    products = product(
        xp,
        left.reshape((*left.shape[:count], rows, depth)),
        right.reshape((*right.shape[:count], depth, columns)),
    )
    ends = [sizes[name] for name in (*free[0], *free[1])]
    return products.reshape((*products.shape[:count], *ends)), [*batch, *free[0], *free[1]]


def _spread(
    xp: ArrayModule, x: Array, labels: Labels, result: Labels, sizes: dict[Label, int]
) -> Array:
    """The result's dimensions in order; a repeated label makes a diagonal, zero elsewhere."""
    once = list(dict.fromkeys(result))
    x = xp.transpose(x, [labels.index(name) for name in once])
    if len(once) == len(result):
        return x
    spread = xp.zeros([sizes[name] for name in result], dtype=x.dtype)
    indices = []
    for name in result:
        shape = [sizes[name] if label == name else 1 for label in once]
        indices.append(xp.arange(sizes[name]).reshape(shape))
    spread[tuple(indices)] = x
    return spread


@kernel("Einsum")
@widened
def einsum(xp: ArrayModule, *inputs: Array, equation: str) -> Array:
    """The sum of products that an equation of one or two inputs describes.

    Raises:
      KernelError: the inputs do not fit the equation.

    """
    names, result = _parsed(attribute_text(equation), inputs)
    sizes = _sizes(inputs, names)
    operands = []
    for number, (x, labels) in enumerate(zip(inputs, names, strict=True)):
        others = {name for other in (*names[:number], *names[number + 1 :]) for name in other}
        operands.append(_alone(xp, x, labels, {*result, *others}))
    if len(operands) == 1:
        value, labels = operands[0]
    else:
        pair, listed = zip(*operands, strict=True)
        value, labels = _product(xp, pair, list(listed), result, sizes)
        value, labels = _alone(xp, value, labels, set(result))
    return _spread(xp, value, labels, result, sizes)
