"""Vectors of ERRORS: which code a failing operation gives, and what an error tells."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, EngineAuthor, api_case, engine_case
from sessrun.conformance.subjects.run.cases.run import cell, counter, floats, ints
from sessrun.spec.cases.namespace import Namespace

_CLASSES = (
    "CancelledError",
    "UnknownError",
    "InvalidArgumentError",
    "DeadlineExceededError",
    "NotFoundError",
    "AlreadyExistsError",
    "PermissionDeniedError",
    "ResourceExhaustedError",
    "FailedPreconditionError",
    "AbortedError",
    "OutOfRangeError",
    "UnimplementedError",
    "InternalError",
    "UnavailableError",
    "DataLossError",
    "UnauthenticatedError",
)


def zeros(*shape: int) -> np.ndarray:
    """Give a float32 array of zeros."""
    return np.zeros(shape, np.float32)


@api_case("ERRORS-003", title="An error made of each class has that class's code, 1 to 16.")
def each_class_has_its_code(c: ApiAuthor) -> None:
    for code, name in enumerate(_CLASSES, start=1):
        error = getattr(c.tf.errors, name)(None, None, "made")
        c.check(error.error_code, code)


@engine_case("ERRORS-009", title="A run's error names the operation that failed, upstream of it.")
def the_error_names_what_failed(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        q = tf.placeholder(tf.int32, [], name="q")
        checked = tf.check_numerics(p, "not finite", name="checked")
        tf.negative(tf.negative(checked, name="middle"), name="last")
        tf.negative(tf.floordiv(6, q, name="divided"), name="shown")
    s = c.open()
    good = {"p:0": np.float32(2), "q:0": np.int32(0)}
    s.run(["last:0"], good, values=[np.float32(2)])
    s.run(["last:0"], good | {"p:0": np.float32(np.nan)}, error=[3], node="checked")
    s.run(["shown:0"], good, error=[3], node="divided")
    s.run(["last:0", "shown:0"], good, error=[3], node="divided")


# --- shapes -------------------------------------------------------------------------------


@engine_case("ERRORS-013", title="MatMul of a vector fails with code 3.")
def a_vector_is_no_matrix(c: EngineAuthor) -> None:
    with c.graph() as tf:
        a, b = (tf.placeholder(tf.float32, name=name) for name in "ab")
        tf.raw_ops.MatMul(a=a, b=b, name="y")
    s = c.open()
    s.run(["y:0"], {"a:0": floats(1, 2), "b:0": zeros(2, 2)}, error=[3])
    s.run(["y:0"], {"a:0": zeros(2, 2), "b:0": floats(1, 2)}, error=[3])
    s.run(["y:0"], {"a:0": zeros(1, 2), "b:0": zeros(2, 1)}, values=[zeros(1, 1)])


@engine_case("ERRORS-013", title="MatMul of a scalar or of a batch of matrices fails with code 3.")
def a_scalar_and_a_batch_are_no_matrices(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, name="p")
        tf.raw_ops.MatMul(a=p, b=p, name="y")
    s = c.open()
    for value in (np.float32(3), zeros(2, 2, 2)):
        s.run(["y:0"], {"p:0": value}, error=[3])
    s.run(["y:0"], {"p:0": zeros(2, 2)}, values=[zeros(2, 2)])


@engine_case("ERRORS-015", title="Reshape to another number of elements fails with code 3.")
def reshape_keeps_the_number_of_elements(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, name="p")
        shape = tf.placeholder(tf.int32, name="shape")
        tf.reshape(p, shape, name="y")
    s = c.open()
    for shape in (ints(4), ints(-1, 4), ints(2, 2, 2), ints(0)):
        s.run(["y:0"], {"p:0": zeros(6), "shape:0": shape}, error=[3])
    s.run(["y:0"], {"p:0": zeros(6), "shape:0": ints(-1, 2)}, values=[zeros(3, 2)])


@engine_case("ERRORS-017", title="Elementwise operations on shapes that do not match fail, code 3.")
def shapes_that_cannot_be_broadcast(c: EngineAuthor) -> None:
    with c.graph() as tf:
        a, b = (tf.placeholder(tf.float32, name=name) for name in "ab")
        for name in ("add", "subtract", "multiply", "maximum", "less"):
            getattr(tf, name)(a, b, name=name)
    s = c.open()
    for name in ("add:0", "subtract:0", "multiply:0", "maximum:0", "less:0"):
        s.run([name], {"a:0": zeros(2), "b:0": zeros(3)}, error=[3])
    s.run(["add:0"], {"a:0": zeros(2, 1), "b:0": zeros(3)}, values=[zeros(2, 3)])


@engine_case("ERRORS-017", title="An empty vector and a pair cannot be broadcast.")
def an_empty_value_is_not_broadcast(c: EngineAuthor) -> None:
    with c.graph() as tf:
        a, b = (tf.placeholder(tf.float32, name=name) for name in "ab")
        tf.add(a, b, name="y")
    s = c.open()
    s.run(["y:0"], {"a:0": zeros(0), "b:0": zeros(2)}, error=[3])
    s.run(["y:0"], {"a:0": zeros(2, 3), "b:0": zeros(2)}, error=[3])
    s.run(["y:0"], {"a:0": zeros(0), "b:0": zeros(1)}, values=[zeros(0)])


@engine_case("ERRORS-018", title="Concatenating values that do not fit fails with code 3.")
def values_that_do_not_fit_are_not_concatenated(c: EngineAuthor) -> None:
    with c.graph() as tf:
        a, b = (tf.placeholder(tf.float32, name=name) for name in "ab")
        tf.concat([a, b], 0, name="rows")
        tf.concat([a, b], 1, name="columns")
    s = c.open()
    sizes = {"a:0": zeros(1, 2), "b:0": zeros(1, 3)}
    s.run(["rows:0"], sizes, error=[3])
    s.run(["columns:0"], sizes, values=[zeros(1, 5)])
    s.run(["columns:0"], {"a:0": zeros(1, 2), "b:0": zeros(2, 2)}, error=[3])
    s.run(["rows:0"], {"a:0": zeros(2, 2), "b:0": zeros(2)}, error=[3])


@engine_case("ERRORS-018", title="The older Concat of values that do not fit fails with code 3.")
def values_that_do_not_fit_the_older_concat(c: EngineAuthor) -> None:
    with c.graph() as tf:
        a, b = (tf.placeholder(tf.float32, name=name) for name in "ab")
        tf.raw_ops.Concat(concat_dim=0, values=[a, b], name="rows")
        tf.raw_ops.Concat(concat_dim=1, values=[a, b], name="columns")
    s = c.open()
    sizes = {"a:0": zeros(1, 2), "b:0": zeros(1, 3)}
    s.run(["rows:0"], sizes, error=[3])
    s.run(["columns:0"], sizes, values=[zeros(1, 5)])
    s.run(["columns:0"], {"a:0": zeros(1, 2), "b:0": zeros(2, 2)}, error=[3])
    s.run(["rows:0"], {"a:0": zeros(2, 2), "b:0": zeros(2)}, error=[3])


# --- numbers ------------------------------------------------------------------------------


@engine_case("ERRORS-019", title="FloorDiv and FloorMod of integers by zero fail with code 3.")
def floor_division_by_zero(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for dtype in ("int32", "int64"):
            a = tf.placeholder(dtype, name=f"a_{dtype}")
            b = tf.placeholder(dtype, name=f"b_{dtype}")
            tf.floordiv(a, b, name=f"div_{dtype}")
            tf.floormod(a, b, name=f"mod_{dtype}")
    s = c.open()
    for dtype, number in (("int32", np.int32), ("int64", np.int64)):
        a, b = f"a_{dtype}:0", f"b_{dtype}:0"
        for name in (f"div_{dtype}:0", f"mod_{dtype}:0"):
            s.run([name], {a: number(7), b: number(0)}, error=[3])
        s.run([f"div_{dtype}:0"], {a: number(-7), b: number(2)}, values=[number(-4)])
        s.run([f"mod_{dtype}:0"], {a: number(-7), b: number(2)}, values=[number(1)])


@engine_case("ERRORS-019", title="One zero among the divisors fails the whole floor division.")
def one_zero_among_the_divisors(c: EngineAuthor) -> None:
    with c.graph() as tf:
        a, b = (tf.placeholder(tf.int32, [3], name=name) for name in "ab")
        tf.floordiv(a, b, name="div")
        tf.floormod(a, b, name="mod")
    s = c.open()
    for name in ("div:0", "mod:0"):
        s.run([name], {"a:0": ints(6, 7, 8), "b:0": ints(1, 0, 2)}, error=[3])
    s.run(["div:0"], {"a:0": ints(6, 7, 8), "b:0": ints(1, 3, 2)}, values=[ints(6, 2, 4)])


@engine_case("ERRORS-020", title="TruncateDiv of integers by zero fails with code 13.")
def truncating_division_by_zero(c: EngineAuthor) -> None:
    with c.graph() as tf:
        a, b = (tf.placeholder(tf.int32, name=name) for name in "ab")
        tf.truncatediv(a, b, name="y")
    s = c.open()
    s.run(["y:0"], {"a:0": np.int32(7), "b:0": np.int32(0)}, error=[13])
    s.run(["y:0"], {"a:0": ints(7, 8), "b:0": ints(2, 0)}, error=[13])
    s.run(["y:0"], {"a:0": np.int32(-7), "b:0": np.int32(2)}, values=[np.int32(-3)])


@engine_case("ERRORS-020", title="TruncateMod of integers by zero fails with code 13.")
def truncating_remainder_by_zero(c: EngineAuthor) -> None:
    with c.graph() as tf:
        a, b = (tf.placeholder(tf.int64, name=name) for name in "ab")
        tf.truncatemod(a, b, name="y")
    s = c.open()
    s.run(["y:0"], {"a:0": np.int64(7), "b:0": np.int64(0)}, error=[13])
    s.run(["y:0"], {"a:0": np.int64(-7), "b:0": np.int64(2)}, values=[np.int64(-1)])


@engine_case("ERRORS-021", title="Floats divided by zero are infinities and NaN.")
def floats_divided_by_zero(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for dtype in ("float32", "float64"):
            a = tf.placeholder(dtype, [3], name=f"a_{dtype}")
            b = tf.placeholder(dtype, [], name=f"b_{dtype}")
            tf.divide(a, b, name=f"y_{dtype}")
    s = c.open()
    for dtype in ("float32", "float64"):
        feeds = {f"a_{dtype}:0": np.array([1, -1, 0], dtype), f"b_{dtype}:0": np.zeros((), dtype)}
        s.run([f"y_{dtype}:0"], feeds, values=[np.array([np.inf, -np.inf, np.nan], dtype)])


# --- indices ------------------------------------------------------------------------------


@engine_case("ERRORS-022", title="Gathering an index outside the values fails on a CPU, code 3.")
def gathering_outside_the_values(c: EngineAuthor) -> None:
    with c.graph() as tf, tf.device("/cpu:0"):
        values = tf.placeholder(tf.float32, [2], name="values")
        index = tf.placeholder(tf.int32, name="index")
        tf.gather(values, index, name="y")
    s = c.open()
    feeds = {"values:0": floats(4, 5)}
    for index in (np.int32(2), np.int32(-1), ints(0, 1, 9)):
        s.run(["y:0"], feeds | {"index:0": index}, error=[3])
    s.run(["y:0"], feeds | {"index:0": ints(1, 0)}, values=[floats(5, 4)])


@engine_case("ERRORS-022", title="Gathering a row that is not there fails on a CPU.")
def gathering_a_missing_row(c: EngineAuthor) -> None:
    with c.graph() as tf, tf.device("/cpu:0"):
        rows = tf.placeholder(tf.float32, [None, 2], name="rows")
        index = tf.placeholder(tf.int64, [None], name="index")
        tf.gather(rows, index, name="y")
    s = c.open()
    indices = {"index:0": np.array([0], np.int64)}
    s.run(["y:0"], indices | {"rows:0": zeros(0, 2)}, error=[3])
    s.run(["y:0"], indices | {"rows:0": zeros(1, 2)}, values=[zeros(1, 2)])


# --- checks -------------------------------------------------------------------------------


def asserting(tf: Namespace) -> None:
    """Build `check`, an Assert of the placeholder `p` that shows the placeholder `q`."""
    p = tf.placeholder(tf.bool, [], name="p")
    q = tf.placeholder(tf.int32, [], name="q")
    tf.raw_ops.Assert(condition=p, data=[q], name="check")


@engine_case("ERRORS-024", title="Assert of False fails with code 3, and of True does nothing.")
def assert_of_false_and_of_true(c: EngineAuthor) -> None:
    with c.graph() as tf:
        asserting(tf)
    s = c.open()
    for holds in (True, False, True, False):
        feeds = {"p:0": np.bool_(holds), "q:0": np.int32(1)}
        s.run(["check"], feeds, **({"values": [None]} if holds else {"error": [3]}))


@engine_case("ERRORS-025", title="CheckNumerics fails with code 3 on NaN and both infinities.")
def values_that_are_not_finite(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, name="p")
        tf.check_numerics(p, "not finite", name="y")
    s = c.open()
    for bad in (np.nan, np.inf, -np.inf):
        s.run(["y:0"], {"p:0": np.float32(bad)}, error=[3])
        s.run(["y:0"], {"p:0": floats(1, bad, 2)}, error=[3])
    s.run(["y:0"], {"p:0": floats(1, -2, 0)}, values=[floats(1, -2, 0)])


@engine_case("ERRORS-025", title="CheckNumerics passes the largest and smallest floats on.")
def the_largest_float_is_finite(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float64, name="p")
        tf.check_numerics(p, "not finite", name="y")
    s = c.open()
    limits = np.array([np.finfo(np.float64).max, np.finfo(np.float64).min])
    s.run(["y:0"], {"p:0": limits}, values=[limits])
    s.run(["y:0"], {"p:0": np.array([0.0, -np.inf])}, error=[3])


# --- when, and other codes ----------------------------------------------------------------


@engine_case("ERRORS-026", title="Constants that make an operation fail do so in the run only.")
def constants_fail_in_the_run(c: EngineAuthor) -> None:
    with c.graph() as tf:
        tf.floordiv(tf.constant(1), tf.constant(0), name="y")
        tf.floormod(tf.constant(ints(1, 2)), tf.constant(ints(1, 0)), name="z")
        counter(tf)
    s = c.open()
    s.run(["counter/Assign"])
    s.run(["bump:0"], values=[np.int32(1)])
    s.run(["y:0"], error=[3])
    s.run(["z:0"], error=[3])
    s.run(["bump:0"], values=[np.int32(2)])


@engine_case("ERRORS-029", title="A Cast of strings to numbers fails with code 12.")
def strings_are_not_cast_to_numbers(c: EngineAuthor) -> None:
    with c.graph() as tf:
        words = tf.placeholder(tf.string, [None], name="words")
        for dtype in ("float32", "int32"):
            tf.raw_ops.Cast(x=words, DstT=dtype, name=f"to_{dtype}")
        handle = cell(tf)
        tf.raw_ops.AssignAddVariableOp(resource=handle, value=tf.constant(1), name="store")
    s = c.open()
    s.run(["cell_init"])
    s.run(["store"])
    for name in ("to_float32:0", "to_int32:0"):
        s.run([name], {"words:0": np.array([b"1", b"2"], object)}, error=[12])
    s.run(["cell_value:0"], values=[np.int32(1)])


# --- training -----------------------------------------------------------------------------


@engine_case("ERRORS-030", title="Maxima over the batch fail with code 12, those over rows do not.")
def maxima_over_the_batch(c: EngineAuthor) -> None:
    with c.graph() as tf:
        images = tf.placeholder(tf.float32, [None, 2, 2, 1], name="images")
        for name, window in (("batch", [2, 1, 1, 1]), ("rows", [1, 2, 1, 1])):
            tf.raw_ops.MaxPool(
                input=images, ksize=window, strides=window, padding="VALID", name=name
            )
    s = c.open()
    given = np.arange(8, dtype=np.float32).reshape(2, 2, 2, 1)
    s.run(["batch:0"], {"images:0": given}, error=[12])
    s.run(["rows:0"], {"images:0": given}, values=[given[:, 1:]])


@engine_case("ERRORS-034", title="A label of no class fails with code 3, in a batch of any place.")
def labels_outside_the_classes(c: EngineAuthor) -> None:
    with c.graph() as tf, tf.device("/cpu:0"):
        labels = tf.placeholder(tf.int32, [None], name="labels")
        logits = tf.constant(np.zeros((2, 2), np.float32))
        tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(features=logits, labels=labels, name="loss")
    s = c.open()
    for wrong in (ints(2, 0), ints(0, 2), ints(0, -1)):
        s.run(["loss:0"], {"labels:0": wrong}, error=[3])
    wanted = np.array([[-0.5, 0.5], [0.5, -0.5]], np.float32)
    s.run(["loss:1"], {"labels:0": ints(0, 1)}, values=[wanted])
