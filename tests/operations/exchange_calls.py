"""Graphs for operations that only functions of the namespace write: arrays of tensors, text."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from sessrun.reference.python.framework.function import Defun

import sessrun.reference as tf
from sessrun.spec.proto import NameAttrList

ARRAYS = (
    "TensorArrayV3 TensorArrayWriteV3 TensorArrayReadV3 TensorArrayGatherV3 TensorArrayScatterV3 "
    "TensorArrayConcatV3 TensorArraySplitV3 TensorArraySizeV3 TensorArrayGradV3 TensorArrayCloseV3 "
    "TensorArrayGradWithShape"
)
#: Where checkpoints are exchanged; it goes with the process.
_FOLDER = tempfile.TemporaryDirectory()
STACKS = "StackV2 StackPushV2 StackPopV2 StackCloseV2 Stack StackPush StackPop StackClose"
TEXT = (
    "RegexFullMatch RegexReplace StaticRegexFullMatch StaticRegexReplace StringFormat StringSplit "
    "StringSplitV2"
)
TOLD = (
    "KernelLabel SleepOp SleepIdentityOp GetDeadline StubResourceHandleOp ResourceCreateOp "
    "ResourceInitializedOp ResourceUsingOp DeepCopy"
)


def graph_of(build: Callable[[], None]) -> dict[str, Any]:
    """What the reference writes of the graph that `build` makes, as JSON."""
    with tf.Graph().as_default() as graph:
        build()
    form: dict[str, Any] = json_format.MessageToDict(graph.as_graph_def())
    return form


def arrays() -> None:
    """Elements written, scattered and split; read, gathered, joined and counted."""
    array = tf.TensorArray(tf.float32, 3, element_shape=[2], clear_after_read=False)
    filled = array.scatter([0, 2], [[1.0, 2.0], [3.0, 4.0]]).write(1, [5.0, 6.0])
    tf.identity(filled.read(1), name="read")
    tf.identity(filled.gather([2, 0]), name="gathered")
    tf.identity(filled.concat(), name="joined")
    tf.identity(filled.size(), name="count")
    parts = tf.TensorArray(tf.float32, 2, infer_shape=False).split([1.0, 2.0, 3.0], [1, 2])
    tf.identity(parts.read(1), name="part")
    gradient = filled.grad("g").write(0, [7.0, 8.0])
    tf.identity(gradient.read(0), name="gradient")
    made = tf.raw_ops.TensorArrayGradWithShape(
        handle=filled.handle, flow_in=filled.flow, shape_to_prepend=[2], source="h"
    )
    counted = tf.raw_ops.TensorArraySizeV3(handle=made.grad_handle, flow_in=made.flow_out)
    tf.identity(counted, name="count_of_gradients")
    other = tf.TensorArray(tf.float32, 1)
    tf.group(other.close(), name="closed")


def stacks() -> None:
    """Values pushed and popped again, on either kind of stack; stacks closed."""
    raw = tf.raw_ops
    newer = raw.StackV2(max_size=2, elem_type=tf.float32)
    with tf.control_dependencies([raw.StackPushV2(handle=newer, elem=[1.0, 2.0])]):
        tf.identity(raw.StackPopV2(handle=newer, elem_type=tf.float32), name="newest")
    older = raw.Stack(elem_type=tf.float32)
    with tf.control_dependencies([raw.StackPush(handle=older, elem=3.0)]):
        tf.identity(raw.StackPop(handle=older, elem_type=tf.float32), name="last")
    tf.group(raw.StackCloseV2(handle=newer), raw.StackClose(handle=older), name="stacks_closed")


def text() -> None:
    """Words matched, replaced, shown and split."""
    words = tf.constant(["ab c", "d"])
    tf.identity(tf.strings.regex_full_match(words, "[a-z]"), name="matched")
    tf.identity(tf.strings.regex_full_match(words, tf.constant("d")), name="matched_fed")
    tf.identity(tf.strings.regex_replace(words, "[a-b]", "x"), name="replaced")
    tf.identity(tf.strings.regex_replace(words, tf.constant("d"), "y"), name="replaced_fed")
    tf.identity(tf.strings.format("{} of {}", (words, tf.constant(2))), name="shown")
    tf.identity(tf.string_split(words).values, name="split")
    tf.identity(tf.raw_ops.StringSplitV2(input=words, sep=" ").values, name="split_again")


def printing() -> None:
    """A line on stderr."""
    tf.group(tf.print("exchanged", tf.constant([1, 2])), name="printed")


def algorithm() -> None:
    """The number of the algorithm of random words."""
    tf.raw_ops.StatelessRandomGetAlg(name="algorithm")


def slices() -> None:
    """Parts of variables of both kinds assigned."""
    for name, resource in (("reference", False), ("resource", True)):
        v = tf.Variable([1.0, 2.0, 3.0], use_resource=resource, name=name)
        tf.group(v.initializer, name=f"init_{name}")
        tf.group(v[1:].assign([8.0, 9.0]), name=f"part_{name}")
        tf.identity(v.read_value(), name=f"read_{name}")


def checkpoints() -> None:
    """Tensors saved apart, made one checkpoint, and restored."""
    raw = tf.raw_ops
    prefix = str(Path(_FOLDER.name) / "x")
    saved = []
    for shard, values in enumerate(([[1.0, 2.0], [b"a", b""]], [[3.0]])):
        name = raw.ShardedFilename(basename=prefix, shard=shard, num_shards=2)
        names, slices = [f"{shard}{i}" for i in range(len(values))], [""] * len(values)
        save = raw.SaveV2(
            prefix=name,
            tensor_names=names,
            shape_and_slices=slices,
            tensors=[tf.constant(value) for value in values],
        )
        with tf.control_dependencies([save]):
            saved.append(tf.identity(name))
    raw.MergeV2Checkpoints(
        checkpoint_prefixes=tf.stack(saved),
        destination_prefix=prefix,
        delete_old_dirs=False,
        name="merged",
    )
    raw.RestoreV2(
        prefix=prefix,
        tensor_names=["01", "10", "00"],
        name="restored",
        shape_and_slices=["", "", "2 1,1"],
        dtypes=[tf.string, tf.float32, tf.float32],
    )
    raw.ShardedFilespec(basename="b", num_shards=3, name="pattern")


def old_checkpoints() -> None:
    """Files of version 1, whole and in slices, and what is read of them by either operation."""
    raw = tf.raw_ops
    whole, parts = (str(Path(_FOLDER.name) / name) for name in ("old", "old_parts"))
    raw.Save(
        filename=whole,
        tensor_names=["a", "b"],
        name="saved",
        data=[tf.constant([[1.5, -2.0]]), tf.constant([b"x", b"\0"])],
    )
    raw.SaveSlices(
        filename=parts,
        tensor_names=["p", "p"],
        name="saved_parts",
        shapes_and_slices=["3 2 0,1:-", "3 2 1,2:-"],
        data=[tf.constant([[1, 2]]), tf.constant([[3, 4], [5, 6]])],
    )
    raw.Restore(file_pattern=whole, tensor_name="b", dt=tf.string, name="strings")
    raw.Restore(file_pattern=parts, tensor_name="p", dt=tf.int32, name="together")
    raw.RestoreSlice(
        file_pattern=parts, tensor_name="p", shape_and_slice="3 2 0,2:1,1", dt=tf.int32, name="part"
    )
    raw.RestoreV2(
        prefix=whole, tensor_names=["a"], shape_and_slices=[""], dtypes=[tf.float32], name="newer"
    )


def vocabularies() -> None:
    """A matrix saved, and its rows in the order of another vocabulary."""
    raw, folder = tf.raw_ops, Path(_FOLDER.name)
    for name, words in (("then", "a b c"), ("now", "c new a")):
        (folder / name).write_text("\n".join(words.split()))
    prefix = str(folder / "matrix")
    raw.SaveV2(
        prefix=prefix,
        tensor_names=["m"],
        shape_and_slices=[""],
        name="saved_matrix",
        tensors=[tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])],
    )
    lines = raw.GenerateVocabRemapping(
        new_vocab_file=str(folder / "now"),
        old_vocab_file=str(folder / "then"),
        new_vocab_offset=0,
        num_new_vocab=3,
        name="lines",
    )
    raw.LoadAndRemapMatrix(
        ckpt_path=prefix,
        old_tensor_name="m",
        row_remapping=lines.remapping,
        col_remapping=[],
        initializing_values=[8.0, 9.0],
        num_rows=3,
        num_cols=2,
        name="loaded",
    )


def functions() -> None:
    """A function called by its name and by attribute."""

    @Defun(tf.float32, tf.float32, func_name="Both")
    def both(x: Any, y: Any) -> Any:
        return x - y, x * y

    both(5.0, 2.0, name="named")
    function = NameAttrList(name="Both")
    args = {"args": [tf.constant(7.0), tf.constant(3.0)], "Tout": ["float32", "float32"]}
    tf.raw_ops.PartitionedCall(**args, f=function, name="called")
    tf.raw_ops.StatefulPartitionedCall(**args, f=function, name="stateful")


def told() -> None:
    """Operations of TensorFlow's own tests that have a kernel."""
    tf.raw_ops.KernelLabel(name="plain")
    graph = tf.get_default_graph()
    with graph._kernel_label_map({"KernelLabel": "overload_2"}):
        tf.raw_ops.KernelLabel(name="labelled")
    tf.raw_ops.SleepIdentityOp(sleep_seconds=0, input=[1.0, 2.0], name="slept")
    tf.raw_ops.SleepOp(sleep_seconds=0, name="sleep")
    tf.raw_ops.GetDeadline(name="deadline")
    tf.raw_ops.DeepCopy(x=[1.0, 2.0], name="copied")
    handle = tf.raw_ops.StubResourceHandleOp(shared_name="r")
    for op_type in ("ResourceCreateOp", "ResourceInitializedOp", "ResourceUsingOp"):
        getattr(tf.raw_ops, op_type)(resource=handle, name=op_type)


CONTROL = (
    "Switch Merge Enter Exit NextIteration LoopCond RefSwitch RefMerge RefEnter RefExit "
    "RefNextIteration RefIdentity RefSelect ControlTrigger"
)


def control() -> None:
    """A conditional, a loop, and the same of a variable's reference."""
    taken = tf.constant(True)
    tf.identity(tf.cond(taken, lambda: 1.0, lambda: 2.0), name="chosen")
    tf.identity(tf.while_loop(lambda i: i < 5, lambda i: i + 2, [0]), name="counted")
    raw = tf.raw_ops
    v = tf.Variable(1.0, use_resource=False, name="v")
    same = raw.RefIdentity(input=v._variable)
    off, on = raw.RefSwitch(data=same, pred=taken)
    both = raw.RefMerge(inputs=[tf.assign_add(off, 1.0), tf.assign_add(on, 2.0)]).output
    entered = raw.RefEnter(data=both, frame_name="frame")
    most, more = (
        raw.Enter(data=tf.constant(value), frame_name="frame", is_constant=True)
        for value in (9.0, 3.0)
    )
    start = raw.RefMerge(inputs=[entered, entered]).output
    goes_on = raw.LoopCond(input=tf.less(start, most))
    out, again = raw.RefSwitch(data=start, pred=goes_on)
    start.op._update_input(1, raw.RefNextIteration(data=tf.assign_add(again, more)))
    tf.identity(raw.RefExit(data=out), name="left")
    other = tf.Variable(4.0, use_resource=False, name="other")
    chosen = raw.RefSelect(index=1, inputs=[v._variable, other._variable])
    raw.AssignSub(ref=chosen, value=1.0, name="selected")
    tf.group(v.initializer, other.initializer, name="init")
    with tf.control_dependencies([off]):
        trigger = raw.ControlTrigger()
    with tf.control_dependencies([trigger]):
        tf.constant(5.0, name="triggered")


CALLED: tuple[tuple[str, Callable[[], None], tuple[tuple[str, ...], ...]], ...] = (
    (
        ARRAYS,
        arrays,
        (
            ("read:0", "gathered:0", "joined:0", "count:0"),
            ("part:0",),
            ("gradient:0",),
            ("count_of_gradients:0",),
            ("closed",),
        ),
    ),
    (STACKS, stacks, (("newest:0",), ("last:0",), ("stacks_closed",))),
    (
        TEXT,
        text,
        (
            ("matched:0", "matched_fed:0", "replaced:0", "replaced_fed:0", "shown:0"),
            ("split:0", "split_again:0"),
        ),
    ),
    (
        CONTROL,
        control,
        (("init",), ("chosen:0", "counted:0", "left:0"), ("triggered:0",), ("selected:0",)),
    ),
    ("StatelessRandomGetAlg", algorithm, (("algorithm:0",),)),
    ("PrintV2", printing, (("printed",),)),
    (
        TOLD,
        told,
        (
            ("plain:0", "labelled:0", "slept:0", "copied:0", "sleep"),
            ("ResourceInitializedOp:0",),
            ("ResourceCreateOp",),
            ("ResourceInitializedOp:0", "ResourceUsingOp"),
        ),
    ),
    (
        "SaveV2 RestoreV2 MergeV2Checkpoints ShardedFilename ShardedFilespec",
        checkpoints,
        (("merged",), ("restored:0", "restored:1", "restored:2", "pattern:0")),
    ),
    (
        "Save SaveSlices Restore RestoreSlice",
        old_checkpoints,
        (("saved", "saved_parts"), ("strings:0", "together:0", "part:0", "newer:0")),
    ),
    (
        "GenerateVocabRemapping LoadAndRemapMatrix",
        vocabularies,
        (("saved_matrix",), ("lines:0", "lines:1", "loaded:0")),
    ),
    (
        "PartitionedCall StatefulPartitionedCall",
        functions,
        (("named:0", "named:1"), ("called:0", "called:1"), ("stateful:0", "stateful:1")),
    ),
    (
        "StridedSliceAssign ResourceStridedSliceAssign",
        slices,
        tuple(
            (f"{step}_{name}" + (":0" if step == "read" else ""),)
            for name in ("reference", "resource")
            for step in ("init", "read", "part", "read")
        ),
    ),
)
