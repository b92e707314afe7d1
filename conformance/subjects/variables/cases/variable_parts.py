"""Vectors of VARIABLES: gathered rows, slices, counts, wrapping integers, order in one run."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.subjects.run.cases.run import floats
from sessrun.conformance.subjects.variables.cases.variable_scatter import KINDS, held
from sessrun.spec.cases.arguments import TensorLike
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Operation, Tensor

_ROWS: Final = np.array([[1, 2], [3, 4], [5, 6]], np.float32)


# --- gathered rows -------------------------------------------------------------------------


def _gathering(c: EngineAuthor, first: np.ndarray) -> None:
    with c.graph() as tf, tf.device("/cpu:0"):
        variable = held(tf, first, "v", resource=True)
        indices = tf.placeholder(tf.int32, None, name="i")
        raw, dtype = tf.raw_ops, tf.as_dtype(first.dtype)
        raw.ResourceGather(resource=variable, indices=indices, dtype=dtype, name="rows")
        raw.AssignAddVariableOp(resource=variable, value=np.ones_like(first), name="plus")


@engine_case("VARIABLES-077", title="The rows gathered are those of the value at that time.")
def rows_of_the_value(c: EngineAuthor) -> None:
    _gathering(c, _ROWS)
    s = c.open()
    s.run(["rows:0"], {"i:0": np.int32(0)}, error=[9, 5])
    s.run(["v_set"])
    s.run(["rows:0"], {"i:0": np.array([2, 0], np.int32)}, values=[_ROWS[[2, 0]]])
    s.run(["plus"])
    s.run(["rows:0"], {"i:0": np.array([2, 0], np.int32)}, values=[_ROWS[[2, 0]] + 1])
    s.run(["rows:0"], {"i:0": np.int32(1)}, values=[floats(4, 5)])


@engine_case("VARIABLES-077", title="Indices of any rank gather, none gathers nothing.")
def indices_of_any_rank(c: EngineAuthor) -> None:
    first = np.array([[2**40, 1], [3, -4]], np.int64)
    _gathering(c, first)
    s = c.open()
    s.run(["v_set"])
    for indices in (np.zeros([0], np.int32), np.array([[0, 1], [1, 1]], np.int32)):
        s.run(["rows:0"], {"i:0": indices}, values=[first[indices]])


@engine_case("VARIABLES-078", title="A row out of range cannot be gathered.")
def a_row_out_of_range(c: EngineAuthor) -> None:
    _gathering(c, _ROWS)
    s = c.open()
    s.run(["v_set"])
    for indices in (np.int32(3), np.array([0, -1], np.int32), np.array([[2**31 - 1]], np.int32)):
        s.run(["rows:0"], {"i:0": indices}, error=[3])


# --- slices --------------------------------------------------------------------------------


def _slices(
    tf: Namespace, name: str, variable: Tensor, value: TensorLike, **part: list[int] | int
) -> None:
    """The node NAME, an assignment to a slice of a variable."""
    kind = "ResourceStridedSliceAssign" if variable.dtype == tf.resource else "StridedSliceAssign"
    getattr(tf.raw_ops, kind)(ref=variable, value=value, name=name, **part)


def _sliced(
    c: EngineAuthor,
    first: npt.ArrayLike,
    value: TensorLike,
    want: npt.ArrayLike,
    **part: list[int] | int,
) -> None:
    with c.graph() as tf:
        for resource, name in KINDS:
            variable = held(tf, first, name, resource=resource)
            _slices(tf, f"{name}_do", variable, tf.constant(value), **part)
    s = c.open()
    for _, name in KINDS:
        s.run([f"{name}_set"])
        s.run([f"{name}_do"])
        s.run([f"{name}_read:0"], values=[want])


@engine_case("VARIABLES-079", title="A part of a row is replaced.")
def a_part_of_a_row(c: EngineAuthor) -> None:
    first = np.arange(6, dtype=np.int32).reshape(2, 3)
    want = np.array([[0, 1, 2], [3, 40, 50]], np.int32)
    part: dict[str, list[int] | int] = {
        "begin": [1, 1],
        "end": [2, 3],
        "strides": [1, 1],
        "shrink_axis_mask": 1,
    }
    _sliced(c, first, np.array([40, 50], np.int32), want, **part)


@engine_case("VARIABLES-079", title="Every second element is replaced, from the end.")
def every_second_element(c: EngineAuthor) -> None:
    first = np.array([b"a", b"b", b"c", b"d", b"e"], object)
    want = np.array([b"3", b"b", b"2", b"d", b"1"], object)
    part: dict[str, list[int] | int] = {"begin": [4], "end": [0], "strides": [-2], "end_mask": 1}
    _sliced(c, first, np.array([b"1", b"2", b"3"], object), want, **part)


@engine_case("VARIABLES-079", title="A slice of nothing replaces nothing.")
def a_slice_of_nothing(c: EngineAuthor) -> None:
    part: dict[str, list[int] | int] = {"begin": [1], "end": [1], "strides": [1]}
    _sliced(c, _ROWS, np.zeros([0, 2], np.float32), _ROWS, **part)


@engine_case("VARIABLES-080", title="One value fills a slice.")
def one_value_fills_a_slice(c: EngineAuthor) -> None:
    part: dict[str, list[int] | int] = {"begin": [1], "end": [3], "strides": [1]}
    _sliced(c, _ROWS, np.float32(9), np.array([[1, 2], [9, 9], [9, 9]], np.float32), **part)


@engine_case("VARIABLES-080", title="A row fills each row of a slice.")
def a_row_fills_a_slice(c: EngineAuthor) -> None:
    part: dict[str, list[int] | int] = {"begin": [0], "end": [2], "strides": [1]}
    want = np.array([[7, 8], [7, 8], [5, 6]], np.float64)
    _sliced(c, _ROWS.astype(np.float64), np.array([[7, 8]], np.float64), want, **part)


@engine_case("VARIABLES-081", title="Values and indices that do not fit a slice fail.")
def values_and_indices_that_do_not_fit(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = tf.placeholder(tf.float32, None, name="x")
        i = tf.placeholder(tf.int32, [1], name="i")
        for resource, name in KINDS:
            variable = held(tf, floats(1, 2, 3), name, resource=resource)
            _slices(tf, f"{name}_part", variable, x, begin=[0], end=[2], strides=[1])
            one = {"begin": i, "end": i + 1, "strides": [1], "shrink_axis_mask": 1}
            _slices(tf, f"{name}_one", variable, np.float32(9), **one)
    s = c.open()
    s.run(["r_set", "v_set"])
    for _, name in KINDS:
        s.run([f"{name}_part"], {"x:0": floats(7, 8, 9)}, error=[3])
        for index in (3, -4):
            s.run([f"{name}_one"], {"i:0": np.array([index], np.int32)}, error=[3])
        s.run([f"{name}_read:0"], values=[floats(1, 2, 3)])


# --- numbers -------------------------------------------------------------------------------


@engine_case("VARIABLES-043", title="A count of a resource variable ends at its limit.")
def counting_resources(c: EngineAuthor) -> None:
    with c.graph() as tf:
        raw, handle = tf.raw_ops, held(tf, np.int64(-1), "v", resource=True)
        raw.ResourceCountUpTo(resource=handle, limit=1, T=tf.int64, name="up")
        raw.AssignVariableOp(resource=handle, value=tf.constant(5, tf.int64), name="far")
    s = c.open()
    s.run(["v_set"])
    for count in (-1, 0):
        s.run(["up:0"], values=[np.int64(count)])
    s.run(["up:0"], error=[11])
    s.run(["v_read:0"], values=[np.int64(1)])
    s.run(["far"])
    s.run(["up:0"], error=[11])
    s.run(["v_read:0"], values=[np.int64(5)])


def _wrapping(c: EngineAuthor, dtypes: tuple[str, ...]) -> None:
    with c.graph() as tf:
        raw = tf.raw_ops
        for dtype in dtypes:
            info, one = np.iinfo(dtype), np.array([1, 0], dtype)
            first = np.array([info.max, info.min], dtype)
            r = held(tf, first, f"r_{dtype}", resource=False)
            v = held(tf, first, f"v_{dtype}", resource=True)
            raw.AssignAdd(ref=r, value=one, name=f"r_{dtype}_plus")
            raw.AssignSub(ref=r, value=one[::-1].copy(), name=f"r_{dtype}_minus")
            raw.AssignAddVariableOp(resource=v, value=one, name=f"v_{dtype}_plus")
            raw.AssignSubVariableOp(resource=v, value=one[::-1].copy(), name=f"v_{dtype}_minus")
    s = c.open()
    for dtype in dtypes:
        info = np.iinfo(dtype)
        for kind in "rv":
            name = f"{kind}_{dtype}"
            s.run([f"{name}_set"])
            s.run([f"{name}_plus"])
            s.run([f"{name}_read:0"], values=[np.array([info.min, info.min], dtype)])
            s.run([f"{name}_minus"])
            s.run([f"{name}_read:0"], values=[np.array([info.min, info.max], dtype)])


@engine_case("VARIABLES-082", title="Variables of signed integers wrap around.")
def signed_integers_wrap_around(c: EngineAuthor) -> None:
    _wrapping(c, ("int8", "int16", "int32", "int64"))


@engine_case("VARIABLES-082", title="Variables of unsigned integers wrap around.")
def unsigned_integers_wrap_around(c: EngineAuthor) -> None:
    _wrapping(c, ("uint8", "uint16", "uint32", "uint64"))


# --- order in one run ----------------------------------------------------------------------


@engine_case("VARIABLES-083", title="Reads between updates give what was there between them.")
def reads_between_updates(c: EngineAuthor) -> None:
    with c.graph() as tf:
        raw, v = tf.raw_ops, held(tf, floats(1, 2), "v", resource=True)
        before: Tensor | Operation | None = None
        for number, (kind, by) in enumerate((("Add", 10), ("", 7), ("Sub", 3), ("Add", 1))):
            with tf.control_dependencies([] if before is None else [before]):
                read = raw.ReadVariableOp(resource=v, dtype=tf.float32, name=f"read{number}")
            with tf.control_dependencies([read]):
                update = getattr(raw, f"Assign{kind}VariableOp")
                before = update(resource=v, value=floats(by, by), name=f"update{number}")
        with tf.control_dependencies([before]):
            raw.ReadVariableOp(resource=v, dtype=tf.float32, name="last")
    s = c.open()
    s.run(["v_set"])
    fetches = ["last:0", "read3:0", "read2:0", "read1:0", "read0:0"]
    wanted = [floats(5, 5), floats(4, 4), floats(7, 7), floats(11, 12)]
    s.run(fetches, values=[*wanted, floats(1, 2)])
    wanted = [floats(5, 5), floats(4, 4), floats(7, 7), floats(15, 15)]
    s.run(fetches, values=[*wanted, floats(5, 5)])


@engine_case("VARIABLES-083", title="A read before another handle's update gives the old value.")
def a_read_before_another_handle(c: EngineAuthor) -> None:
    with c.graph() as tf:
        raw = tf.raw_ops
        one, other = (
            raw.VarHandleOp(shape=[], dtype=tf.int64, shared_name="q", name=name) for name in "ab"
        )
        raw.AssignVariableOp(resource=one, value=tf.constant(3, tf.int64), name="set")
        read = raw.ReadVariableOp(resource=one, dtype=tf.int64, name="old")
        with tf.control_dependencies([read]):
            plus = raw.AssignAddVariableOp(resource=other, value=tf.constant(4, tf.int64))
        with tf.control_dependencies([plus]):
            raw.ReadVariableOp(resource=one, dtype=tf.int64, name="new")
    s = c.open()
    s.run(["set"])
    s.run(["new:0", "old:0"], values=[np.int64(7), np.int64(3)])
    s.run(["old:0", "new:0"], values=[np.int64(7), np.int64(11)])


@engine_case("VARIABLES-087", title="A run that failed made nothing of variables of rank 3.")
def cubes(c: EngineAuthor) -> None:
    first = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    with c.graph() as tf:
        raw, x = tf.raw_ops, tf.placeholder(tf.float32, None, name="x")
        r, v = (held(tf, first, name, resource=kind) for kind, name in KINDS)
        added = raw.AssignAdd(ref=r, value=x, name="r_plus")
        raw.AssignAddVariableOp(resource=v, value=x, name="v_plus")
        with tf.control_dependencies([added]):
            rows = raw.ScatterSub(ref=r, indices=[1], updates=np.float32(1))
            raw.ResourceScatterSub(resource=v, indices=[1], updates=np.float32(1), name="v_minus")
        tf.group(rows.op, name="r_minus")
    s = c.open()
    s.run(["r_set", "v_set"])
    s.run(["r_plus"], {"x:0": floats(1, 2)}, error=[3])
    s.run(["v_plus"], {"x:0": floats(1, 2)}, error=[3])
    s.run(["r_minus", "v_minus", "v_plus"], {"x:0": first})
    want = first * 2
    want[1] -= 1
    s.run(["r_read:0", "v_read:0"], values=[want, want])


@engine_case("VARIABLES-086", title="A variable without elements is a variable.")
def a_variable_without_elements(c: EngineAuthor) -> None:
    empty = np.zeros([0, 3], np.float32)
    with c.graph() as tf:
        raw = tf.raw_ops
        r, v = (held(tf, empty, name, resource=kind) for kind, name in KINDS)
        raw.IsVariableInitialized(ref=r, name="r_known")
        raw.VarIsInitializedOp(resource=v, name="v_known")
        raw.AssignAdd(ref=r, value=tf.constant(empty), name="r_plus")
        raw.AssignAddVariableOp(resource=v, value=tf.constant(empty), name="v_plus")
    s = c.open()
    s.run(["v_read:0"], error=[9])
    s.run(["v_known:0"], values=[np.bool_(False)])
    for _, name in KINDS:
        s.run([f"{name}_set"])
        s.run([f"{name}_known:0"], values=[np.bool_(True)])
        s.run([f"{name}_plus"])
        s.run([f"{name}_read:0"], values=[empty])
