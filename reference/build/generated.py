"""Functions of single operations, as `tensorflow.compat.v1` names them: `squared_difference`.

Each operation whose declaration gives it public names (`python` in `spec/ops/*.toml`) has one here,
named like its op type and made when it is first asked for. `generated.pyi`, which
`python -m sessrun.spec.tables.generate` writes, says its type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.reference.build.raw_wrappers import PublicFunctions
from sessrun.reference.public import PUBLIC

_FUNCTIONS = PUBLIC[__name__] = PublicFunctions(__name__)


def __getattr__(name: str) -> Callable[..., Any]:
    return _FUNCTIONS.called(name)
