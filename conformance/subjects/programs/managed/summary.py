"""Programs of summary operations: names, collections, merging, values, errors."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.png import pixels_of

__all__ = ["BEHAVIOURS"]


def _summary_of(tf, make):
    """The operation, its inputs, and its value, a Summary, as text."""
    summary = make()
    inputs = [(tensor.name, tensor.dtype.name) for tensor in summary.op.inputs]
    return [summary, inputs, str(tf.Summary.FromString(run(tf, summary)))]


def _summaries_of(tf, *makers):
    return attempt(*(lambda make=make: _summary_of(tf, make) for make in makers))


def _of(tf, *tags: str) -> bytes:
    values = [tf.Summary.Value(tag=tag, simple_value=1.0) for tag in tags]
    return tf.Summary(value=values).SerializeToString()


def _scalars(tf):
    scalar, raw = tf.summary.scalar, tf.raw_ops.ScalarSummary
    summaries = _summaries_of(
        tf,
        lambda: scalar("a b", 1.5),
        lambda: scalar("c", 3, family="fam"),
        lambda: scalar("/c", np.uint64(2**63), family="/f x"),
        lambda: scalar(None, 1.0),
        lambda: scalar("", 1.0),
        lambda: scalar("s", [1.0, 2.0]),
        lambda: scalar("s", "text"),
        lambda: raw(tags=["a", "b"], values=[1.0, 2.0]),
        lambda: raw(tags="t", values=[1.0]),
        lambda: raw(tags=["a", "b"], values=[1.0]),
        lambda: raw(tags="t", values=1e300),
        lambda: raw(tags="t", values=np.float64(1e300)),
        lambda: raw(tags=[], values=[]),
        lambda: raw(tags="t", values=np.float16(2)),
        lambda: raw(tags="t", values=True),
        lambda: raw(tags="t", values=float("nan")),
    )
    return [
        summaries,
        scalar("x", 1.0, collections=["mine"]),
        tf.get_collection("mine"),
        scalar("y", 1.0),
        tf.get_collection(tf.GraphKeys.SUMMARIES),
    ]


def _histograms(tf):
    histogram, raw = tf.summary.histogram, tf.raw_ops.HistogramSummary
    noise = np.random.default_rng(5).normal(size=(40, 7))
    odd = [1e-13, -1e-13, 0.0, -0.0, 1e-12, 1e20, 1e19, -1e300, 5e-324]
    kinds = [
        np.int8,
        np.uint8,
        np.int16,
        np.uint16,
        np.int32,
        np.uint32,
        np.int64,
        np.uint64,
        np.float16,
        np.float32,
        np.float64,
        tf.bfloat16.as_numpy_dtype,
    ]
    return [
        _summaries_of(
            tf,
            lambda: histogram("a b", [1.0, 2.0], family="f/ g"),
            lambda: histogram(None, [1, 2]),
            lambda: histogram("x", []),
            lambda: histogram("x", noise),
            lambda: histogram("x", noise.astype(np.float16)),
            lambda: histogram("x", np.array(odd)),
            lambda: histogram("x", True),
            lambda: histogram("x", [1.0, float("nan")]),
            lambda: histogram("x", [-np.inf]),
            lambda: histogram("x", "text"),
            lambda: raw(tag=["t"], values=[1]),
            lambda: raw(tag=[], values=[1.0]),
            lambda: raw(tag="t", values=[[1.0], [1.0]]),
        ),
        _summaries_of(
            tf, *(lambda kind=kind: histogram("k", np.arange(100).astype(kind)) for kind in kinds)
        ),
    ]


def _tensors(tf):
    summary, raw = tf.summary.tensor_summary, tf.raw_ops.TensorSummaryV2
    metadata = tf.SummaryMetadata(display_name="shown")
    given = metadata.SerializeToString()
    return _summaries_of(
        tf,
        lambda: summary("a", [1, 2], summary_description="told", display_name="d", family="f"),
        lambda: summary("a", [b"x", b"\xff"], summary_metadata=metadata, collections=[]),
        lambda: summary("a", np.zeros((0, 2))),
        lambda: summary(None, 1),
        lambda: tf.summary.text("t", tf.constant("x")),
        lambda: tf.summary.text("t", "x"),
        lambda: tf.summary.text("t", tf.constant(1)),
        lambda: raw(tag="t", tensor=True, serialized_summary_metadata=given),
        lambda: raw(tag="t", tensor=True, serialized_summary_metadata=b"\xff"),
        lambda: raw(tag=["t"], tensor=1, serialized_summary_metadata=given),
        lambda: raw(tag="t", tensor=1, serialized_summary_metadata=[given]),
        lambda: tf.raw_ops.TensorSummary(tensor=[1.5], description="{}", labels=["l"]),
        lambda: tf.raw_ops.TensorSummary(tensor="x", name="named", display_name="d"),
    )


def _merged(tf):
    merge, raw = tf.summary.merge, tf.raw_ops.MergeSummary
    return _summaries_of(
        tf,
        lambda: merge([_of(tf, "a"), _of(tf, "b", "c")]),
        lambda: merge([]),
        lambda: merge([_of(tf, "a")], name="x y", collections=["merged"]),
        lambda: merge([_of(tf, "a"), _of(tf, "a")]),
        lambda: merge([_of(tf, "a", "a")]),
        lambda: merge([_of(tf, "", ""), _of(tf, "")]),
        lambda: merge(_of(tf, "a")),
        lambda: merge([b"\xff"]),
        lambda: merge([b""]),
        lambda: merge([1]),
        lambda: raw(inputs=[[_of(tf, "a"), _of(tf, "b")], [[_of(tf, "c")]]]),
    )


def _collected(tf):
    nothing = tf.summary.merge_all()
    tf.summary.scalar("a", 1.0)
    with tf.name_scope("scope"):
        tf.summary.scalar("b", 2.0)
        tf.summary.histogram("c", 2.0, collections=["other", tf.GraphKeys.SUMMARIES])
    merge_all = tf.summary.merge_all
    return [
        nothing,
        merge_all("none"),
        _summaries_of(
            tf,
            merge_all,
            lambda: merge_all(scope="scope"),
            lambda: merge_all("other"),
            lambda: merge_all(name="named"),
        ),
    ]


def _descriptions(tf):
    def description(text: str) -> str:
        node = tf.raw_ops.TensorSummary(tensor=1, description=text).op.node_def
        return str(tf.summary.get_summary_description(node))

    return attempt(
        lambda: description('{"typeHint": "kind"}'),
        lambda: description("{}"),
        lambda: tf.summary.get_summary_description(tf.constant(1).op.node_def),
    )


def _pixels(tf, make):
    """The pixels of the images of a summary: the bytes of a file depend on the encoder."""
    rows = []
    for value in tf.Summary.FromString(run(tf, make())).value:
        image = value.image
        pixels = pixels_of(image.encoded_image_string)
        rows.append([value.tag, image.height, image.width, image.colorspace, pixels.tolist()])
    return rows


def _images(tf):
    raw, row = tf.raw_ops.ImageSummary, (1, 1, -1, 1)
    nan, inf = np.nan, np.inf
    rows = [[0, 1, 2, 3], [-1, 0, 2, 3], [-4, 0, 2, 3], [0, 0], [nan, 1, 2], [inf, 1, -inf],
            [nan, nan], [1e-7, 5e-7], [-1e-7, 5e-7], [1e-6, 5e-7], [0.1, 0.7, 0.333],
            [60000.0, 1], [-0.0, 5]]  # fmt: skip
    kinds = (np.float16, np.float32, np.float64)
    given = [np.array(row_).astype(kind).reshape(row) for row_ in rows for kind in kinds]
    given += [np.array([1e300, 1]).reshape(row), np.array([-1e300, 1]).reshape(row)]
    draw = np.random.default_rng(7)
    for depth in (1, 3, 4):
        noise = draw.normal(size=(2, 5, 4, depth))
        noise[0, 2, 1, 0] = nan
        given += [
            (noise * scale + shift).astype(kind)
            for kind in kinds
            for scale in (1, 30)
            for shift in (0, 100)
        ]
        given.append(draw.integers(0, 256, (4, 3, 7, depth)).astype(np.uint8))
    given += [np.zeros((0, 1, 1, 1), np.float32)]
    colours = [
        tf.make_tensor_proto(np.array(value))
        for value in (
            np.uint8([1, 2, 3]),
            np.uint8([1, 2, 3, 4, 5]),
            np.uint8([1, 2]),
            np.int32([1, 2, 3]),
            np.uint8([[1, 2, 3]]),
        )
    ]
    bad = np.array([[[[1, 2, 3], [nan, 2, 3]]]], np.float32)
    wrong = [(1, 1, 1, 2), (1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0), (1, 1, 1, 5), ()]
    image = tf.summary.image
    tries = [lambda value=value: raw(tag="t", tensor=value) for value in given]
    tries += [
        lambda colour=colour: raw(tag="t", tensor=bad, bad_color=colour) for colour in colours
    ]
    tries += [lambda shape=shape: raw(tag="t", tensor=np.zeros(shape, np.uint8)) for shape in wrong]
    tries += [
        lambda count=count: raw(tag="t", tensor=np.zeros((5, 1, 1, 1), np.uint8), max_images=count)
        for count in (0, 1, 2, 7)
    ]
    tries += [
        lambda: raw(tag=["t"], tensor=bad),
        lambda: raw(tag="t", tensor=[[[[3]]]]),
        lambda: image("a b", bad, 1, family="f"),
        lambda: image(None, bad),
    ]
    return attempt(*(lambda make=make: _pixels(tf, make) for make in tries))


def _sounds(tf):
    audio, raw = tf.summary.audio, tf.raw_ops.AudioSummaryV2
    steps = [0, 0.5, -0.5, 1, -1, 2, -2, 1 / 65536, -1 / 65536, 3 / 65536, np.inf, -np.inf]
    noise = np.random.default_rng(8).normal(size=(2, 50, 3)).astype(np.float32) / 2
    rates = [
        100,
        0.2,
        0,
        -1,
        44100.7,
        np.nan,
        np.inf,
        1e30,
        [1.0],
        [1.0, 2.0],
        2.0**32,
        4294967040,
        1e-30,
        0.9,
        1.5,
        2.5,
        3.5,
        8000.5,
    ]
    shapes = [(1,), (1, 0), (0, 2), (1, 2, 0), (5, 1), (1, 1, 1, 1), (2, 3, 1)]
    return _summaries_of(
        tf,
        lambda: audio("a b", [[0.1]], 8, family="f"),
        lambda: audio("a", [steps], 8, 1),
        lambda: audio("a", noise, 8000),
        lambda: audio("a", [[0.1]], tf.constant(8)),
        lambda: audio(None, [[0.1]], 8),
        lambda: raw(tag=["t"], tensor=[[0.1]], sample_rate=8.0),
        *(lambda rate=rate: audio("r", [[0.1]], rate) for rate in rates),
        *(lambda shape=shape: audio("s", np.zeros(shape, np.float32), 8) for shape in shapes),
        *(
            lambda most=most: audio("m", np.zeros((5, 1), np.float32), 8, most)
            for most in (0, 1, 2, 9)
        ),
    )


BEHAVIOURS = {
    f"summaries_{function.__name__.strip('_')}": function
    for function in (
        _scalars,
        _histograms,
        _images,
        _sounds,
        _tensors,
        _merged,
        _collected,
        _descriptions,
    )
}
