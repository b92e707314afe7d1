"""Vectors of SUMMARIES on the engine surface: what operations write into serialized summaries."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sessrun.conformance.authoring.record import EngineAuthor, SessionAuthor, engine_case
from sessrun.spec.proto import TensorProto, TensorShapeProto
from sessrun.spec.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata

_GREATEST = float(np.finfo(np.float64).max)


def _float32(values: npt.ArrayLike) -> np.ndarray:
    return np.array(values, np.float32)


def _words(*items: bytes) -> np.ndarray:
    held = np.empty(len(items), object)
    held[:] = items
    return held


def _bytes(summary: Summary) -> np.ndarray:
    held = np.empty((), object)
    held[()] = summary.SerializeToString()
    return held


def _numbers(*pairs: tuple[str, float]) -> np.ndarray:
    """The serialized Summary of numbers under tags."""
    values = [Summary.Value(tag=tag, simple_value=number) for tag, number in pairs]
    return _bytes(Summary(value=values))


def _spread(tag: str, **fields: Any) -> np.ndarray:
    """The serialized Summary of a histogram."""
    return _bytes(Summary(value=[Summary.Value(tag=tag, histo=HistogramProto(**fields))]))


def _limits() -> list[float]:
    """The limits above zero but for the last."""
    limits = [1e-12]
    while limits[-1] * 1.1 < 1e20:
        limits.append(limits[-1] * 1.1)
    return limits


def _around(value: float) -> tuple[float, float]:
    """The limits before and after a positive value."""
    limits = _limits()
    index = int(np.searchsorted(limits, value, side="right"))
    return limits[index - 1], limits[index]


def _scalars(c: EngineAuthor, dtype: str = "float32") -> SessionAuthor:
    with c.graph() as tf:
        tags = tf.placeholder(tf.string, None, name="tags")
        values = tf.placeholder(getattr(tf, dtype), None, name="values")
        tf.raw_ops.ScalarSummary(tags=tags, values=values, name="summary")
    return c.open()


def _histogram(c: EngineAuthor, dtype: str = "float64") -> SessionAuthor:
    with c.graph() as tf:
        values = tf.placeholder(getattr(tf, dtype), None, name="values")
        tf.raw_ops.HistogramSummary(tag=tf.constant("t"), values=values, name="summary")
    return c.open()


def _merge(c: EngineAuthor) -> SessionAuthor:
    with c.graph() as tf:
        inputs = [tf.placeholder(tf.string, None, name=name) for name in ("a", "b")]
        tf.raw_ops.MergeSummary(inputs=inputs, name="summary")
    return c.open()


def _sound(c: EngineAuthor, most: int = 3) -> SessionAuthor:
    with c.graph() as tf:
        tensor = tf.placeholder(tf.float32, None, name="sound")
        rate = tf.placeholder(tf.float32, None, name="rate")
        tf.raw_ops.AudioSummaryV2(
            tag=tf.constant("t"), tensor=tensor, sample_rate=rate, max_outputs=most, name="summary"
        )
    return c.open()


def _image(c: EngineAuthor) -> SessionAuthor:
    with c.graph() as tf:
        tensor = tf.placeholder(tf.uint8, None, name="image")
        tf.raw_ops.ImageSummary(tag=tf.constant("t"), tensor=tensor, name="summary")
    return c.open()


def _wav(samples: list[int], rate: int, channels: int = 1) -> bytes:
    """A WAV file of 16 bits, field by field."""
    data = np.array(samples, "<i2").tobytes()
    fields: list[bytes | np.generic] = [
        b"RIFF",
        np.uint32(36 + len(data)),
        b"WAVEfmt ",
        np.uint32(16),
        np.uint16(1),
        np.uint16(channels),
        np.uint32(rate),
        np.uint32(rate * channels * 2),
        np.uint16(channels * 2),
        np.uint16(16),
        b"data",
        np.uint32(len(data)),
        data,
    ]
    return b"".join(field if isinstance(field, bytes) else field.tobytes() for field in fields)


def _heard(
    tag: str, rate: float, samples: list[int], written: int, channels: int = 1
) -> Summary.Value:
    audio = Summary.Audio(
        sample_rate=rate,
        num_channels=channels,
        length_frames=len(samples) // channels,
        encoded_audio_string=_wav(samples, written, channels),
        content_type="audio/wav",
    )
    return Summary.Value(tag=tag, audio=audio)


# --- numbers ------------------------------------------------------------------------------


@engine_case("SUMMARIES-001", title="Numbers of each dtype, each under its tag, as float32.")
def numbers_under_their_tags(c: EngineAuthor) -> None:
    s = _scalars(c)
    fed = {"tags:0": _words(b"loss", b"a/b"), "values:0": np.array([1.5, -2.0], np.float32)}
    s.run(["summary:0"], fed, values=[_numbers(("loss", 1.5), ("a/b", -2.0))])
    one = {"tags:0": np.array(b"x", object), "values:0": np.float32("inf")}
    s.run(["summary:0"], one, values=[_numbers(("x", np.inf))])


@engine_case("SUMMARIES-001", title="A great integer is rounded to float32.")
def great_integers_are_rounded(c: EngineAuthor) -> None:
    s = _scalars(c, "int64")
    fed = {"tags:0": _words(b"n", b"m"), "values:0": np.array([2**24 + 1, -7], np.int64)}
    s.run(["summary:0"], fed, values=[_numbers(("n", 2.0**24), ("m", -7.0))])


@engine_case("SUMMARIES-001", title="Tags and values of two dimensions come in C order.")
def numbers_of_two_dimensions(c: EngineAuthor) -> None:
    s = _scalars(c, "float64")
    tags = _words(b"a", b"b", b"c", b"d").reshape(2, 2)
    fed = {"tags:0": tags, "values:0": np.array([[1.0, 2.0], [3.0, 1e300]])}
    s.run(["summary:0"], fed, values=[_numbers(("a", 1), ("b", 2), ("c", 3), ("d", np.inf))])


@engine_case("SUMMARIES-002", title="Two tags and one value, one tag and a vector of one value.")
def tags_of_another_shape(c: EngineAuthor) -> None:
    s = _scalars(c)
    s.run(["summary:0"], {"tags:0": _words(b"a", b"b"), "values:0": _float32([1])}, error=[3])
    one = {"tags:0": np.array(b"a", object), "values:0": _float32([1])}
    s.run(["summary:0"], one, error=[3])
    s.run(["summary:0"], {**one, "values:0": np.float32(1)}, values=[_numbers(("a", 1))])


# --- histograms ---------------------------------------------------------------------------


@engine_case("SUMMARIES-003", title="The measures of small integers.")
def measures_of_integers(c: EngineAuthor) -> None:
    s = _histogram(c, "int8")
    before, after = _around(2.0)
    s.run(
        ["summary:0"],
        {"values:0": np.array([[2, 2], [2, 2]], np.int8)},
        values=[
            _spread(
                "t",
                min=2.0,
                max=2.0,
                num=4.0,
                sum=8.0,
                sum_squares=16.0,
                bucket_limit=[before, after, _GREATEST],
                bucket=[0.0, 4.0, 0.0],
            )
        ],
    )


@engine_case("SUMMARIES-003", title="The squares of great integers are those of float64.")
def measures_in_float64(c: EngineAuthor) -> None:
    s = _histogram(c, "float32")
    before, after = _around(1e10)
    s.run(
        ["summary:0"],
        {"values:0": _float32([1e10, 1e10])},
        values=[
            _spread(
                "t",
                min=1e10,
                max=1e10,
                num=2.0,
                sum=2e10,
                sum_squares=2e20,
                bucket_limit=[before, after, _GREATEST],
                bucket=[0.0, 2.0, 0.0],
            )
        ],
    )


@engine_case("SUMMARIES-004", title="Zero, the first limit and what is below it.")
def buckets_around_zero(c: EngineAuthor) -> None:
    s = _histogram(c)
    values = np.array([0.0, 1e-13, 1e-12, -1e-13, -1e-12])
    s.run(
        ["summary:0"],
        {"values:0": values},
        values=[
            _spread(
                "t",
                min=-1e-12,
                max=1e-12,
                num=5.0,
                sum=float(1e-13 + 1e-12 - 1e-13 - 1e-12),
                sum_squares=float(np.cumsum(values * values)[-1]),
                bucket_limit=[-1e-12, 0.0, 1e-12, 1e-12 * 1.1, _GREATEST],
                bucket=[0.0, 2.0, 2.0, 1.0, 0.0],
            )
        ],
    )


@engine_case("SUMMARIES-004", title="A value that is a limit is counted in the bucket after it.")
def a_limit_itself(c: EngineAuthor) -> None:
    s = _histogram(c)
    limits = _limits()
    value = limits[300]
    s.run(
        ["summary:0"],
        {"values:0": np.float64(value)},
        values=[
            _spread(
                "t",
                min=value,
                max=value,
                num=1.0,
                sum=value,
                sum_squares=value * value,
                bucket_limit=[value, limits[301], _GREATEST],
                bucket=[0.0, 1.0, 0.0],
            )
        ],
    )


@engine_case("SUMMARIES-005", title="Between two counted buckets there is one for all the others.")
def empty_buckets_are_one(c: EngineAuthor) -> None:
    s = _histogram(c, "int32")
    one, four = _around(1.0), _around(4.0)
    s.run(
        ["summary:0"],
        {"values:0": np.array([1, 4], np.int32)},
        values=[
            _spread(
                "t",
                min=1.0,
                max=4.0,
                num=2.0,
                sum=5.0,
                sum_squares=17.0,
                bucket_limit=[*one, *four, _GREATEST],
                bucket=[0.0, 1.0, 0.0, 1.0, 0.0],
            )
        ],
    )


@engine_case("SUMMARIES-005", title="Beyond the limits only the last bucket is left.")
def buckets_at_the_ends(c: EngineAuthor) -> None:
    s = _histogram(c)
    s.run(
        ["summary:0"],
        {"values:0": np.array([2.0**70])},
        values=[
            _spread(
                "t",
                min=2.0**70,
                max=2.0**70,
                num=1.0,
                sum=2.0**70,
                sum_squares=2.0**140,
                bucket_limit=[_limits()[-1], _GREATEST],
                bucket=[0.0, 1.0],
            )
        ],
    )


@engine_case("SUMMARIES-006", title="NaN and either infinity among good values.")
def values_that_are_not_finite(c: EngineAuthor) -> None:
    s = _histogram(c, "float32")
    for odd in ("nan", "inf", "-inf"):
        s.run(["summary:0"], {"values:0": _float32([1, odd, 2])}, error=[3])


@engine_case("SUMMARIES-006", title="NaN of half precision.")
def a_small_nan(c: EngineAuthor) -> None:
    _histogram(c, "float16").run(["summary:0"], {"values:0": np.float16("nan")}, error=[3])


@engine_case("SUMMARIES-007", title="The histogram of an empty vector.")
def a_histogram_of_nothing(c: EngineAuthor) -> None:
    s = _histogram(c, "float32")
    s.run(
        ["summary:0"],
        {"values:0": np.zeros((0, 3), np.float32)},
        values=[
            _spread("t", min=_GREATEST, max=-_GREATEST, bucket_limit=[_GREATEST], bucket=[0.0])
        ],
    )


# --- merging ------------------------------------------------------------------------------


@engine_case("SUMMARIES-008", title="Two summaries, and summaries in a vector.")
def merged_in_order(c: EngineAuthor) -> None:
    s = _merge(c)
    fed = {"a:0": _numbers(("z", 1), ("y", 2)), "b:0": _numbers(("x", 3))}
    s.run(["summary:0"], fed, values=[_numbers(("z", 1), ("y", 2), ("x", 3))])
    more = _words(_numbers(("q", 3)).item(), _numbers(("p", 4)).item())
    s.run(
        ["summary:0"],
        {**fed, "b:0": more},
        values=[_numbers(("z", 1), ("y", 2), ("q", 3), ("p", 4))],
    )


@engine_case("SUMMARIES-009", title="One tag in two inputs, and twice in one.")
def a_tag_twice(c: EngineAuthor) -> None:
    s = _merge(c)
    s.run(["summary:0"], {"a:0": _numbers(("x", 1)), "b:0": _numbers(("x", 1))}, error=[3])
    both = _numbers(("x", 1), ("x", 2))
    s.run(["summary:0"], {"a:0": both, "b:0": _numbers(("y", 1))}, error=[3])
    s.run(
        ["summary:0"],
        {"a:0": _numbers(("x", 1)), "b:0": _numbers(("X", 1))},
        values=[_numbers(("x", 1), ("X", 1))],
    )


@engine_case("SUMMARIES-010", title="Values without a tag.")
def values_without_a_tag(c: EngineAuthor) -> None:
    s = _merge(c)
    s.run(
        ["summary:0"],
        {"a:0": _numbers(("", 1), ("", 2)), "b:0": _numbers(("", 3))},
        values=[_numbers(("", 1), ("", 2), ("", 3))],
    )


@engine_case("SUMMARIES-011", title="Bytes that are no Summary.")
def bytes_of_something_else(c: EngineAuthor) -> None:
    s = _merge(c)
    bad = np.array(b"\xff\xff", object)
    s.run(["summary:0"], {"a:0": _numbers(("x", 1)), "b:0": bad}, error=[3])


# --- tensors ------------------------------------------------------------------------------


def _held(c: EngineAuthor, dtype: str) -> SessionAuthor:
    with c.graph() as tf:
        tensor = tf.placeholder(getattr(tf, dtype), None, name="tensor")
        metadata = tf.placeholder(tf.string, [], name="metadata")
        tf.raw_ops.TensorSummaryV2(
            tag=tf.constant("t"),
            tensor=tensor,
            serialized_summary_metadata=metadata,
            name="summary",
        )
    return c.open()


def _tensor(shape: list[int], **fields: Any) -> TensorProto:
    sizes = [TensorShapeProto.Dim(size=size) for size in shape]
    return TensorProto(tensor_shape=TensorShapeProto(dim=sizes), **fields)


@engine_case("SUMMARIES-012", title="Integers with metadata.")
def a_tensor_of_integers(c: EngineAuthor) -> None:
    s = _held(c, "int32")
    metadata = SummaryMetadata(display_name="shown", summary_description="what it is")
    metadata.plugin_data.plugin_name = "plug-in"
    metadata.plugin_data.content = b"\0\xff"
    tensor = _tensor([2, 1], dtype=3, tensor_content=np.array([7, -1], "<i4").tobytes())
    value = Summary.Value(tag="t", tensor=tensor, metadata=metadata)
    given = np.array(metadata.SerializeToString(), object)
    s.run(
        ["summary:0"],
        {"tensor:0": np.array([[7], [-1]], np.int32), "metadata:0": given},
        values=[_bytes(Summary(value=[value]))],
    )


@engine_case("SUMMARIES-012", title="Strings without metadata.")
def a_tensor_of_strings(c: EngineAuthor) -> None:
    s = _held(c, "string")
    tensor = _tensor([2], dtype=7, string_val=[b"text", b"\xff"])
    value = Summary.Value(tag="t", tensor=tensor, metadata=SummaryMetadata())
    fed = {"tensor:0": _words(b"text", b"\xff"), "metadata:0": np.array(b"", object)}
    s.run(["summary:0"], fed, values=[_bytes(Summary(value=[value]))])


# --- sounds and images --------------------------------------------------------------------


@engine_case("SUMMARIES-013", title="Samples of one channel: halves, ends, and beyond them.")
def samples_of_one_channel(c: EngineAuthor) -> None:
    s = _sound(c)
    step = 1 / 32768
    sound = _float32([[0, 0.5, -0.5, 1, -1, 2, -2, 0.5 * step, -0.5 * step, 1.25 * step]])
    samples = [0, 16384, -16384, 32767, -32768, 32767, -32768, 1, -1, 1]
    want = _bytes(Summary(value=[_heard("t/audio/0", 8000.0, samples, 8000)]))
    s.run(["summary:0"], {"sound:0": sound, "rate:0": np.float32(8000)}, values=[want])


@engine_case("SUMMARIES-013", title="Samples of two channels, frame by frame.")
def samples_of_two_channels(c: EngineAuthor) -> None:
    s = _sound(c)
    sound = _float32([[[0.25, -0.25], [0.5, 3.0]]])
    heard = _heard("t/audio/0", 44100.0, [8192, -8192, 16384, 32767], 44100, channels=2)
    want = _bytes(Summary(value=[heard]))
    s.run(["summary:0"], {"sound:0": sound, "rate:0": np.float32(44100)}, values=[want])


@engine_case("SUMMARIES-014", title="Rates that are no integers.")
def odd_rates(c: EngineAuthor) -> None:
    s = _sound(c)
    for rate, written in ((8000.5, 8000), (2.5, 2), (3.5, 4), (44100.75, 44101), (0.25, 1)):
        want = _bytes(Summary(value=[_heard("t/audio/0", rate, [0], written)]))
        s.run(
            ["summary:0"], {"sound:0": _float32([[0]]), "rate:0": np.float32(rate)}, values=[want]
        )


@engine_case("SUMMARIES-015", title="No rate, one below zero, and one that is no number.")
def impossible_rates(c: EngineAuthor) -> None:
    s = _sound(c)
    for rate in ("0", "-1", "nan"):
        s.run(["summary:0"], {"sound:0": _float32([[0]]), "rate:0": np.float32(rate)}, error=[3])


@engine_case("SUMMARIES-016", title="Three of five sounds, and all of two.")
def the_first_sounds(c: EngineAuthor) -> None:
    s = _sound(c)
    for batch, count in ((5, 3), (2, 2), (1, 1), (0, 0)):
        want = Summary(value=[_heard(f"t/audio/{i}", 1.0, [0], 1) for i in range(count)])
        fed = {"sound:0": np.zeros((batch, 1), np.float32), "rate:0": np.float32(1)}
        s.run(["summary:0"], fed, values=[_bytes(want)])


@engine_case("SUMMARIES-016", title="One sound of two has no number.")
def only_one_sound(c: EngineAuthor) -> None:
    s = _sound(c, most=1)
    fed = {"sound:0": np.zeros((2, 1), np.float32), "rate:0": np.float32(1)}
    s.run(["summary:0"], fed, values=[_bytes(Summary(value=[_heard("t/audio", 1.0, [0], 1)]))])


@engine_case("SUMMARIES-017", title="Sounds of rank 1 and 4.")
def sounds_of_a_wrong_rank(c: EngineAuthor) -> None:
    s = _sound(c)
    for shape in ((1,), (1, 1, 1, 1)):
        fed = {"sound:0": np.zeros(shape, np.float32), "rate:0": np.float32(1)}
        s.run(["summary:0"], fed, error=[3])


@engine_case("SUMMARIES-017", title="Images of rank 3, of two colours, and without a row.")
def images_of_a_wrong_shape(c: EngineAuthor) -> None:
    s = _image(c)
    for shape in ((2, 2, 1), (1, 2, 2, 2), (1, 0, 2, 1)):
        s.run(["summary:0"], {"image:0": np.zeros(shape, np.uint8)}, error=[3])
    s.run(["summary:0"], {"image:0": np.zeros((0, 2, 2, 1), np.uint8)}, values=[_bytes(Summary())])
