"""What packages register with those below them: the one place where all of it is imported.

A graph makes operations, a tensor has operators, a variable may build branches, and some values are
known while a graph is built; how is decided further up. These modules fill `MAKERS`, `OPERATORS`,
`EVALUATORS` and the registry of conversions.
"""

from sessrun.reference.api import overloads
from sessrun.reference.api.control_flow import conditional
from sessrun.reference.api.variables import variables
from sessrun.reference.build import node_operations, packing
from sessrun.reference.kernels import constant_folding

__all__ = [
    "conditional",
    "constant_folding",
    "node_operations",
    "overloads",
    "packing",
    "variables",
]
