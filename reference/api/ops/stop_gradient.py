"""`tf.stop_gradient`, also of sparse and ragged tensors and IndexedSlices."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api import nest
from sessrun.reference.build import generated
from sessrun.reference.build.composites import CompositeTensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.public import public

__all__ = ["stop_gradient"]


@public("stop_gradient")
def stop_gradient(input: TensorLike | CompositeTensor, name: str | None = None) -> Any:  # noqa: A002 - TensorFlow's name
    """The input, through which no gradient flows.

    Args:
      input: a tensor, a sparse or ragged one, or IndexedSlices.
      name: the operation's name in the graph.

    """
    if not nest.is_nested_or_composite(input) or nest.is_nested(input):
        return generated.stop_gradient(input, name)
    return nest.map_structure(
        lambda part: generated.stop_gradient(part, name), input, expand_composites=True
    )
