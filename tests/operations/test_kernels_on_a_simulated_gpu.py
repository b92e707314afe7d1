"""Kernels for a GPU use the array module alone: they give the same on a simulated GPU."""

import random
import re

import numpy as np
import pytest
from kernel_calls import bound, computed, mismatch
from operation_oracle import flat

from sessrun.adapters.fakes import simulated_gpu
from sessrun.reference.kernels.registry import KernelError, lookup
from sessrun.spec.rules.domains import arguments
from sessrun.spec.rules.faults import faulty_arguments
from sessrun.spec.tables.ops import OPERATIONS

ON_GPU = [name for name, op in OPERATIONS.items() if op.domain and "GPU" in op.devices]
#: They rely on an error of a singular matrix, which cupy does not raise unless it is asked to.
SINGULAR = {"BatchMatrixInverse", "BatchMatrixSolve", "MatrixInverse", "MatrixSolve"}
REFUSING = [
    pytest.param(name, marks=pytest.mark.xfail(name in SINGULAR, reason="singular", strict=True))
    for name in ON_GPU
    if OPERATIONS[name].errors
]


@pytest.fixture(scope="module")
def cupy():
    with simulated_gpu.installed():
        import cupy  # noqa: PLC0415 - the simulated one

        yield cupy


def _has_strings(operation, case):
    """A string tensor is never in a GPU's memory."""
    makes = "string" in case.attrs.values()
    return makes or any(array.dtype == object for array in flat(operation, case))


def _computed_on_gpu(cupy, operation, case):
    entry = lookup(operation.name, "GPU")
    values = []
    for arg in operation.inputs:
        value = case.inputs[arg.name]
        upload = (lambda array: array) if arg.name in entry.host_inputs else cupy.asarray
        values += map(upload, value if isinstance(value, list) else [value])
    result = bound(operation, case.attrs, cupy, "GPU")(*values)
    results = list(result) if isinstance(result, tuple) else [] if result is None else [result]
    outputs = [arg.name in entry.host_outputs for arg in operation.outputs]
    for index, array in enumerate(results):
        at_host = outputs[min(index, len(outputs) - 1)]
        assert isinstance(array, np.ndarray if at_host else cupy.ndarray), type(array)
    return [cupy.asnumpy(array) for array in results]


@pytest.mark.parametrize("name", ON_GPU)
def test_the_values_are_those_of_numpy(cupy, name):
    operation = OPERATIONS[name]
    refused = []
    for i in range(20):
        case = arguments(operation, random.Random(f"{name}:stand-in:{i}"))
        if _has_strings(operation, case):
            continue
        try:
            got = _computed_on_gpu(cupy, operation, case)
        except TypeError as error:
            if not re.match(r"cupy\.\w+\.at only supports", str(error)):
                raise
            refused.append(str(error))
            continue
        difference = mismatch(operation, computed(operation, case), got)
        assert difference is None, f"case {i} of {case.attrs}: {difference}"
    if refused:
        pytest.xfail(f"the kernel scatters dtypes that cupy does not: {set(refused)}")


@pytest.mark.parametrize("name", REFUSING)
def test_the_faults_are_those_of_numpy(cupy, name):
    operation = OPERATIONS[name]
    for i in range(3):
        for fault in faulty_arguments(operation, random.Random(f"{name}:{i}")).values():
            if _has_strings(operation, fault.arguments):
                continue
            with pytest.raises((KernelError, ValueError)) as caught:
                _computed_on_gpu(cupy, operation, fault.arguments)
            assert getattr(caught.value, "code", 3) in fault.codes
