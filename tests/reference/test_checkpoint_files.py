"""The files of checkpoints: exchanged with TensorFlow, broken, cut off while they are written."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import sessrun.reference as ours
from sessrun.reference.base.kernel_errors import KernelError
from sessrun.reference.state.checkpoints.bundle_files import index_path
from sessrun.reference.state.checkpoints.reader import Checkpoint
from sessrun.reference.state.checkpoints.table import read_table, table_bytes
from sessrun.reference.state.checkpoints.version1 import SliceFiles, write_slices
from sessrun.reference.state.checkpoints.wire import ordered_bytes, ordered_signed
from sessrun.reference.state.checkpoints.writer import Saved, write_checkpoint
from sessrun.reference.state.input.crc32c import crc32c, masked
from sessrun.spec.dtypes import DTYPES, DTypeRow

KINDS = [row for row in DTYPES if row.numpy is not None]
#: How often a file is broken, and how often a program that saves is ended.
CORRUPTIONS = int(os.environ.get("SESSRUN_CORRUPTIONS", "1000"))
KILLS = int(os.environ.get("SESSRUN_KILLS", "20"))


def _array(row: DTypeRow, shape: tuple[int, ...] = (3, 5)) -> Any:
    """Values of a dtype: of random bytes, where every byte is one of the dtype."""
    rng = np.random.default_rng(row.enum)
    if row.kind == "string":
        items = [rng.bytes(int(n)) for n in rng.integers(0, 300, int(np.prod(shape)))]
        found = np.empty(len(items), object)
        found[:] = items
        return found.reshape(shape)
    if row.kind == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if row.name in {"int4", "uint4", "int2", "uint2", "float4_e2m1fn"}:
        return rng.integers(0, 2, shape).astype(row.numpy)
    size = int(np.prod(shape)) * np.dtype(row.numpy).itemsize
    return np.frombuffer(rng.bytes(size), row.numpy).reshape(shape)


def _same(left: Any, right: Any) -> bool:
    if left.dtype == object:
        return bool(left.shape == right.shape and left.tolist() == right.tolist())
    return bool(left.shape == right.shape and left.tobytes() == right.tobytes())


def _save(tf: Any, prefix: Path, arrays: dict[str, Any]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        held = [tf.placeholder(tf.as_dtype(_dtype_name(array))) for array in arrays.values()]
        save = tf.raw_ops.SaveV2(
            prefix=str(prefix),
            tensor_names=list(arrays),
            tensors=held,
            shape_and_slices=[""] * len(arrays),
        )
        session.run(save, dict(zip(held, arrays.values(), strict=True)))


def _dtype_name(array: Any) -> Any:
    return (
        "string"
        if array.dtype == object
        else array.dtype.type
        if not array.dtype.names
        else (array.dtype)
    )


def _load(tf: Any, prefix: Path, names: dict[str, Any]) -> list[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        dtypes = [tf.as_dtype(_dtype_name(array)) for array in names.values()]
        restored = tf.raw_ops.RestoreV2(
            prefix=str(prefix),
            tensor_names=list(names),
            dtypes=dtypes,
            shape_and_slices=[""] * len(names),
        )
        found: list[Any] = session.run(restored)
        return found


@pytest.mark.tensorflow
@pytest.mark.parametrize("kind", KINDS, ids=lambda row: row.name)
@pytest.mark.parametrize("direction", [0, 1], ids=["ours", "theirs"])
def test_either_side_reads_what_the_other_wrote(
    theirs: Any, kind: DTypeRow, direction: int, tmp_path: Path
) -> None:
    shapes = {"matrix": (3, 5), "scalar": (), "none": (0, 4)}
    arrays = {name: _array(kind, shape) for name, shape in shapes.items()}
    writer, reader = (ours, theirs)[:: 1 - 2 * direction]
    _save(writer, tmp_path / "x", arrays)
    for found, array in zip(_load(reader, tmp_path / "x", arrays), arrays.values(), strict=True):
        assert _same(np.asarray(found, array.dtype), array)


@pytest.mark.tensorflow
def test_the_bytes_are_those_that_tensorflow_writes(theirs: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    names = [f"{'scope/' * int(rng.integers(0, 3))}variable_{i}" for i in range(300)]
    arrays = {name: rng.normal(size=rng.integers(1, 9, 2)) for name in names}
    arrays["text"] = _array(KINDS[6])
    for tf, folder in ((ours, "ours"), (theirs, "theirs")):
        (tmp_path / folder).mkdir()
        _save(tf, tmp_path / folder / "x", arrays)
    for name in ("x.index", "x.data-00000-of-00001"):
        assert (tmp_path / "ours" / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes()


@pytest.mark.tensorflow
def test_an_index_of_many_blocks(theirs: Any, tmp_path: Path) -> None:
    count = 6000
    saved = [Saved(b"%06d" % i + b"n" * 40, np.float32(i), "float32") for i in range(count)]
    write_checkpoint(str(tmp_path / "x"), saved)
    assert (tmp_path / "x.index").stat().st_size > 1 << 18
    for tf in (ours, theirs):
        reader = tf.train.NewCheckpointReader(str(tmp_path / "x"))
        assert len(reader.get_variable_to_shape_map()) == count
        assert reader.get_tensor("005999" + "n" * 40) == count - 1


@pytest.mark.tensorflow
def test_the_other_order_of_bytes(theirs: Any, tmp_path: Path) -> None:
    rows = [row for row in KINDS if row.itemsize > 1 and row.kind != "quantized"]
    arrays = {row.name: _array(row) for row in [*rows, KINDS[6]]}
    write_checkpoint(
        str(tmp_path / "x"), [Saved(k.encode(), a, k) for k, a in arrays.items()], order=">"
    )
    for tf in (ours, theirs):
        for found, array in zip(_load(tf, tmp_path / "x", arrays), arrays.values(), strict=True):
            assert _same(np.asarray(found, array.dtype), array)


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, bytes]]:
    """A checkpoint's tensors and its files."""
    folder = tmp_path_factory.mktemp("intact")
    arrays = {f"v{row.name}": _array(row) for row in KINDS[:10]}
    _save(ours, folder / "x", arrays)
    return arrays, {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def _broken(data: bytes, rng: random.Random) -> bytes:
    """The bytes with some bits flipped, some cut off, or some in the middle replaced."""
    kind = rng.randrange(4)
    if kind == 0:
        return data[: rng.randrange(len(data))]
    place, changed = rng.randrange(len(data)), bytearray(data)
    if kind == 1:
        changed[place : place + rng.randrange(1, 40)] = rng.randbytes(rng.randrange(1, 40))
    else:
        for _ in range(1 if kind == 2 else rng.randrange(2, 8)):
            changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def test_what_is_broken_is_never_read_as_something_else(
    intact: tuple[dict[str, Any], dict[str, bytes]], tmp_path: Path
) -> None:
    arrays, whole = intact
    lost = 0
    for number in range(CORRUPTIONS):
        rng = random.Random(number)
        chosen = rng.choice(sorted(whole))
        for name, data in whole.items():
            (tmp_path / name).write_bytes(_broken(data, rng) if name == chosen else data)
        try:
            found = Checkpoint(str(tmp_path / "x"))
            for name, array in arrays.items():
                assert _same(found.tensor(name.encode()), array), (number, name)
        except KernelError as error:
            assert error.code in {3, 5, 11, 12, 15}, (number, error)
            lost += error.code == 15
    assert lost > CORRUPTIONS * 0.8


def test_what_is_broken_of_version_1_is_never_read_as_something_else(tmp_path: Path) -> None:
    old = {"bool", "complex64", "float16", "float32", "int16", "int64", "qint8", "string"}
    arrays = {row.name: _array(row) for row in KINDS if row.name in old}
    path = tmp_path / "x"
    write_slices(str(path), [Saved(k.encode(), a, k) for k, a in arrays.items()])
    whole, lost = path.read_bytes(), 0
    for number in range(CORRUPTIONS):
        path.write_bytes(_broken(whole, random.Random(number)))
        try:
            found = SliceFiles(str(path))
            for name, array in arrays.items():
                assert _same(found.tensor(name.encode()), array), (number, name)
        except KernelError as error:
            assert error.code in {3, 5, 12, 13, 15}, (number, error)
            lost += error.code == 15
    assert lost > CORRUPTIONS * 0.8


def test_data_loss_is_an_error_of_the_namespace(
    intact: tuple[dict[str, Any], dict[str, bytes]], tmp_path: Path
) -> None:
    arrays, whole = intact
    for name, data in whole.items():
        (tmp_path / name).write_bytes(data[:40] + bytes([data[40] ^ 1]) + data[41:])
    with pytest.raises(ours.errors.DataLossError):
        ours.train.NewCheckpointReader(str(tmp_path / "x"))
    (tmp_path / "x.index").write_bytes(whole["x.index"])
    with pytest.raises(ours.errors.DataLossError):
        _load(ours, tmp_path / "x", arrays)


def test_a_compressed_block_is_refused(tmp_path: Path) -> None:
    data = bytearray(table_bytes([(b"", b"header")]))
    end = data.index(b"header") + len(b"header") + 8  # the place of the first block's kind
    data[end] = 1
    data[end + 1 : end + 5] = masked(crc32c(bytes(data[: end + 1]))).to_bytes(4, "little")
    with pytest.raises(KernelError, match="compressed"):
        read_table(bytes(data), str(tmp_path))


def test_keys_sort_as_what_they_say() -> None:
    numbers = sorted({s * (1 << n) + d for n in range(63) for d in (-1, 0, 1) for s in (1, -1)})
    assert sorted(numbers, key=ordered_signed) == numbers
    names = [b"", b"\0", b"\0\0", b"\0a", b"\0\xff", b"a", b"a\0", b"ab", b"\xff", b"\xff\0"]
    assert sorted(names, key=ordered_bytes) == names
    keys = [ordered_bytes(name) for name in names]
    assert len(set(keys)) == len(keys)


class _Killed(BaseException):
    """Ends a program that writes."""


def test_the_index_is_found_between_two_renamings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    prefix = str(tmp_path / "x")
    for stop_at in (1, 2):
        write_checkpoint(prefix, [Saved(b"v", np.arange(3), "int64")])
        with monkeypatch.context() as patched, contextlib.suppress(_Killed):
            patched.setattr(os, "replace", _stopping(os.replace, stop_at))
            patched.setattr(os, "unlink", lambda _: None)  # a killed program tidies nothing up
            write_checkpoint(prefix, [Saved(b"v", np.arange(5), "int64")])
        size = 3 if stop_at == 1 else 5
        assert Checkpoint(prefix).shape(b"v") == (size,)
        assert Checkpoint(prefix).tensor(b"v").tolist() == list(range(size))
    write_checkpoint(prefix, [Saved(b"v", np.arange(7), "int64")])
    assert Checkpoint(prefix).tensor(b"v").tolist() == list(range(7))
    assert index_path(prefix) == prefix + ".index"


def _stopping(function: Callable[..., Any], at: int) -> Callable[..., Any]:
    """The function, which raises at the call of that number as a killed program would end."""
    calls = iter(range(1, 100))

    def called(*args: Any) -> Any:
        if next(calls) == at:
            raise _Killed
        return function(*args)

    return called


#: Saves again and again: every variable holds the number of the step, so that a mixture shows.
SAVING = """
import sys
import numpy as np
import sessrun.reference as tf
value = tf.placeholder(tf.float32, [])
made = [tf.get_variable(f"v{i}", [200, 50], use_resource=bool(i % 2),
                        initializer=tf.zeros_initializer()) for i in range(4)]
step = tf.get_variable("step", [], initializer=tf.zeros_initializer())
update = tf.group(*[tf.assign(v, tf.fill(v.shape, value)) for v in [*made, step]])
saver = tf.train.Saver(max_to_keep=2, sharded=sys.argv[2] == "sharded")
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for number in range(int(sys.argv[3]), 10**6):
        session.run(update, {value: number})
        saver.save(session, sys.argv[1], None if sys.argv[2] == "same" else number)
        print(number, flush=True)
"""


def _last_number(folder: Path, manner: str) -> float:
    """What the latest checkpoint holds in all of its variables, once it is found whole."""
    latest = ours.train.latest_checkpoint(folder)
    if manner == "same" and latest is None:
        latest = str(folder / "x")
    found = Checkpoint(latest)
    values = {
        float(value) for name in found.tensor_entries() for value in found.tensor(name).reshape(-1)
    }
    assert len(values) == 1
    return values.pop()


@contextlib.contextmanager
def _saving(folder: Path, manner: str, start: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", SAVING, str(folder / "x"), manner, str(start)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        try:
            yield program
        finally:
            program.kill()


@pytest.mark.parametrize("manner", ["numbered", "same", "sharded"])
def test_a_program_that_is_killed_leaves_its_last_checkpoint(manner: str, tmp_path: Path) -> None:
    done, start, rng = -1, 0, random.Random(0)
    (tmp_path / "f").mkdir()
    for _ in range(max(KILLS // 3, 1)):
        with _saving(tmp_path / "f", manner, start) as program:
            assert program.stdout is not None
            for _ in range(rng.randrange(1, 4)):
                done = int(program.stdout.readline())
            time.sleep(rng.random() * 0.03)
            program.send_signal(signal.SIGKILL)
            printed = program.stdout.read().split()
            done = int(printed[-1]) if printed else done
        number = _last_number(tmp_path / "f", manner)
        assert done <= number <= done + 1
        start = int(number) + 1


def test_narrow_numbers_keep_a_byte_each(tmp_path: Path) -> None:
    values = np.array([1, -2, 3], ml_dtypes.int4)
    write_checkpoint(str(tmp_path / "x"), [Saved(b"v", values, "int4")])
    assert (tmp_path / "x.data-00000-of-00001").stat().st_size == 3
    assert Checkpoint(str(tmp_path / "x")).tensor(b"v").tolist() == [1, -2, 3]


def test_a_string_of_rank_0_is_restored_with_its_trailing_nulls(tmp_path: Path) -> None:
    prefix = str(tmp_path / "strings")
    with ours.Graph().as_default(), ours.Session() as sess:
        names, whole = ["a", "b"], ["", ""]
        saved = ours.constant(b"x\0\0"), ours.constant([b"\0", b"y\0"])
        sess.run(
            ours.raw_ops.SaveV2(
                prefix=prefix, tensor_names=names, shape_and_slices=whole, tensors=saved
            )
        )
        restored = ours.raw_ops.RestoreV2(
            prefix=prefix, tensor_names=names, shape_and_slices=whole, dtypes=[ours.string] * 2
        )
        scalar, vector = sess.run(restored)
    assert scalar == b"x\0\0"
    assert vector.tolist() == [b"\0", b"y\0"]
