"""Random graph building on the API surface: names in scopes, static shapes; against the oracle."""

from __future__ import annotations

import math
import random
from typing import Any, Final

from sessrun.conformance.authoring.record import ApiAuthor, Symbol
from sessrun.conformance.properties import prop
from sessrun.spec.cases.model import Case

_NAMES: Final = ("a", "b", "add", "layer", "layer_1", "x", "A")
_NAMING: Final = ("GRAPH-007", "GRAPH-010", "GRAPH-011", "GRAPH-012", "GRAPH-013", "GRAPH-014")


def _build(c: ApiAuthor, draw: random.Random, entered: list[Symbol], depth: int) -> None:
    """Some operations and some scopes with more of the same inside."""
    for _ in range(draw.randint(1, 4)):
        choice = draw.random()
        if choice < 0.6 or depth >= 3:
            name = draw.choice((*_NAMES, None))
            constant = draw.random() < 0.5
            made = c.tf.constant(1.0, name=name) if constant else c.tf.no_op(name=name)
            c.against_oracle(made.name)
            continue
        again = entered and draw.random() < 0.3
        scope = draw.choice(entered) if again else draw.choice((*_NAMES, None))
        with c.within(c.tf.name_scope(scope)) as inside:
            c.against_oracle(inside)
            if scope is not None:
                entered.append(inside)
            _build(c, draw, entered, depth + 1)


@prop("graph-names", *_NAMING)
def graph_names(draw: random.Random, id_: str) -> Case:
    """Operations made in random nested and re-entered name scopes get the oracle's names."""
    c = ApiAuthor()
    _build(c, draw, [], 0)
    return c.case(id_, "Names in nested and re-entered scopes are unique in one way.", _NAMING)


def _dims(draw: random.Random, shape: tuple[int, ...]) -> Any:
    """A static shape that this shape has: some dimensions, or the rank, unknown."""
    if draw.random() < 0.15:
        return None
    return [None if draw.random() < 0.3 else n for n in shape]


#: A tensor of the expression and the shape it has when run.
_Sized = tuple[Symbol, tuple[int, ...]]


def _grow(c: ApiAuthor, draw: random.Random, tensors: list[_Sized]) -> _Sized:
    """One more tensor, by an operation whose static shape depends on what is known."""
    x, shape = draw.choice(tensors)
    y = draw.choice([other for other, its in tensors if its == shape])
    rank = len(shape)
    match draw.randrange(7):
        case 0:
            return c.tf.add(x, y), shape
        case 1 if rank:
            keep = draw.random() < 0.5
            axis = draw.randrange(rank)
            gone = (1,) if keep else ()
            return (
                c.tf.reduce_sum(x, axis, keepdims=keep), shape[:axis] + gone + shape[axis + 1 :]
            )  # fmt: skip
        case 2 if rank == 2:
            return c.tf.matmul(x, y, transpose_b=True), (shape[0], shape[0])
        case 3:
            return c.tf.transpose(x), shape[::-1]
        case 4:
            return c.tf.reshape(x, [-1, 1]), (math.prod(shape), 1)
        case 5 if rank:
            axis = draw.randrange(rank)
            doubled = (*shape[:axis], 2 * shape[axis], *shape[axis + 1 :])
            return c.tf.concat([x, y], axis), doubled
    axis = draw.randint(0, rank)
    return c.tf.expand_dims(x, axis), (*shape[:axis], 1, *shape[axis:])


@prop("static-shapes", "GRAPH-093")
def static_shapes(draw: random.Random, id_: str) -> Case:
    """The static shape of a random expression over partly known placeholders is the oracle's."""
    c = ApiAuthor()
    shape = (draw.randint(1, 3), draw.randint(1, 3))
    tensors: list[_Sized] = [
        (c.tf.placeholder(c.tf.float32, _dims(draw, shape)), shape) for _ in range(3)
    ]
    for _ in range(draw.randint(2, 6)):
        made, its = _grow(c, draw, tensors)
        tensors.append((made, its))
        c.against_oracle(made.shape.ndims)
        # `dims` of an unknown rank is None; its text is the same list of numbers on every engine.
        c.against_oracle(c.expr("$str", made.shape.dims))
    title = "Static shapes follow from what is known of the inputs."
    return c.case(id_, title, ("GRAPH-093",))
