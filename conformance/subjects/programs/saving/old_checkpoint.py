"""Programs of checkpoints of version 1: operations, savers, files, errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Action, Plain, Program
from sessrun.conformance.subjects.programs.saved_graphs import (
    in_a_folder,
    inputs,
    listing,
    variables,
)

__all__ = ["BEHAVIOURS"]

#: Dtypes, and whether files of version 1 can contain them.
KINDS = (
    "float32",
    "float64",
    "int32",
    "uint8",
    "int16",
    "int8",
    "complex64",
    "int64",
    "bool",
    "uint16",
    "complex128",
    "float16",
    "bfloat16",
    "uint32",
    "uint64",
)
VALUES = np.arange(6, dtype=np.float32).reshape(2, 3)


def _save(tf, path, names, *values) -> Action:
    data = [tf.convert_to_tensor(value) for value in values]
    return lambda: run(tf, tf.raw_ops.Save(filename=path, tensor_names=names, data=data))


def _slices(tf, path: str, **parts) -> Action:
    names, specs, data = parts["names"], parts["specs"], parts["data"]
    return lambda: run(
        tf,
        tf.raw_ops.SaveSlices(
            filename=path,
            tensor_names=names,
            shapes_and_slices=specs,
            data=[tf.convert_to_tensor(value) for value in data],
        ),
    )


def _read(tf, path, name, dtype, spec: str | None = None) -> Action:
    raw, named = tf.raw_ops, {"file_pattern": path, "tensor_name": name, "dt": dtype}
    if spec is None:
        return lambda: run(tf, raw.Restore(**named))
    return lambda: run(tf, raw.RestoreSlice(**named, shape_and_slice=spec))


@in_a_folder
def _every_dtype(tf):
    outcomes = []
    for name in KINDS:
        dtype = tf.as_dtype(name)
        values = [tf.cast(tf.constant(value), dtype) for value in ([[1, 0, 1]], 1, np.ones([0, 2]))]
        outcomes += attempt(
            _save(tf, name, ["a", "b", "c"], *values),
            *(_read(tf, name, key, dtype) for key in "abc"),
            lambda name=name: Path(name).read_bytes(),
        )
    texts = [b"a\0b", b"", "ü".encode()]
    outcomes += attempt(
        _save(tf, "string", ["s"], texts),
        _read(tf, "string", "s", tf.string),
        lambda: Path("string").read_bytes(),
    )
    return outcomes


@in_a_folder
def _entire_tensors(tf):
    outcomes = attempt(
        _save(tf, "two", ["a", "b"], VALUES, 5),
        _read(tf, "two", "b", tf.int32),
        _save(tf, "n", ["a"], VALUES, 5),
        _save(tf, "n", "a", VALUES),
        _save(tf, ["n"], ["a"], VALUES),
        _save(tf, "none/n", ["a"], VALUES),
        _save(tf, "same", ["a", "a"], VALUES, VALUES),
        _save(tf, "empty", [""], VALUES),
        _read(tf, "empty", "", tf.float32),
        _read(tf, "two", "zz", tf.float32),
        _read(tf, "two", "a", tf.int32),
        _read(tf, "nope", "a", tf.int32),
        _read(tf, ["two"], "a", tf.float32),
        _read(tf, "two", ["a"], tf.float32),
        _save(tf, "two", ["c"], 7),
        _read(tf, "two", "a", tf.float32),
        _read(tf, "two", "c", tf.int32),
    )
    return [outcomes, listing()]


@in_a_folder
def _parts_of_tensors(tf):
    both = {"names": ["p", "p", "q"], "specs": ["4 3 0,2:-", "4 3 2,2:-", ""]}
    outcomes = attempt(
        _slices(tf, "s", **both, data=[VALUES, VALUES + 10, 7]),
        _read(tf, "s", "p", tf.float32),
        _read(tf, "s", "q", tf.int32),
        *(
            _read(tf, "s", "p", tf.float32, spec)
            for spec in (
                "4 3 1,2:1,2",
                "",
                "4 3 -:-",
                "4 3 -:0,1",
                "5 3 1,2:1,2",
                "4 3 3,2:1,2",
                "x",
                "4 3",
                "4 3 0,1",
                "12 0,1",
            )
        ),
        _slices(tf, "one", names=["p"], specs=["4 3 0,2:-"], data=[VALUES]),
        _read(tf, "one", "p", tf.float32),
        _read(tf, "one", "p", tf.float32, "4 3 0,2:-"),
        _read(tf, "one", "p", tf.float32, "4 3 1,2:-"),
        _read(tf, "one", "p", tf.float32, "4 3 1,1:0,2"),
        _slices(tf, "bad", names=["p"], specs=["4 3 0,3:-"], data=[VALUES]),
        _slices(tf, "bad", names=["p"], specs=["4 3 3,2:-"], data=[VALUES]),
        _slices(tf, "bad", names=["p"] * 2, specs=["4 3 0,2:-", "5 3 2,2:-"], data=[VALUES] * 2),
        _slices(
            tf,
            "bad",
            names=["p"] * 2,
            specs=["4 3 0,2:-", "4 3 2,2:-"],
            data=[VALUES, VALUES.astype(np.int32)],
        ),
        _slices(tf, "x-00000-of-00002", names=["p"], specs=["4 3 0,2:-"], data=[VALUES]),
        _slices(
            tf, "x-00001-of-00002", names=["p", "z"], specs=["4 3 2,2:-", ""], data=[VALUES + 10, 3]
        ),
        _read(tf, "x-?????-of-00002", "p", tf.float32),
        _read(tf, "x-*", "z", tf.int32),
        _read(tf, "x-00000-of-00002", "p", tf.float32),
        _read(tf, "y-*", "z", tf.int32),
    )
    return [outcomes, listing()]


@in_a_folder
def _by_the_newer_operation(tf):
    def read(prefix: str, names: list[str], specs: list[str]) -> Action:
        dtypes = [tf.float32, tf.int32][: len(names)]
        return lambda: run(
            tf,
            tf.raw_ops.RestoreV2(
                prefix=prefix, tensor_names=names, shape_and_slices=specs, dtypes=dtypes
            ),
        )

    parts = {"names": ["p", "p", "q"], "specs": ["4 3 0,2:-", "4 3 2,2:-", ""]}
    _slices(tf, "s", **parts, data=[VALUES, VALUES + 10, 7])()
    Path("noise").write_bytes(b"x" * 200)
    Path("little").write_bytes(b"x")
    return attempt(
        read("s", ["p", "q"], ["4 3 1,2:-", ""]),
        read("s", ["p", "q"], ["", ""]),
        read("s", ["p", "zz"], ["", ""]),
        read("s", ["q"], [""]),
        read("nope", ["p"], [""]),
        read("noise", ["p"], [""]),
        read("little", ["p"], [""]),
        _read(tf, "noise", "p", tf.float32),
        _read(tf, ".", "p", tf.float32),
    )


@in_a_folder
def _readers(tf):
    _save(tf, "two", ["b", "a"], VALUES, 5)()
    _slices(tf, "s", names=["p"] * 2, specs=["4 3 0,2:-", "4 3 2,2:-"], data=[VALUES] * 2)()
    plain, parts = (tf.train.NewCheckpointReader(name) for name in ("two", "s"))
    return [
        sorted(plain.get_variable_to_shape_map().items()),
        plain.has_tensor("a"),
        plain.has_tensor("c"),
        sorted(plain.debug_string().split(b"\n")),
        parts.debug_string(),
        sorted(plain.get_variable_to_dtype_map().items()),
        attempt(
            lambda: plain.get_tensor("a"),
            lambda: plain.get_tensor("b"),
            lambda: plain.get_tensor("c"),
            lambda: parts.get_tensor("p"),
            lambda: tf.train.NewCheckpointReader("nope"),
            lambda: tf.train.list_variables("two"),
            lambda: tf.train.load_variable("two", "a"),
            lambda: tf.train.checkpoint_exists("two"),
            lambda: tf.train.checkpoint_exists("tw"),
        ),
    ]


def _nodes(tf) -> list[Plain]:
    return [
        [n.name, n.op, inputs(n), n.device, sorted(n.attr)]
        for n in tf.get_default_graph().as_graph_def().node
        if n.name.startswith("save")
    ]


def _savers(**options) -> Program:
    @in_a_folder
    def program(tf):
        reference, resource = variables(tf, options.pop("device", None))
        saver = tf.train.Saver(write_version=tf.train.SaverDef.V1, max_to_keep=2, **options)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            paths = [saver.save(session, "x", step) for step in range(3)]
            session.run([tf.assign(reference, reference * 0), tf.assign(resource, resource * 0)])
            saver.restore(session, paths[-1])
            values = session.run([reference, resource])
            refused = attempt(
                lambda: saver.restore(session, paths[0]), lambda: saver.restore(session, "x-1")
            )
        return [
            _nodes(tf),
            saver.saver_def,
            paths,
            listing(),
            values,
            refused,
            saver.last_checkpoints,
            tf.train.latest_checkpoint("."),
            Path("checkpoint").read_text("utf-8"),
        ]

    return program


BEHAVIOURS = {
    "every-dtype": _every_dtype,
    "whole-tensors": _entire_tensors,
    "parts-of-tensors": _parts_of_tensors,
    "by-the-newer-operation": _by_the_newer_operation,
    "readers": _readers,
    "saver": _savers(),
    "sharded-saver": _savers(sharded=True),
    "reshaping-saver": _savers(reshape=True),
    "saver-with-name": _savers(name="save_it"),
}
