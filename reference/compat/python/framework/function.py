"""`tensorflow.python.framework.function`: functions of a GraphDef's library."""

from sessrun.reference.api.functions.defun import DefinedFunction as _DefinedFunction
from sessrun.reference.api.functions.defun import (
    Defun,
    from_library,
    get_extra_args,
    get_extra_inputs,
    get_extra_vars,
)
from sessrun.reference.api.functions.defun import OverloadedFunction as _OverloadedFunction
from sessrun.reference.api.functions.defun import from_definition as _from_definition
from sessrun.reference.api.functions.func_graph import FuncGraph as _FuncGraph

__all__ = [
    "Defun",
    "_DefinedFunction",
    "_FuncGraph",
    "_OverloadedFunction",
    "_from_definition",
    "from_library",
    "get_extra_args",
    "get_extra_inputs",
    "get_extra_vars",
]
