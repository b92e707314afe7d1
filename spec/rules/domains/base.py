"""What value domains are made of: the drawing of dtypes, shapes, values and attributes."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.operations import ArgDecl, AttrDecl, Operation
from sessrun.spec.rules.domains.values import draw_value

__all__ = ["DOMAINS", "ORDINARY", "Arguments", "Draw", "Tensors", "domain"]

#: The dtypes that are drawn: those that every full backend computes with.
ORDINARY: Final = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "string",
)

#: How often a rank is drawn, from 0 on.
_RANK_WEIGHTS: Final = (15, 25, 30, 15, 10, 5)
#: No tensor is drawn with more elements.
_MOST_ELEMENTS: Final = 120

#: An input: a tensor, or the tensors of a list.
Tensors = Any


@dataclass(frozen=True, slots=True)
class Arguments:
    """Concrete arguments of an operation.

    Attributes:
      inputs: input name to ndarray, or to a list of ndarrays for a list of tensors.
      attrs: every attribute by name, dtypes by their spec names, shapes as tuples.

    """

    inputs: Mapping[str, Tensors]
    attrs: Mapping[str, Any]


@dataclass(slots=True)
class Draw:
    """One drawing of arguments: the source of chance, and what is fixed so far.

    Attributes:
      operation: whose arguments are drawn.
      random: the only source of chance.
      attrs: attributes drawn so far: at first every dtype, and the defaults of the rest, bools
        and strings of a set at random.

    """

    operation: Operation
    random: random.Random
    attrs: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for attr in self.operation.attrs:
            value = self._attr(attr)
            if value is not None:
                self.attrs[attr.name] = value

    def _attr(self, attr: AttrDecl) -> Any:
        if attr.type == "type":
            ordinary = [d for d in attr.allowed or ORDINARY if d in ORDINARY]
            return self.random.choice(ordinary or list(attr.allowed))
        if attr.type == "bool":
            return self.random.random() < 0.5
        if attr.type == "string" and attr.allowed:
            return self.random.choice(attr.allowed)
        if attr.type == "string" and not attr.has_default:
            return "text"
        return attr.default

    def draw_dtype(self, attr: str, dtypes: Sequence[str]) -> str:
        """Draw the attribute among these dtypes: of them, those that the operation allows."""
        declared = self.operation.attr(attr)
        allowed = [d for d in dtypes if declared is None or d in (declared.allowed or dtypes)]
        self.attrs[attr] = self.random.choice(allowed or list(dtypes))
        chosen: str = self.attrs[attr]
        return chosen

    def dtype(self, name: str) -> str:
        """The dtype of an input, as drawn."""
        arg = self._input(name)
        name_of_dtype: str = arg.dtype or self.attrs[arg.type_attr or ""]
        return name_of_dtype

    def _input(self, name: str) -> ArgDecl:
        return next(arg for arg in self.operation.inputs if arg.name == name)

    def chance(self, probability: float) -> bool:
        """Whether a thing of that probability happens."""
        return self.random.random() < probability

    def rank(self, least: int = 0, most: int = 5) -> int:
        """A rank in [least, most]."""
        ranks = range(least, most + 1)
        return self.random.choices(ranks, [_RANK_WEIGHTS[rank] for rank in ranks])[0]

    def dim(self, least: int = 0, most: int = 6) -> int:
        """The size of one dimension; 0 one time in twelve if it may be."""
        if least == 0 and self.chance(1 / 12):
            return 0
        return self.random.randint(max(least, 1), most)

    def shape(self, least: int = 0, most: int = 5, dim: int = 0) -> tuple[int, ...]:
        """A shape of rank in [least, most], its dimensions at least `dim`."""
        dims: list[int] = []
        room = _MOST_ELEMENTS
        for _ in range(self.rank(least, most)):
            dims.append(min(self.dim(dim), max(room, 1)))
            room //= max(dims[-1], 1)
        return tuple(dims)

    def axis(self, rank: int) -> int:
        """An axis of a tensor of that rank, counted from the front or from the back."""
        return self.random.randrange(-rank, rank)

    def tensor(self, name: str, shape: Sequence[int], style: str = "any") -> np.ndarray:
        """A tensor for an input: values of its dtype in the style (see `values`)."""
        return self.values(self.dtype(name), shape, style)

    def values(self, dtype: str, shape: Sequence[int], style: str = "any") -> np.ndarray:
        """A tensor of that dtype and shape, element by element in the style."""
        count = int(np.prod(shape, dtype=np.int64))
        flat = np.empty(count, dtype=np.dtype(BY_NAME[dtype].numpy))
        for position in range(count):
            flat[position] = draw_value(self.random, dtype, style)
        return flat.reshape(tuple(shape))

    def integers(self, name: str, values: Any) -> np.ndarray:
        """A tensor of given integers for an input of an integer dtype."""
        return np.array(values, dtype=np.dtype(BY_NAME[self.dtype(name)].numpy))

    def arguments(self, **inputs: Tensors) -> Arguments:
        """The arguments: the inputs given, the attributes as they are now."""
        for arg in self.operation.inputs:
            if arg.number_attr is not None:
                self.attrs[arg.number_attr] = len(inputs[arg.name])
        return Arguments(inputs, dict(self.attrs))


DomainFunction = Callable[..., Arguments]

DOMAINS: Final[dict[str, DomainFunction]] = {}


def domain(function: DomainFunction) -> DomainFunction:
    """Register a value domain under its name, without a trailing underscore."""
    name = function.__name__.rstrip("_")
    if name in DOMAINS:
        raise ValueError(f"two domains are called {name}")
    DOMAINS[name] = function
    return function
