"""Vectors of OPTIMIZERS: the formula of each operation that changes a variable and its slots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.subjects.optimizers.cases.optimizer_steps import check_step, floats

#: The folder of vectors, which this module shares with `optimizer_steps`.
VECTORS: Final = "optimizer-steps"

_GRADIENT: Final = floats(2, -1)


@engine_case("OPTIMIZERS-001", title="Keras' momentum has the learning rate in its slot.")
def keras_momentum_holds_steps(c: EngineAuthor) -> None:
    check_step(
        c,
        "ResourceApplyKerasMomentum",
        {"var": (1, 2), "accum": (4, 8)},
        [(2, 6.5), (1, 4.5)],
        lr=0.5,
        momentum=0.5,
        grad=_GRADIENT,
    )


@engine_case("OPTIMIZERS-002", title="Momentum decays its slot and adds the gradient, then steps.")
def momentum_adds_before_it_steps(c: EngineAuthor) -> None:
    check_step(
        c,
        "ResourceApplyMomentum",
        {"var": (1, 2), "accum": (4, 8)},
        [(-1, 0.5), (4, 3)],
        lr=0.5,
        momentum=0.5,
        grad=_GRADIENT,
    )


@engine_case("OPTIMIZERS-003", title="Nesterov's momentum looks one step ahead.")
def nesterov_looks_ahead(c: EngineAuthor) -> None:
    check_step(
        c,
        "ResourceApplyMomentum",
        {"var": (1, 2), "accum": (4, 8)},
        [(-1, 1.75), (4, 3)],
        lr=0.5,
        momentum=0.5,
        grad=_GRADIENT,
        use_nesterov=True,
    )


_ADAM: Final[Mapping[str, float | np.ndarray]] = {
    "beta1_power": 0.5,
    "beta2_power": 0.75,
    "lr": 1.0,
    "beta1": 0.5,
    "beta2": 0.75,
    "epsilon": 1.0,
    "grad": _GRADIENT,
}


@engine_case("OPTIMIZERS-004", title="Adam's first step.")
def adam_steps(c: EngineAuthor) -> None:
    # The rate is 1 * 0.5 / 0.5; the slots become 1 and -0.5, 1 and 0.25.
    check_step(
        c,
        "ResourceApplyAdam",
        {"var": (1, 2), "m": (0, 0), "v": (0, 0)},
        [(0, 3), (1, -0.5), (1, 0.25)],
        **{**_ADAM, "epsilon": 0.0},
    )


@engine_case("OPTIMIZERS-005", title="Adam adds epsilon to the root.")
def adam_adds_epsilon_to_the_root(c: EngineAuthor) -> None:
    # Powers of zero leave the rate as it is; the slots become 1 and -0.5, 1 and 0.25.
    check_step(
        c,
        "ResourceApplyAdam",
        {"var": (1, 2), "m": (0, 0), "v": (0, 0)},
        [(0.5, 2 + 0.5 / 1.5), (1, -0.5), (1, 0.25)],
        **{**_ADAM, "beta1_power": 0.0, "beta2_power": 0.0},
    )


@engine_case("OPTIMIZERS-006", title="Adam with use_nesterov.")
def adam_looks_ahead(c: EngineAuthor) -> None:
    check_step(
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
    check_step(
        c,
        "ResourceApplyRMSProp",
        {"var": (1, 2), "ms": (2, 15), "mom": (0, 0)},
        [(0, 2 + 1 / 3), (3, 8), (1, -1 / 3)],
        lr=1.0,
        rho=0.5,
        momentum=0.5,
        epsilon=1.0,
        grad=_GRADIENT,
    )


@engine_case("OPTIMIZERS-008", title="RMSProp's momentum has the learning rate in it.")
def rms_prop_holds_steps(c: EngineAuthor) -> None:
    # The mean squares become 4 and 4; half of the old momentum and half of the new steps.
    check_step(
        c,
        "ResourceApplyRMSProp",
        {"var": (1, 2), "ms": (4, 7), "mom": (4, 8)},
        [(1 - 2.5, 2 - 3.75), (4, 4), (2.5, 3.75)],
        lr=0.5,
        rho=0.5,
        momentum=0.5,
        epsilon=0.0,
        grad=_GRADIENT,
    )


@engine_case("OPTIMIZERS-009", title="Centered RMSProp takes the square of the new mean off.")
def centered_rms_prop_steps(c: EngineAuthor) -> None:
    # The means become 1 and -0.5, the mean squares 4 and 8.25; less the squares 3 and 8.
    check_step(
        c,
        "ResourceApplyCenteredRMSProp",
        {"var": (1, 2), "mg": (0, 0), "ms": (4, 15.5), "mom": (0, 0)},
        [(0, 2 + 1 / 3), (1, -0.5), (4, 8.25), (1, -1 / 3)],
        lr=1.0,
        rho=0.5,
        momentum=0.5,
        epsilon=1.0,
        grad=_GRADIENT,
    )


@engine_case("OPTIMIZERS-010", title="Adagrad divides by the root of the new sum.")
def adagrad_sums_before_it_steps(c: EngineAuthor) -> None:
    check_step(
        c,
        "ResourceApplyAdagrad",
        {"var": (1, 2), "accum": (5, 3)},
        [(1 - 2 / 3, 2.5), (9, 4)],
        lr=1.0,
        grad=_GRADIENT,
    )


@engine_case("OPTIMIZERS-011", title="Adagrad without update_slots leaves its sum.")
def adagrad_leaves_its_sum(c: EngineAuthor) -> None:
    check_step(
        c,
        "ResourceApplyAdagrad",
        {"var": (1, 2), "accum": (4, 16)},
        [(0, 2.25), (4, 16)],
        lr=1.0,
        grad=_GRADIENT,
        update_slots=False,
    )


@engine_case("OPTIMIZERS-012", title="Adagrad's second form adds epsilon to the root.")
def adagrad_v2_adds_epsilon(c: EngineAuthor) -> None:
    check_step(
        c,
        "ResourceApplyAdagradV2",
        {"var": (1, 2), "accum": (5, 3)},
        [(0.5, 2 + 1 / 3), (9, 4)],
        lr=1.0,
        epsilon=1.0,
        grad=_GRADIENT,
    )


@engine_case("OPTIMIZERS-013", title="Dual averaging forgets what the variable was.")
def dual_averaging_forgets(c: EngineAuthor) -> None:
    # Sums 6 and -4 less 2 steps of 0.5, over 2 * 0.5 and the roots 3 and 4.
    check_step(
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
        global_step=np.array(2, np.int64),
        grad=_GRADIENT,
    )


@engine_case("OPTIMIZERS-014", title="Adadelta scales by the steps before this one.")
def adadelta_scales_by_older_steps(c: EngineAuthor) -> None:
    # The roots are 4 and 3 for the steps, 2 and 1.5 for the gradients: steps of 4 and -2.
    check_step(
        c,
        "ResourceApplyAdadelta",
        {"var": (1, 2), "accum": (2, 1.5), "accum_update": (15, 8)},
        [(-1, 3), (3, 1.25), (15.5, 6)],
        lr=0.5,
        rho=0.5,
        epsilon=1.0,
        grad=_GRADIENT,
    )


_FTRL: Final[Mapping[str, float | np.ndarray]] = {"lr": 1.0, "lr_power": -0.5, "grad": _GRADIENT}


@engine_case("OPTIMIZERS-015", title="FTRL sets what the first norm outweighs to zero.")
def ftrl_sets_to_zero(c: EngineAuthor) -> None:
    # The linear slots become 6 and 1; the first norm is 2.
    check_step(
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
    check_step(
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
    check_step(
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
    check_step(
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
    check_step(
        c,
        "ResourceApplyAdaMax",
        {"var": (1, 2), "m": (0, 0), "v": (1, 6)},
        [(1 - 2 / 3, 2 + 1 / 4), (1, -0.5), (2, 3)],
        beta1_power=0.5,
        lr=1.0,
        beta1=0.5,
        beta2=0.5,
        epsilon=1.0,
        grad=_GRADIENT,
    )


@engine_case("OPTIMIZERS-020", title="AMSGrad divides by the greatest second moment.")
def amsgrad_keeps_the_greatest(c: EngineAuthor) -> None:
    check_step(
        c,
        "ResourceApplyAdamWithAmsgrad",
        {"var": (1, 2), "m": (0, 0), "v": (0, 0), "vhat": (0.25, 9)},
        [(0.5, 2.125), (1, -0.5), (1, 0.25), (1, 9)],
        **_ADAM,
    )


@engine_case("OPTIMIZERS-059", title="Agreement of signs makes AddSign's steps longer.")
def agreement_of_signs_adds(c: EngineAuthor) -> None:
    # The means become 3 and 1.5, whose signs are those of the gradients or not.
    check_step(
        c,
        "ResourceApplyAddSign",
        {"var": (1, 2), "m": (4, 4)},
        [(1 - 2 * 1.5, 2 + 0.5), (3, 1.5)],
        lr=1.0,
        alpha=1.0,
        sign_decay=0.5,
        beta=0.5,
        grad=_GRADIENT,
    )


@engine_case("OPTIMIZERS-060", title="Agreement of signs makes PowerSign's steps longer.")
def agreement_of_signs_multiplies(c: EngineAuthor) -> None:
    check_step(
        c,
        "ResourceApplyPowerSign",
        {"var": (1, 2), "m": (4, 4)},
        [(1 - 2 * np.e, 2 + 1 / np.e), (3, 1.5)],
        lr=1.0,
        logbase=1.0,
        sign_decay=1.0,
        beta=0.5,
        grad=_GRADIENT,
    )
