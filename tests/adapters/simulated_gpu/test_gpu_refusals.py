"""What cupy refuses, the simulated one refuses: names, arguments, dtypes, arrays of the host."""

import operator

import numpy as np
import pytest

from sessrun.adapters.fakes import simulated_gpu

HOST = np.ones(3, np.float32)


@pytest.mark.parametrize("name", ["errstate", "strings", "object_", "char", "nditer"])
def test_a_name_that_cupy_lacks_is_an_attribute_error(cp, name):
    with pytest.raises(AttributeError, match=name):
        getattr(cp, name)


@pytest.mark.parametrize("name", ["ctypes", "__array_interface__", "itemset", "__index__"])
def test_an_attribute_that_its_arrays_lack_is_an_attribute_error(cp, name):
    with pytest.raises(AttributeError):
        getattr(cp.ones(3), name)


@pytest.mark.parametrize(
    "call",
    [
        lambda cp, a: cp.zeros(3, like=a),
        lambda cp, a: cp.sum(a, where=a > 0),
        lambda cp, a: cp.max(a, initial=0),
        lambda cp, a: cp.take(a, a, mode="clip"),
        lambda cp, a: a.astype(dtype="f4", foo=1),
        lambda cp, a: cp.add(a, a, where=True),
        lambda cp, a: cp.add(a, a, order="C"),
        lambda cp, a: cp.add(a),
        lambda cp, a: cp.transpose(),
        lambda cp, a: cp.concatenate([a], 0, None, None),
    ],
)
def test_an_argument_that_its_function_lacks_is_a_type_error(cp, call):
    with pytest.raises(TypeError):
        call(cp, cp.ones(3))


@pytest.mark.parametrize(
    "call",
    [
        lambda cp: cp.bitwise_and(cp.ones(3), cp.ones(3)),
        lambda cp: cp.invert(cp.ones(3, np.float32)),
        lambda cp: cp.left_shift(cp.ones(3), 1),
        lambda cp: cp.subtract(cp.ones(3, bool), cp.ones(3, bool)),
        lambda cp: cp.floor_divide(cp.ones(3, np.complex64), 2),
        lambda cp: cp.fmod(cp.ones(3, np.complex64), 2),
    ],
)
def test_a_dtype_without_a_loop_is_a_type_error(cp, call):
    with pytest.raises(TypeError):
        call(cp)


@pytest.mark.parametrize("dtype", [object, "S3", "U2", "M8[s]", "longdouble", ">f4", "float8_e5m2"])
def test_a_dtype_that_no_device_array_has_is_a_value_error(cp, dtype):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    found = np.dtype(getattr(ml_dtypes, dtype) if dtype == "float8_e5m2" else dtype)
    with pytest.raises(ValueError, match="Unsupported dtype"):
        cp.asarray(np.zeros(3, found))


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("subtract", "float32"),
        ("add", "complex64"),
        ("add", "int8"),
        ("add", "bool"),
        ("maximum", "float16"),
        ("minimum", "int16"),
    ],
)
def test_scatters_have_few_dtypes(cp, name, dtype):
    array = cp.zeros(3, dtype)
    with pytest.raises(TypeError, match=rf"cupy\.{name}\.at only supports"):
        getattr(cp, name).at(array, cp.asarray([0, 1]), cp.ones(2, dtype))


@pytest.mark.parametrize(
    "call",
    [
        lambda cp, a: cp.multiply.at(a, 0, a),
        lambda cp, a: cp.maximum.reduce(a),
        lambda cp, a: cp.logical_and.accumulate(a),
    ],
)
def test_methods_that_its_ufuncs_lack_are_not_implemented(cp, call):
    with pytest.raises(NotImplementedError, match="is not supported yet"):
        call(cp, cp.ones(3))


@pytest.mark.parametrize(
    "call",
    [
        np.asarray,
        np.array,
        lambda a: HOST.dot(a.__array__()),
        lambda a: np.zeros(3)[a],
    ],
)
def test_an_implicit_conversion_is_refused(cp, call):
    with pytest.raises((TypeError, IndexError), match=r"(Implicit conversion|only integers)"):
        call(cp.ones(3))


@pytest.mark.parametrize(
    "call",
    [
        lambda cp, a: a + HOST,
        lambda cp, a: HOST + a,
        lambda cp, a: operator.iadd(a, HOST),
        lambda cp, a: cp.add(a, HOST),
        lambda cp, a: cp.add(a, np.float32(1) * np.ones(())[None]),
        lambda cp, a: np.add(a, HOST),
        lambda cp, a: cp.concatenate([a, HOST]),
        lambda cp, a: cp.matmul(a, HOST),
        lambda cp, a: a @ HOST,
        lambda cp, a: cp.where(a > 0, a, HOST),
        lambda cp, a: cp.add(a, [1, 2, 3]),
        lambda cp, a: cp.sum(HOST),
        lambda cp, a: operator.setitem(a, slice(1, 3), HOST[:2]),
        lambda cp, a: cp.array([a, HOST]),
        lambda cp, a: cp.full(a, 1),
        lambda cp, a: range(a[0]),
        lambda cp, a: cp.stack([np.float64(1), np.float64(2)]),
        lambda cp, a: cp.sum(np.float64(1)),
    ],
)
def test_arrays_of_the_host_do_not_mix(cp, call):
    with pytest.raises(TypeError):
        call(cp, cp.ones(3, np.float32))


def test_what_cupy_takes_is_taken(cp):
    array = cp.asarray(HOST)
    assert isinstance(np.sum(array), cp.ndarray)
    assert isinstance(np.add(array, array), cp.ndarray)
    assert (array + np.float32(1)).dtype == np.float32
    assert (array * 2).dtype == np.float32
    assert (array == np.array(1.0)).all()
    array[:] = HOST * 2
    assert array.get().tolist() == [2, 2, 2]
    assert array[[0, 1]].shape == array[np.array([0, 1])].shape == (2,)


def test_a_singular_matrix_is_seen_only_where_that_is_asked_for(cp):
    import cupyx  # noqa: PLC0415 - only there

    assert np.isnan(cp.linalg.inv(cp.zeros((2, 2))).get()).all()
    assert cp.linalg.inv(cp.eye(2)).get().tolist() == [[1, 0], [0, 1]]
    waits = simulated_gpu.counters().hidden_synchronizations
    with cupyx.errstate(linalg="raise"), pytest.raises(np.linalg.LinAlgError):
        cp.linalg.inv(cp.zeros((2, 2)))
    assert simulated_gpu.counters().hidden_synchronizations == waits + 1


def test_linear_algebra_neither_broadcasts_nor_takes_halves(cp):
    with pytest.raises(ValueError, match="must have"):
        cp.linalg.solve(cp.ones((3, 2, 2)), cp.ones((2, 2)))
    with pytest.raises(TypeError, match="float16"):
        cp.linalg.inv(cp.eye(2, dtype=np.float16))
