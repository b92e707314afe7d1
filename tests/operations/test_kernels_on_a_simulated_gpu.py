"""Kernels for a GPU use the array module alone: they give the same on a simulated GPU."""

import random

import numpy as np
import pytest
from kernel_calls import bound, computed, mismatch
from operation_oracle import flat

from sessrun.adapters.fakes import simulated_gpu
from sessrun.reference.base.kernel_errors import KernelError
from sessrun.reference.kernels.registry import lookup
from sessrun.spec.rules.domains import Arguments, arguments
from sessrun.spec.rules.faults import faulty_arguments
from sessrun.spec.tables.ops import OPERATIONS

ON_GPU = [name for name, op in OPERATIONS.items() if op.domain and "GPU" in op.devices]
#: Operations that give NaN on a GPU for labels that a CPU refuses, and those that give zeros for
#: indices or leave them out (tests/adapters/simulated_gpu/test_gpu_indices.py).
SILENT = {
    "SparseSoftmaxCrossEntropyWithLogits",
    "Gather",
    "GatherNd",
    "GatherV2",
    "ScatterNd",
    "ScatterNdNonAliasingAdd",
    "TensorScatterAdd",
    "TensorScatterSub",
}
_OF_VALUES = ("label_range", "index_range", "scatter_range")
REFUSING = [name for name in ON_GPU if OPERATIONS[name].errors]


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
    for i in range(20):
        case = arguments(operation, random.Random(f"{name}:stand-in:{i}"))
        if _has_strings(operation, case):
            continue
        got = _computed_on_gpu(cupy, operation, case)
        difference = mismatch(operation, computed(operation, case), got)
        assert difference is None, f"case {i} of {case.attrs}: {difference}"


@pytest.mark.parametrize("name", REFUSING)
def test_the_faults_are_those_of_numpy(cupy, name):
    operation = OPERATIONS[name]
    for i in range(3):
        faults = faulty_arguments(operation, random.Random(f"{name}:{i}"))
        for kind, fault in faults.items():
            is_silent = name in SILENT and kind.startswith(_OF_VALUES)
            if is_silent or _has_strings(operation, fault.arguments):
                continue
            with pytest.raises((KernelError, ValueError)) as caught:
                _computed_on_gpu(cupy, operation, fault.arguments)
            assert getattr(caught.value, "code", 3) in fault.codes


def test_a_label_that_is_no_class_gives_nan(cupy):
    operation = OPERATIONS["SparseSoftmaxCrossEntropyWithLogits"]
    logits = np.zeros((3, 2), np.float32)
    inputs = {"features": logits, "labels": np.array([0, 2, -1], np.int32)}
    attrs = {"T": "float32", "Tlabels": "int32"}
    loss, gradient = _computed_on_gpu(cupy, operation, Arguments(inputs, attrs))
    assert np.isnan(loss).tolist() == [False, True, True]
    assert np.isnan(gradient).all(axis=1).tolist() == [False, True, True]
