"""Generated checkpoints written by one side and read by the other: TensorFlow's, and ours.

Each has some tensors of any dtype and rank, whole, in slices or in shards, in a file of either
version; `SESSRUN_EXCHANGES` says how many are written by each side.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sessrun.reference as ours
from sessrun.conformance.subjects.saving import properties as drawn
from sessrun.spec.tensor_slices import TensorSlice

pytestmark = [pytest.mark.tensorflow, pytest.mark.filterwarnings("ignore")]

EXCHANGES = int(os.environ.get("SESSRUN_EXCHANGES", "40"))
#: Dtypes that a file of version 1 can have.
OLD_KINDS = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
#: A pattern of file names has a meaning in version 1.
OLD_NAMES = ("v", "net/kernel", "a b", "ü", "v:0", "long" * 40)


@dataclass(frozen=True)
class Piece:
    """A tensor, or a slice of one, to be saved.

    Attributes:
      name: the tensor's.
      dtype: its dtype.
      spec: which slice it is; empty for all.
      array: the values.

    """

    name: str
    dtype: str
    spec: str
    array: np.ndarray


@dataclass(frozen=True)
class Wanted:
    """What is read, and what it must be."""

    name: str
    dtype: str
    spec: str
    array: np.ndarray


def _pieces_and_parts(draw: random.Random, *, old: bool) -> tuple[list[Piece], list[Wanted]]:
    pieces, wanted = [], []
    for name in draw.sample(OLD_NAMES if old else drawn.NAMES, draw.randint(1, 4)):
        cut = draw.random() < 0.5
        kinds = (
            (*OLD_KINDS, *([] if cut else ["string"]))
            if old
            else (drawn.CUT if cut else (*drawn.CUT, *drawn.UNCUT))
        )
        dtype = draw.choice(kinds)
        array = drawn.array_of(draw, dtype, cut=cut)
        parts: Sequence[TensorSlice | None] = drawn.cuts_of(draw, array.shape) if cut else [None]
        for part in parts:
            spec = drawn.spec_of(array, part) if part else ""
            values = drawn.within(array, part) if part else array
            pieces.append(Piece(name, dtype, spec, values))
        for _ in range(2):
            spec, values = drawn.wanted_of(draw, dtype, array)
            wanted.append(Wanted(name, dtype, spec, values))
        wanted.append(Wanted(name, dtype, "", array))
    draw.shuffle(pieces)
    return pieces, wanted


def _write(tf: Any, prefix: str, pieces: Sequence[Piece], *, shards: int, old: bool) -> None:
    raw = tf.raw_ops
    with tf.Graph().as_default(), tf.Session() as session:
        held = [tf.placeholder(tf.as_dtype(piece.dtype)) for piece in pieces]
        feeds = {tensor: piece.array for tensor, piece in zip(held, pieces, strict=True)}
        names = [f"{prefix}-{i:05d}-of-{shards:05d}" for i in range(shards)]
        for number, path in enumerate(names if shards > 1 else [prefix]):
            chosen = slice(number, None, shards)
            texts = [piece.name for piece in pieces[chosen]]
            specs = [piece.spec for piece in pieces[chosen]]
            save = (
                raw.SaveSlices(
                    filename=path, tensor_names=texts, shapes_and_slices=specs, data=held[chosen]
                )
                if old
                else raw.SaveV2(
                    prefix=path, tensor_names=texts, shape_and_slices=specs, tensors=held[chosen]
                )
            )
            session.run(save, feeds)
        if shards > 1 and not old:
            merged = raw.MergeV2Checkpoints(checkpoint_prefixes=names, destination_prefix=prefix)
            session.run(merged)


def _read(tf: Any, prefix: str, wanted: Sequence[Wanted]) -> list[np.ndarray]:
    with tf.Graph().as_default(), tf.Session() as session:
        found = tf.raw_ops.RestoreV2(
            prefix=prefix,
            tensor_names=[each.name for each in wanted],
            shape_and_slices=[each.spec for each in wanted],
            dtypes=[tf.as_dtype(each.dtype) for each in wanted],
        )
        kinds = [object if each.dtype == "string" else None for each in wanted]
        pairs = zip(session.run(list(found)), kinds, strict=True)
        return [np.asarray(value, kind) for value, kind in pairs]


def _same(found: np.ndarray, wanted: Wanted) -> bool:
    if wanted.dtype == "string":
        return found.shape == wanted.array.shape and found.tolist() == wanted.array.tolist()
    return found.shape == wanted.array.shape and found.tobytes() == wanted.array.tobytes()


@pytest.mark.parametrize("writer", ["ours", "theirs"])
@pytest.mark.parametrize("version", [1, 2])
def test_a_checkpoint_of_one_side_is_read_by_the_other(
    theirs: Any, writer: str, version: int, tmp_path: Path
) -> None:
    sides = {"ours": ours, "theirs": theirs}
    reader = sides["theirs" if writer == "ours" else "ours"]
    for number in range(EXCHANGES // 2):
        draw = random.Random(f"exchange:{version}:{number}")
        pieces, wanted = _pieces_and_parts(draw, old=version == 1)
        shards = draw.choice((1, 1, min(2, len(pieces)), min(3, len(pieces))))
        prefix = str(tmp_path / f"x{number}")
        _write(sides[writer], prefix, pieces, shards=shards, old=version == 1)
        pattern = f"{prefix}-?????-of-{shards:05d}" if version == 1 and shards > 1 else prefix
        for found, each in zip(_read(reader, pattern, wanted), wanted, strict=True):
            assert _same(found, each), (number, each.name, each.dtype, each.spec)
