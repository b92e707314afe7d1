"""The seeds of random operations: the graph's and the operation's own."""

from __future__ import annotations

from typing import Any, Final

from sessrun.reference import stacks

__all__ = ["DEFAULT_GRAPH_SEED", "get_seed", "set_random_seed"]

#: The graph seed of an operation that has a seed in a graph that has none.
DEFAULT_GRAPH_SEED: Final = 87654321
_MODULUS: Final = 2**31 - 1


def set_random_seed(seed: Any) -> None:
    """Set the default graph's seed; None for none."""
    stacks.get_default_graph().seed = seed


def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """The two seeds of a random operation that is about to be made in the default graph.

    With a graph seed alone, the second counts the operations that were given seeds this way, so
    that a program gets the same numbers each time; with neither both are None: seeds by chance.
    (0, 0), which would mean that too, becomes (0, 2**31 - 1).
    """
    graph = stacks.get_default_graph()
    if graph.seed is None and op_seed is None:
        return None, None
    first = DEFAULT_GRAPH_SEED if graph.seed is None else graph.seed
    second = graph.next_seed() if op_seed is None else op_seed
    seeds = first % _MODULUS, second % _MODULUS
    return (0, _MODULUS) if seeds == (0, 0) else seeds
