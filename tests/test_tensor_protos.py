"""Constants' messages: what a reader makes of them is what the reference makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from sessrun import reference as tf
from sessrun.spec.dtypes import DTYPES, DTypeRow
from sessrun.spec.proto import TensorProto
from sessrun.spec.tensor_protos import array_of
from sessrun.spec.tensors import TensorError

HELD = [row for row in DTYPES if row.numpy is not None]


def values(row: DTypeRow, shape: tuple[int, ...]) -> np.ndarray:
    count = int(np.prod(shape))
    if row.kind == "string":
        array = np.empty(count, object)
        array[:] = [bytes([65 + n % 26]) * (n % 3) for n in range(count)]
        return array.reshape(shape)
    small = np.arange(count) % 2
    plain = row.numpy if row.kind != "quantized" else np.dtype(row.numpy)[0]
    return small.astype(plain).view(np.dtype(row.numpy)).reshape(shape)


@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0, 2)], ids=str)
@pytest.mark.parametrize("row", HELD, ids=lambda row: row.name)
def test_what_is_written_is_read(row: DTypeRow, shape: tuple[int, ...]) -> None:
    array = values(row, shape)
    read = array_of(tf.make_tensor_proto(array))
    assert (read.dtype, read.shape) == (array.dtype, shape)
    assert read.tolist() == array.tolist()


def test_a_short_list_repeats_its_last_element() -> None:
    tensor = TensorProto(dtype=1, float_val=[1, 2])
    tensor.tensor_shape.dim.add(size=4)
    assert array_of(tensor).tolist() == [1, 2, 2, 2]
    tensor.float_val.extend([3, 4, 5])
    assert array_of(tensor).tolist() == [1, 2, 3, 4], "what is beyond the shape is left out"
    del tensor.float_val[:]
    assert array_of(tensor).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("tensor", "sizes", "said"),
    [
        (TensorProto(dtype=20), (), "no array has dtype resource"),
        (TensorProto(dtype=99), (), "no array has dtype 99"),
        (TensorProto(dtype=1), (-1,), "cannot be made"),
        (TensorProto(dtype=1), (2**31,), "cannot be made"),
        (TensorProto(dtype=1, tensor_content=b"12345"), (1,), "its content is not that"),
        (TensorProto(dtype=7, tensor_content=b"\1a"), (1,), "its content is not that"),
        (TensorProto(dtype=10, tensor_content=b"\2"), (1,), "its content is not that of a bool"),
    ],
)
def test_what_is_no_tensor_is_told(tensor: TensorProto, sizes: tuple[int, ...], said: str) -> None:
    for size in sizes:
        tensor.tensor_shape.dim.add(size=size)
    with pytest.raises(TensorError, match=said):
        array_of(tensor)
