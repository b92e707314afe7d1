"""Kernels for a GPU use the array module alone: they give the same on a strict stand-in for it."""




import random

import numpy as np
import pytest
from kernel_calls import bound, computed, mismatch
from operation_oracle import flat
from stand_in import StandIn, StandInArray, host

from sessrun.reference.kernels.registry import KernelError, lookup
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.rules.domains import arguments
from sessrun.spec.rules.faults import faulty_arguments
from sessrun.spec.tables.ops import OPERATIONS

ON_GPU = [name for name, op in OPERATIONS.items() if op.domain and "GPU" in op.devices]
REFUSING = [name for name in ON_GPU if OPERATIONS[name].errors]


def _has_strings(operation, case):
    """A string tensor is never in a GPU's memory."""
    makes = "string" in case.attrs.values()
    return makes or any(array.dtype == object for array in flat(operation, case))


def _computed_on_stand_in(operation, case):
    entry = lookup(operation.name, "GPU")
    values = []
    for arg in operation.inputs:
        value = case.inputs[arg.name]
        place = (lambda array: array) if arg.name in entry.host_inputs else StandInArray
        values += map(place, value if isinstance(value, list) else [value])
    with np.errstate(all="ignore"):
        result = bound(operation, case.attrs, StandIn(), "GPU")(*values)
    results = list(result) if isinstance(result, tuple) else [] if result is None else [result]
    outputs = [arg.name in entry.host_outputs for arg in operation.outputs]
    for index, array in enumerate(results):
        at_host = outputs[min(index, len(outputs) - 1)]
        assert isinstance(array, np.ndarray if at_host else StandInArray), type(array)
    return [host(array) for array in results]


@pytest.mark.parametrize("name", ON_GPU)
def test_the_values_are_those_of_numpy(name):
    operation = OPERATIONS[name]
    for i in range(20):
        case = arguments(operation, random.Random(f"{name}:stand-in:{i}"))
        if _has_strings(operation, case):
            continue
        got = _computed_on_stand_in(operation, case)
        found = mismatch(operation, computed(operation, case), got)
        assert found is None, f"case {i} of {case.attrs}: {found}"


@pytest.mark.parametrize("name", REFUSING)
def test_the_faults_are_those_of_numpy(name):
    operation = OPERATIONS[name]
    for i in range(3):
        for fault in faulty_arguments(operation, random.Random(f"{name}:{i}")).values():
            if _has_strings(operation, fault.arguments):
                continue
            with pytest.raises((KernelError, ValueError)) as caught:
                _computed_on_stand_in(operation, fault.arguments)
            assert getattr(caught.value, "code", 3) in fault.codes


def test_the_stand_in_refuses_numpy():
    array = StandInArray(np.ones(3, np.float32))
    with pytest.raises(TypeError):
        np.asarray(array)
    with pytest.raises(TypeError):
        np.add(array, array)
    with pytest.raises(TypeError):
        np.concatenate([array])
    with pytest.raises(TypeError):
        array + np.ones(3)
    with pytest.raises(AttributeError):
        StandIn().maximum.reduce(array)
    assert BY_NAME["float32"].numpy is np.float32
