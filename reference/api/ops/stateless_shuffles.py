"""Shuffles that a seed determines: `random.experimental.index_shuffle`, `stateless_shuffle`.

Source: TF 2.21.
"""

from __future__ import annotations

from typing import Final

from sessrun.reference.api.ops.array_ops import pad
from sessrun.reference.api.ops.cast_ops import one
from sessrun.reference.api.ops.stateless_ops import AlgorithmLike, key_inputs
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.raw_wrappers import wrapper
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

#: The first of three seeds, if two are given.
_FIRST_SEED: Final = 498247692


@public("random.experimental.index_shuffle")
def index_shuffle(index: TensorLike, seed: TensorLike, max_index: TensorLike) -> Tensor:
    """The position of an index in a random permutation of 0 to `max_index`.

    Args:
      index: an integer from 0 to `max_index`, or a vector of them.
      seed: two integers.
      max_index: the largest index, or a vector of them.

    """
    seeds = convert_to_tensor(seed)
    rest = 0 if seeds.shape.rank is None else seeds.shape.rank - 1
    three = pad(seeds, [[1, 0]] + rest * [[0, 0]], constant_values=_FIRST_SEED)
    shuffled: Tensor = wrapper("RandomIndexShuffle")(
        index=index, seed=three, max_index=max_index, rounds=4
    )
    return shuffled


@public("random.experimental.stateless_shuffle")
def stateless_shuffle(
    value: TensorLike, seed: TensorLike, alg: AlgorithmLike = "auto_select", name: str | None = None
) -> Tensor:
    """The rows in random order, equal for equal seeds.

    Args:
      value: a tensor of rank 1 or more.
      seed: two integers.
      alg: `philox`, `auto_select` or an `Algorithm`.
      name: the name of the scope.

    """
    with name_scope(name, "stateless_shuffle", [value, seed]):
        return one("StatelessShuffle", {"value": value, **key_inputs(seed, alg)})
