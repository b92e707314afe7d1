"""`tensorflow.python.ops.resource_variable_ops`: what programs do with handles of variables.

Here stands what has no public name; `mirror` finds the rest.
"""

from __future__ import annotations

from sessrun.reference.api.ops.shape_ops import variable_shape
from sessrun.reference.compat.python.module_finder import of_places

__all__ = ["variable_shape"]

__getattr__ = of_places("ops.resource_variable_ops")
