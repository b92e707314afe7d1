"""Shape rules of lists of tensors: a list is a scalar; what is known of elements is passed on."""

from __future__ import annotations

from sessrun.spec.rules.shapes.base import Shape, ShapeError, at_least, merge, ranked, rule

__all__: list[str] = []


def _check(known: str | None, dtype: str) -> None:
    """The elements of a list have the dtype that an operation says, if it is known at all."""
    if known not in {None, dtype}:
        raise ShapeError(f"wrong element dtype: the list has {known}, not {dtype}")


@rule
def list_of(element: Shape) -> list[Shape]:
    """A list of elements of this shape."""
    del element
    return [()]


@rule
def list_of_rows(tensor: Shape, element: Shape) -> list[Shape]:
    """A list of the rows of a tensor; that it has none is found when it runs."""
    merge(tensor[1:] if tensor else None, element)
    return [()]


@rule
def list_of_pieces(tensor: Shape, element: Shape) -> list[Shape]:
    """A list of pieces of a tensor, each of its rank."""
    rows = at_least(tensor, 1)
    merge(None if rows is None else (None, *rows[1:]), element)
    return [()]


@rule
def list_after(known: str | None, dtype: str) -> list[Shape]:
    """A list with one element more."""
    _check(known, dtype)
    return [()]


@rule
def concatenated_lists(
    first: Shape,
    second: Shape,
    first_element: Shape,
    second_element: Shape,
    first_known: str | None,
    second_known: str | None,
    dtype: str,
) -> list[Shape]:
    """A list, as the two are, whose elements fit one another."""
    _check(first_known, dtype)
    _check(second_known, dtype)
    merge(first_element, second_element)
    return [merge(first, second)]


@rule
def list_with(element: Shape, item: Shape, known: str | None, dtype: str) -> list[Shape]:
    """A list in which an element was put."""
    _check(known, dtype)
    merge(element, item)
    return [()]


@rule
def element_of(list_element: Shape, element: Shape, known: str | None, dtype: str) -> list[Shape]:
    """An element, of what the list and an input say of its shape."""
    _check(known, dtype)
    return [merge(list_element, element)]


@rule
def popped_element(
    list_element: Shape, element: Shape, known: str | None, dtype: str
) -> list[Shape]:
    """The list without an element, and the element."""
    _check(known, dtype)
    return [(), merge(list_element, element)]


@rule
def stacked_elements(
    list_element: Shape, element: Shape, known: str | None, dtype: str, count: int
) -> list[Shape]:
    """So many elements along a new axis; as many as there are if the number is negative."""
    _check(known, dtype)
    inner = merge(list_element, element)
    return [None if inner is None else (None if count < 0 else count, *inner)]


@rule
def gathered_items(
    indices: Shape, list_element: Shape, element: Shape, known: str | None, dtype: str
) -> list[Shape]:
    """An element for each index."""
    _check(known, dtype)
    places, inner = ranked(indices, 1, 1), merge(list_element, element)
    return [None if inner is None else (None if places is None else places[0], *inner)]


@rule
def concatenated_items(
    list_element: Shape, element: Shape, known: str | None, dtype: str
) -> list[Shape]:
    """Elements joined along their first axis, and the size of each."""
    _check(known, dtype)
    dims = merge(list_element, element)
    return [None if not dims else (None, *dims[1:]), (None,)]


@rule
def shape_of_elements(list_element: Shape) -> list[Shape]:
    """A vector of as many sizes as elements have axes, if that is known."""
    return [None if list_element is None else (len(list_element),)]
