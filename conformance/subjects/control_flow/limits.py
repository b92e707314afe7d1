"""Loops of `tf.while_loop` with limits: drawn as expressions of an API case, and counted."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from sessrun.spec.forms import Json, JsonObject

__all__ = ["Limits", "call"]

_PARALLEL: Final = (1, 2, 10, 32)
_MOST: Final = (None, None, 0, 1, 2, 3, 7, -1)


def call(function: str, *args: Json, **kwargs: Json) -> JsonObject:
    """An expression that calls a function of the namespace, or of a bound name."""
    return {"$call": function, "args": list(args), "kwargs": kwargs}


def _function(parameter: str, returns: Json) -> JsonObject:
    return {"$fn": {"params": [parameter], "returns": returns}}


@dataclass(frozen=True, slots=True)
class Limits:
    """A loop that counts from 0 to a bound, perhaps with another inside of it, under limits.

    Attributes:
      bound: the condition holds as long as the count is below it; the inner loop's is fed.
      most: `maximum_iterations`; None if it is not given.
      as_tensor: whether that is given as a tensor.
      parallel: `parallel_iterations`.
      inner: the loop inside; it reads nothing that this loop changes.

    """

    bound: int
    most: int | None
    as_tensor: bool
    parallel: int
    inner: Limits | None

    @classmethod
    def drawn(cls, draw: random.Random, depth: int = 0) -> Limits:
        """Draw a loop, with at most three nested in one another."""
        inner = cls.drawn(draw, depth + 1) if depth < 2 and draw.random() < 0.5 else None
        return cls(
            draw.choice((0, 1, 2, 3, 4, -2)),
            draw.choice(_MOST),
            draw.random() < 0.3,
            draw.choice(_PARALLEL),
            inner,
        )

    @property
    def iterations(self) -> int:
        """How many iterations the loop makes, each time that it begins."""
        times = max(self.bound, 0)
        return times if self.most is None else min(times, max(self.most, 0))

    @property
    def innermost(self) -> int:
        """How often the innermost body is executed in all."""
        return self.iterations * (1 if self.inner is None else self.inner.innermost)

    def expression(self, variable: str, name: str = "i") -> JsonObject:
        """An expression of the loop; it gives the last count, and bodies add one to a variable."""
        count = {"$": name}
        if self.inner is None:
            effect = call(f"{variable}.assign_add", 1, use_locking=True)
        else:
            effect = self.inner.expression(variable, name + "i")
        # One, but the effect is needed for it.
        one = call("tf.maximum", 1, call("tf.minimum", 1, effect))
        following = call("tf.add", count, one)
        kwargs: dict[str, Json] = {"parallel_iterations": self.parallel}
        if self.most is not None:
            most = self.most
            kwargs["maximum_iterations"] = call("tf.constant", most) if self.as_tensor else most
        less = call("tf.less", count, self.bound)
        return call(
            "tf.while_loop", _function(name, less), _function(name, following), [0], **kwargs
        )
