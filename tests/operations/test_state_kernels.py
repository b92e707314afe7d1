"""Kernels of variables: what is set stays as it was set, and who has read keeps what was read."""

import numpy as np
import pytest

from sessrun.reference.base.kernel_errors import KernelError
from sessrun.reference.kernels.registry import Bind, Node, lookup
from sessrun.reference.state.resources import ResourceStore
from sessrun.reference.state.steps import Step
from sessrun.spec.tables.ops import OPERATIONS


@pytest.fixture
def call():
    store, step = ResourceStore(), Step()

    def run(op_type, *inputs, name="node", **attrs):
        declared = OPERATIONS[op_type]
        whole = {attr.name: attr.default for attr in declared.attrs} | {"T": "float32"} | attrs
        bind = Bind(np, whole, Node(name, op_type), "/device:CPU:0", store)
        entry = lookup(op_type, "CPU")
        return entry.bind(bind)(*([step] if entry.needs_step else []), *inputs)

    return run


@pytest.fixture
def variable(call):
    return call("VariableV2", name="v", dtype="float32", shape=(2,))


@pytest.fixture
def handle(call):
    return call("VarHandleOp", name="h", dtype="float32", shape=(2,))


def floats(*values):
    return np.array(values, np.float32)


def test_nodes_of_one_name_share_a_variable(call, variable):
    assert call("VariableV2", name="v", dtype="float32", shape=(2,)) is variable
    other = call("VariableV2", name="w", dtype="float32", shape=(2,), shared_name="v")
    assert other is variable


def test_what_was_never_assigned_is_not_read_and_not_updated(call, variable, handle):
    for code, use in (
        (9, variable.read),
        (9, lambda: call("AssignAdd", variable, floats(1, 2))),
        (9, lambda: call("ReadVariableOp", handle, dtype="float32")),
        (5, lambda: call("AssignAddVariableOp", handle, floats(1, 2), dtype="float32")),
    ):
        with pytest.raises(KernelError) as caught:
            use()
        assert caught.value.code == code


def test_what_was_assigned_does_not_change_with_the_array_that_was_given(call, variable, handle):
    memory = floats(1, 2)
    given = memory[:]
    given.setflags(write=False)  # as a feed is
    call("Assign", variable, given)
    call("AssignVariableOp", handle, given, dtype="float32")
    memory[:] = 9
    for held in (variable.read(), call("ReadVariableOp", handle, dtype="float32")):
        assert held.tolist() == [1, 2]
        assert not held.flags.writeable


def test_an_array_that_an_operation_computed_is_kept_and_cannot_be_written_to(call, variable):
    computed = floats(1, 2)
    call("Assign", variable, computed)
    assert variable.read() is computed
    assert not computed.flags.writeable


@pytest.mark.parametrize(
    ("op_type", "inputs", "want"),
    [
        ("AssignAdd", (floats(10, 20),), [11, 22]),
        ("AssignSub", (floats(10, 20),), [-9, -18]),
        ("ScatterUpdate", (np.array([1]), floats(7)), [1, 7]),
        ("ScatterAdd", (np.array([1, 1]), floats(7, 8)), [1, 17]),
        ("ScatterSub", (np.array([0]), floats(7)), [-6, 2]),
        ("ScatterMul", (np.array([1, 1]), floats(3, 4)), [1, 24]),
        ("ScatterDiv", (np.array([1]), floats(4)), [1, 0.5]),
        ("ScatterMin", (np.array([0, 1]), floats(5, 0)), [1, 0]),
        ("ScatterMax", (np.array([0, 1]), floats(5, 0)), [5, 2]),
        ("ScatterNdUpdate", (np.array([[0]]), floats(7)), [7, 2]),
        ("ScatterNdAdd", (np.array([[0], [0]]), floats(7, 8)), [16, 2]),
        ("ScatterNdSub", (np.array([[1]]), floats(7)), [1, -5]),
    ],
)
def test_an_update_makes_a_new_value_and_leaves_the_old_one(call, variable, op_type, inputs, want):
    call("Assign", variable, floats(1, 2))
    before = variable.read()
    assert call(op_type, variable, *inputs) is variable
    assert variable.read().tolist() == want
    assert before.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("op_type", "inputs", "want"),
    [
        ("AssignAddVariableOp", (floats(10, 20),), [11, 22]),
        ("AssignSubVariableOp", (floats(10, 20),), [-9, -18]),
        ("ResourceScatterUpdate", (np.array([1]), floats(7)), [1, 7]),
        ("ResourceScatterAdd", (np.array([1, 1]), floats(7, 8)), [1, 17]),
        ("ResourceScatterSub", (np.array([0]), floats(7)), [-6, 2]),
    ],
)
def test_a_resource_is_updated_likewise(call, handle, op_type, inputs, want):
    call("AssignVariableOp", handle, floats(1, 2), dtype="float32")
    before = call("ReadVariableOp", handle, dtype="float32")
    assert call(op_type, handle, *inputs, dtype="float32") is None
    assert call("ReadVariableOp", handle, dtype="float32").tolist() == want
    assert before.tolist() == [1, 2]


def test_assigning_another_shape_is_refused_unless_it_is_not_validated(call, variable):
    for _ in range(2):
        with pytest.raises(KernelError) as caught:
            call("Assign", variable, floats(1, 2, 3))
        assert caught.value.code == 3
        call("Assign", variable, floats(1, 2))
    call("Assign", variable, floats(1, 2, 3), validate_shape=False)
    assert variable.read().shape == (3,)


@pytest.mark.parametrize("indices", [[2], [-1]])
def test_a_row_that_is_not_there_is_an_invalid_argument(call, variable, indices):
    call("Assign", variable, floats(1, 2))
    with pytest.raises(KernelError) as caught:
        call("ScatterAdd", variable, np.array(indices), floats(1))
    assert caught.value.code == 3
    assert variable.read().tolist() == [1, 2]


def test_counting_stops_at_the_limit(call):
    counter = call("VariableV2", name="c", dtype="int64", shape=())
    call("Assign", counter, np.int64(0))
    assert [int(call("CountUpTo", counter, limit=2)) for _ in range(2)] == [0, 1]
    with pytest.raises(KernelError) as caught:
        call("CountUpTo", counter, limit=2)
    assert caught.value.code == 11


def test_a_destroyed_resource_is_not_initialised(call, handle):
    call("AssignVariableOp", handle, floats(1, 2), dtype="float32")
    assert call("VarIsInitializedOp", handle)
    assert call("VariableShape", handle, out_type="int64").tolist() == [2]
    gathered = call("ResourceGather", handle, np.array([1, 0]), dtype="float32")
    assert gathered.tolist() == [2, 1]
    call("DestroyResourceOp", handle)
    assert not call("VarIsInitializedOp", handle)
    with pytest.raises(KernelError) as caught:
        call("DestroyResourceOp", handle, ignore_lookup_error=False)
    assert caught.value.code == 5


def test_a_temporary_variable_lives_until_it_is_destroyed(call):
    attrs = {"dtype": "float32", "shape": (1,), "var_name": "t"}
    buffer = call("TemporaryVariable", **attrs)
    with pytest.raises(KernelError):
        call("TemporaryVariable", **attrs)
    call("Assign", buffer, floats(5))
    assert call("DestroyTemporaryVariable", buffer, var_name="t").tolist() == [5]
    assert call("TemporaryVariable", **attrs) is not buffer


def test_a_seeded_stream_is_the_same_in_every_session():
    def draws():
        store = ResourceStore()
        attrs = {"dtype": "float32", "T": "int32", "seed": 3, "seed2": 4}
        bind = Bind(np, attrs, Node("r", "RandomUniform"), "/device:CPU:0", store, (3, 4))
        first = lookup("RandomUniform", "CPU").bind(bind)
        again = lookup("RandomUniform", "CPU").bind(bind)
        shape = np.array([4], np.int32)
        return first(shape).tolist(), again(shape).tolist()

    one, two = draws(), draws()
    assert one == two
    assert one[0] != one[1], "a second plan goes on with the stream"
    assert all(0 <= value < 1 for value in one[0])
