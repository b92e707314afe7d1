"""Shape rules of arrays and stacks of tensors: a handle is a vector of 2, a flow a scalar."""

from __future__ import annotations

from sessrun.spec.rules.shapes.base import Shape, at_least, merge, merge_dims, ranked, rule

__all__: list[str] = []

_HANDLE: Shape = (2,)


@rule
def tensor_array(size: Shape) -> list[Shape]:
    """A handle and a flow; the size is a scalar."""
    ranked(size, 0, 0)
    return [_HANDLE, ()]


@rule
def tensor_array_gradient(handle: Shape) -> list[Shape]:
    """A handle and a flow, from a handle."""
    merge(handle, _HANDLE)
    return [_HANDLE, ()]


def _check(handle: Shape, *scalars: Shape) -> None:
    """The handle is one, and each of the others a scalar."""
    merge(handle, _HANDLE)
    for shape in scalars:
        ranked(shape, 0, 0)


@rule
def written_element(
    handle: Shape, index: Shape, value: Shape, flow: Shape, element: Shape
) -> list[Shape]:
    """A flow; the value has the shape that the array's elements have."""
    _check(handle, index, flow)
    merge(element, value)
    return [()]


@rule
def read_element(handle: Shape, index: Shape, flow: Shape, element: Shape) -> list[Shape]:
    """The shape of the array's elements, as far as that was said when it was made."""
    _check(handle, index, flow)
    return [element]


@rule
def gathered_elements(
    indices: Shape, flow: Shape, element_shape: Shape, element: Shape, dtype: str | None
) -> list[Shape]:
    """A row for each index; an element's shape is what the array said of it, if anything.

    Args:
      indices: shape of the indices.
      flow: shape of the flow.
      element_shape: what the attribute says.
      element: what the array says.
      dtype: the dtype that the array says, None if it says nothing.

    """
    ranked(flow, 0, 0)
    known = ranked(indices, 1, 1)
    inner = element_shape if dtype is None else element
    if inner is None:
        return [None]
    return [((None if known is None else known[0]), *inner)]


@rule
def scattered_elements(
    handle: Shape, indices: Shape, value: Shape, flow: Shape, element: Shape
) -> list[Shape]:
    """A flow; there is an index for each row, and a row has the shape of an element."""
    _check(handle, flow)
    known, rows = ranked(indices, 1, 1), at_least(value, 1)
    if known is not None and rows is not None:
        merge_dims(known[0], rows[0])
    merge(element, None if rows is None else rows[1:])
    return [()]


@rule
def joined_elements(handle: Shape, flow: Shape) -> list[Shape]:
    """Nothing is known of the value, nor of how many lengths there are."""
    _check(handle, flow)
    return [None, (None,)]


@rule
def split_elements(handle: Shape, lengths: Shape, flow: Shape) -> list[Shape]:
    """A flow; the lengths are a vector."""
    _check(handle, flow)
    ranked(lengths, 1, 1)
    return [()]


@rule
def size_of_array(handle: Shape) -> list[Shape]:
    """A scalar."""
    _check(handle)
    return [()]


@rule
def closed_array(handle: Shape) -> list[Shape]:
    """No outputs."""
    _check(handle)
    return []


@rule
def stack() -> list[Shape]:
    """A handle; nothing is asked of the size."""
    return [_HANDLE]


@rule
def popped() -> list[Shape]:
    """Nothing is known of what was put on a stack."""
    return [None]


@rule
def closed_stack(handle: Shape) -> list[Shape]:
    """No outputs; the handle is a vector of 2, as older ones are."""
    merge(handle, _HANDLE)
    return []
