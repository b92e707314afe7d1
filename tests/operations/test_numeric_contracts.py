"""Numeric contracts: what counts as equal, and that no contract takes a number for an infinity."""

import ml_dtypes
import numpy as np
import pytest

from sessrun.spec.rules.numeric import ContractError, difference

CONTRACTS = ("exact", "signed", "ulp(2)", "ulp(8)", "close(1e-2, 1e-2)")
TURNED = ("columns(1e-6, 1e-6)", "mixed_columns(1e-6, 1e-6)")
DTYPES = (np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.complex64, np.complex128)


@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_infinities_and_nan_must_be_met(contract, dtype):
    special = np.array([np.inf, -np.inf, np.nan]).astype(dtype)
    assert difference(contract, special, special) is None
    for other in (0.0, 1.0, -1e4, np.inf, -np.inf, np.nan):
        got = np.full(3, other).astype(dtype)
        for place in range(3):
            same = np.array_equal(got[place], special[place], equal_nan=True)
            found = difference(contract, special[place : place + 1], got[place : place + 1])
            assert (found is None) == same, (special[place], other)


@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_number_is_not_met_by_an_infinity(contract, dtype):
    want = np.array([1.0, 3e4, 0.0]).astype(dtype)
    for other in (np.inf, -np.inf, np.nan):
        assert difference(contract, want, np.full(3, other).astype(dtype)) is not None


def test_tolerances_count_units_and_parts():
    one = np.float32([1.0])
    assert difference("ulp(2)", one, one + 2 * np.float32(2**-23)) is None
    assert difference("ulp(2)", one, one + 3 * np.float32(2**-23)) is not None
    assert difference("close(0.1, 0)", one, np.float32([1.09])) is None
    assert difference("close(0.1, 0)", one, np.float32([1.11])) is not None


def test_only_the_signed_contract_tells_zeros_apart():
    zeros = np.float64([0.0]), np.float64([-0.0])
    assert difference("exact", *zeros) is None
    assert difference("signed", *zeros) is not None
    assert difference("signed", np.complex64([0j]), np.complex64([complex(0.0, -0.0)])) is not None
    assert difference("signed", np.float64([2.0]), np.float64([2.0])) is None


@pytest.mark.parametrize("text", ["", "ulp", "ulp(1, 2)", "close(1)", "Exact", "ulp(x)"])
def test_anything_else_is_no_contract(text):
    with pytest.raises((ContractError, ValueError)):
        difference(text, np.float32([1]), np.float32([1]))


@pytest.mark.parametrize("contract", TURNED)
def test_columns_count_up_to_a_factor_of_modulus_one(contract):
    want = np.array([[1.0, 2.0], [3.0, -4.0]]) * (1 + 0.5j)
    assert difference(contract, want, want * np.array([-1, 1j])) is None
    assert difference(contract, want, want * np.array([-1.1, 1])) is not None
    assert difference(contract, want, want * np.array([[1], [-1]])) is not None
    assert difference(contract, want, np.full_like(want, np.nan)) is not None


def test_rows_count_up_to_a_factor_of_modulus_one():
    want = np.array([[1.0, 2.0], [3.0, -4.0]]) * (1 + 0.5j)
    assert difference("rows(1e-6, 1e-6)", want, want * np.array([[1], [-1]])) is None
    assert difference("rows(1e-6, 1e-6)", want, want * np.array([-1, 1j])) is not None


def test_columns_and_elements_in_any_order():
    want = np.array([[1.0, 2.0, 0.5], [3.0, -4.0, 5.0], [0.0, 1.0, 2.0]])
    mixed = -want[:, [2, 0, 1]]
    assert difference("mixed_columns(1e-6, 1e-6)", want, mixed) is None
    assert difference("columns(1e-6, 1e-6)", want, mixed) is not None
    assert difference("mixed_columns(1e-6, 1e-6)", want, want[:, [0, 0, 1]]) is not None
    assert difference("unordered(1e-6, 1e-6)", want, want[:, [2, 0, 1]]) is None
    assert difference("unordered(1e-6, 1e-6)", want[:1], want[1:2]) is not None
    assert difference("close(1e-6, 1e-6)", want, want[:, [2, 0, 1]]) is not None


def test_levels_are_integers_some_steps_apart():
    want = np.array([0, 7, 255], np.uint8)
    assert difference("levels(1)", want, np.array([1, 6, 254], np.uint8)) is None
    assert difference("levels(1)", want, np.array([255, 7, 255], np.uint8)) is not None
    quantized = np.dtype([("qint8", np.int8)])
    low, high = (np.array([x], np.int8).view(quantized) for x in (-128, -126))
    assert difference("levels(1)", low, high) is not None
    assert difference("levels(2)", low, high) is None
    halves = np.array([0.5], np.float32)
    assert difference("levels(1)", halves, halves + 1) is not None


def test_what_is_free_may_be_anything():
    assert difference("free", np.zeros(0), np.array(3.0)) is None
