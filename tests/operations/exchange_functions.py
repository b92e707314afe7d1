"""Graphs for branches and loops as functions, lists of tensors, optional values, old parsing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.reference.python.framework.function import Defun

import sessrun.reference as tf

__all__ = ["FUNCTIONS"]

BRANCHES = (
    "If StatelessIf Case StatelessCase While StatelessWhile For RemoteCall SymbolicGradient "
    "FakeParam"
)
LISTS = (
    "EmptyTensorList TensorListPushBack TensorListPopBack TensorListLength TensorListElementShape "
    "TensorListFromTensor TensorListGather TensorListGetItem TensorListReserve TensorListResize "
    "TensorListScatterIntoExistingList TensorListScatterV2 TensorListSetItem TensorListSplit "
    "TensorListStack TensorListConcat TensorListConcatV2 TensorListConcatLists "
    "TensorListScatter"
)
OPTIONAL = "OptionalFromValue OptionalGetValue OptionalHasValue OptionalNone"
PARSED = "ParseExample ParseSequenceExample ParseSingleSequenceExample"
SPACED = "Empty FusedResizeAndPadConv2D"
PICTURES = (
    "EncodePng DecodeAndCropJpeg ExtractJpegShape SampleDistortedBoundingBox "
    "SampleDistortedBoundingBoxV2"
)


@Defun(tf.float32)
def _twice(x: Any) -> Any:
    return x * 2.0


@Defun(tf.float32)
def _squared(x: Any) -> Any:
    return x * x


@Defun(tf.int32, tf.float32)
def _plus(number: Any, x: Any) -> Any:
    return x * 2.0 + tf.cast(number, tf.float32)


@Defun(tf.float32)
def _below_nine(x: Any) -> Any:
    return tf.less(x, 9.0)


def branches() -> None:
    """Each kind with a branch taken and one not, a loop, a gradient, a value that nobody takes."""
    raw, x = tf.raw_ops, tf.constant(3.0)
    for kind in ("If", "StatelessIf"):
        for word, taken in (("yes", True), ("no", False)):
            made = getattr(raw, kind)(
                cond=tf.constant(taken),
                input=[x],
                Tout=[tf.float32],
                then_branch=_twice,
                else_branch=_squared,
            )
            tf.identity(made[0], name=f"{kind}_{word}")
    for kind in ("Case", "StatelessCase"):
        for index in (0, 1, 7):
            made = getattr(raw, kind)(
                branch_index=index, input=[x], Tout=[tf.float32], branches=[_twice, _squared]
            )
            tf.identity(made[0], name=f"{kind}_{index}")
    for kind in ("While", "StatelessWhile"):
        made = getattr(raw, kind)(input=[x], cond=_below_nine, body=_twice)
        tf.identity(made[0], name=f"{kind}_end")
    ranges = {"up": (1, 6, 2), "down": (3, 0, -1), "no": (4, 4, 0)}
    for name, (start, limit, delta) in ranges.items():
        made = raw.For(start=start, limit=limit, delta=delta, input=[x], body=_plus)
        tf.identity(made[0], name=f"For_{name}")
    made = raw.RemoteCall(target="/cpu:0", args=[x], Tout=[tf.float32], f=_squared)
    tf.identity(made[0], name="called")
    made = raw.SymbolicGradient(input=[x, tf.constant(1.0)], Tout=[tf.float32], f=_squared)
    tf.identity(made[0], name="gradient")
    tf.cond(
        tf.constant(False),
        lambda: raw.FakeParam(dtype=tf.float32, shape=[]),
        lambda: tf.constant(1.0),
        name="parameter",
    )


def lists() -> None:
    """Lists made in each way, changed, read whole and in parts."""
    raw, kind = tf.raw_ops, tf.float32
    empty = raw.EmptyTensorList(element_shape=[2], max_num_elements=5, element_dtype=kind)
    pushed = raw.TensorListPushBack(input_handle=empty, tensor=[1.0, 2.0])
    popped = raw.TensorListPopBack(input_handle=pushed, element_shape=[2], element_dtype=kind)
    tf.identity(popped.tensor, name="popped")
    tf.identity(raw.TensorListLength(input_handle=popped.output_handle), name="none_left")
    shape = raw.TensorListElementShape(input_handle=pushed, shape_type=tf.int32)
    tf.identity(shape, name="element_shape")
    rows = raw.TensorListFromTensor(tensor=[[1.0, 2.0], [3.0, 4.0]], element_shape=[2])
    gathered = raw.TensorListGather(
        input_handle=rows, indices=[1, 0, 1], element_shape=[2], element_dtype=kind
    )
    tf.identity(gathered, name="gathered")
    longer = raw.TensorListResize(input_handle=rows, size=3)
    changed = raw.TensorListSetItem(input_handle=longer, index=2, item=[5.0, 6.0])
    item = raw.TensorListGetItem(
        input_handle=changed, index=2, element_shape=[2], element_dtype=kind
    )
    tf.identity(item, name="item")
    room = raw.TensorListReserve(element_shape=[2], num_elements=2, element_dtype=kind)
    filled = raw.TensorListScatterIntoExistingList(
        input_handle=room, tensor=[[7.0, 8.0], [9.0, 1.0]], indices=[1, 0]
    )
    scattered = raw.TensorListScatterV2(
        tensor=[[7.0, 8.0]], indices=[1], element_shape=[2], num_elements=2
    )
    parts = raw.TensorListSplit(
        tensor=[[1.0], [2.0], [3.0]], element_shape=[-1, 1], lengths=tf.constant([1, 2], tf.int64)
    )
    for name, handle in (("changed", changed), ("filled", filled), ("scattered", scattered)):
        stacked = raw.TensorListStack(input_handle=handle, element_shape=[2], element_dtype=kind)
        tf.identity(stacked, name=name)
    joined = raw.TensorListConcatV2(
        input_handle=parts,
        element_shape=[-1, 1],
        element_dtype=kind,
        leading_dims=tf.constant([], tf.int64),
    )
    tf.identity(joined.tensor, name="joined")
    tf.identity(joined.lengths, name="lengths")
    older = raw.TensorListConcat(input_handle=parts, element_shape=[None, 1], element_dtype=kind)
    tf.identity(older.tensor, name="joined_before")
    two = raw.TensorListConcatLists(input_a=changed, input_b=filled, element_dtype=kind)
    put = raw.TensorListScatter(tensor=[[7.0, 8.0]], indices=[1], element_shape=[2])
    for name, handle in (("both", two), ("put", put)):
        tf.identity(raw.TensorListLength(input_handle=handle), name=name)


def optional() -> None:
    """One that holds two values, and one that holds none."""
    raw = tf.raw_ops
    some = raw.OptionalFromValue(components=[tf.constant(1), tf.constant("a")])
    tf.identity(raw.OptionalHasValue(optional=some), name="has")
    tf.identity(raw.OptionalHasValue(optional=raw.OptionalNone()), name="has_not")
    values = raw.OptionalGetValue(
        optional=some, output_types=[tf.int32, tf.string], output_shapes=[[], []]
    )
    for place, value in enumerate(values):
        tf.identity(value, name=f"value_{place}")


def parsed() -> None:
    """One feature of each kind, by each of the older operations."""
    raw, kinds = tf.raw_ops, {"context_sparse_types": [tf.int64]}
    example = tf.train.Example()
    sequence = tf.train.SequenceExample()
    example.features.feature["a"].int64_list.value.extend([1, 2])
    sequence.context.feature["a"].int64_list.value.extend([1, 2])
    sequence.feature_lists.feature_list["s"].feature.add().int64_list.value.append(3)
    none = tf.constant([], tf.string)
    made = raw.ParseExample(
        serialized=[example.SerializeToString()],
        names=none,
        sparse_keys=["a"],
        dense_keys=["b"],
        dense_defaults=[tf.constant(7, tf.int64)],
        sparse_types=[tf.int64],
        dense_shapes=[[]],
    )
    tf.identity(made.sparse_values[0], name="example_sparse")
    tf.identity(made.dense_values[0], name="example_dense")
    shared = {
        **kinds,
        "feature_list_dense_types": [tf.int64],
        "feature_list_dense_shapes": [[]],
        "context_dense_defaults": [],
        "feature_list_sparse_types": [],
    }
    made = raw.ParseSequenceExample(
        serialized=[sequence.SerializeToString()],
        debug_name=none,
        Ncontext_sparse=1,
        feature_list_dense_missing_assumed_empty=[],
        context_sparse_keys=["a"],
        context_dense_keys=[],
        feature_list_sparse_keys=[],
        feature_list_dense_keys=["s"],
        Nfeature_list_dense=1,
        **shared,
    )
    tf.identity(made.context_sparse_values[0], name="context")
    tf.identity(made.feature_list_dense_values[0], name="steps")
    made = raw.ParseSingleSequenceExample(
        serialized=sequence.SerializeToString(),
        debug_name=tf.constant(""),
        feature_list_dense_missing_assumed_empty=none,
        context_sparse_keys=["a"],
        context_dense_keys=[],
        feature_list_sparse_keys=[],
        feature_list_dense_keys=["s"],
        **shared,
    )
    tf.identity(made.feature_list_dense_values[0], name="steps_of_one")


def spaced() -> None:
    """A convolution of a larger picture with a margin; an empty room."""
    raw = tf.raw_ops
    picture = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    padded = raw.FusedResizeAndPadConv2D(
        input=picture,
        size=[7, 7],
        paddings=[[0, 0], [1, 1], [1, 1], [0, 0]],
        filter=tf.ones([3, 3, 1, 1]),
        mode="REFLECT",
        strides=[1, 1, 1, 1],
        padding="VALID",
        resize_align_corners=True,
    )
    tf.identity(padded, name="convolved")
    tf.identity(raw.Empty(shape=[2, 3], dtype=tf.float32, init=True), name="room")


def pictures() -> None:
    """Files of pictures written and looked at; boxes drawn at random by seed."""
    raw = tf.raw_ops
    picture = tf.cast(tf.reshape(tf.range(48), [4, 4, 3]), tf.uint8)
    tf.identity(tf.image.decode_png(raw.EncodePng(image=picture)), name="png")
    jpeg = tf.image.encode_jpeg(picture, quality=100, chroma_downsampling=False)
    tf.identity(raw.ExtractJpegShape(contents=jpeg), name="size")
    cropped = raw.DecodeAndCropJpeg(contents=jpeg, crop_window=[0, 0, 2, 2])
    tf.shape(cropped, name="cropped_size")
    boxes = [[[0.1, 0.1, 0.9, 0.9]]]
    for name, covered in (
        ("SampleDistortedBoundingBox", {}),
        ("SampleDistortedBoundingBoxV2", {"min_object_covered": 0.3}),
    ):
        drawn = getattr(raw, name)(
            image_size=[40, 50, 3], bounding_boxes=boxes, seed=1, seed2=2, **covered
        )
        tf.identity(drawn.begin, name=f"{name}_begin")


def _named(*names: str) -> tuple[tuple[str, ...], ...]:
    return (tuple(f"{name}:0" for name in names),)


#: What it covers, what builds the graph, the fetches of each run.
FUNCTIONS: tuple[tuple[str, Callable[[], None], tuple[tuple[str, ...], ...]], ...] = (
    (
        BRANCHES,
        branches,
        _named(
            *(f"{kind}_{word}" for kind in ("If", "StatelessIf") for word in ("yes", "no")),
            *(f"{kind}_{index}" for kind in ("Case", "StatelessCase") for index in (0, 1, 7)),
            "While_end",
            "StatelessWhile_end",
            "For_up",
            "For_down",
            "For_no",
            "called",
            "gradient",
            "parameter/Merge",
        ),
    ),
    (
        LISTS,
        lists,
        _named(
            "popped",
            "none_left",
            "element_shape",
            "gathered",
            "item",
            "changed",
            "filled",
            "scattered",
            "joined",
            "lengths",
            "joined_before",
            "both",
            "put",
        ),
    ),
    (OPTIONAL, optional, _named("has", "has_not", "value_0", "value_1")),
    (PARSED, parsed, _named("example_sparse", "example_dense", "context", "steps", "steps_of_one")),
    (SPACED, spaced, _named("convolved", "room")),
    (
        PICTURES,
        pictures,
        _named(
            "png",
            "size",
            "cropped_size",
            "SampleDistortedBoundingBox_begin",
            "SampleDistortedBoundingBoxV2_begin",
        ),
    ),
)
