"""Optimizers' kernels for a GPU: their source computes what their formula computes of arrays.

There is no compiler of CUDA's language here. The statements of these kernels are those of C++, so a
compiler of that gives their values, bit by bit where it contracts no products and sums.
"""

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sessrun.reference as tf
from sessrun.adapters.fakes import simulated_gpu
from sessrun.reference.kernels import fused, optimizer_formulas
from sessrun.reference.kernels.formulas import Numbers

COMPILER = shutil.which("c++") or shutil.which("g++")
#: Formula, its scalars, its attributes, and how many arrays it changes.
FUSED: list[tuple[str, tuple[str, ...], dict[str, bool], int]] = [
    ("gradient_descent", ("alpha",), {}, 1),
    ("momentum", ("lr", "momentum"), {"use_nesterov": False}, 2),
    ("momentum", ("lr", "momentum"), {"use_nesterov": True}, 2),
    ("keras_momentum", ("lr", "momentum"), {"use_nesterov": True}, 2),
    (
        "adam",
        ("beta1", "beta1_power", "beta2", "beta2_power", "epsilon", "lr"),
        {"use_nesterov": False},
        3,
    ),
    (
        "adam",
        ("beta1", "beta1_power", "beta2", "beta2_power", "epsilon", "lr"),
        {"use_nesterov": True},
        3,
    ),
    ("adam_with_amsgrad", ("beta1", "beta1_power", "beta2", "beta2_power", "epsilon", "lr"), {}, 4),
    ("adamax", ("beta1", "beta1_power", "beta2", "epsilon", "lr"), {}, 3),
    ("rms_prop", ("epsilon", "lr", "momentum", "rho"), {}, 3),
    ("centered_rms_prop", ("epsilon", "lr", "momentum", "rho"), {}, 4),
    ("adagrad", ("lr",), {"update_slots": True}, 2),
    ("adagrad_v2", ("epsilon", "lr"), {"update_slots": True}, 2),
    ("adadelta", ("epsilon", "lr", "rho"), {}, 3),
    ("add_sign", ("alpha", "beta", "lr", "sign_decay"), {}, 2),
]


def compiled(lines: list[str], names: list[str], count: int, folder: Path) -> Callable[..., None]:
    """The statements as a loop over floats, compiled as C++."""
    scalars = "".join(f", float {name}" for name in names)
    befores = "".join(f", const float *in{n}, float *out{n}" for n in range(count))
    reads = "".join(f"T before{n} = in{n}[i], after{n};\n" for n in range(count))
    writes = "".join(f"out{n}[i] = after{n};\n" for n in range(count))
    body = "\n".join(lines)
    source = folder / "kernel.cc"
    source.write_text(
        "#include <cmath>\nusing namespace std;\ntypedef float T;\n"
        f'extern "C" void update(long size, const float *gradients{scalars}{befores}) {{\n'
        f"for (long i = 0; i < size; i++) {{\nT gradient = gradients[i];\n{reads}{body}\n{writes}"
        "}}",
        encoding="utf-8",
    )
    library = folder / "kernel.so"
    command = [str(COMPILER), "-O1", "-ffp-contract=off", "-fPIC", "-shared"]
    subprocess.run([*command, "-o", str(library), str(source)], check=True)
    return ctypes.CDLL(str(library)).update


@pytest.mark.skipif(COMPILER is None, reason="there is no compiler of C++")
@pytest.mark.parametrize(
    ("name", "scalars", "attrs", "count"),
    FUSED,
    ids=[f"{row[0]}{'-' if any(row[2].values()) else ''}{len(row[2])}" for row in FUSED],
)
def test_the_source_computes_the_formula(
    name: str, scalars: tuple[str, ...], attrs: dict[str, bool], count: int, tmp_path: Path
) -> None:
    formula = getattr(optimizer_formulas, name)
    lines = fused.statements(formula, scalars, attrs, count)
    assert lines is not None
    draw = np.random.default_rng(5)
    gradient = draw.normal(size=200).astype(np.float32)
    gradient[::7] = 0
    numbers = {name: np.float32(draw.uniform(0.05, 0.95)) for name in scalars}
    befores = [np.abs(draw.normal(size=200)).astype(np.float32) for _ in range(count)]
    afters = [np.empty_like(array) for array in befores]

    def pointer(array: np.ndarray) -> Any:
        return array.ctypes.data_as(ctypes.c_void_p)

    pairs = [pointer(a) for pair in zip(befores, afters, strict=True) for a in pair]
    values = [ctypes.c_float(numbers[name]) for name in scalars]
    update = compiled(lines, list(scalars), count, tmp_path)
    update(ctypes.c_long(200), pointer(gradient), *values, *pairs)
    wanted = [array.copy() for array in befores]
    one, zero = np.float32(1), np.float32(0)
    formula(Numbers(xp=np, one=one, zero=zero, **numbers, **attrs), gradient, *wanted)
    for after, want in zip(afters, wanted, strict=True):
        np.testing.assert_array_equal(after, want)


def test_a_formula_that_looks_at_numbers_is_no_kernel() -> None:
    scalars = ("l1", "l2", "lr", "lr_power")
    attrs = {"multiply_linear_by_lr": False}
    assert fused.statements(optimizer_formulas.ftrl, scalars, attrs, 3) is None


def test_a_step_of_adam_is_one_kernel_a_variable_and_one_download(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fused, "on_new_kernel", [simulated_gpu.kernel])
    values = [np.full((4, 4), number, np.float32) for number in (1, 2)]
    losses = []
    for on_gpu in (False, True):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [4, 4])
            variables = [tf.Variable(value) for value in values]
            loss = tf.reduce_sum(tf.square(tf.matmul(tf.matmul(x, variables[0]), variables[1])))
            step = tf.train.AdamOptimizer(0.1).minimize(loss)
            first = tf.global_variables_initializer()
            if not on_gpu:
                losses.append(_trained(first, [loss, step], x))
                continue
            with simulated_gpu.installed() as machine:
                losses.append(_trained(first, [loss, step], x))
                counters = simulated_gpu.counters()
                launched = [event.name for event in simulated_gpu.log() if event.kind == "launch"]
                assert not machine.races
    assert losses[0] == losses[1]
    assert launched.count("adam") == 2
    assert (counters.downloads, counters.uploads) == (1, 1), "the loss, and the batch"
    assert counters.hidden_synchronizations == 0


def _trained(first: Any, fetches: Any, x: Any) -> list[float]:
    """The losses of five steps; counters are those of the last."""
    feed = {x: np.eye(4, dtype=np.float32)}
    with tf.Session() as session:
        session.run(first)
        losses = [session.run(fetches, feed)[0] for _ in range(4)]
        if simulated_gpu.is_installed():
            simulated_gpu.reset()
        losses.append(session.run(fetches, feed)[0])
    return losses
