"""Random graph building on the API surface: names in scopes, static shapes; against the oracle."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import Final

from sessrun.conformance.authoring.record import ApiAuthor, Symbol
from sessrun.conformance.property import prop
from sessrun.spec.cases.model import Case

_NAMES: Final = ("a", "b", "add", "layer", "layer_1", "x", "A")
_NAMING: Final = ("GRAPH-007", "GRAPH-010", "GRAPH-011", "GRAPH-012", "GRAPH-013", "GRAPH-014")


@dataclass(frozen=True, slots=True)
class _Scope:
    """A name scope: what enters it again, and the names that were given in it."""

    symbol: Symbol | None
    operations: set[str | None] = field(default_factory=set)
    scopes: set[str | None] = field(default_factory=set)

    def clause_of_operation(self, name: str | None) -> str:
        """The name that an operation gets in this scope, if this name is given."""
        if name in self.scopes:
            return "GRAPH-014"
        return "GRAPH-007" if name in self.operations or self.symbol is None else "GRAPH-010"

    def clause_of_scope(self, name: str) -> str:
        """The name that a scope gets within this one, if this name is given."""
        if name in self.operations:
            return "GRAPH-014"
        return "GRAPH-011" if name in self.scopes else "GRAPH-010"


class _Scopes:
    """Draws operations and scopes, and asks for the name of each."""

    def __init__(self, c: ApiAuthor, draw: random.Random) -> None:
        self.c, self.draw = c, draw
        self.root = _Scope(None)
        self.entered: list[_Scope] = []

    def build(self, scope: _Scope, depth: int = 0) -> None:
        """Some operations and some scopes with more of the same inside."""
        for _ in range(self.draw.randint(1, 4)):
            if self.draw.random() < 0.6 or depth >= 3:
                self._operation(scope)
            else:
                self._scope(scope, depth)

    def _operation(self, scope: _Scope) -> None:
        tf, name = self.c.tf, self.draw.choice((*_NAMES, None))
        constant = self.draw.random() < 0.5
        built = tf.constant(1.0, name=name) if constant else tf.no_op(name=name)
        self.c.against_oracle(built.name)
        self.c.blame(scope.clause_of_operation(name))
        scope.operations.add(name)

    def _scope(self, scope: _Scope, depth: int) -> None:
        if self.entered and self.draw.random() < 0.3:
            again = self.draw.choice(self.entered)
            with self.c.within(self.c.tf.name_scope(again.symbol)) as inside:
                self.c.against_oracle(inside)
                self.c.blame("GRAPH-012")
                self.build(again, depth + 1)
            return
        name = self.draw.choice((*_NAMES, None))
        with self.c.within(self.c.tf.name_scope(name)) as inside:
            self.c.against_oracle(inside)
            if name is None:
                self.c.blame("GRAPH-013")
                self.build(self.root, depth + 1)
                return
            self.c.blame(scope.clause_of_scope(name))
            scope.scopes.add(name)
            within = _Scope(inside)
            self.entered.append(within)
            self.build(within, depth + 1)


@prop("graph-names", *_NAMING)
def graph_names(draw: random.Random, id_: str) -> Case:
    """Operations made in random nested and re-entered name scopes get the oracle's names."""
    c = ApiAuthor()
    scopes = _Scopes(c, draw)
    scopes.build(scopes.root)
    return c.case(id_, "Names in nested and re-entered scopes are unique in one way.")


def _dims(draw: random.Random, shape: tuple[int, ...]) -> list[int | None] | None:
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
                c.tf.reduce_sum(x, axis, keepdims=keep),
                shape[:axis] + gone + shape[axis + 1 :],
            )
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
        tensor, its = _grow(c, draw, tensors)
        tensors.append((tensor, its))
        c.against_oracle(tensor.shape.ndims)
        # `dims` of an unknown rank is None; its text is the same list of numbers on every engine.
        c.against_oracle(c.expr("$str", tensor.shape.dims))
    title = "Static shapes follow from what is known of the inputs."
    return c.case(id_, title, ("GRAPH-093",))
