"""Drawn inputs of summary operations, and a model of what the summaries must hold.

The model counts and adds up one value after the other, as the clauses SUMMARIES say.
"""

from __future__ import annotations

import bisect
import random
import struct
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.proto import TensorProto, TensorShapeProto
from sessrun.spec.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata

__all__ = ["KINDS", "NUMBERS", "Drawn", "Refused"]

#: What numbers may be of.
NUMBERS: Final = (
    "float32",
    "float64",
    "int32",
    "uint8",
    "int16",
    "int8",
    "int64",
    "bfloat16",
    "uint16",
    "float16",
    "uint32",
    "uint64",
)
_GREATEST: Final = float(np.finfo(np.float64).max)
_FULL: Final = 32768


class Refused(Exception):  # noqa: N818 - not an error of ours: what an engine must answer
    """The model's refusal: a run of this operation fails with code 3."""


#: From a source of chance and a dtype, inputs by name; and from these, the values of a Summary.
Drawn = tuple[
    Callable[[random.Random, str], dict[str, np.ndarray]],
    Callable[[dict[str, np.ndarray]], list[Summary.Value]],
]


def _limits() -> list[float]:
    above = []
    limit = 1e-12
    while limit < 1e20:
        above.append(limit)
        limit *= 1.1
    above.append(_GREATEST)
    return [*(-bound for bound in reversed(above)), 0.0, *above]


_LIMITS: Final = _limits()


def numbers(draw: random.Random, dtype: str, shape: Sequence[int]) -> np.ndarray:
    """Numbers of a dtype: small ones, great ones, the limits of buckets, rarely none at all."""
    kind = np.dtype(BY_NAME[dtype].numpy)
    count = int(np.prod(shape))
    items: Sequence[float]
    if BY_NAME[dtype].kind in {"int", "uint"} or kind.kind in "iu":
        bounds = np.iinfo(kind)
        low, high = max(bounds.min, -(2**62)), min(bounds.max, 2**63)
        items = [
            draw.choice((draw.randint(low, high), draw.randint(0, 9), low, high))
            for _ in range(count)
        ]
    else:
        wide = 280 if dtype == "float64" else 30 if dtype != "float16" else 4
        items = [_real(draw, wide) for _ in range(count)]
        if draw.random() < 0.08 and items:
            items[draw.randrange(count)] = draw.choice((np.nan, np.inf, -np.inf))
    with np.errstate(over="ignore"):
        return np.array(items).astype(kind).reshape(shape)


def _real(draw: random.Random, wide: int) -> float:
    match draw.randrange(4):
        case 0:
            return draw.gauss(0.0, 1.0)
        case 1:
            return draw.choice((0.0, -0.0, 1.0, -1.0, 0.5))
        case 2 if wide > 4:
            return draw.choice(_LIMITS[100:-100])
    # No number so small that float32 has it subnormal: TensorFlow makes it zero.
    return draw.choice((1, -1)) * draw.uniform(1, 10) * 10.0 ** draw.randint(-min(wide, 30), wide)


def _shape(draw: random.Random) -> list[int]:
    return [
        draw.randint(0, 5) if draw.random() < 0.2 else draw.randint(1, 5)
        for _ in range(draw.randint(0, 3))
    ]


def _words(items: Sequence[bytes], shape: Sequence[int]) -> np.ndarray:
    held = np.empty(len(items), object)
    held[:] = items
    return held.reshape(shape)


def _tag(draw: random.Random) -> bytes:
    if draw.random() < 0.95:
        return b"tag%d" % draw.randint(0, 9999)
    return draw.choice((b"a", b"b", b"c/d", b"e f", "é".encode(), b""))


def _scalar_inputs(draw: random.Random, dtype: str) -> dict[str, np.ndarray]:
    shape = _shape(draw)[:2]
    count = int(np.prod(shape))
    tags = _words([_tag(draw) for _ in range(count)], shape)
    if draw.random() < 0.1:
        shape = [*shape, 1]
    return {"tags": tags, "values": numbers(draw, dtype, shape)}


def _scalars(given: dict[str, np.ndarray]) -> list[Summary.Value]:
    tags, values = given["tags"], given["values"]
    if tags.shape != values.shape:
        raise Refused
    with np.errstate(over="ignore"):
        items = values.astype(np.float32).reshape(-1).tolist()
    pairs = zip(tags.reshape(-1).tolist(), items, strict=True)
    return [Summary.Value(tag=tag.decode(), simple_value=item) for tag, item in pairs]


def _histogram_inputs(draw: random.Random, dtype: str) -> dict[str, np.ndarray]:
    return {"tag": _words([_tag(draw)], []), "values": numbers(draw, dtype, _shape(draw))}


def _histogram(given: dict[str, np.ndarray]) -> list[Summary.Value]:
    counts = [0] * len(_LIMITS)
    least, greatest, total, squares = _GREATEST, -_GREATEST, 0.0, 0.0
    items = given["values"].astype(np.float64).reshape(-1).tolist()
    for item in items:
        if not np.isfinite(item):
            raise Refused
        counts[bisect.bisect_right(_LIMITS, item)] += 1
        least = min(least, item)
        greatest = max(greatest, item)
        total += item
        squares += item * item
    histo = HistogramProto(
        min=least, max=greatest, num=float(len(items)), sum=total, sum_squares=squares
    )
    for bucket, count in enumerate(counts):
        if not count and bucket + 1 < len(counts) and not counts[bucket + 1]:
            continue
        histo.bucket_limit.append(_LIMITS[bucket])
        histo.bucket.append(count)
    return [Summary.Value(tag=given["tag"].item().decode(), histo=histo)]


def _tensor_inputs(draw: random.Random, dtype: str) -> dict[str, np.ndarray]:
    shape = _shape(draw)
    metadata = SummaryMetadata(display_name=draw.choice(("", "shown")))
    if draw.random() < 0.5:
        metadata.plugin_data.plugin_name = "plug-in"
        metadata.plugin_data.content = draw.randbytes(3)
    if dtype == "string":
        items = [draw.randbytes(draw.randint(0, 4)) for _ in range(int(np.prod(shape)))]
        tensor = _words(items, shape)
    else:
        tensor = numbers(draw, dtype, shape)
    encoded = _words([metadata.SerializeToString()], [])
    return {"tag": _words([_tag(draw)], []), "tensor": tensor, "metadata": encoded}


def _tensor(given: dict[str, np.ndarray]) -> list[Summary.Value]:
    tensor = given["tensor"]
    dims = [TensorShapeProto.Dim(size=size) for size in tensor.shape]
    held = TensorProto(tensor_shape=TensorShapeProto(dim=dims))
    if tensor.dtype == object:
        held.dtype = BY_NAME["string"].enum  # type: ignore[assignment]  # a number of the enumeration
        held.string_val.extend(tensor.reshape(-1).tolist())
    else:
        row = next(row for row in BY_NAME.values() if tensor.dtype == row.numpy)
        held.dtype = row.enum  # type: ignore[assignment]  # as above
        held.tensor_content = tensor.tobytes()
    metadata = SummaryMetadata.FromString(given["metadata"].item())
    return [Summary.Value(tag=given["tag"].item().decode(), tensor=held, metadata=metadata)]


def _sound_inputs(draw: random.Random, dtype: str) -> dict[str, np.ndarray]:
    del dtype
    shape = [draw.randint(0, 5), draw.randint(0, 6), draw.randint(1, 3)]
    if draw.random() < 0.5:
        shape.pop()
    if draw.random() < 0.06:
        shape = shape[:1] if draw.random() < 0.5 else [1, 1, 1, 1]
    items = [_sample(draw) for _ in range(int(np.prod(shape)))]
    rate = draw.choice((8000.0, 44100.0, draw.uniform(0.01, 5), draw.randint(1, 9) + 0.5, 1e6))
    if draw.random() < 0.06:
        rate = draw.choice((0.0, -3.5))
    sound = np.array(items, np.float32).reshape(shape)
    return {"tag": _words([_tag(draw)], []), "sound": sound, "rate": np.array(rate, np.float32)}


def _sample(draw: random.Random) -> float:
    step = draw.randint(-_FULL - 2, _FULL + 2)
    return draw.choice((draw.uniform(-1.2, 1.2), step / _FULL, (step + 0.5) / _FULL, 0.0))


def _sounds(given: dict[str, np.ndarray]) -> list[Summary.Value]:
    sound, rate = given["sound"], float(given["rate"])
    if sound.ndim not in {2, 3} or not rate > 0:
        raise Refused
    frames = sound if sound.ndim > 2 else sound[:, :, None]
    tag = given["tag"].item().decode()
    return [
        Summary.Value(
            tag=f"{tag}/audio/{index}",
            audio=Summary.Audio(
                sample_rate=rate,
                length_frames=frame.shape[0],
                num_channels=frame.shape[1],
                encoded_audio_string=_wav(frame, max(1, round(rate))),
                content_type="audio/wav",
            ),
        )
        for index, frame in enumerate(frames[:3])
    ]


def _wav(frames: np.ndarray, rate: int) -> bytes:
    samples = [_rounded(item * _FULL) for item in frames.reshape(-1).tolist()]
    data = struct.pack(f"<{len(samples)}h", *samples)
    width = 2 * frames.shape[1]
    head = struct.pack("<IHHIIHH", 16, 1, frames.shape[1], rate, rate * width, width, 16)
    size = struct.pack("<I", 36 + len(data))
    return b"RIFF" + size + b"WAVEfmt " + head + b"data" + struct.pack("<I", len(data)) + data


def _rounded(item: float) -> int:
    """The nearest integer, halves away from zero, held to 16 bits."""
    whole = int(abs(item) + 0.5)
    return max(-_FULL, min(_FULL - 1, whole if item > 0 else -whole))


#: By op type, how its inputs are drawn and what it gives.
KINDS: Final[dict[str, Drawn]] = {
    "ScalarSummary": (_scalar_inputs, _scalars),
    "HistogramSummary": (_histogram_inputs, _histogram),
    "TensorSummaryV2": (_tensor_inputs, _tensor),
    "AudioSummaryV2": (_sound_inputs, _sounds),
}
