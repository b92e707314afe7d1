"""Vectors of SAVING on the engine surface: checkpoints, slices, what is refused or lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import ml_dtypes
import numpy as np
import numpy.typing as npt

from sessrun.conformance.authoring.engine_author import TensorValue
from sessrun.conformance.authoring.record import EngineAuthor, SessionAuthor, engine_case
from sessrun.spec.cases.arguments import DTypeLike, TensorLike
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Operation, Tensor

__all__ = ["FLOATS", "HALVES", "MATRIX", "TEXTS", "load", "save"]

FLOATS: Final = np.array([[1.5, -0.0, np.inf], [np.nan, -3.25e38, 1e-45]], np.float32)
MATRIX: Final = np.arange(12, dtype=np.int32).reshape(4, 3)
#: The slices of the halves of `WHOLE`.
HALVES: Final = ("4 3 0,2:-", "4 3 2,2:-")
TEXTS: Final = np.array([b"a\0b", b"", "ü".encode(), b"\xff" * 3], object)


def save(
    tf: Namespace,
    prefix: TensorLike,
    values: Mapping[str, TensorLike],
    specs: Sequence[str] | None = None,
    name: str = "save",
) -> Operation:
    """Add an operation that saves constants under their names."""
    return tf.raw_ops.SaveV2(
        prefix=prefix,
        tensor_names=list(values),
        name=name,
        shape_and_slices=[""] * len(values) if specs is None else list(specs),
        tensors=[tf.convert_to_tensor(value) for value in values.values()],
    )


def load(
    tf: Namespace,
    prefix: TensorLike,
    names: Sequence[str],
    dtypes: Sequence[DTypeLike],
    specs: Sequence[str] | None = None,
    name: str = "load",
) -> list[Tensor]:
    """Add an operation that restores tensors; `name:0` is the first."""
    return tf.raw_ops.RestoreV2(
        prefix=prefix,
        tensor_names=list(names),
        dtypes=list(dtypes),
        name=name,
        shape_and_slices=[""] * len(names) if specs is None else list(specs),
    )


def _there_and_back(c: EngineAuthor, values: Mapping[str, TensorValue]) -> SessionAuthor:
    """Save constants and restore them, which must give the same values; return the session."""
    with c.graph() as tf:
        tensors = {name: tf.constant(value) for name, value in values.items()}
        save(tf, c.path("x"), tensors)
        load(tf, c.path("x"), list(values), [tensor.dtype for tensor in tensors.values()])
    s = c.open()
    s.run(["save"], values=[None])
    s.run([f"load:{i}" for i in range(len(values))], values=list(values.values()))
    return s


def _of(dtype: npt.DTypeLike) -> np.ndarray:
    return np.array([[0, 1, 3], [7, 5, 2]]).astype(dtype)


@engine_case("SAVING-001", title="Floating-point numbers come back bit for bit, NaN and -0 too.")
def floats_come_back(c: EngineAuthor) -> None:
    half, brain = np.array([1.5, -0.0, np.nan], np.float16), np.array([1.5, -0.0, np.inf])
    _there_and_back(
        c,
        {
            "f": FLOATS,
            "d": FLOATS.astype(np.float64),
            "h": half,
            "b": brain.astype(ml_dtypes.bfloat16),
        },
    )


@engine_case("SAVING-001", title="Integers of every width come back, the largest and the smallest.")
def integers_come_back(c: EngineAuthor) -> None:
    kinds = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    limits = {kind: np.iinfo(kind) for kind in kinds}
    _there_and_back(
        c, {kind: np.array([info.min, info.max, 1], kind) for kind, info in limits.items()}
    )


@engine_case("SAVING-001", title="Booleans and complex numbers come back.")
def booleans_and_complex_numbers(c: EngineAuthor) -> None:
    _there_and_back(
        c,
        {
            "b": np.array([True, False, True]),
            "c": _of(np.complex64) * 1j,
            "z": _of(np.complex128) - 2j,
        },
    )


@engine_case("SAVING-002", title="Strings come back byte for byte, zero bytes too.")
def strings_come_back(c: EngineAuthor) -> None:
    _there_and_back(c, {"s": TEXTS})


@engine_case("SAVING-002", title="A matrix of strings, one of them of 300 zero bytes.")
def long_strings_of_zeros(c: EngineAuthor) -> None:
    _there_and_back(c, {"s": np.array([[b"\0" * 300, b"x"], [b"\0", b"\0\0"]], object)})


@engine_case("SAVING-003", title="Scalars stay scalars, tensors without elements keep their shape.")
def shapes_come_back(c: EngineAuthor) -> None:
    _there_and_back(
        c,
        {
            "a": np.float32(7),
            "b": np.zeros([0, 3], np.int32),
            "c": np.zeros([1, 1], np.int64),
            "d": np.array([], object),
        },
    )


@engine_case("SAVING-004", title="A later session restores what a closed one has saved.")
def a_later_session_restores(c: EngineAuthor) -> None:
    s = _there_and_back(c, {"a": MATRIX})
    s.close()
    c.open(session="later").run(["load:0"], values=[MATRIX])


@engine_case("SAVING-005", title="Tensors are restored in the order in which they are named.")
def restored_in_the_order_of_names(c: EngineAuthor) -> None:
    with c.graph() as tf:
        save(tf, c.path("x"), {"b": np.int32(2), "a": np.int32(1), "c": np.int32(3)})
        load(tf, c.path("x"), ["c", "a", "b", "a"], [tf.int32] * 4)
    s = c.open()
    s.run(["save"], values=[None])
    s.run([f"load:{i}" for i in range(4)], values=list(map(np.int32, (3, 1, 2, 1))))


@engine_case("SAVING-006", title="A slice is restored of a tensor that was saved whole.")
def a_slice_of_a_whole(c: EngineAuthor) -> None:
    with c.graph() as tf:
        save(tf, c.path("x"), {"a": MATRIX})
        specs = ["4 3 1,2:-", "4 3 2,1:1,2", "4 3 -:-", "4 3 -:2,1"]
        load(tf, c.path("x"), ["a"] * 4, [tf.int32] * 4, specs)
    s = c.open()
    s.run(["save"], values=[None])
    wanted = [MATRIX[1:3], MATRIX[2:3, 1:3], MATRIX, MATRIX[:, 2:3]]
    s.run([f"load:{i}" for i in range(4)], values=wanted)


def _in_halves(
    c: EngineAuthor, values: Sequence[npt.ArrayLike] = (MATRIX[:2], MATRIX[2:])
) -> SessionAuthor:
    """Save a tensor in two slices; the nodes `whole`, `middle` and `bare` restore parts of it."""
    with c.graph() as tf:
        tf.raw_ops.SaveV2(
            prefix=c.path("x"),
            tensor_names=["a"] * len(values),
            name="save",
            shape_and_slices=HALVES[: len(values)],
            tensors=[tf.constant(value) for value in values],
        )
        kind = tf.as_dtype(np.asarray(values[0]).dtype)
        load(tf, c.path("x"), ["a"], [kind], ["4 3 -:-"], name="whole")
        load(tf, c.path("x"), ["a"], [kind], ["4 3 1,2:0,2"], name="middle")
        load(tf, c.path("x"), ["a"], [kind], name="bare")
    s = c.open()
    s.run(["save"], values=[None])
    return s


@engine_case("SAVING-007", title="Two halves that were saved make up the whole, and a part across.")
def halves_make_up_the_whole(c: EngineAuthor) -> None:
    s = _in_halves(c)
    s.run(["whole:0", "middle:0", "bare:0"], values=[MATRIX, MATRIX[1:3, :2], MATRIX])


@engine_case("SAVING-007", title="Slices of complex numbers and of booleans make up the whole.")
def slices_of_other_dtypes(c: EngineAuthor) -> None:
    matrices = [(MATRIX - 5j * MATRIX).astype(np.complex64), MATRIX % 2 == 0]
    with c.graph() as tf:
        raw = {"prefix": c.path("x"), "tensor_names": ["c", "c", "b", "b"]}
        halves = [part for matrix in matrices for part in (matrix[:2], matrix[2:])]
        tf.raw_ops.SaveV2(
            **raw,
            shape_and_slices=HALVES * 2,
            name="save",
            tensors=[tf.constant(part) for part in halves],
        )
        load(tf, c.path("x"), ["c", "b"], [tf.complex64, tf.bool], ["", "4 3 1,2:1,2"])
    s = c.open()
    s.run(["save"], values=[None])
    s.run(["load:0", "load:1"], values=[matrices[0], matrices[1][1:3, 1:3]])


@engine_case("SAVING-008", title="What no saved slice has cannot be restored: code 3.")
def slices_that_are_missing(c: EngineAuthor) -> None:
    s = _in_halves(c, (MATRIX[:2],))
    s.run(["middle:0"], error=[3])
    s.run(["whole:0"], error=[3])


@engine_case("SAVING-009", title="A name that the checkpoint lacks is not found: code 5.")
def a_name_that_is_not_there(c: EngineAuthor) -> None:
    with c.graph() as tf:
        save(tf, c.path("x"), {"a": MATRIX})
        load(tf, c.path("x"), ["b"], [tf.int32])
        load(tf, c.path("x"), ["a", "A"], [tf.int32] * 2, name="both")
    s = c.open()
    s.run(["save"], values=[None])
    s.run(["load:0"], error=[5])
    s.run(["both:0"], error=[5])


@engine_case("SAVING-010", title="A tensor restored as another dtype is refused: code 3.")
def another_dtype(c: EngineAuthor) -> None:
    with c.graph() as tf:
        save(tf, c.path("x"), {"a": MATRIX, "f": np.float32(1)})
        load(tf, c.path("x"), ["a"], [tf.int64])
        load(tf, c.path("x"), ["f"], [tf.float64], name="wide")
        load(tf, c.path("x"), ["a"], [tf.uint32], name="unsigned")
    s = c.open()
    s.run(["save"], values=[None])
    for name in ("load:0", "wide:0", "unsigned:0"):
        s.run([name], error=[3])


@engine_case("SAVING-011", title="A checkpoint that was never written is not found: code 5.")
def no_checkpoint(c: EngineAuthor) -> None:
    with c.graph() as tf:
        load(tf, c.path("x"), ["a"], [tf.int32])
        load(tf, c.path("no/folder/x"), ["a"], [tf.int32], name="nowhere")
    s = c.open()
    s.run(["load:0"], error=[5])
    s.run(["nowhere:0"], error=[5])


@engine_case("SAVING-012", title="One bit of the data is wrong: code 15; other tensors are read.")
def a_bit_of_the_data(c: EngineAuthor) -> None:
    with c.graph() as tf:
        save(tf, c.path("x"), {"a": MATRIX, "b": FLOATS})
        load(tf, c.path("x"), ["a"], [tf.int32], name="first")
        load(tf, c.path("x"), ["b"], [tf.float32], name="second")
    s = c.open()
    s.run(["save"], values=[None])
    c.change("x.data-00000-of-00001", flip=[5, 16])
    s.run(["first:0"], error=[15])
    s.run(["second:0"], values=[FLOATS])


@engine_case("SAVING-012", title="One bit of a string is wrong: code 15.")
def a_bit_of_a_string(c: EngineAuthor) -> None:
    s = _there_and_back(c, {"s": TEXTS})
    c.change("x.data-00000-of-00001", flip=[-1, 1])
    s.run(["load:0"], error=[15])


@engine_case("SAVING-013", title="A data file that is cut short is not read: code 15 or 11.")
def data_cut_short(c: EngineAuthor) -> None:
    s = _there_and_back(c, {"a": MATRIX})
    c.change("x.data-00000-of-00001", truncate=20)
    s.run(["load:0"], error=[11, 15])


@engine_case("SAVING-014", title="An index with a wrong bit, or cut short, is lost data: code 15.")
def a_broken_index(c: EngineAuthor) -> None:
    s = _there_and_back(c, {"a": MATRIX})
    c.change("x.index", flip=[3, 64])
    s.run(["load:0"], error=[15])
    c.change("x.index", flip=[3, 64])
    s.run(["load:0"], values=[MATRIX])
    c.change("x.index", truncate=-1)
    s.run(["load:0"], error=[15])


@engine_case("SAVING-015", title="Saving to the same place replaces the checkpoint, names and all.")
def saved_again(c: EngineAuthor) -> None:
    with c.graph() as tf:
        save(tf, c.path("x"), {"a": MATRIX, "b": np.int32(1)})
        save(tf, c.path("x"), {"a": MATRIX + 1}, name="again")
        load(tf, c.path("x"), ["a"], [tf.int32])
        load(tf, c.path("x"), ["b"], [tf.int32], name="other")
    s = c.open()
    s.run(["save"], values=[None])
    s.run(["again"], values=[None])
    s.run(["load:0"], values=[MATRIX + 1])
    s.run(["other:0"], error=[5])


@engine_case("SAVING-016", title="A checkpoint is its index and its data file, and nothing else.")
def files_of_a_checkpoint(c: EngineAuthor) -> None:
    _there_and_back(c, {"a": MATRIX, "b": np.int32(1)})
    c.names(["x.data-00000-of-00001", "x.index"])


@engine_case("SAVING-017", title="The folder of a checkpoint is made.")
def the_folder_is_made(c: EngineAuthor) -> None:
    with c.graph() as tf:
        save(tf, c.path("new/x"), {"a": MATRIX})
        load(tf, c.path("new/x"), ["a"], [tf.int32])
    s = c.open()
    s.run(["save"], values=[None])
    s.run(["load:0"], values=[MATRIX])
    c.names(["new/x.data-00000-of-00001", "new/x.index"])


@engine_case("SAVING-018", title="Two tensors of one name cannot be saved: code 3.")
def one_name_for_two(c: EngineAuthor) -> None:
    with c.graph() as tf:
        tf.raw_ops.SaveV2(
            prefix=c.path("x"),
            tensor_names=["a", "a"],
            name="save",
            shape_and_slices=["", ""],
            tensors=[tf.constant(1), tf.constant(2)],
        )
    c.open().run(["save"], error=[3])


@engine_case("SAVING-019", title="A save that fails leaves the checkpoint that was there.")
def a_save_that_fails(c: EngineAuthor) -> None:
    with c.graph() as tf:
        save(tf, c.path("x"), {"a": MATRIX})
        tf.raw_ops.SaveV2(
            prefix=c.path("x"),
            tensor_names=["a", "a"],
            name="bad",
            shape_and_slices=["", ""],
            tensors=[tf.constant(1), tf.constant(2)],
        )
        load(tf, c.path("x"), ["a"], [tf.int32])
    s = c.open()
    s.run(["save"], values=[None])
    s.run(["bad"], error=[3])
    s.run(["load:0"], values=[MATRIX])


@engine_case("SAVING-020", title="A slice that is not of the tensor's shape is refused: code 3.")
def a_slice_of_another_shape(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for name, spec in (("save", "4 3 0,3:-"), ("late", "4 3 0,2:0,2")):
            save(tf, c.path("x"), {"a": MATRIX[:2]}, [spec], name=name)
    s = c.open()
    s.run(["save"], error=[3])
    s.run(["late"], error=[3])


@engine_case("SAVING-021", title="A slice of a shape that the checkpoint does not have: code 3.")
def a_slice_of_another_whole(c: EngineAuthor) -> None:
    with c.graph() as tf:
        save(tf, c.path("x"), {"a": MATRIX})
        load(tf, c.path("x"), ["a"], [tf.int32], ["5 3 0,2:-"])
        load(tf, c.path("x"), ["a"], [tf.int32], ["3 4 0,2:-"], name="turned")
    s = c.open()
    s.run(["save"], values=[None])
    s.run(["load:0"], error=[3])
    s.run(["turned:0"], error=[3])


@engine_case("SAVING-022", title="Numbers of names, slices and tensors must agree: code 3.")
def as_many_names_as_tensors(c: EngineAuthor) -> None:
    with c.graph() as tf:
        names = tf.placeholder(tf.string, [None], name="names")
        specs = tf.placeholder(tf.string, [None], name="specs")
        tf.raw_ops.SaveV2(
            prefix=c.path("x"),
            tensor_names=names,
            shape_and_slices=specs,
            tensors=[tf.constant(1), tf.constant(2)],
            name="save",
        )
    s = c.open()

    def given(names: list[bytes], count: int) -> dict[str, np.ndarray]:
        return {"names:0": np.array(names, object), "specs:0": np.array([b""] * count, object)}

    s.run(["save"], given([b"a"], 2), error=[3])
    s.run(["save"], given([b"a", b"b"], 1), error=[3])
    s.run(["save"], given([b"a", b"b", b"c"], 3), error=[3])
    s.run(["save"], given([b"a", b"b"], 2), values=[None])
