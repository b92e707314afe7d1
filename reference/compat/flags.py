"""Flags of the command line (`tf.flags`): those of absl, parsed when the first value is read.

The functions that define flags take TensorFlow's older argument names, too.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final

from absl import flags as _flags

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.base.log_messages import get_logger

__all__ = list(_flags.__all__)  # the module is absl's, but for the names defined here
globals().update({name: getattr(_flags, name) for name in __all__})
_flags.disclaim_key_flags()  # a flag belongs to the module that defines it, not to this one

#: The older names of the arguments.
_OLDER: Final = {"flag_name": "name", "default_value": "default", "docstring": "help"}


def _with_older_names(define: Callable[..., object]) -> Callable[..., object]:
    @functools.wraps(define)
    def defined(*args: Any, **kwargs: Any) -> object:
        older = [name for name in kwargs if name in _OLDER]
        if older:
            get_logger().warning(
                "Use of the keyword argument names %s is deprecated, use %s instead.",
                older,
                [_OLDER[name] for name in older],
                stacklevel=2,
            )
        return define(*args, **{_OLDER.get(name, name): value for name, value in kwargs.items()})

    return defined


class _ParsedOnDemand:
    """The values of the flags; reading the first one parses the command line."""

    def __init__(self, values: _flags.FlagValues) -> None:
        self.__dict__["_values"] = values

    def __getattribute__(self, name: str) -> Any:
        if name == "__dict__":
            return super().__getattribute__(name)
        return self.__dict__["_values"].__getattribute__(name)  # a method: nothing is parsed

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__["_values"]
        if not values.is_parsed():
            values(sys.argv)
        return getattr(values, name)

    def __setattr__(self, name: str, value: TensorLike) -> None:
        setattr(self.__dict__["_values"], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.__dict__["_values"], name)

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["_values"])

    def __getitem__(self, name: str) -> Any:
        return self.__dict__["_values"][name]

    def __setitem__(self, name: str, flag: Any) -> None:
        self.__dict__["_values"][name] = flag

    def __len__(self) -> int:
        return len(self.__dict__["_values"])

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__["_values"])

    def __str__(self) -> str:
        return str(self.__dict__["_values"])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__dict__["_values"](*args, **kwargs)


DEFINE_string = _with_older_names(_flags.DEFINE_string)
DEFINE_boolean = _with_older_names(_flags.DEFINE_boolean)
DEFINE_bool = DEFINE_boolean
DEFINE_float = _with_older_names(_flags.DEFINE_float)
DEFINE_integer = _with_older_names(_flags.DEFINE_integer)
FLAGS: Any = _ParsedOnDemand(_flags.FLAGS)
