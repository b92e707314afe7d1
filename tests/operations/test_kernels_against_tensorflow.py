"""Every kernel gives TensorFlow's values on drawn arguments, and its codes on faulty ones."""

import random

import pytest
from kernel_calls import computed, mismatch
from operation_oracle import Oracle

from sessrun.conformance.generators.single import OF_KNOWN_RANK
from sessrun.reference.base.kernel_errors import KernelError
from sessrun.spec.rules.domains import arguments
from sessrun.spec.rules.faults import faulty_arguments, malformed_arguments
from sessrun.spec.tables.ops import OPERATIONS

pytestmark = pytest.mark.tensorflow

CASES = 30
FAULTY_CASES = 4
DRAWN = [name for name, operation in OPERATIONS.items() if operation.domain]
REFUSING = [name for name, operation in OPERATIONS.items() if operation.errors]


@pytest.fixture(scope="module")
def oracle():
    return Oracle()


@pytest.mark.parametrize("name", DRAWN)
def test_the_values_are_tensorflows(oracle, name):
    operation = OPERATIONS[name]
    cases = [arguments(operation, random.Random(f"{name}:{i}")) for i in range(CASES)]
    for i, (case, want) in enumerate(zip(cases, oracle.outcomes(operation, cases), strict=True)):
        assert isinstance(want, list), f"case {i}: TensorFlow refuses {case.attrs}: {want}"
        found = mismatch(operation, want, computed(operation, case))
        assert found is None, f"case {i} of {case.attrs}: {found}"


@pytest.mark.parametrize("name", REFUSING)
def test_the_error_codes_are_tensorflows(oracle, name):
    operation = OPERATIONS[name]
    for i in range(FAULTY_CASES):
        for fault, faulty in faulty_arguments(operation, random.Random(f"{name}:{i}")).items():
            (want,) = oracle.outcomes(operation, [faulty.arguments])
            code = getattr(want, "error_code", None)
            assert code in faulty.codes, f"{fault}, case {i}: TensorFlow gives {code}: {want}"
            assert _code(operation, faulty.arguments) in faulty.codes, f"{fault}, case {i}"


@pytest.mark.parametrize("name", [name for name in DRAWN if name not in OF_KNOWN_RANK])
def test_tensorflow_refuses_the_forms_that_the_shape_rule_refuses(oracle, name):
    operation = OPERATIONS[name]
    for said, faulty in malformed_arguments(operation, random.Random(f"{name}:form")):
        (want,) = oracle.outcomes(operation, [faulty.arguments])
        assert getattr(want, "error_code", None) == 3, f"{said}: TensorFlow gives {want}"


def _code(operation, case):
    try:
        computed(operation, case)
    except KernelError as error:
        return error.code
    except (ValueError, TypeError, IndexError):
        return 3  # as the executor reads them
    return None
