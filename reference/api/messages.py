"""The protocol buffers that have public names: GraphDef, ConfigProto, RunMetadata ..."""

from __future__ import annotations

from typing import Final

from sessrun.reference.public import public
from sessrun.spec import proto

#: In the namespace these are enumerations of Python.
_ENUMERATIONS: Final = frozenset({"VariableAggregation", "VariableSynchronization"})

for _name in proto.__all__:
    if _name not in _ENUMERATIONS:
        public(_name)(getattr(proto, _name))
