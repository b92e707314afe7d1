"""Where the special functions of mathematics come from: scipy, and cupy's copy of it on a GPU.

They are imported when the first such kernel is bound: it takes a tenth of a second.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

from sessrun.reference.kernels.registry import KernelError

__all__ = ["MODULES", "special_functions"]

#: By the array module's name, the module of its special functions.
MODULES: Final = {"numpy": "scipy.special", "cupy": "cupyx.scipy.special"}


def special_functions(xp: Any) -> Any:
    """The module of an array module's special functions.

    Raises:
      KernelError: UNIMPLEMENTED: none is known for it.

    """
    name = MODULES.get(xp.__name__)
    if name is None:
        raise KernelError(12, f"No special functions are known for arrays of {xp.__name__}")
    return importlib.import_module(name)
