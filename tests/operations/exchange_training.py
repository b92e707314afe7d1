"""Graphs for the operations of optimizers: two steps, and what the variables hold after them.

What they hold is shown in whole thousandths, so that the last bits do not count.
"""

from __future__ import annotations

from collections.abc import Callable

import sessrun.reference as tf
from sessrun.spec.tables.ops import OPERATIONS

_SCALARS = {
    "lr": 0.3,
    "alpha": 0.3,
    "epsilon": 0.1,
    "l1": 0.05,
    "l2": 0.1,
    "l2_shrinkage": 0.2,
    "lr_power": -0.6,
}
_GRADIENT = [[0.7, -1.3], [2.1, 0.4], [-0.9, 1.7]]
STEPS = tuple(
    name
    for name in OPERATIONS
    if name.startswith(("Apply", "SparseApply", "ResourceApply", "ResourceSparseApply"))
)


def _graph(op_type: str) -> Callable[[], None]:
    def build() -> None:
        declared = OPERATIONS[op_type]
        inputs: dict[str, object] = {}
        kept = []
        for arg in declared.inputs:
            if arg.is_ref or arg.dtype == "resource":
                v = tf.Variable(
                    [[1.1, 2.2], [3.3, 4.4], [5.5, 6.6]], name=arg.name, use_resource=not arg.is_ref
                )
                kept.append(v)
                inputs[arg.name] = v._ref() if arg.is_ref else v.handle
            elif arg.name in {"grad", "delta"}:
                inputs[arg.name] = _GRADIENT
            elif arg.name == "indices":
                inputs[arg.name] = [2, 0, 2]
            elif arg.name == "global_step":
                inputs[arg.name] = tf.constant(3, tf.int64)
            else:
                inputs[arg.name] = _SCALARS.get(arg.name, 0.8)
        tf.group(*(v.initializer for v in kept), name="init")
        getattr(tf.raw_ops, op_type)(name="step", **inputs)
        tf.cast(tf.stack([v.read_value() for v in kept]) * 1000, tf.int32, name="now_held")

    return build


TRAINING = tuple(
    (op_type, _graph(op_type), (("init",), ("step",), ("now_held:0",), ("step",), ("now_held:0",)))
    for op_type in STEPS
)
