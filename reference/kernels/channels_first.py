"""Windows over images and volumes whose channels come first, `NCHW` and `NCDHW`.

TensorFlow's own CPU kernels refuse these formats; oneDNN's take float32, those of GPUs all dtypes.
Here the kernel of the other format computes between two transpositions.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Final, cast

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.attributes import AttrValues
from sessrun.reference.kernels.host import ints
from sessrun.reference.kernels.registry import Attrs, Bind, KernelFunction

__all__ = ["any_format"]

_Binder = Callable[[Bind], KernelFunction]
#: Attributes that hold one number, or two, for every dimension.
_PER_DIMENSION: Final = ("dilations", "explicit_paddings", "ksize", "strides")


def any_format(inputs: str, output: str = "x") -> Callable[[_Binder], _Binder]:
    """Let a binder of channels that come last serve those that come first.

    Args:
      inputs: a letter for each input: `x` images, `s` a vector with a number for each dimension,
        `-` anything else.
      output: what the output is, `x` or `-`.

    """

    def serve(bound: _Binder) -> _Binder:
        @functools.wraps(bound)
        def bind_either(bind: Bind) -> KernelFunction:
            form = bind.attrs.get("data_format")
            if form not in {"NCHW", "NCDHW"}:
                return bound(bind)
            last = [0, *range(2, len(form)), 1]
            compute = cast(
                "Callable[..., Array]",
                bound(dataclasses.replace(bind, attrs=_attrs(bind.attrs, last))),
            )
            back = [0, len(form) - 1, *range(1, len(form) - 1)]

            def turned(*values: Array) -> Array:
                given = [
                    _given(value, kind, last) for value, kind in zip(values, inputs, strict=True)
                ]
                result = compute(*given)
                if output != "x":
                    return result
                return bind.xp.ascontiguousarray(result.transpose(back))

            return turned

        return bind_either

    return serve


def _attrs(attrs: Attrs, last: Sequence[int]) -> AttrValues:
    """The attributes, with their numbers in the order of channels that come last."""
    turned = dict(attrs)
    turned["data_format"] = "NHWC" if len(last) == 4 else "NDHWC"
    for name in _PER_DIMENSION:
        values = list(attrs.get(name) or ())
        per_dimension = len(values) // len(last)
        if values and len(values) == per_dimension * len(last):
            turned[name] = [
                value for axis in last for value in values[axis * per_dimension :][:per_dimension]
            ]
    return turned


def _given(value: Array, kind: str, last: Sequence[int]) -> Array:
    """An input with channels last, if it has a size or number for every dimension."""
    if kind == "x" and value.ndim == len(last):
        return value.transpose(last)
    if kind == "s" and len(ints(value)) == len(last):
        return value[list(last)]
    return value
