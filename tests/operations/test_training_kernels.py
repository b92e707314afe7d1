"""Kernels of optimizers: what they write in place, what readers keep, and the same on a GPU."""

import threading

import numpy as np
import pytest

from sessrun.adapters.fakes import simulated_gpu
from sessrun.reference.base.kernel_errors import KernelError
from sessrun.reference.devices.variable_buffers import VariableBuffer
from sessrun.reference.kernels import fused
from sessrun.reference.kernels.registry import Bind, Node, lookup
from sessrun.reference.state.resources import ResourceStore
from sessrun.spec.model.optimizers import STEPS, stepped
from sessrun.spec.tables.ops import OPERATIONS

SCALARS = {
    "lr": 0.25,
    "alpha": 0.5,
    "epsilon": 0.0625,
    "l1": 0.125,
    "l2": 0.25,
    "l2_shrinkage": 0.125,
    "lr_power": -0.5,
    "sign_decay": 0.5,
    "logbase": 0.5,
}


def bound(op_type, kind="CPU", xp=np, **attrs):
    declared = OPERATIONS[op_type]
    whole = {attr.name: attr.default for attr in declared.attrs} | {"T": "float32"} | attrs
    bind = Bind(xp, whole, Node("step", op_type), f"/device:{kind}:0", ResourceStore())
    return lookup(op_type, kind).bind(bind)


def buffers(count, place=lambda array: array):
    made = []
    for number in range(count):
        buffer = VariableBuffer(f"v{number}")
        buffer.value = place(np.arange(1, 7, dtype=np.float32).reshape(3, 2) + 50 * (number == 2))
        made.append(buffer)
    return made


def given(op_type, held, place=lambda array: array):
    """Inputs in order, the numbers among them, and the gradient."""
    values, numbers, gradient = [], {}, np.float32([[1, -2], [0.5, 3], [-1, 0.25]])
    left = iter(held)
    for arg in OPERATIONS[op_type].inputs:
        if arg.is_ref:
            values.append(next(left))
        elif arg.name in {"grad", "delta"}:
            values.append(place(gradient))
        else:
            number = (
                np.int64(2) if arg.name == "global_step" else np.float32(SCALARS.get(arg.name, 0.5))
            )
            numbers[arg.name] = number
            values.append(place(np.asarray(number)))
    return values, numbers, gradient


@pytest.mark.parametrize("rule", [rule for rule in STEPS if f"Apply{rule}" in OPERATIONS])
def test_a_simulated_gpu_gives_what_the_formula_says(rule, monkeypatch):
    monkeypatch.setattr(fused, "on_new_kernel", [simulated_gpu.kernel])
    op_type = f"Apply{rule}"
    declared = OPERATIONS[op_type]
    flags = {attr.name: attr.default for attr in declared.attrs if attr.type == "bool"}
    with simulated_gpu.installed():
        import cupy  # noqa: PLC0415 - the simulated one

        held = buffers(sum(arg.is_ref for arg in declared.inputs), cupy.asarray)
        arrays = [buffer.value.get() for buffer in held]
        values, numbers, gradient = given(op_type, held, cupy.asarray)
        bound(op_type, "GPU", cupy)(*values)
        results = [buffer.value.get() for buffer in held]
    want = stepped(rule, numbers | flags, gradient, arrays, None)
    for result, array in zip(results, want, strict=True):
        np.testing.assert_allclose(result, array, rtol=1e-5, atol=1e-6)


def test_an_array_that_nobody_else_holds_is_written_in_place():
    (held,) = buffers(1)
    held.value = held.value.copy()
    address = held.value.ctypes.data
    values, _, _ = given("ApplyGradientDescent", [held])
    bound("ApplyGradientDescent")(*values)
    assert held.value.ctypes.data == address
    assert not held.value.flags.writeable


def test_whoever_holds_the_array_or_a_view_of_it_keeps_what_was_read():
    (held,) = buffers(1)
    for look in (lambda array: array, lambda array: array[1:], np.ravel):
        seen = look(held.value)
        before = seen.copy()
        values, _, _ = given("ApplyGradientDescent", [held])
        bound("ApplyGradientDescent")(*values)
        assert seen.tolist() == before.tolist()
        assert look(held.value).tolist() != before.tolist()


def test_a_reader_waits_for_a_step_in_another_thread():
    (held,) = buffers(1)
    array, held.value = held.value, None
    held.lock.acquire()
    found = []
    reader = threading.Thread(target=lambda: found.append(held.read()))
    reader.start()
    reader.join(0.05)
    assert reader.is_alive()
    held.value = array
    held.lock.release()
    reader.join(5)
    assert found[0] is array


def test_a_step_that_is_refused_leaves_the_variable():
    held = buffers(2)
    values, _, _ = given("ApplyMomentum", held)
    values[3] = np.zeros((2, 2), np.float32)
    with pytest.raises(KernelError) as caught:
        bound("ApplyMomentum")(*values)
    assert caught.value.code == 3
    assert held[0].read().tolist() == [[1, 2], [3, 4], [5, 6]]


def test_one_variable_may_be_its_own_slot():
    (held,) = buffers(1)
    values, _, _ = given("ApplyMomentum", [held, held])
    bound("ApplyMomentum")(*values)
    assert held.read().shape == (3, 2)


def test_large_arrays_are_stepped_through_in_blocks():
    held = buffers(2)
    size = 100_003
    for buffer in held:
        buffer.value = np.linspace(-1, 1, size, dtype=np.float32)
    want = stepped(
        "Momentum",
        {"lr": 0.25, "momentum": 0.5, "use_nesterov": False},
        np.ones(size, np.float32),
        [b.value for b in held],
        None,
    )
    values, _, _ = given("ApplyMomentum", held)
    values[3] = np.ones(size, np.float32)
    bound("ApplyMomentum")(*values)
    for buffer, array in zip(held, want, strict=True):
        np.testing.assert_allclose(buffer.value, array, rtol=1e-5, atol=1e-6)
