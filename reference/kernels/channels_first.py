"""Windows over images and volumes whose channels come first, `NCHW` and `NCDHW`.

TensorFlow's own CPU kernels refuse them, those of oneDNN compute float32, and those of GPUs all.
Here the kernels of the other format compute them, between two transpositions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from sessrun.reference.kernels.host import ints
from sessrun.reference.kernels.registry import Bind

__all__ = ["any_format"]

#: Attributes that have a number, or several, for each dimension.
_PER_DIMENSION = ("dilations", "explicit_paddings", "ksize", "strides")


def any_format(inputs: str, output: str = "x") -> Callable[[Any], Any]:
    """Let a binder of channels that come last serve those that come first.

    Args:
      inputs: what each input is: `x` images, `s` a vector of numbers for each dimension of them,
        `-` anything else.
      output: what the output is, `x` or `-`.

    """

    def serve(bound: Callable[[Bind], Callable[..., Any]]) -> Callable[[Bind], Callable[..., Any]]:
        def bind_either(bind: Bind) -> Callable[..., Any]:
            form = bind.attrs.get("data_format")
            if form not in {"NCHW", "NCDHW"}:
                return bound(bind)
            last = [0, *range(2, len(form)), 1]
            compute = bound(dataclasses.replace(bind, attrs=_attrs(bind.attrs, last)))
            back = [0, len(form) - 1, *range(1, len(form) - 1)]

            def turned(*values: Any) -> Any:
                given = [
                    _given(value, kind, last) for value, kind in zip(values, inputs, strict=True)
                ]
                result = compute(*given)
                if output != "x":
                    return result
                return bind.xp.ascontiguousarray(result.transpose(back))

            return turned

        bind_either.__doc__ = bound.__doc__
        return bind_either

    return serve


def _attrs(attrs: Any, last: Sequence[int]) -> dict[str, Any]:
    """The attributes, with their numbers in the order of channels that come last."""
    turned = dict(attrs)
    turned["data_format"] = "NHWC" if len(last) == 4 else "NDHWC"
    for name in _PER_DIMENSION:
        values = list(attrs.get(name) or ())
        each = len(values) // len(last)
        if values and len(values) == each * len(last):
            turned[name] = [value for axis in last for value in values[axis * each :][:each]]
    return turned


def _given(value: Any, kind: str, last: Sequence[int]) -> Any:
    """An input in the order of channels that come last, as far as it has so many dimensions."""
    if kind == "x" and value.ndim == len(last):
        return value.transpose(last)
    if kind == "s" and len(ints(value)) == len(last):
        return value[list(last)]
    return value
