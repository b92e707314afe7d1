"""What comes from scipy, and from cupy's copy of it on a GPU: special functions, factorizations.

They are imported when the first such kernel is bound: it takes a tenth of a second.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Final

from sessrun.reference.base.kernel_errors import Unimplemented
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.products import one_thread

__all__ = [
    "MODULES",
    "linear_algebra",
    "numbers_unmoved",
    "singular_raises",
    "special_functions",
]

#: By the array module's name, the module of its special functions.
MODULES: Final = {"numpy": "scipy.special", "cupy": "cupyx.scipy.special"}


def special_functions(xp: Any) -> Any:
    """The module of an array module's special functions.

    Raises:
      KernelError: UNIMPLEMENTED: none is known for it.

    """
    name = MODULES.get(xp.__name__)
    if name is None:
        raise Unimplemented(f"No special functions are known for arrays of {xp.__name__}")
    return importlib.import_module(name)


@functools.cache
def linear_algebra() -> Any:
    """Scipy's linear algebra of arrays in host memory; its BLAS is held to one thread."""
    module = importlib.import_module("scipy.linalg")
    one_thread()
    return module


def singular_raises(xp: Any) -> AbstractContextManager[None]:
    """Within it a singular matrix raises LinAlgError on a GPU too, which is waited for."""
    if xp is HOST:
        return nullcontext()
    cupyx = importlib.import_module("cupyx")
    manager: AbstractContextManager[None] = cupyx.errstate(linalg="raise")
    return manager


@contextmanager
def numbers_unmoved() -> Iterator[None]:
    """Within it numpy's global random numbers are always the same ones, after it as before it.

    Scipy estimates norms by such numbers: a program's own must not depend on that, nor what a run
    gives on the program's.
    """
    kept = HOST.random.get_state()
    HOST.random.seed(0)
    try:
        yield
    finally:
        HOST.random.set_state(kept)
