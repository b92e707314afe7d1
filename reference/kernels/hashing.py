"""Kernels of fingerprints, and of buckets by them."""

from __future__ import annotations

import functools
import math
from typing import Final

from sessrun.reference.base import fingerprints
from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel

#: The hash functions, from strings to numbers of 64 bits.
_FINGERPRINTS: Final = {
    "StringToHashBucket": fingerprints.murmur,
    "StringToHashBucketFast": fingerprints.farm,
}


@binder(
    "StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong", devices=("CPU",)
)
def string_to_hash_bucket(bind: Bind) -> KernelFunction:
    """The hash of each string modulo the number of buckets.

    TensorFlow, whose hashes are native code, takes a seventh (short strings) to a tenth (of 200
    bytes) of the time: a step of a hash is a pass of numpy over a word of every string.
    """
    xp, buckets, key = bind.xp, bind.attrs["num_buckets"], bind.attrs.get("key")
    if key is None:
        numbers = _FINGERPRINTS[bind.node.type]
    elif len(key) == 2:
        numbers = functools.partial(fingerprints.sip, tuple(word % 2**64 for word in key))
    else:
        raise InvalidArgument(f"Key must have 2 elements: it has {len(key)}")

    def compute(x: Array) -> Array:
        hashes = numbers(x.reshape(-1).tolist()) % buckets
        return xp.asarray(hashes.astype("int64")).reshape(x.shape)

    return compute


@kernel("Fingerprint", devices=("CPU",))
def fingerprint(xp: ArrayModule, data: Array, method: Array) -> Array:
    """FarmHash's fingerprint of the bytes of each row: uint8 [rows, 8].

    A row of several strings has the fingerprint of their concatenated fingerprints.

    Of strings of a few bytes it takes four times TensorFlow's time, of longer ones twice.
    """
    if data.ndim < 1 or method.ndim:
        raise InvalidArgument(
            "data must have rows, and the method be a scalar: they have "
            f"{data.ndim} and {method.ndim} dimensions"
        )
    if method.item() != b"farmhash64":
        raise InvalidArgument(f"Unsupported method: {method.item().decode(errors='replace')}")
    rows, size = len(data), math.prod(data.shape[1:])
    is_text = data.dtype == object
    texts = data.reshape(-1).tolist() if is_text else []
    if not is_text or size != 1:
        numbers = _bytes_of(texts) if is_text else data
        content, width = numbers.tobytes(), numbers.nbytes // max(rows, 1)
        texts = [content[row * width : (row + 1) * width] for row in range(rows)]
    return xp.asarray(_bytes_of(texts)).reshape(rows, 8)


def _bytes_of(texts: list[bytes]) -> Array:
    """The fingerprints of texts as little-endian bytes: uint8 [8 * texts]."""
    return HOST.asarray(fingerprints.farm(texts).astype("<u8").view("uint8"))
