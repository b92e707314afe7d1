"""Vectors of VARIABLES: rows and elements of variables, replaced and updated at indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from sessrun.conformance.authoring.record import EngineAuthor, SessionAuthor, engine_case
from sessrun.conformance.subjects.run.cases.run import floats
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor

#: Whether a variable is a resource variable, with what its nodes' names begin with.
KINDS: Final = ((False, "r"), (True, "v"))


def held(tf: Namespace, first: npt.ArrayLike, name: str, *, resource: bool) -> Tensor:
    """A variable, and NAME_set and NAME_read, which initialise and read it; the node it is."""
    value = np.asarray(first)
    raw, dtype = tf.raw_ops, tf.as_dtype(value.dtype)
    create = raw.VarHandleOp if resource else raw.VariableV2
    variable = create(shape=value.shape, dtype=dtype, shared_name=name, name=name)
    constant = tf.constant(value)
    if resource:
        raw.AssignVariableOp(resource=variable, value=constant, name=f"{name}_set")
        raw.ReadVariableOp(resource=variable, dtype=dtype, name=f"{name}_read")
    else:
        raw.Assign(ref=variable, value=constant, name=f"{name}_set")
        tf.identity(variable, name=f"{name}_read")
    return variable


def scattered(
    tf: Namespace,
    kind: str,
    variable: Tensor,
    indices: npt.ArrayLike,
    updates: npt.ArrayLike,
    name: str,
) -> None:
    """The node NAME, a scatter operation of this kind on a variable."""
    if variable.dtype == tf.resource:
        scatter = getattr(tf.raw_ops, f"ResourceScatter{kind}")
        operation = scatter(resource=variable, indices=indices, updates=updates)
    else:
        scatter = getattr(tf.raw_ops, f"Scatter{kind}")
        operation = scatter(ref=variable, indices=indices, updates=updates).op
    with tf.control_dependencies([operation]):
        tf.no_op(name=name)


def both(
    c: EngineAuthor,
    kind: str,
    first: npt.ArrayLike,
    indices: npt.ArrayLike,
    updates: npt.ArrayLike,
    want: npt.ArrayLike,
) -> None:
    """One scatter operation on a variable of each kind, and the value after it."""
    _write(c, kind, first, indices, updates)
    _after(c.open(), want)


def _write(
    c: EngineAuthor, kind: str, first: npt.ArrayLike, indices: npt.ArrayLike, updates: npt.ArrayLike
) -> None:
    with c.graph() as tf:
        for resource, name in KINDS:
            variable = held(tf, first, name, resource=resource)
            scattered(tf, kind, variable, indices, updates, f"{name}_do")


def _after(s: SessionAuthor, want: npt.ArrayLike) -> None:
    for _, name in KINDS:
        s.run([f"{name}_set"])
        s.run([f"{name}_do"], values=[None])
        s.run([f"{name}_read:0"], values=[want])


_ROWS: Final = np.array([[1, 2], [3, 4], [5, 6]], np.float32)


# --- what is updated -----------------------------------------------------------------------


@engine_case("VARIABLES-038", title="Rows of strings and of flags are replaced.")
def rows_of_strings_and_flags(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for resource, name in KINDS:
            words = held(tf, np.array([b"a", b"b", b"c"], object), name, resource=resource)
            scattered(tf, "Update", words, [2, 0], [b"", b"\0x"], f"{name}_do")
            flags = held(tf, np.array([[True], [False]]), f"{name}2", resource=resource)
            scattered(tf, "Update", flags, [1], [[True]], f"{name}2_do")
    s = c.open()
    _after(s, np.array([b"\0x", b"b", b""], object))
    for name in ("r2", "v2"):
        s.run([f"{name}_set"])
        s.run([f"{name}_do"])
        s.run([f"{name}_read:0"], values=[np.array([[True], [True]])])


@engine_case("VARIABLES-039", title="Rows of complex numbers and of halves are added to.")
def rows_of_other_dtypes(c: EngineAuthor) -> None:
    both(
        c,
        "Add",
        np.array([1j, 2, 3], np.complex64),
        [0, 0, 2],
        np.array([1, 2j, -3], np.complex64),
        np.array([1 + 3j, 2, 0], np.complex64),
    )


@engine_case("VARIABLES-040", title="An index out of range fails.")
def an_index_out_of_range(c: EngineAuthor) -> None:
    with c.graph() as tf, tf.device("/cpu:0"):
        index = tf.placeholder(tf.int64, [1], name="i")
        for resource, name in KINDS:
            variable = held(tf, _ROWS, name, resource=resource)
            for kind in ("Update", "Add", "Min"):
                scattered(tf, kind, variable, index, np.ones([1, 2], np.float32), f"{name}{kind}")
    s = c.open()
    s.run(["r_set", "v_set"])
    for wrong in (3, -1):
        for node in ("rUpdate", "rAdd", "rMin", "vUpdate", "vAdd", "vMin"):
            s.run([node], {"i:0": np.array([wrong], np.int64)}, error=[3])
    s.run(["r_read:0", "v_read:0"], values=[_ROWS, _ROWS])


@engine_case("VARIABLES-067", title="Rows of a variable that is not initialised cannot be updated.")
def rows_of_nothing(c: EngineAuthor) -> None:
    nodes = []
    with c.graph() as tf:
        for resource, name in KINDS:
            variable = held(tf, floats(1, 2), name, resource=resource)
            for kind in ("Update", "Add", "Sub", "Min", "Max"):
                scattered(tf, kind, variable, [0], floats(1), f"{name}{kind}")
                nodes.append(f"{name}{kind}")
    s = c.open()
    for node in nodes:
        s.run([node], error=[9, 5])
    s.run(["r_read:0"], error=[9])
    s.run(["v_read:0"], error=[9])


@engine_case("VARIABLES-067", title="Neither a slice nor a count of nothing can be taken.")
def slices_and_counts_of_nothing(c: EngineAuthor) -> None:
    with c.graph() as tf:
        raw, part = tf.raw_ops, {"begin": [0], "end": [1], "strides": [1], "value": floats(1)}
        r, v = (held(tf, floats(1, 2), name, resource=kind) for kind, name in KINDS)
        raw.StridedSliceAssign(ref=r, **part, name="r_slice")
        raw.ResourceStridedSliceAssign(ref=v, **part, name="v_slice")
        count, known = (
            held(tf, np.int64(0), f"{name}_count", resource=kind) for kind, name in KINDS
        )
        raw.CountUpTo(ref=count, limit=3, name="r_up")
        raw.ResourceCountUpTo(resource=known, limit=3, T=tf.int64, name="v_up")
    s = c.open()
    for fetch in ("r_slice", "v_slice", "r_up:0", "v_up:0"):
        s.run([fetch], error=[9, 5])
    for fetch in ("r_read:0", "v_read:0", "r_count_read:0", "v_count_read:0"):
        s.run([fetch], error=[9])


@engine_case("VARIABLES-068", title="A single update is applied to all rows named.")
def one_update_for_all_rows(c: EngineAuthor) -> None:
    want = np.array([[11, 12], [3, 4], [25, 26]], np.float32)
    both(c, "Add", _ROWS, [2, 0, 2], np.float32(10), want)


@engine_case("VARIABLES-068", title="A single value replaces all elements of the rows named.")
def one_value_for_all_rows(c: EngineAuthor) -> None:
    want = np.array([[7, 7], [3, 4], [7, 7]], np.int16)
    both(c, "Update", _ROWS.astype(np.int16), [0, 2], np.int16(7), want)


@engine_case("VARIABLES-069", title="Updates for more or fewer rows than there are indices fail.")
def updates_of_another_shape(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = tf.placeholder(tf.float32, None, name="x")
        for resource, name in KINDS:
            variable = held(tf, _ROWS, name, resource=resource)
            scattered(tf, "Add", variable, [0], x, f"{name}_do")
    s = c.open()
    s.run(["r_set", "v_set"])
    wrong = (floats(1, 2), np.ones([2, 2], np.float32), np.ones([3, 2], np.float32))
    for updates in (*wrong, np.zeros([0, 2], np.float32)):
        for _, name in KINDS:
            s.run([f"{name}_do"], {"x:0": updates}, error=[3])
    s.run(["r_read:0", "v_read:0"], values=[_ROWS, _ROWS])


@engine_case("VARIABLES-070", title="No indices, no change.")
def no_indices(c: EngineAuthor) -> None:
    _write(c, "Update", _ROWS, np.zeros([0], np.int32), np.zeros([0, 2], np.float32))
    _after(c.open(), _ROWS)


@engine_case("VARIABLES-070", title="No indices, nothing added, though one update is given.")
def no_indices_and_one_update(c: EngineAuthor) -> None:
    first = _ROWS.astype(np.float64)
    both(c, "Add", first, np.zeros([0], np.int64), np.float64(5), first)


@engine_case("VARIABLES-071", title="Each occurrence of an index subtracts.")
def every_occurrence_subtracts(c: EngineAuthor) -> None:
    want = np.array([[1, 2], [-8, -27], [5, 6]], np.float32)
    both(c, "Sub", _ROWS, [1, 1], np.array([[1, 1], [10, 30]], np.float32), want)


@engine_case("VARIABLES-071", title="Each occurrence of an index multiplies.")
def every_occurrence_multiplies(c: EngineAuthor) -> None:
    first, by = np.array([2, 3, 5], np.int64), np.array([7, 11, -13], np.int64)
    both(c, "Mul", first, [2, 0, 2], by, np.array([22, 3, -455], np.int64))


@engine_case("VARIABLES-071", title="Each occurrence of an index divides, integers towards zero.")
def every_occurrence_divides(c: EngineAuthor) -> None:
    first, by = np.array([-7, 7, 100], np.int32), np.array([2, -2, 3, 3], np.int32)
    both(c, "Div", first, [0, 1, 2, 2], by, np.array([-3, -3, 11], np.int32))


@engine_case("VARIABLES-072", title="The smallest of all updates of an index is kept.")
def the_smallest_is_kept(c: EngineAuthor) -> None:
    first, updates = np.array([5, 5, 5], np.int64), np.array([7, 3, 4, 9], np.int64)
    both(c, "Min", first, [0, 1, 1, 2], updates, np.array([5, 3, 5], np.int64))


@engine_case("VARIABLES-072", title="The largest of all updates of an index is kept.")
def the_largest_is_kept(c: EngineAuthor) -> None:
    updates = np.array([[0, 9], [4, 1], [3, 8]], np.float32)
    want = np.array([[1, 9], [4, 8], [5, 6]], np.float32)
    both(c, "Max", _ROWS, [0, 1, 1], updates, want)


@engine_case("VARIABLES-073", title="Indices of rank 2 name rows in order.")
def indices_of_rank_2(c: EngineAuthor) -> None:
    updates = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    want = np.array([[1, 3], [5, 7], [15, 18]], np.float32)
    both(c, "Add", _ROWS, [[0, 1], [2, 2]], updates, want)


@engine_case("VARIABLES-073", title="An index of rank 0 names one row.")
def an_index_of_rank_0(c: EngineAuthor) -> None:
    want = np.array([[1, 2], [9, 8], [5, 6]], np.float32)
    both(c, "Update", _ROWS, np.int64(1), floats(9, 8), want)


@engine_case("VARIABLES-073", title="An index of rank 0 names one string.")
def an_index_of_one_string(c: EngineAuthor) -> None:
    first, want = np.array([b"a", b"b"], object), np.array([b"a", b"x"], object)
    both(c, "Update", first, np.int32(1), np.array(b"x", object), want)


# --- index vectors -------------------------------------------------------------------------


def _nd(
    c: EngineAuthor,
    kind: str,
    first: npt.ArrayLike,
    given: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]],
    want: npt.ArrayLike,
) -> None:
    """Operations of scatter_nd of this kind, one after the other, on a variable of each kind."""
    with c.graph() as tf:
        for resource, name in KINDS:
            variable = held(tf, first, name, resource=resource)
            prefix = "Resource" if resource else ""
            scatter = getattr(tf.raw_ops, f"{prefix}ScatterNd{kind}")
            for number, (indices, updates) in enumerate(given):
                scatter(ref=variable, indices=indices, updates=updates, name=f"{name}{number}")
    s = c.open()
    for _, name in KINDS:
        s.run([f"{name}_set"])
        for number in range(len(given)):
            s.run([f"{name}{number}"], values=[None])
        s.run([f"{name}_read:0"], values=[want])


@engine_case("VARIABLES-074", title="Elements and rows are replaced at index vectors.")
def elements_are_replaced(c: EngineAuthor) -> None:
    given = (([[0, 1], [2, 0]], floats(20, 50)), ([[1]], np.array([[30, 40]], np.float32)))
    _nd(c, "Update", _ROWS, given, np.array([[1, 20], [30, 40], [50, 6]], np.float32))


@engine_case("VARIABLES-074", title="No index vectors, no change; integers are replaced.")
def no_index_vectors(c: EngineAuthor) -> None:
    none = (np.zeros([0, 1], np.int64), np.zeros([0], np.int64))
    given = (none, (np.array([[3]], np.int64), np.array([-4], np.int64)))
    _nd(c, "Update", np.array([1, 2, 3, 4], np.int64), given, np.array([1, 2, 3, -4], np.int64))


@engine_case("VARIABLES-075", title="Each occurrence of an index vector adds.")
def every_index_vector_adds(c: EngineAuthor) -> None:
    given = (([[0, 1], [2, 0], [0, 1]], floats(1, 2, 4)), ([[2], [2]], np.ones([2, 2], np.float32)))
    _nd(c, "Add", _ROWS, given, np.array([[1, 7], [3, 4], [9, 8]], np.float32))


@engine_case("VARIABLES-075", title="Each occurrence of an index vector subtracts.")
def every_index_vector_subtracts(c: EngineAuthor) -> None:
    given = (([[1], [1], [0]], np.array([1, 10, 100], np.int32)),)
    _nd(c, "Sub", np.array([5, 5, 5], np.int32), given, np.array([-95, -6, 5], np.int32))


@engine_case("VARIABLES-076", title="An index vector out of range fails.")
def an_index_vector_out_of_range(c: EngineAuthor) -> None:
    nodes = []
    with c.graph() as tf, tf.device("/cpu:0"):
        index = tf.placeholder(tf.int32, [1, 2], name="i")
        for resource, name in KINDS:
            variable = held(tf, _ROWS, name, resource=resource)
            for kind in ("Update", "Add"):
                scatter = getattr(tf.raw_ops, f"{'Resource' if resource else ''}ScatterNd{kind}")
                scatter(ref=variable, indices=index, updates=floats(9), name=f"{name}{kind}")
                nodes.append(f"{name}{kind}")
    s = c.open()
    s.run(["r_set", "v_set"])
    for wrong in ((3, 0), (0, 2), (-1, 0), (0, -1)):
        for node in nodes:
            s.run([node], {"i:0": np.array([wrong], np.int32)}, error=[3])
    s.run(["r_read:0", "v_read:0"], values=[_ROWS, _ROWS])
