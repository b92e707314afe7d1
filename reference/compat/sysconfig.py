"""How the runtime was built (`tf.sysconfig`): it is Python, so there is nothing to compile with."""

from __future__ import annotations

import collections
from typing import NoReturn

__all__ = ["get_build_info", "get_compile_flags", "get_include", "get_lib", "get_link_flags"]


def get_build_info() -> collections.OrderedDict[str, str | bool]:
    """What the runtime was built for: none of CUDA, ROCm, TensorRT is compiled in."""
    return collections.OrderedDict(
        is_cuda_build=False, is_rocm_build=False, is_tensorrt_build=False
    )


def _refuse(what: str) -> NoReturn:
    raise NotImplementedError(f"There are no {what}: this runtime is no C++ library.")


def get_include() -> str:
    """Refuse: there are no headers.

    Raises:
      NotImplementedError: always.

    """
    _refuse("C++ headers")


def get_lib() -> str:
    """Refuse: there is no library.

    Raises:
      NotImplementedError: always.

    """
    _refuse("libraries")


def get_compile_flags() -> list[str]:
    """Refuse: there is nothing to compile against.

    Raises:
      NotImplementedError: always.

    """
    _refuse("compiler flags")


def get_link_flags() -> list[str]:
    """Refuse: there is nothing to link.

    Raises:
      NotImplementedError: always.

    """
    _refuse("linker flags")
