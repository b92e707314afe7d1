"""The seeds of random operations: the graph's and the operation's own."""

from __future__ import annotations

import threading
from typing import Final

from sessrun.reference.graph import default_graph
from sessrun.reference.public import public

__all__ = [
    "DEFAULT_GRAPH_SEED",
    "disable_op_determinism",
    "enable_op_determinism",
    "get_seed",
    "is_op_determinism_enabled",
    "set_random_seed",
]

#: The graph seed of an operation that has a seed in a graph that has none.
DEFAULT_GRAPH_SEED: Final = 87654321
_MODULUS: Final = 2**31 - 1
_WITHOUT_CHANCE: Final = threading.Event()


def enable_op_determinism() -> None:
    """From now on refuse random operations without a seed; all others give the same anyway."""
    _WITHOUT_CHANCE.set()


def disable_op_determinism() -> None:
    """Let random operations have seeds by chance, as at first."""
    _WITHOUT_CHANCE.clear()


def is_op_determinism_enabled() -> bool:
    """Whether random operations must have a seed."""
    return _WITHOUT_CHANCE.is_set()


@public("random.set_random_seed", "set_random_seed")
def set_random_seed(seed: int | None) -> None:
    """Set the default graph's seed; None for none."""
    default_graph.get_default_graph().seed = seed


@public("get_seed", "random.get_seed")
def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """The two seeds of a random operation that is about to be created in the default graph.

    With a graph seed alone, the second counts the operations that were given seeds this way, so
    that a program gets the same numbers every time; with neither both are None: seeds by chance.
    (0, 0), which would mean that too, becomes (0, 2**31 - 1).

    Raises:
      RuntimeError: there is no seed, and random seeds were forbidden.

    """
    graph = default_graph.get_default_graph()
    if graph.seed is None and op_seed is None:
        if is_op_determinism_enabled():
            raise RuntimeError(
                "Random ops require a seed to be set when determinism is enabled: set one before "
                "the operation is made, by tf.set_random_seed(1), for example."
            )
        return None, None
    first = DEFAULT_GRAPH_SEED if graph.seed is None else graph.seed
    second = graph.next_seed() if op_seed is None else op_seed
    seeds = first % _MODULUS, second % _MODULUS
    return (0, _MODULUS) if seeds == (0, 0) else seeds
