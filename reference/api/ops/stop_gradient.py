"""Operations on a tensor that take what is made of several, too: each of them is treated alike."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api import nest
from sessrun.reference.build import generated
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.public import public

__all__ = ["stop_gradient"]


@public("stop_gradient")
def stop_gradient(input: TensorLike, name: str | None = None) -> Any:  # noqa: A002 - TensorFlow's name
    """The input, as a constant in the eyes of gradients.

    Args:
      input: a tensor, or a sparse, ragged or sliced one.
      name: the operation's name in the graph.

    """
    if not nest.is_nested_or_composite(input) or nest.is_nested(input):
        return generated.stop_gradient(input, name)
    return nest.map_structure(
        lambda part: generated.stop_gradient(part, name), input, expand_composites=True
    )
