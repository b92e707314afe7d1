"""Special functions and factorizations from scipy, and from cupyx on a GPU.

They are imported when the first such kernel is bound, which takes a tenth of a second.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import ModuleType
from typing import Final, cast

from sessrun.reference.base.arrays import ArrayModule
from sessrun.reference.base.kernel_errors import Unimplemented
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.products import one_thread

__all__ = [
    "MODULES",
    "fixed_random_state",
    "linear_algebra",
    "singular_raises",
    "special_functions",
]

#: By the array module's name, the module of its special functions.
MODULES: Final = {"numpy": "scipy.special", "cupy": "cupyx.scipy.special"}


def special_functions(xp: ArrayModule) -> ArrayModule:
    """The module of an array module's special functions.

    Raises:
      KernelError: UNIMPLEMENTED: the array module lacks the function.

    """
    name = MODULES.get(xp.__name__)
    if name is None:
        raise Unimplemented(f"No special functions are known for arrays of {xp.__name__}")
    return cast("ArrayModule", importlib.import_module(name))


@functools.cache
def linear_algebra() -> ModuleType:
    """Scipy's linear algebra of arrays in host memory, with BLAS limited to one thread."""
    module = importlib.import_module("scipy.linalg")
    one_thread()
    return module


def singular_raises(xp: ArrayModule) -> AbstractContextManager[None]:
    """A context in which a singular matrix raises LinAlgError on a GPU as on a CPU.

    A kernel in it waits for the GPU.
    """
    if xp is HOST:
        return nullcontext()
    cupyx = importlib.import_module("cupyx")
    manager: AbstractContextManager[None] = cupyx.errstate(linalg="raise")
    return manager


@contextmanager
def fixed_random_state() -> Iterator[None]:
    """A context in which numpy's global generator has a fixed state, which is restored afterwards.

    Scipy estimates norms with numbers of that generator, which a program may use and seed, too: its
    numbers must not depend on a run, nor the results of a run on its seed.
    """
    kept = HOST.random.get_state()
    HOST.random.seed(0)
    try:
        yield
    finally:
        HOST.random.set_state(kept)
