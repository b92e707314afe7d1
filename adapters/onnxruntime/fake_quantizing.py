"""Numbers rounded to the levels that a quantized network has, in float32 as in TensorFlow."""

from __future__ import annotations

import numpy as np

from sessrun.adapters.onnxruntime.table import SINGLE, Call, translates

__all__: list[str] = []


def _level_numbers(call: Call) -> tuple[np.float32, np.float32]:
    """The numbers of the lowest and the highest level."""
    bits = call.attrs["num_bits"]
    if not 2 <= bits <= 16:
        raise call.invalid(f"num_bits is {bits}")
    return np.float32(call.attrs["narrow_range"]), np.float32((1 << bits) - 1)


@translates("FakeQuantWithMinMaxArgs", kernels=SINGLE)
def _of_attributes(call: Call) -> str:
    """The range is known: a multiplication by how many levels there are in 1."""
    low, high = np.float32(call.attrs["min"]), np.float32(call.attrs["max"])
    if not low < high:
        raise call.invalid(f"min {low} is not below max {high}")
    least, most = _level_numbers(call)
    step = (high - low) / (most - least)
    rounded = np.floor(np.clip(least - low / step, least, most) + np.float32(0.5))
    lowest, highest = (least - rounded) * step, (most - rounded) * step
    many = (most - least) / (high - low)
    zero = np.floor(np.float32(0.5) - lowest * many)
    limits = (call.constant(limit, "float32") for limit in (lowest, highest))
    held = call.emit("Clip", *call.names, *limits)
    levels = call.emit("Sub", held, call.constant(lowest, "float32"))
    levels = call.emit("Mul", levels, call.constant(many, "float32"))
    levels = call.emit("Add", levels, call.constant(np.float32(0.5) - zero, "float32"))
    return call.emit("Mul", call.emit("Floor", levels), call.constant(step, "float32"))


@translates("FakeQuantWithMinMaxVars", kernels=SINGLE)
def _of_scalars(call: Call) -> str:
    """The range is computed: a division by how far levels are apart."""
    x, low, high = call.names
    if call.rank(1) or call.rank(2):
        raise call.invalid("min and max are no scalars")
    least, most = _level_numbers(call)
    first, last, half, one, none = (
        call.constant(number, "float32") for number in (least, most, 0.5, 1, 0)
    )
    step = call.emit("Div", call.emit("Sub", high, low), call.constant(most - least, "float32"))
    apart = call.emit("Where", call.emit("Equal", step, none), one, step)
    exact = call.emit("Sub", first, call.emit("Div", low, apart))
    held = call.emit("Min", call.emit("Max", exact, first), last)
    rounded = call.emit("Floor", call.emit("Add", held, half))
    lowest, highest = (
        call.emit("Mul", call.emit("Sub", end, rounded), step) for end in (first, last)
    )
    many = call.emit("Div", one, apart)
    zero = call.emit("Floor", call.emit("Sub", half, call.emit("Mul", lowest, many)))
    values = call.emit("Max", call.emit("Min", x, highest), lowest)
    levels = call.emit("Div", call.emit("Sub", values, lowest), apart)
    levels = call.emit("Floor", call.emit("Add", levels, call.emit("Sub", half, zero)))
    return call.emit("Mul", levels, step)
