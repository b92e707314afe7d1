"""Programs of checkpoints whose files are truncated, exchanged or changed."""

from __future__ import annotations

import shutil
from pathlib import Path

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Action
from sessrun.conformance.subjects.programs.saved_graphs import in_a_folder

__all__ = ["BEHAVIOURS"]

_DATA = "data-00000-of-00001"


def _saved(tf, prefix: str, **tensors) -> None:
    names = sorted(tensors)
    run(
        tf,
        tf.raw_ops.SaveV2(
            prefix=prefix,
            tensor_names=names,
            shape_and_slices=[""] * len(names),
            tensors=[tf.constant(tensors[name]) for name in names],
        ),
    )


def _older(tf, path: str, *values) -> None:
    names = ["a", "b"][: len(values)]
    run(tf, tf.raw_ops.Save(filename=path, tensor_names=names, data=list(map(tf.constant, values))))


def _read(tf, prefix: str, name: str = "a", dtype=None) -> Action:
    return lambda: run(
        tf,
        tf.raw_ops.RestoreV2(
            prefix=prefix, tensor_names=[name], shape_and_slices=[""], dtypes=[dtype or tf.float32]
        ),
    )


@in_a_folder
def _exchanged(tf):
    """A file of checkpoint version 1 in place of one of version 2, and the other way round."""
    _older(tf, "old", [1.0, 2.0], 3)
    _saved(tf, "new", a=[1.0, 2.0])
    shutil.copy("old", "x.index")
    shutil.copy("old", f"x.{_DATA}")
    shutil.copy("new.index", "y")
    return attempt(
        _read(tf, "x"),
        _read(tf, "y"),
        lambda: tf.train.NewCheckpointReader("y"),
        lambda: run(tf, tf.raw_ops.Restore(file_pattern="y", tensor_name="a", dt=tf.float32)),
    )


@in_a_folder
def _data_of_another(tf):
    """Data files of another checkpoint, truncated or missing."""
    _saved(tf, "one", a=[1.0, 2.0], s=["x", "yz"])
    _saved(tf, "two", a=[3.0, 4.0], s=["xy", "z"])
    shutil.copy("one.index", "mixed.index")
    shutil.copy(f"two.{_DATA}", f"mixed.{_DATA}")
    shutil.copy("one.index", "bare.index")
    shutil.copy("one.index", "cut.index")
    Path(f"cut.{_DATA}").write_bytes(Path(f"one.{_DATA}").read_bytes()[:6])
    shutil.copy("one.index", "long.index")
    Path(f"long.{_DATA}").write_bytes(Path(f"one.{_DATA}").read_bytes() + b"more")
    return attempt(
        *(
            _read(tf, prefix, name, dtype)
            for prefix in ("mixed", "bare", "cut", "long")
            for name, dtype in (("a", tf.float32), ("s", tf.string))
        )
    )


@in_a_folder
def _changed_bytes(tf):
    """Checkpoints with one changed byte in the index or in the data."""
    _saved(tf, "x", a=[1.0, 2.0])
    outcomes = []
    for ending in ("index", _DATA):
        content = Path(f"x.{ending}").read_bytes()
        for position in range(0, len(content), 5):
            changed = bytearray(content)
            changed[position] ^= 0x11
            Path(f"x.{ending}").write_bytes(changed)
            outcomes += attempt(_read(tf, "x"))
        Path(f"x.{ending}").write_bytes(content)
    return outcomes


@in_a_folder
def _cut_indexes(tf):
    _saved(tf, "x", a=[1.0, 2.0])
    _older(tf, "old", [1.0, 2.0])
    outcomes = []
    for path, prefix in (("x.index", "x"), ("old", "old")):
        content = Path(path).read_bytes()
        for size in range(0, len(content), 7):
            Path(path).write_bytes(content[:size])
            outcomes += attempt(_read(tf, prefix))
            Path(path).write_bytes(content[-size:])
            outcomes += attempt(_read(tf, prefix))
    return outcomes


BEHAVIOURS = {
    "exchanged": _exchanged,
    "data of another": _data_of_another,
    "changed bytes": _changed_bytes,
    "cut indexes": _cut_indexes,
}
