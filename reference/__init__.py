"""The reference runtime: a namespace that behaves like `tensorflow.compat.v1`.

    import sessrun.reference as tf

The public names are put together in `namespace.py`; heavy groups (`tf.train`, `tf.keras`, ...)
are imported when first used.
"""

from __future__ import annotations

import importlib as _importlib
import sys as _sys
from typing import Any as _Any

from sessrun.reference import namespace as _namespace

_namespace.assemble(_sys.modules[__name__])


def __dir__() -> list[str]:
    """The names that are here, and those that come when they are asked for."""
    return sorted({*globals(), *_namespace.promised(_sys.modules[__name__])})


def __getattr__(name: str) -> _Any:
    """A group that is imported when first asked for."""
    if name in _namespace.LAZY:
        try:
            return _importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    return _namespace.kept(_sys.modules[__name__], name)
