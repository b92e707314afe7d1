"""Values that an operation without effects refuses, where its definition would give something."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from sessrun.spec.model.values import FailedError

__all__ = ["check_values"]

Inputs = Mapping[str, Any]
#: From inputs and attributes to what is wrong with them, or None.
Check = Callable[[Inputs, Mapping[str, Any]], str | None]


def check_values(op_type: str, inputs: Inputs, attrs: Mapping[str, Any]) -> None:
    """Hold the values of an operation's inputs against what it refuses.

    Raises:
      FailedError: it refuses them.

    """
    code, check = _REFUSALS.get(op_type, ("", None))
    reason = check(inputs, attrs) if check is not None else None
    if reason is not None:
        raise FailedError(code, f"{op_type}: {reason}")


def _zero_divisor(inputs: Inputs, _: Mapping[str, Any]) -> str | None:
    y = inputs["y"]
    is_refused = y.dtype.kind in "iu" and not np.all(y) and inputs["x"].size
    return "an integer is divided by 0" if is_refused else None


def _not_finite(inputs: Inputs, _: Mapping[str, Any]) -> str | None:
    tensor = inputs["tensor"].astype(np.complex128)
    return None if np.isfinite(tensor).all() else "a value is not finite"


def _no_such_row(inputs: Inputs, _: Mapping[str, Any]) -> str | None:
    params, indices = inputs["params"], inputs["indices"]
    axis = int(inputs.get("axis", 0))
    rows = params.shape[axis]
    return _outside(indices, rows)


def _no_such_element(inputs: Inputs, _: Mapping[str, Any]) -> str | None:
    sizes = inputs["params"].shape[: inputs["indices"].shape[-1]]
    return _outside(inputs["indices"], np.array(sizes))


def _no_such_class(inputs: Inputs, _: Mapping[str, Any]) -> str | None:
    return _outside(inputs["labels"], inputs["features"].shape[1])


def _outside(indices: np.ndarray, sizes: int | np.ndarray) -> str | None:
    is_outside = ((indices < 0) | (indices >= sizes)).any()
    return f"an index is not below {sizes}" if is_outside else None


def _past_the_end(inputs: Inputs, _: Mapping[str, Any]) -> str | None:
    begin, size, shape = inputs["begin"], inputs["size"], np.array(inputs["input"].shape)
    sizes = np.where(size == -1, shape - begin, size)
    is_outside = ((begin < 0) | (sizes < 0) | (begin + sizes > shape)).any()
    return "the slice is not within the tensor" if is_outside else None


_BY_ZERO: Final = ("INVALID_ARGUMENT", _zero_divisor)
_TRUNCATED_BY_ZERO: Final = ("INTERNAL", _zero_divisor)
#: For each type the code with which it refuses, and when.
_REFUSALS: Final[Mapping[str, tuple[str, Check]]] = {
    "CheckNumerics": ("INVALID_ARGUMENT", _not_finite),
    "CheckNumericsV2": ("INVALID_ARGUMENT", _not_finite),
    "Div": _BY_ZERO,
    "FloorDiv": _BY_ZERO,
    "FloorMod": _BY_ZERO,
    "Mod": _BY_ZERO,
    "TruncateDiv": _TRUNCATED_BY_ZERO,
    "TruncateMod": _TRUNCATED_BY_ZERO,
    "Gather": ("INVALID_ARGUMENT", _no_such_row),
    "GatherV2": ("INVALID_ARGUMENT", _no_such_row),
    "GatherNd": ("INVALID_ARGUMENT", _no_such_element),
    "Slice": ("INVALID_ARGUMENT", _past_the_end),
    "SparseSoftmaxCrossEntropyWithLogits": ("INVALID_ARGUMENT", _no_such_class),
}
