"""Vectors of FETCH, profile structures: nested fetches, composite tensors, forms of the values."""

from __future__ import annotations

import collections

import attr
import ml_dtypes
import numpy as np

from sessrun.conformance.authoring.forms import Numbers, Recordable
from sessrun.conformance.authoring.record import (
    ApiAuthor,
    EngineAuthor,
    Symbol,
    api_case,
    as_array,
    engine_case,
)
from sessrun.conformance.subjects.fetch.cases.fetch import floats, ints, refuse

Pair = collections.namedtuple("Pair", ["left", "right"])  # noqa: PYI024 - fetches have no types
Single = collections.namedtuple("Single", ["only"])  # noqa: PYI024 - as above
Box = attr.make_class("Box", ["lid", "content"])
SparseTensorValue = collections.namedtuple(  # noqa: PYI024 - as above
    "SparseTensorValue", ["indices", "values", "dense_shape"]
)
IndexedSlicesValue = collections.namedtuple(  # noqa: PYI024 - as above
    "IndexedSlicesValue", ["values", "indices", "dense_shape"]
)

_A, _B = ints([10, 20]), floats([[0.5, 1.5]])


def longs(value: Numbers) -> np.ndarray:
    """The int64 tensor of a nested list."""
    return np.array(value, np.int64)


def _two(c: ApiAuthor) -> tuple[Symbol, Symbol, Symbol]:
    """Two tensors, of the values `_A` and `_B`, and a session."""
    return c.tf.constant(_A, name="a"), c.tf.constant(_B, name="b"), c.tf.Session()


# --- what may not be fetched --------------------------------------------------------------


@api_case("FETCH-026", title="A tensor of an operation marked unfetchable is a ValueError.")
def an_unfetchable_tensor_is_value_error(c: ApiAuthor) -> None:
    graph = c.tf.Graph()
    with c.within(graph.as_default()):
        a = c.tf.constant(_A)
        b = c.tf.negative(a, name="b")
        y = c.tf.negative(b)
    graph.prevent_fetching(b.op)
    sess = c.tf.Session(graph=graph)
    for fetches in (b, b.op, "b:0", "b", [a, b], {"x": (b,)}):
        refuse(c, "ValueError", sess, fetches)
    c.check(sess.run([a, y]), [_A, _A])


@api_case("FETCH-027", title="A string of no name's form is a ValueError.")
def an_ill_formed_name_is_value_error(c: ApiAuthor) -> None:
    _, _, sess = _two(c)
    for name in ("a:x", "a:0:1", "", ":0", "a:", "a:0.0"):
        refuse(c, "ValueError", sess, name)
        refuse(c, "ValueError", sess, ["b:0", name])
    c.check(sess.run(["a:0", "a"]), [_A, None])


@api_case("FETCH-028", title="A number or None at a leaf is a TypeError.")
def a_leaf_that_is_no_element_is_type_error(c: ApiAuthor) -> None:
    a, b, sess = _two(c)
    for wrong in (None, 5, 1.5, True):
        refuse(c, "TypeError", sess, [wrong])
        refuse(c, "TypeError", sess, (a, wrong))
        refuse(c, "TypeError", sess, {"x": a, "y": [b, wrong]})
    c.check(sess.run([a, {"y": [b]}]), [_A, {"y": [_B]}])


@api_case("FETCH-028", title="A set, an array or a generator at a leaf is a TypeError.")
def a_leaf_of_a_wrong_kind_is_type_error(c: ApiAuthor) -> None:
    a, _, sess = _two(c)
    refuse(c, "TypeError", sess, [a, c.expr("$set", ["a:0"])])
    refuse(c, "TypeError", sess, {"x": ints([1])})
    refuse(c, "TypeError", sess, (a, [c.expr("$generator", [a])]))
    refuse(c, "TypeError", sess, Pair(a, c.tf.float32))
    c.check(sess.run([a]), [_A])


# --- forms of the values ------------------------------------------------------------------


@api_case("FETCH-029", title="Fetched arrays may be written into.")
def fetched_arrays_are_writeable(c: ApiAuthor) -> None:
    a, _, sess = _two(c)
    p = c.tf.placeholder(c.tf.float32, [None])
    words = c.tf.constant(["a", "b"])
    for tensor in (a, words, c.tf.zeros([100, 100])):
        c.check(sess.run(tensor).flags.writeable, True)
    for tensor in (p + 1.0, c.tf.identity(p), c.tf.reshape(p, [1, -1])):
        c.check(sess.run([tensor], {p: [1.0, 2.0]})[0].flags.writeable, True)
    got = sess.run(p * 2.0, {p: [1.0, 2.0]})
    got.fill(9)
    c.check(got, floats([9, 9]))


@api_case("FETCH-030", title="A computed value of rank 0 is a numpy scalar of its dtype.")
def a_computed_scalar_is_a_numpy_scalar(c: ApiAuthor) -> None:
    sess = None
    for dtype in ("float16", "float32", "float64", "int8", "int32", "int64", "uint8", "complex64"):
        p = c.tf.placeholder(dtype, [2])
        y = c.tf.reduce_sum(p)
        sess = sess or c.tf.Session()
        c.check(sess.run(y, {p: np.array([3, 4], dtype)}), np.dtype(dtype).type(7))
        one = np.dtype(dtype).type(1)
        c.check(sess.run({"y": [y]}, {p: np.array([0, 1], dtype)}), {"y": [one]})


@api_case("FETCH-030", title="A computed bool is a numpy bool, a constant of rank 0 a scalar too.")
def a_computed_bool_is_a_numpy_bool(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [])
    positive = p > 0.0
    sess = c.tf.Session()
    c.check(sess.run(positive, {p: 1.0}), np.bool_(True))
    c.check(sess.run([positive], {p: -1.0}), [np.bool_(False)])
    c.check(sess.run(c.tf.constant(2.5)), np.float32(2.5))
    c.check(sess.run(c.tf.constant(True)), np.bool_(True))


@api_case("FETCH-031", title="A fed list that is fetched comes back as an array of the dtype.")
def a_fed_list_comes_back_as_an_array(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [None])
    q = c.tf.placeholder(c.tf.int64)
    sess = c.tf.Session()
    c.check(sess.run(p, {p: [1, 2]}), floats([1, 2]))
    c.check(sess.run([p, q], {p: (1.5,), q: [[3]]}), [floats([1.5]), np.array([[3]], np.int64)])
    c.check(sess.run(q, {q: 7}), np.array(7, np.int64))


@api_case("FETCH-031", title="A fed array of another dtype comes back in the tensor's dtype.")
def a_fed_array_comes_back_in_the_dtype(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [2])
    y = p + 1.0
    sess = c.tf.Session()
    for dtype in ("float64", "int32", "uint8"):
        fed = np.array([1, 2], dtype)
        c.check(sess.run(p, {p: fed}), floats([1, 2]))
        c.check(sess.run([y, p], {p: fed}), [floats([2, 3]), floats([1, 2])])
    mine = c.np.asarray(np.array([1, 2], np.float64))
    sess.run(p, {p: mine}).fill(9)
    c.check(mine, np.array([1, 2], np.float64))


# --- structures ---------------------------------------------------------------------------


@api_case("FETCH-033", title="A list comes back as a list, at every depth.")
def lists_come_back_as_lists(c: ApiAuthor) -> None:
    a, b, sess = _two(c)
    c.check(sess.run([a]), [_A])
    c.check(sess.run([b, a, b]), [_B, _A, _B])
    c.check(sess.run([[a], [[b, a]], a]), [[_A], [[_B, _A]], _A])
    c.check(sess.run(["a:0", [b.name]]), [_A, [_B]])


@api_case("FETCH-033", title="A list nested fifty deep comes back fifty deep.")
def a_deep_list_comes_back_as_deep(c: ApiAuthor) -> None:
    a, _, sess = _two(c)
    fetches: Recordable = a
    want: Recordable = _A
    for _ in range(50):
        fetches, want = [fetches], [want]
    c.check(sess.run(fetches), want)


@api_case("FETCH-034", title="A tuple comes back as a tuple, of one element too.")
def tuples_come_back_as_tuples(c: ApiAuthor) -> None:
    a, b, sess = _two(c)
    c.check(sess.run((a, b)), (_A, _B))
    c.check(sess.run((b,)), (_B,))
    c.check(sess.run([(a,), ((b, a), b)]), [(_A,), ((_B, _A), _B)])


@api_case("FETCH-035", title="A dict comes back as a dict with its keys and their values.")
def dicts_come_back_with_their_keys(c: ApiAuthor) -> None:
    a, b, sess = _two(c)
    c.check(sess.run({"x": a, "y": b}), {"x": _A, "y": _B})
    c.check(sess.run({"x": {"x": b}, "y": [{"z": "a:0"}]}), {"x": {"x": _B}, "y": [{"z": _A}]})


@api_case("FETCH-035", title="A key may be any hashable object.")
def keys_may_be_any_hashable_object(c: ApiAuthor) -> None:
    a, b, sess = _two(c)
    for key in (1, -3, 2.5, True, None, (2, 3), b"k", "", "a:0"):
        c.check(sess.run({key: a}), {key: _A})
    c.check(sess.run([{1: a, 2: b}, {(): a}]), [{1: _A, 2: _B}, {(): _A}])


@api_case("FETCH-036", title="The keys of a dict come back in the order they had.")
def keys_come_back_in_their_order(c: ApiAuthor) -> None:
    a, b, sess = _two(c)
    c.check(sess.run({"z": a, "m": b, "a": a}), {"z": _A, "m": _B, "a": _A})
    c.check(sess.run([{"m": a, "z": b, "a": b}]), [{"m": _A, "z": _B, "a": _B}])
    c.check(sess.run({"b": {"y": a, "x": b}, "a": b}), {"b": {"y": _A, "x": _B}, "a": _B})


@api_case("FETCH-037", title="An OrderedDict comes back as an OrderedDict.")
def an_ordered_dict_comes_back_as_one(c: ApiAuthor) -> None:
    a, b, sess = _two(c)
    ordered = collections.OrderedDict
    c.check(sess.run(ordered([("z", a), ("a", b)])), ordered([("z", _A), ("a", _B)]))
    c.check(sess.run([{"x": ordered([("k", a)])}]), [{"x": ordered([("k", _A)])}])


@api_case("FETCH-037", title="A defaultdict comes back as a defaultdict.")
def a_defaultdict_comes_back_as_one(c: ApiAuthor) -> None:
    c.named_check("fetch.defaultdict_class", ["defaultdict", 2, 1], values=[1, 2])


@api_case("FETCH-038", title="A namedtuple comes back as an object of its class.")
def a_namedtuple_comes_back_as_one(c: ApiAuthor) -> None:
    a, b, sess = _two(c)
    c.check(sess.run(Pair(a, b)), Pair(_A, _B))
    got = sess.run([Single(Pair(b, "a:0"))])
    c.check(got, [Single(Pair(_B, _A))])
    c.check(got[0].only.right, _A)


@api_case("FETCH-039", title="An attrs object comes back as an object of its class.")
def an_attrs_object_comes_back_as_one(c: ApiAuthor) -> None:
    a, b, sess = _two(c)
    c.check(sess.run(Box(a, b)), Box(_A, _B))
    got = sess.run({"x": [Box(b, (a,))]})
    c.check(got, {"x": [Box(_B, (_A,))]})
    c.check(got["x"][0].lid, _B)


@api_case("FETCH-040", title="An Operation inside a structure has None at its place.")
def an_operation_in_a_structure_is_none(c: ApiAuthor) -> None:
    a, b, sess = _two(c)
    n = c.tf.no_op(name="n")
    c.check(sess.run({"x": [n, (a, n)]}), {"x": [None, (_A, None)]})
    c.check(sess.run([a.op, {"n": n, "b": b}]), [None, {"n": None, "b": _B}])
    c.check(sess.run({"x": {"y": "n"}, "z": a}), {"x": {"y": None}, "z": _A})


@api_case("FETCH-041", title="An empty structure comes back empty and of its kind.")
def empty_structures_come_back_empty(c: ApiAuthor) -> None:
    a, _, sess = _two(c)
    empties: list[Recordable] = [[], (), {}, [[], {"a": ()}], ([],), Pair([], ()), {"x": {}}]
    for empty in empties:
        c.check(sess.run(empty), empty)
    c.check(sess.run([[], a, ()]), [[], _A, ()])
    p = c.tf.placeholder(c.tf.float32, [2])
    c.check(sess.run([], {p: [1.0, 2.0]}), [])


@api_case("FETCH-042", title="A list that grew between two runs is fetched as it is then.")
def a_changed_list_is_read_anew(c: ApiAuthor) -> None:
    a, b, sess = _two(c)
    fetches = c.expr("$list", [a])
    c.check(sess.run(fetches), [_A])
    fetches.append(b)
    c.check(sess.run(fetches), [_A, _B])
    fetches.reverse()
    c.check(sess.run(fetches), [_B, _A])
    fetches.pop()
    c.check(sess.run(fetches), [_B])


@api_case("FETCH-042", title="A dict that changed between two runs is fetched as it is then.")
def a_changed_dict_is_read_anew(c: ApiAuthor) -> None:
    a, b, sess = _two(c)
    inner = c.expr("$list", [a])
    fetches = c.do({"$dict": [["x", {"$": inner._expr["$"]}]]})  # noqa: SLF001 - one object twice
    c.check(sess.run(fetches), {"x": [_A]})
    inner.insert(0, b)
    c.check(sess.run(fetches), {"x": [_B, _A]})
    fetches.update({"x": a})
    c.check(sess.run(fetches), {"x": _A})


@api_case("FETCH-043", title="The structure that was passed still holds what it held.")
def the_structure_passed_is_left_alone(c: ApiAuthor) -> None:
    a, b, sess = _two(c)
    fetches = c.expr("$list", [a, {"x": [b]}, "b:0"])
    for _ in range(2):
        c.check(sess.run(fetches), [_A, {"x": [_B]}, _B])
        c.check(c.expr("$len", fetches), 3)
        c.check_same(fetches[0], a)
        c.check_same(fetches[1]["x"][0], b)
        c.check(fetches[2], "b:0")


# --- composite tensors --------------------------------------------------------------------


@api_case("FETCH-044", title="A SparseTensor comes back as a SparseTensorValue.")
def a_sparse_tensor_comes_back_as_its_value(c: ApiAuthor) -> None:
    values = c.tf.placeholder(c.tf.float32, [None])
    sparse = c.tf.SparseTensor([[0, 1], [1, 2]], values * 2.0, [2, 3])
    sess = c.tf.Session()
    fed = {values: floats([5, 6])}
    indices, shape = longs([[0, 1], [1, 2]]), longs([2, 3])
    want = SparseTensorValue(indices, floats([10, 12]), shape)
    got = sess.run(sparse, fed)
    c.check(got, want)
    c.check_instance(got, c.tf.SparseTensorValue)
    c.check(sess.run([sparse, {"x": sparse}], fed), [want, {"x": want}])


@api_case("FETCH-044", title="A fed sparse placeholder comes back as a SparseTensorValue.")
def a_fed_sparse_placeholder_comes_back_as_its_value(c: ApiAuthor) -> None:
    sparse = c.tf.sparse_placeholder(c.tf.float32)
    sess = c.tf.Session()
    value = c.tf.SparseTensorValue([[0, 1]], [5.0], [2, 3])
    got = sess.run(sparse, {sparse: value})
    want = SparseTensorValue(longs([[0, 1]]), floats([5]), longs([2, 3]))
    c.check(got, want)
    c.check_instance(got, c.tf.SparseTensorValue)


@api_case("FETCH-045", title="IndexedSlices come back as an IndexedSlicesValue.")
def indexed_slices_come_back_as_their_value(c: ApiAuthor) -> None:
    values = c.tf.placeholder(c.tf.float32, [None])
    rows = c.tf.constant(ints([2]))
    bare = c.tf.IndexedSlices(values, rows)
    shaped = c.tf.IndexedSlices(values * 2.0, rows, c.tf.constant(ints([5])))
    sess = c.tf.Session()
    fed = {values: floats([3])}
    want = IndexedSlicesValue(floats([3]), ints([2]), None)
    doubled = IndexedSlicesValue(floats([6]), ints([2]), ints([5]))
    c.check(sess.run(bare, fed), want)
    c.check(sess.run(shaped, fed), doubled)
    c.check(sess.run([{"x": bare}, shaped], fed), [{"x": want}, doubled])


# --- dtypes beyond numpy's ----------------------------------------------------------------


@engine_case("FETCH-046", title="bfloat16, float8 and int4 values come back in their own type.")
def narrow_types_come_back_in_their_own_type(c: EngineAuthor) -> None:
    names = ("bfloat16", "float8_e5m2", "float8_e4m3fn", "int4", "uint4")
    with c.graph() as tf:
        for name in names:
            tf.identity(tf.placeholder(name, [3], name=f"p_{name}"), name=f"y_{name}")
    s = c.open()
    for name in names:
        value = np.array([1, 2, 5], getattr(ml_dtypes, name))
        s.run([f"y_{name}:0"], {f"p_{name}:0": value}, values=[value])


@api_case("FETCH-046", title="A fetched bfloat16 array has the ml_dtypes type of that name.")
def bfloat16_comes_back_as_ml_dtypes(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [2])
    y = c.tf.cast(p, c.tf.bfloat16)
    sess = c.tf.Session()
    got = sess.run(y, {p: [1.5, -2.0]})
    c.check(got, np.array([1.5, -2], ml_dtypes.bfloat16))
    c.check(got.dtype.name, "bfloat16")
    c.check(sess.run(y[0], {p: [1.5, -2.0]}), as_array(ml_dtypes.bfloat16(1.5)))


@api_case("FETCH-047", title="Quantized values come back as plain integers.")
def quantized_values_come_back_as_integers(c: ApiAuthor) -> None:
    sess = None
    for plain in ("int8", "uint8", "int16", "uint16", "int32"):
        p = c.tf.placeholder(plain, [2])
        quantized = c.tf.bitcast(p, getattr(c.tf, f"q{plain}"))
        sess = sess or c.tf.Session()
        value = np.array([1, 100], plain)
        c.check(sess.run(quantized, {p: value}), value)


# --- handles ------------------------------------------------------------------------------


@api_case("HANDLES-007", title="A fetched session handle is a TensorHandle that gives the value.")
def a_session_handle_comes_back_as_a_tensor_handle(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.int32, [2])
    handle = c.tf.get_session_handle(p * 2)
    sess = c.tf.Session()
    got = sess.run({"h": handle}, {p: [3, 4]})["h"]
    c.check(c.expr("$type", got), "TensorHandle")
    with c.within(sess.as_default()):
        c.check(got.eval(), ints([6, 8]))
