"""`tf.einsum`: sums of products over labelled dimensions of any number of tensors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

#: The label of an ellipsis while an equation is parsed.
_DOTS: Final = "0"
#: The assumed size of an unknown dimension when an order is chosen.
_UNKNOWN: Final = 1


@public("einsum", "linalg.einsum")
def einsum(equation: str, *inputs: TensorLike, **kwargs: Any) -> Tensor:
    """Einstein summation: sums of products over labelled dimensions.

    Args:
      equation: letters for the dimensions of each input, then `->` and letters for those of the
        result; without `->` these are the letters that occur once, in alphabetical order. `...`
        stands for dimensions that are broadcast.
      *inputs: tensors of one dtype.
      **kwargs: `name`, the operations' scope; `optimize`, how the order of more than two inputs is
        chosen, as `numpy.einsum_path` names it.

    Returns:
      A tensor of the inputs' dtype.

    Raises:
      TypeError: there are other keyword arguments than `name` and `optimize`.
      ValueError: the equation is ill-formed, or the inputs do not fit it.

    """
    name = kwargs.pop("name", None)
    optimize = kwargs.pop("optimize", "greedy")
    if kwargs:
        raise TypeError(
            f"Invalid keyword arguments for einsum: {', '.join(kwargs)}. Valid "
            "arguments: name, optimize, greedy."
        )
    with name_scope(name, "einsum", [equation, inputs]):
        shapes = [_dimensions(operand) for operand in inputs]
        parts, result = _parsed(equation, len(shapes))
        if len(inputs) <= 2:
            return _contract(inputs, parts, result)
        sizes = _sizes(parts, shapes, equation)
        return _contract_in_order(list(inputs), parts, result, sizes, optimize)


def _dimensions(value: Any) -> list[int | None] | None:
    known = value.shape
    if isinstance(known, TensorShape):
        return None if known.rank is None else known.as_list()
    return list(known)


def _contract(operands: Sequence[TensorLike], parts: Sequence[str], result: str) -> Tensor:
    equation = f"{','.join(parts)}->{result}".replace(_DOTS, "...")
    op = apply_op("Einsum", {"inputs": list(operands)}, {"equation": equation}, None)
    return op.outputs[0]


def _parsed(equation: str, count: int) -> tuple[list[str], str]:
    """The labels of each input and of the result, with an ellipsis as one label."""
    text = equation.replace(" ", "")
    has_dots = "..." in equation
    if has_dots and _DOTS in text:
        raise bad_value(f'Invalid character "{_DOTS}" in equation: {equation}.')
    text = text.replace("...", _DOTS)
    allowed = "a-zA-Z" + (_DOTS if has_dots else "")
    match = re.fullmatch(f"([{allowed},]*)(->[{allowed}]*)?", text)
    if match is None:
        raise bad_value(f"Subscripts have incorrect format: {text}")
    parts = match[1].split(",")
    if len(parts) != count:
        raise bad_value(f'Got {count} inputs for equation "{equation}", expecting {len(parts)}')
    if match[2] is None:
        counts = Counter(match[1].replace(",", ""))
        result = "".join(sorted(name for name in counts if counts[name] == 1))
    else:
        result = match[2][2:]
    for name in result:
        if result.count(name) > 1:
            raise bad_value(
                f"Output subscripts contain a label appearing more than once: {equation}"
            )
        if name != _DOTS and name not in match[1]:
            raise bad_value(
                f"Output subscripts contain the label {name} not present in the input subscripts."
            )
    return parts, result


def _sizes(
    parts: Sequence[str], shapes: Sequence[list[int | None] | None], equation: str
) -> dict[str, int]:
    """The size of each label: of an ellipsis the product of its sizes, of an unknown one 1."""
    sizes = dict.fromkeys("".join(parts), _UNKNOWN)
    for index, (labels, shape) in enumerate(zip(parts, shapes, strict=True)):
        if shape is None:
            continue
        known = list(shape)
        start = labels.find(_DOTS)
        if start >= 0:
            if start != labels.rfind(_DOTS):
                raise bad_value(f"Too many ellipses in input label {labels.replace(_DOTS, '...')}.")
            if len(labels) > len(known) + 1:
                raise bad_value(
                    f"Too many named labels in {index}th subscript string of equation "
                    f"{equation} for input shape {shape} "
                )
            end = start + len(known) + 1 - len(labels)
            hidden = [size for size in known[start:end] if size]
            known[start:end] = [int(np.prod(hidden, dtype=np.int64))]
        elif len(labels) != len(known):
            raise bad_value(
                f"Number of named labels in input #{index} of equation {equation} must "
                f"be equal to the number of dimensions in shape {shape}"
            )
        for size, name in zip(known, labels, strict=True):
            sizes[name] = max(sizes[name], size or _UNKNOWN)
    return sizes


def _contract_in_order(
    operands: list[Any],
    parts: list[str],
    result: str,
    sizes: Mapping[str, int],
    optimize: Any,
) -> Tensor:
    """Contract two operands at a time, in an order that keeps intermediate results small."""
    letters = {name: chr(ord("A") + index) for index, name in enumerate(sizes)}
    plain = ["".join(letters[name] for name in part) for part in parts]
    equation = f"{','.join(plain)}->{''.join(letters[name] for name in result)}"
    like = [np.broadcast_to(np.float32(0), [sizes[name] for name in part]) for part in parts]
    path = np.einsum_path(equation, *like, optimize=optimize)[0][1:]
    for indices in path:
        chosen = sorted(indices, reverse=True)
        picked = [(operands.pop(index), parts.pop(index)) for index in chosen]
        others = "".join(parts) + result
        for step, (operand, labels) in enumerate(picked[1:], start=1):
            first, first_labels = picked[0]
            used_later = others + "".join(text for _, text in picked[step + 1 :])
            is_last = not parts and step == len(picked) - 1
            both = dict.fromkeys(first_labels + labels)
            kept = result if is_last else "".join(name for name in both if name in used_later)
            picked[0] = _contract([first, operand], [first_labels, labels], kept), kept
        operands.append(picked[0][0])
        parts.append(picked[0][1])
    contracted: Tensor = operands[0]
    return contracted
