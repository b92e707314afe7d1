"""Functions with the arguments of others in another order, some of them fixed.

TensorFlow's modules have the forms of version 1 and of version 2 side by side; most build the same
graph.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

__all__ = ["in_order"]

_REQUIRED: Final = inspect.Parameter.empty
_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


def in_order(
    name: str,
    older: Callable[..., Any],
    order: str,
    fixed: Mapping[str, Any] = _NONE,
    defaults: Mapping[str, Any] = _NONE,
) -> Callable[..., Any]:
    """The older function with arguments in this order.

    It raises TypeError for a missing or an unknown argument.

    Args:
      name: the name of the newer one.
      older: the function that is called.
      order: the names of the arguments, with spaces between; one with a star is needed.
      fixed: what the older function is always given besides.
      defaults: of arguments that have none in the older function, or another one.

    """
    known = inspect.signature(older).parameters
    parameters = []
    for argument in order.split():
        plain = argument.removesuffix("*")
        default = defaults.get(plain, known[plain].default)
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        wanted = _REQUIRED if argument.endswith("*") else default
        parameters.append(inspect.Parameter(plain, kind, default=wanted))
    form = inspect.Signature(parameters)
    # What the older function needs and the newer one has by another name.
    unsaid = {
        key: None
        for key, parameter in known.items()
        if parameter.default is _REQUIRED and key not in form.parameters and key not in fixed
    }

    def newer(*values: Any, **arguments: Any) -> Any:
        bound = form.bind(*values, **arguments)
        bound.apply_defaults()
        return older(**unsaid, **fixed, **bound.arguments)

    newer.__name__ = name
    newer.__doc__ = older.__doc__
    newer.__signature__ = form  # type: ignore[attr-defined]  # what `inspect` asks for
    return newer
