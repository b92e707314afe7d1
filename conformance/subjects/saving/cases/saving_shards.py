"""Vectors of SAVING on the engine surface: shards, merging, files of others and of version 1."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Final

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, SessionAuthor, engine_case
from sessrun.conformance.subjects.saving.cases.saving import (
    FLOATS,
    HALVES,
    MATRIX,
    TEXTS,
    load,
    save,
)

#: A checkpoint that TensorFlow 2.21 wrote: `f` is [1.5, -2], `s` is ["", "a\0"].
_THEIR_INDEX: Final = (
    "AAAGCAEaAggBAAEPZggBEgQSAggCKAg1PTPI9AABEXMIBxIEEgIIAiAIKAg1Dt4JvAAAAAABAAAAAI5Cl4EAAAAA"
    "AQAAAADA8qGwAAECdAA5AAAAAAEAAAAACH9yWD4ISw4AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AABX+4CLJHVH2w=="
)
_THEIR_DATA: Final = "AADAPwAAAMAAAndRmcRhAA=="


@engine_case("SAVING-023", title="The name of a shard has five digits for either number.")
def the_name_of_a_shard(c: EngineAuthor) -> None:
    with c.graph() as tf:
        base = tf.placeholder(tf.string, [], name="base")
        shard, count = (tf.placeholder(tf.int32, [], name=name) for name in ("shard", "count"))
        tf.raw_ops.ShardedFilename(basename=base, shard=shard, num_shards=count, name="name")
        tf.raw_ops.ShardedFilespec(basename=base, num_shards=count, name="pattern")
    s = c.open()
    for text, i, n in ((b"/a/b", 3, 12), (b"", 0, 1), (b"x", 123456, 1234567)):
        feeds = {"base:0": np.array(text, object), "shard:0": np.int32(i), "count:0": np.int32(n)}
        s.run(["name:0"], feeds, values=[np.array(text + b"-%05d-of-%05d" % (i, n), object)])


@engine_case("SAVING-024", title="The pattern of the names of shards.")
def the_pattern_of_shards(c: EngineAuthor) -> None:
    with c.graph() as tf:
        base = tf.placeholder(tf.string, [], name="base")
        count = tf.placeholder(tf.int32, [], name="count")
        tf.raw_ops.ShardedFilespec(basename=base, num_shards=count, name="pattern")
    s = c.open()
    for text, n in ((b"/a/b", 12), (b"x", 100000)):
        feeds = {"base:0": np.array(text, object), "count:0": np.int32(n)}
        s.run(["pattern:0"], feeds, values=[np.array(text + b"-?????-of-%05d" % n, object)])


def _merging(
    c: EngineAuthor,
    folders: tuple[str, str] = ("p", "q"),
    more: Sequence[str] = (),
    *,
    counts_folders: bool = False,
    **options: bool,
) -> SessionAuthor:
    """Save `a` and `b` apart; `merge` makes one checkpoint of both, and of `more`."""
    with c.graph() as tf:
        paths = [c.path(f"{folder}/{name}") for folder, name in zip(folders, "12", strict=True)]
        save(tf, paths[0], {"a": MATRIX, "t": TEXTS}, name="save_a")
        save(tf, paths[1], {"b": FLOATS}, name="save_b")
        tf.raw_ops.MergeV2Checkpoints(
            checkpoint_prefixes=paths + [c.path(name) for name in more],
            destination_prefix=c.path("x"),
            name="merge",
            **options,
        )
        if counts_folders:
            pattern = tf.placeholder(tf.string, [], name="pattern")
            tf.size(tf.raw_ops.MatchingFiles(pattern=pattern), name="folders")
        load(tf, c.path("x"), ["a", "b", "t"], [tf.int32, tf.float32, tf.string])
    s = c.open()
    s.run(["save_a", "save_b"], values=[None, None])
    return s


@engine_case("SAVING-025", title="Two checkpoints become one that has the tensors of both.")
def merged(c: EngineAuthor) -> None:
    s = _merging(c)
    s.run(["merge"], values=[None])
    s.run(["load:0", "load:1", "load:2"], values=[MATRIX, FLOATS, TEXTS])


@engine_case("SAVING-091", title="What was merged is gone.")
def merged_and_gone(c: EngineAuthor) -> None:
    s = _merging(c)
    c.change("q/mine", write=b"1")
    s.run(["merge"], values=[None])
    c.names(["q/mine", "x.data-00000-of-00002", "x.data-00001-of-00002", "x.index"])


@engine_case("SAVING-092", title="Folders of what was merged are gone where they are empty.")
def merged_folders_are_gone(c: EngineAuthor) -> None:
    s = _merging(c, counts_folders=True)
    c.change("q/mine", write=b"1")
    one_letter = {"pattern:0": np.array(c.path("?").encode(), object)}
    s.run(["folders:0"], one_letter, values=[np.int32(2)])
    s.run(["merge"], values=[None])
    s.run(["folders:0"], one_letter, values=[np.int32(1)])


@engine_case("SAVING-027", title="One of the checkpoints to merge is not there: code 3.")
def merging_what_is_not_there(c: EngineAuthor) -> None:
    _merging(c, more=["r/3"]).run(["merge"], error=[3])


@engine_case("SAVING-028", title="Those that are not there are passed over where that is allowed.")
def merging_those_there_are(c: EngineAuthor) -> None:
    s = _merging(c, more=["r/3"], allow_missing_files=True)
    s.run(["merge"], values=[None])
    s.run(["load:0", "load:1"], values=[MATRIX, FLOATS])


@engine_case("SAVING-029", title="Slices that were saved in two shards make up the whole.")
def slices_in_two_shards(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for i in range(2):
            save(tf, c.path(f"p/{i}"), {"a": MATRIX[2 * i : 2 * i + 2]}, [HALVES[i]], f"save_{i}")
        tf.raw_ops.MergeV2Checkpoints(
            checkpoint_prefixes=[c.path("p/0"), c.path("p/1")],
            destination_prefix=c.path("x"),
            name="merge",
        )
        load(tf, c.path("x"), ["a", "a"], [tf.int32] * 2, ["4 3 1,2:-", ""])
    s = c.open()
    s.run(["save_0", "save_1"], values=[None, None])
    s.run(["merge"], values=[None])
    s.run(["load:0", "load:1"], values=[MATRIX[1:3], MATRIX])


@engine_case("SAVING-030", title="A checkpoint that TensorFlow wrote is read.")
def a_foreign_checkpoint(c: EngineAuthor) -> None:
    prefix = c.file("x.index", base64.b64decode(_THEIR_INDEX)).removesuffix(".index")
    c.file("x.data-00000-of-00001", base64.b64decode(_THEIR_DATA))
    with c.graph() as tf:
        load(tf, prefix, ["s", "f"], [tf.string, tf.float32])
    wanted = [np.array([b"", b"a\0"], object), np.array([1.5, -2], np.float32)]
    c.open().run(["load:0", "load:1"], values=wanted)


@engine_case("SAVING-031", title="What a session has not set cannot be saved: code 9, and no file.")
def what_is_not_set_is_not_saved(c: EngineAuthor) -> None:
    with c.graph() as tf:
        v = tf.get_variable("v", [2], use_resource=True)
        save(tf, c.path("x"), {"v": v.read_value()})
    c.open().run(["save"], error=[9])
    c.names([])


@engine_case("SAVING-032", title="A file of version 1 holds tensors and slices.")
def version_1_there_and_back(c: EngineAuthor) -> None:
    raw_names, specs = ["p", "p", "s"], [*HALVES, ""]
    with c.graph() as tf:
        raw = tf.raw_ops
        data = [tf.constant(MATRIX[:2]), tf.constant(MATRIX[2:]), tf.constant(TEXTS)]
        raw.SaveSlices(
            filename=c.path("x"),
            tensor_names=raw_names,
            shapes_and_slices=specs,
            data=data,
            name="save",
        )
        raw.Restore(file_pattern=c.path("x"), tensor_name="p", dt=tf.int32, name="whole")
        raw.Restore(file_pattern=c.path("x"), tensor_name="s", dt=tf.string, name="texts")
        raw.RestoreSlice(
            file_pattern=c.path("x"),
            tensor_name="p",
            dt=tf.int32,
            shape_and_slice="4 3 1,2:0,1",
            name="part",
        )
        raw.Restore(file_pattern=c.path("x"), tensor_name="q", dt=tf.int32, name="lacking")
    s = c.open()
    s.run(["save"], values=[None])
    s.run(["whole:0", "texts:0", "part:0"], values=[MATRIX, TEXTS, MATRIX[1:3, :1]])
    s.run(["lacking:0"], error=[5])
    c.names(["x"])


@engine_case("SAVING-033", title="RestoreV2 reads a file of version 1.")
def version_1_is_read_by_the_newer_operation(c: EngineAuthor) -> None:
    with c.graph() as tf:
        tf.raw_ops.Save(
            filename=c.path("x"),
            tensor_names=["a", "b"],
            name="save",
            data=[tf.constant(MATRIX), tf.constant(FLOATS)],
        )
        load(tf, c.path("x"), ["b", "a"], [tf.float32, tf.int32], ["", "4 3 -:1,1"])
    s = c.open()
    s.run(["save"], values=[None])
    s.run(["load:0", "load:1"], values=[FLOATS, MATRIX[:, 1:2]])
