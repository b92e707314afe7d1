"""Executable definitions give TensorFlow's values, and the reference gives theirs."""

import random
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from kernel_calls import computed, mismatch
from operation_oracle import Oracle

from sessrun.spec.definitions import DEFINITIONS, defined_outputs
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.rules.domains import Arguments, arguments
from sessrun.spec.tables.ops import OPERATIONS

#: So many cases of each dtype that is drawn for an operation.
EACH = 4
#: So many cases are drawn at most, by which the dtypes are met.
MOST = 120
NAMES = sorted(DEFINITIONS)
#: Values at which arithmetic goes its own ways.
SPECIAL = {
    "float": (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, np.inf, -np.inf, np.nan),
    "int": (0, 1, -1, 2, -7, "least", "most"),
    "uint": (0, 1, 2, 7, "most"),
}
#: Integers that TensorFlow refuses as divisors, or dies of beside the least integer.
DIVIDES = {"Div", "FloorDiv", "TruncateDiv", "FloorMod", "Mod", "TruncateMod"}


def kind_of(case: Arguments) -> tuple[object, ...]:
    return tuple(
        value for value in case.attrs.values() if isinstance(value, str) and value in BY_NAME
    )


def drawn(name: str) -> list[Arguments]:
    """Cases of an operation: a few of each combination of dtypes."""
    met: Counter[tuple[object, ...]] = Counter()
    cases = []
    for i in range(MOST):
        case = arguments(OPERATIONS[name], random.Random(f"definitions:{name}:{i}"))
        met[kind_of(case)] += 1
        if met[kind_of(case)] <= EACH:
            cases.append(case)
    return cases


def special(name: str) -> list[Arguments]:
    """Every pair of special values, or every one, of an elementwise operation on one dtype."""
    operation = OPERATIONS[name]
    domain = operation.domain
    if domain is None or domain.name not in {"elementwise", "broadcastable", "comparable"}:
        return []
    if name in {"CheckNumerics", "CheckNumericsV2"}:  # which refuse them
        return []
    attr = operation.attr("T")
    cases = []
    for dtype in attr.allowed if attr is not None else ():
        values = SPECIAL.get(BY_NAME[dtype].kind)
        if values is None or BY_NAME[dtype].is_narrow:
            continue
        numbers = np.array([_number(dtype, value) for value in values], BY_NAME[dtype].numpy)
        names = [arg.name for arg in operation.inputs]
        attrs = {one.name: one.default for one in operation.attrs} | {"T": dtype}
        given = {names[0]: numbers}
        if len(names) == 2:
            given = {names[0]: numbers[:, None], names[1]: numbers}
            if name in DIVIDES and BY_NAME[dtype].kind != "float":
                given[names[1]] = numbers[numbers > 0]
        cases.append(Arguments(given, attrs))
    return cases


def _number(dtype: str, value: object) -> object:
    if value not in {"least", "most"}:
        return value
    info = np.iinfo(BY_NAME[dtype].numpy)
    return info.max if value == "most" else info.min


@pytest.fixture(scope="module")
def oracle():
    return Oracle()


def first_difference(name, cases, wanted, own):
    for i, (case, want) in enumerate(zip(cases, wanted, strict=True)):
        assert isinstance(want, list), f"case {i}: refused: {case.attrs}: {want}"
        found = mismatch(OPERATIONS[name], want, own(OPERATIONS[name], case))
        assert found is None, f"case {i} of {case.attrs}: {found}"


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", NAMES)
def test_tensorflow_gives_the_values_of_the_definition(oracle, name):
    cases = drawn(name) + special(name)
    wanted = oracle.outcomes(OPERATIONS[name], cases)
    first_difference(name, cases, wanted, defined_outputs)


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_gives_the_values_of_the_definition(name):
    cases = drawn(name) + special(name)
    wanted = [defined_outputs(OPERATIONS[name], case) for case in cases]
    first_difference(name, cases, wanted, computed)


def test_every_definition_is_of_an_operation_that_can_be_drawn():
    assert all(OPERATIONS[name].domain is not None for name in DEFINITIONS)


def test_no_executable_definition_is_lost():
    assert len(DEFINITIONS) >= 508


def test_definitions_need_nothing_of_ours_but_the_spec():
    code = (
        "import sys, sessrun.spec.definitions\n"
        "others = [m for m in sys.modules if m.startswith('sessrun.') and not "
        "m.startswith('sessrun.spec')]\n"
        "assert not others, others"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_batch_norm_without_training_is_by_the_given_moments() -> None:
    operation = OPERATIONS["FusedBatchNormV3"]
    numbers = {
        "x": np.arange(16, dtype=np.float32).reshape(2, 2, 2, 2),
        "scale": np.array([1, 2], np.float32),
        "offset": np.array([0.5, 1], np.float32),
        "mean": np.array([1, 2], np.float32),
        "variance": np.array([4, 9], np.float32),
    }
    attrs = {attr.name: attr.default for attr in operation.attrs}
    attrs |= {"T": "float32", "U": "float32", "is_training": False}
    y, *moments = defined_outputs(operation, Arguments(numbers, attrs))
    scaled = (numbers["x"] - numbers["mean"]) / np.sqrt(numbers["variance"] + attrs["epsilon"])
    np.testing.assert_allclose(y, scaled * numbers["scale"] + numbers["offset"], atol=1e-6)
    for moment, name in zip(moments, ("mean", "variance", "mean", "variance"), strict=False):
        np.testing.assert_array_equal(moment, numbers[name])


def test_a_string_of_rank_0_is_padded_as_it_is() -> None:
    inputs = {"input": np.array(b"a b", object), "paddings": np.zeros((0, 2), np.int32)}
    (output,) = defined_outputs(
        OPERATIONS["Pad"], Arguments(inputs, {"T": "string", "Tpaddings": "int32"})
    )
    assert output.shape == ()
    assert output[()] == b"a b"


def test_a_string_that_fills_a_tensor_keeps_the_zero_bytes_at_its_end() -> None:
    fill, one = np.array(b"a\0\0", object), np.array([b"b"], object)
    numbers = {"sparse_indices": np.array([[1]]), "output_shape": np.array([3])}
    dense = {**numbers, "sparse_values": one, "default_value": fill}
    padded = {"input": one, "paddings": np.array([[1, 1]]), "constant_values": fill}
    for name, inputs in (("SparseToDense", dense), ("PadV2", padded)):
        (result,) = defined_outputs(OPERATIONS[name], Arguments(inputs, {"T": "string"}))
        assert result.tolist() == [b"a\0\0", b"b", b"a\0\0"]
