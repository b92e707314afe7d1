"""What packages register with those below them: the one place where all of it is imported.

A graph makes operations, a tensor has operators, and some values are known while a graph is built;
how is decided further up. These modules fill `MAKERS`, `OPERATORS`, `EVALUATORS` and the registry
of conversions.
"""

from sessrun.reference.api import overloads
from sessrun.reference.build import node_operations, packing
from sessrun.reference.kernels import constant_folding

__all__ = ["constant_folding", "node_operations", "overloads", "packing"]
