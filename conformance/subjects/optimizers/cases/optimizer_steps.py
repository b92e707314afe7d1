"""Vectors of OPTIMIZERS: what one operation makes of a variable and its slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, engine_case, near

_NEAR = "close(1e-5, 1e-6)"


def floats(*values: Any) -> Any:
    """A float32 vector, or a matrix of rows."""
    return np.array(values, np.float32)


def graph_of_step(c: EngineAuthor, op_type: str, held: Mapping[str, Any], **given: Any) -> Any:
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


def taken(
    c: EngineAuthor, op_type: str, held: Mapping[str, Any], after: Sequence[Any], **given: Any
) -> None:
    """One step, and what each variable holds after it."""
    s = graph_of_step(c, op_type, held, **given)
    s.run(["step"])
    s.run(
        [f"{name}_now:0" for name in held],
        values=[near(floats(*values), _NEAR) for values in after],
    )


G = floats(2, -1)


@engine_case("OPTIMIZERS-001", title="Keras' momentum has the learning rate in its slot.")
def keras_momentum_holds_steps(c: EngineAuthor) -> None:
    taken(
        c,
        "ResourceApplyKerasMomentum",
        {"var": (1, 2), "accum": (4, 8)},
        [(2, 6.5), (1, 4.5)],
        lr=0.5,
        momentum=0.5,
        grad=G,
    )


@engine_case("OPTIMIZERS-002", title="Momentum decays its slot and adds the gradient, then steps.")
def momentum_adds_before_it_steps(c: EngineAuthor) -> None:
    taken(
        c,
        "ResourceApplyMomentum",
        {"var": (1, 2), "accum": (4, 8)},
        [(-1, 0.5), (4, 3)],
        lr=0.5,
        momentum=0.5,
        grad=G,
    )


@engine_case("OPTIMIZERS-003", title="Nesterov's momentum looks one step ahead.")
def nesterov_looks_ahead(c: EngineAuthor) -> None:
    taken(
        c,
        "ResourceApplyMomentum",
        {"var": (1, 2), "accum": (4, 8)},
        [(-1, 1.75), (4, 3)],
        lr=0.5,
        momentum=0.5,
        grad=G,
        use_nesterov=True,
    )


_ADAM = {
    "beta1_power": 0.5,
    "beta2_power": 0.75,
    "lr": 1.0,
    "beta1": 0.5,
    "beta2": 0.75,
    "epsilon": 1.0,
    "grad": G,
}


@engine_case("OPTIMIZERS-004", title="Adam's first step.")
def adam_steps(c: EngineAuthor) -> None:
    # The rate is 1 * 0.5 / 0.5; the slots become 1 and -0.5, 1 and 0.25.
    taken(
        c,
        "ResourceApplyAdam",
        {"var": (1, 2), "m": (0, 0), "v": (0, 0)},
        [(0, 3), (1, -0.5), (1, 0.25)],
        **{**_ADAM, "epsilon": 0.0},
    )


@engine_case("OPTIMIZERS-005", title="Adam adds epsilon to the root.")
def adam_adds_epsilon_to_the_root(c: EngineAuthor) -> None:
    # Powers of zero leave the rate as it is; the slots become 1 and -0.5, 1 and 0.25.
    taken(
        c,
        "ResourceApplyAdam",
        {"var": (1, 2), "m": (0, 0), "v": (0, 0)},
        [(0.5, 2 + 0.5 / 1.5), (1, -0.5), (1, 0.25)],
        **{**_ADAM, "beta1_power": 0.0, "beta2_power": 0.0},
    )


@engine_case("OPTIMIZERS-006", title="Adam with use_nesterov.")
def adam_looks_ahead(c: EngineAuthor) -> None:
    taken(
        c,
        "ResourceApplyAdam",
        {"var": (1, 2), "m": (0, 0), "v": (0, 0)},
        [(1 - 1.5 / 2, 2 + 0.75 / 1.5), (1, -0.5), (1, 0.25)],
        **_ADAM,
        use_nesterov=True,
    )


@engine_case("OPTIMIZERS-007", title="RMSProp's step, with a large epsilon.")
def rms_prop_steps(c: EngineAuthor) -> None:
    # The mean squares become 3 and 8; with epsilon 4 and 9.
    taken(
        c,
        "ResourceApplyRMSProp",
        {"var": (1, 2), "ms": (2, 15), "mom": (0, 0)},
        [(0, 2 + 1 / 3), (3, 8), (1, -1 / 3)],
        lr=1.0,
        rho=0.5,
        momentum=0.5,
        epsilon=1.0,
        grad=G,
    )


@engine_case("OPTIMIZERS-008", title="RMSProp's momentum has the learning rate in it.")
def rms_prop_holds_steps(c: EngineAuthor) -> None:
    # The mean squares become 4 and 4; half of the old momentum and half of the new steps.
    taken(
        c,
        "ResourceApplyRMSProp",
        {"var": (1, 2), "ms": (4, 7), "mom": (4, 8)},
        [(1 - 2.5, 2 - 3.75), (4, 4), (2.5, 3.75)],
        lr=0.5,
        rho=0.5,
        momentum=0.5,
        epsilon=0.0,
        grad=G,
    )


@engine_case("OPTIMIZERS-009", title="Centered RMSProp takes the square of the new mean off.")
def centered_rms_prop_steps(c: EngineAuthor) -> None:
    # The means become 1 and -0.5, the mean squares 4 and 8.25; less the squares 3 and 8.
    taken(
        c,
        "ResourceApplyCenteredRMSProp",
        {"var": (1, 2), "mg": (0, 0), "ms": (4, 15.5), "mom": (0, 0)},
        [(0, 2 + 1 / 3), (1, -0.5), (4, 8.25), (1, -1 / 3)],
        lr=1.0,
        rho=0.5,
        momentum=0.5,
        epsilon=1.0,
        grad=G,
    )


@engine_case("OPTIMIZERS-010", title="Adagrad divides by the root of the new sum.")
def adagrad_sums_before_it_steps(c: EngineAuthor) -> None:
    taken(
        c,
        "ResourceApplyAdagrad",
        {"var": (1, 2), "accum": (5, 3)},
        [(1 - 2 / 3, 2.5), (9, 4)],
        lr=1.0,
        grad=G,
    )


@engine_case("OPTIMIZERS-011", title="Adagrad without update_slots leaves its sum.")
def adagrad_leaves_its_sum(c: EngineAuthor) -> None:
    taken(
        c,
        "ResourceApplyAdagrad",
        {"var": (1, 2), "accum": (4, 16)},
        [(0, 2.25), (4, 16)],
        lr=1.0,
        grad=G,
        update_slots=False,
    )


@engine_case("OPTIMIZERS-012", title="Adagrad's second form adds epsilon to the root.")
def adagrad_v2_adds_epsilon(c: EngineAuthor) -> None:
    taken(
        c,
        "ResourceApplyAdagradV2",
        {"var": (1, 2), "accum": (5, 3)},
        [(0.5, 2 + 1 / 3), (9, 4)],
        lr=1.0,
        epsilon=1.0,
        grad=G,
    )


@engine_case("OPTIMIZERS-013", title="Dual averaging forgets what the variable was.")
def dual_averaging_forgets(c: EngineAuthor) -> None:
    # Sums 6 and -4 less 2 steps of 0.5, over 2 * 0.5 and the roots 3 and 4.
    taken(
        c,
        "ResourceApplyAdagradDA",
        {
            "var": (100, 200),
            "gradient_accumulator": (4, -3),
            "gradient_squared_accumulator": (5, 15),
        },
        [(-5 / 4, 3 / 5), (6, -4), (9, 16)],
        lr=1.0,
        l1=0.5,
        l2=0.5,
        global_step=np.int64(2),
        grad=G,
    )


@engine_case("OPTIMIZERS-014", title="Adadelta scales by the steps before this one.")
def adadelta_scales_by_older_steps(c: EngineAuthor) -> None:
    # The roots are 4 and 3 for the steps, 2 and 1.5 for the gradients: steps of 4 and -2.
    taken(
        c,
        "ResourceApplyAdadelta",
        {"var": (1, 2), "accum": (2, 1.5), "accum_update": (15, 8)},
        [(-1, 3), (3, 1.25), (15.5, 6)],
        lr=0.5,
        rho=0.5,
        epsilon=1.0,
        grad=floats(2, -1),
    )


_FTRL = {"lr": 1.0, "lr_power": -0.5, "grad": G}


@engine_case("OPTIMIZERS-015", title="FTRL sets what the first norm outweighs to zero.")
def ftrl_sets_to_zero(c: EngineAuthor) -> None:
    # The linear slots become 6 and 1; the first norm is 2.
    taken(
        c,
        "ResourceApplyFtrl",
        {"var": (1, 1), "accum": (0, 8), "linear": (6, 5 - 8**0.5)},
        [(-2, 0), (4, 9), (6, 1)],
        **_FTRL,
        l1=2.0,
        l2=0.0,
    )


@engine_case("OPTIMIZERS-016", title="FTRL's second norm counts twice.")
def ftrl_counts_the_norm_twice(c: EngineAuthor) -> None:
    taken(
        c,
        "ResourceApplyFtrl",
        {"var": (0, 0), "accum": (0, 0), "linear": (4, 1)},
        [(-6 / 4, 0), (4, 1), (6, 0)],
        **_FTRL,
        l1=0.0,
        l2=1.0,
    )


@engine_case("OPTIMIZERS-017", title="Shrinkage is in the linear slot and not in the squares.")
def shrinkage_is_linear(c: EngineAuthor) -> None:
    # The linear slots become 4 + 2 + 1 - 2 and 0 - 1 + 1 - 1.
    taken(
        c,
        "ResourceApplyFtrlV2",
        {"var": (1, 1), "accum": (0, 0), "linear": (4, 0)},
        [(-2.5, 1), (4, 1), (5, -1)],
        **_FTRL,
        l1=0.0,
        l2=0.0,
        l2_shrinkage=0.5,
    )


@engine_case("OPTIMIZERS-018", title="A proximal step shrinks and divides.")
def a_proximal_step_shrinks(c: EngineAuthor) -> None:
    taken(
        c,
        "ResourceApplyProximalGradientDescent",
        {"var": (3, -0.25)},
        [(1, 0)],
        alpha=0.5,
        l1=1.0,
        l2=2.0,
        delta=floats(1, -1),
    )


@engine_case("OPTIMIZERS-019", title="AdaMax keeps the greater of slot and gradient.")
def adamax_keeps_the_greater(c: EngineAuthor) -> None:
    taken(
        c,
        "ResourceApplyAdaMax",
        {"var": (1, 2), "m": (0, 0), "v": (1, 6)},
        [(1 - 2 / 3, 2 + 1 / 4), (1, -0.5), (2, 3)],
        beta1_power=0.5,
        lr=1.0,
        beta1=0.5,
        beta2=0.5,
        epsilon=1.0,
        grad=G,
    )


@engine_case("OPTIMIZERS-020", title="AMSGrad divides by the greatest second moment.")
def amsgrad_keeps_the_greatest(c: EngineAuthor) -> None:
    taken(
        c,
        "ResourceApplyAdamWithAmsgrad",
        {"var": (1, 2), "m": (0, 0), "v": (0, 0), "vhat": (0.25, 9)},
        [(0.5, 2.125), (1, -0.5), (1, 0.25), (1, 9)],
        **_ADAM,
    )


@engine_case("OPTIMIZERS-021", title="Agreement of signs makes AddSign's steps longer.")
def agreement_of_signs_adds(c: EngineAuthor) -> None:
    # The means become 3 and 1.5, whose signs are those of the gradients or not.
    taken(
        c,
        "ResourceApplyAddSign",
        {"var": (1, 2), "m": (4, 4)},
        [(1 - 2 * 1.5, 2 + 0.5), (3, 1.5)],
        lr=1.0,
        alpha=1.0,
        sign_decay=0.5,
        beta=0.5,
        grad=G,
    )


@engine_case("OPTIMIZERS-021", title="Agreement of signs makes PowerSign's steps longer.")
def agreement_of_signs_multiplies(c: EngineAuthor) -> None:
    taken(
        c,
        "ResourceApplyPowerSign",
        {"var": (1, 2), "m": (4, 4)},
        [(1 - 2 * np.e, 2 + 1 / np.e), (3, 1.5)],
        lr=1.0,
        logbase=1.0,
        sign_decay=1.0,
        beta=0.5,
        grad=G,
    )


@engine_case("OPTIMIZERS-022", title="Rows that are not named stay, in the slots as well.")
def other_rows_stay(c: EngineAuthor) -> None:
    taken(
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
    taken(
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


def _fed(c: EngineAuthor, name: str, value: Any) -> None:
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
