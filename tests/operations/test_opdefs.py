"""The declarations agree with the operations that TensorFlow registers."""

import numpy as np
import pytest

from sessrun.spec.dtypes import BY_ENUM, BY_NAME
from sessrun.spec.tables.ops import OPERATIONS

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def registry():
    pytest.importorskip("tensorflow")
    from tensorflow.python.framework import op_def_registry  # noqa: PLC0415 - slow to import

    return op_def_registry


@pytest.fixture(params=OPERATIONS)
def pair(request, registry):
    found = registry.get(request.param)
    assert found is not None, f"TensorFlow registers no {request.param}"
    return OPERATIONS[request.param], found


def _arg(arg):
    dtype = BY_ENUM[arg.type].name if arg.type else None
    return (
        arg.name,
        dtype,
        arg.type_attr or None,
        arg.number_attr or None,
        arg.type_list_attr or None,
        arg.is_ref,
    )


def _declared(arg):
    return (arg.name, arg.dtype, arg.type_attr, arg.number_attr, arg.type_list_attr, arg.is_ref)


def test_inputs_and_outputs_are_the_registered_ones(pair):
    operation, registered = pair
    assert [_declared(a) for a in operation.inputs] == [_arg(a) for a in registered.input_arg]
    assert [_declared(a) for a in operation.outputs] == [_arg(a) for a in registered.output_arg]


def test_statefulness_and_commutativity_are_the_registered_ones(pair):
    operation, registered = pair
    assert operation.stateful == registered.is_stateful
    assert operation.commutative == registered.is_commutative


def test_attributes_are_the_registered_ones(pair):
    operation, registered = pair
    assert [a.name for a in operation.attrs] == [a.name for a in registered.attr]
    for mine, its in zip(operation.attrs, registered.attr, strict=True):
        assert mine.type == its.type, mine.name
        assert mine.minimum == (its.minimum if its.has_minimum else None), mine.name
        assert mine.has_default == its.HasField("default_value"), mine.name
        if mine.has_default:
            _check_default(mine, its.default_value)
        if its.HasField("allowed_values"):
            assert mine.allowed, f"{mine.name} has no restriction"
            assert set(mine.allowed) <= _allowed(its), mine.name


def _allowed(attr):
    values = attr.allowed_values.list
    return {BY_ENUM[number].name for number in values.type if number in BY_ENUM} | {
        text.decode() for text in values.s
    }


def _check_default(mine, value):
    match mine.type:
        case "type":
            assert BY_NAME[mine.default].enum == value.type
        case "float":
            assert np.float32(mine.default) == np.float32(value.f)
        case "string":
            assert mine.default.encode() == value.s
        case "bool":
            assert mine.default == value.b
        case "int":
            assert mine.default == value.i
        case "shape":
            assert (mine.default is None) == value.shape.unknown_rank
        case "tensor":
            dtype, items = mine.default
            assert BY_NAME[dtype].enum == value.tensor.dtype
            assert list(items) == list(value.tensor.int_val)
        case _:
            assert len(mine.default) == sum(map(len, (value.list.i, value.list.s, value.list.f)))
