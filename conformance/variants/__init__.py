"""Variants: each vector once more as a drawn case, which no table of recorded answers has.

A variant `variant/<vector>:seed:index` asks what its vector asks, of the same clauses: nodes,
variables, queues and scopes have other names, the nodes of a GraphDef stand in another order, what
is fetched too, and data have other values. What is expected stays as the vector has it where only
names and order vary, with the names in it renamed; where values vary it is what the oracle gives.
`spec/variants.toml` declares what of a vector stays, and why.
"""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Iterable, Iterator
from typing import Final

from sessrun.conformance.variants.api_cases import vary_calls
from sessrun.conformance.variants.engine_cases import vary_graphs
from sessrun.spec.cases.model import Case
from sessrun.spec.loader import load_variants

__all__ = ["VARIANT", "has_variants", "variant", "variants_of"]

#: The id of a variant: its vector's, the seed and which of the seed's it is.
VARIANT: Final = re.compile(
    r"variant/(?P<vector>[a-z0-9-]+/[a-z0-9-]+):"
    r"(?P<seed>0|[1-9][0-9]{0,17}):(?P<index>0|[1-9][0-9]{0,17})"
)


def has_variants(vector: Case) -> bool:
    """Whether anything of a vector varies."""
    declared = load_variants().get(vector.id)
    return declared is None or not declared.exempt


def variants_of(vectors: Iterable[Case], seed: int, share: float = 1.0) -> Iterator[Case]:
    """One variant of each of these vectors that has any, or of a share that the seed draws."""
    for vector in vectors:
        drawn = random.Random(f"variants/{vector.id}:{seed}").random() < share
        if drawn and has_variants(vector):
            yield variant(vector, seed, 0)


def variant(vector: Case, seed: int, index: int) -> Case:
    """The variant of a vector with this seed and index."""
    id_ = f"variant/{vector.id}:{seed}:{index}"
    declared = load_variants().get(vector.id)
    kept = frozenset() if declared is None else declared.kept
    draw = random.Random(id_)
    if vector.surface == "engine":
        graphs, steps = vary_graphs(vector, draw, kept)
    else:
        graphs, steps = dict(vector.graphs), vary_calls(vector, draw, kept)
    return dataclasses.replace(vector, id=id_, steps=tuple(steps), graphs=graphs, provenance={})
