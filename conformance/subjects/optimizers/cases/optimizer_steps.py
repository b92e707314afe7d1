"""Vectors of OPTIMIZERS: rows, refusals and the order of reads about a single step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, SessionAuthor, engine_case, near

_NEAR: Final = "close(1e-5, 1e-6)"
#: A vector, or the rows of a matrix.
_Rows = Sequence[float] | Sequence[Sequence[float]]


def floats(*values: float | Sequence[float] | np.ndarray) -> np.ndarray:
    """A float32 vector, or a matrix of rows."""
    return np.array(values, np.float32)


def graph_of_step(
    c: EngineAuthor, op_type: str, held: Mapping[str, _Rows], **given: float | np.ndarray
) -> SessionAuthor:
    """A graph with resource variables, `init`, the operation `step`, and `NAME_now` for each."""
    with c.graph() as tf:
        variables = {
            name: tf.get_variable(name, initializer=floats(*values), use_resource=True)
            for name, values in held.items()
        }
        tf.group(*(v.initializer for v in variables.values()), name="init")
        handles = {name: v.handle for name, v in variables.items()}
        numbers = {name: np.float32(x) if isinstance(x, float) else x for name, x in given.items()}
        getattr(tf.raw_ops, op_type)(**handles, **numbers, name="step")
        for name, v in variables.items():
            tf.identity(v.read_value(), name=f"{name}_now")
    s = c.open()
    s.run(["init"])
    return s


def check_step(
    c: EngineAuthor,
    op_type: str,
    held: Mapping[str, _Rows],
    after: Sequence[_Rows],
    **given: float | np.ndarray,
) -> None:
    """One step, and what each variable holds after it."""
    s = graph_of_step(c, op_type, held, **given)
    s.run(["step"])
    s.run(
        [f"{name}_now:0" for name in held],
        values=[near(floats(*values), _NEAR) for values in after],
    )


@engine_case("OPTIMIZERS-022", title="Rows that are not named stay, in the slots as well.")
def other_rows_stay(c: EngineAuthor) -> None:
    check_step(
        c,
        "ResourceSparseApplyRMSProp",
        {"var": ((1, 2), (3, 4)), "ms": ((3, 3), (0, 3)), "mom": ((5, 5), (2, 4))},
        [((1, 2), (1, 2.5)), ((3, 3), (2, 2)), ((5, 5), (2, 1.5))],
        lr=1.0,
        rho=0.5,
        momentum=0.5,
        epsilon=2.0,
        grad=floats(floats(2, -1)),
        indices=np.array([1], np.int32),
    )


@engine_case("OPTIMIZERS-023", title="A row that is named twice is changed twice, in order.")
def a_row_named_twice_is_changed_twice(c: EngineAuthor) -> None:
    # The sums become 4, then 9: steps of 1 and 1/3 of the gradients.
    check_step(
        c,
        "ResourceSparseApplyAdagrad",
        {"var": ((10,), (10,)), "accum": ((1,), (0,))},
        [((10 - 3**0.5 / 2 - 5**0.5 / 3,), (10,)), ((9,), (0,))],
        lr=1.0,
        grad=floats((3**0.5,), (5**0.5,)),
        indices=np.array([0, 0], np.int64),
    )


@engine_case("OPTIMIZERS-024", title="Rows that are not there are refused.")
def absent_rows_are_refused(c: EngineAuthor) -> None:
    with c.graph() as tf:
        held = [
            tf.get_variable(name, initializer=floats((1,), (2,)), use_resource=True)
            for name in ("var", "accum")
        ]
        tf.group(*(v.initializer for v in held), name="init")
        indices = tf.placeholder(tf.int32, [1], name="indices")
        tf.raw_ops.ResourceSparseApplyMomentum(
            var=held[0].handle,
            accum=held[1].handle,
            lr=1.0,
            momentum=1.0,
            indices=indices,
            grad=floats((1,)),
            name="step",
        )
    s = c.open()
    s.run(["init"])
    for wrong in (-1, 2, -2):
        s.run(["step"], {"indices:0": np.array([wrong], np.int32)}, error=[3])
    s.run(["step"], {"indices:0": np.array([1], np.int32)})


def _fed(c: EngineAuthor, name: str, value: np.ndarray) -> None:
    """A step of momentum, an input of which is fed and must be refused, and changes nothing."""
    with c.graph() as tf:
        held = [
            tf.get_variable(n, initializer=floats(1, 2), use_resource=True)
            for n in ("var", "accum")
        ]
        tf.group(*(v.initializer for v in held), name="init")
        given = {"lr": 1.0, "momentum": 1.0, "grad": floats(1, 1)}
        given[name] = tf.placeholder(tf.float32, name="given")
        tf.raw_ops.ResourceApplyMomentum(
            var=held[0].handle, accum=held[1].handle, **given, name="step"
        )
        tf.identity(held[0].read_value(), name="now")
        tf.identity(held[1].read_value(), name="slot")
    s = c.open()
    s.run(["init"])
    s.run(["step"], {"given:0": value}, error=[3])
    s.run(["now:0", "slot:0"], values=[floats(1, 2), floats(1, 2)])


@engine_case("OPTIMIZERS-025", title="A gradient of another shape is refused.")
def a_gradient_of_another_shape(c: EngineAuthor) -> None:
    _fed(c, "grad", floats((1, 2)))


@engine_case("OPTIMIZERS-026", title="A learning rate that is a vector is refused.")
def a_learning_rate_that_is_no_scalar(c: EngineAuthor) -> None:
    _fed(c, "lr", floats(1))


@engine_case("OPTIMIZERS-027", title="Steps need values in reference variables and slots.")
def steps_need_values(c: EngineAuthor) -> None:
    with c.graph() as tf:
        var, accum = (
            tf.get_variable(name, initializer=floats(1, 2), use_resource=False)
            for name in ("var", "accum")
        )
        tf.raw_ops.ApplyMomentum(
            var=var.initializer.inputs[0],
            accum=accum.initializer.inputs[0],
            lr=1.0,
            momentum=1.0,
            grad=floats(1, 1),
            name="step",
        )
        tf.group(var.initializer, name="first")
        tf.group(accum.initializer, name="second")
    s = c.open()
    s.run(["step"], error=[9])
    s.run(["first"])
    s.run(["step"], error=[9])
    s.run(["second"])
    s.run(["step"])


@engine_case("OPTIMIZERS-028", title="What was read of a resource variable before a step stays.")
def what_was_read_before_stays(c: EngineAuthor) -> None:
    with c.graph() as tf:
        v = tf.get_variable("v", initializer=floats(1, 2), use_resource=True)
        tf.group(v.initializer, name="init")
        before = tf.identity(v.read_value(), name="before")
        with tf.control_dependencies([before]):
            tf.raw_ops.ResourceApplyGradientDescent(
                var=v.handle, alpha=1.0, delta=floats(1, 1), name="step"
            )
            with tf.control_dependencies([tf.get_default_graph().get_operation_by_name("step")]):
                tf.abs(before, name="kept")
    s = c.open()
    s.run(["init"])
    s.run(["before:0", "kept:0", "step"], values=[floats(1, 2), floats(1, 2), None])
    s.run(["before:0"], values=[floats(0, 1)])


@engine_case("OPTIMIZERS-029", title="What comes after a step sees it, by a read that came before.")
def what_comes_after_sees_the_step(c: EngineAuthor) -> None:
    with c.graph() as tf:
        v = tf.get_variable("v", initializer=floats(1, 2), use_resource=False)
        tf.group(v.initializer, name="init")
        read = v.value()
        gradient = read * 1.0  # so the read comes before the step
        step = tf.raw_ops.ApplyGradientDescent(
            var=v.initializer.inputs[0], alpha=2.0, delta=gradient * -0.5
        )
        with tf.control_dependencies([step.op]):
            tf.abs(read, name="after")
    s = c.open()
    s.run(["init"])
    s.run(["after:0"], values=[floats(2, 4)])
    s.run(["after:0"], values=[floats(4, 8)])
