"""Gradients of LSTMs over all times."""

from __future__ import annotations

from typing import Any

from sessrun.reference.build.gradient_nodes import gradient, node
from sessrun.reference.graph.operation import Operation

__all__: list[str] = []


@gradient("BlockLSTM", "BlockLSTMV2")
def _block_lstm(op: Operation, *grads: Any) -> Any:
    # TensorFlow has this one for both, though the gates of BlockLSTMV2 stand in another order.
    made = node(
        "BlockLSTMGrad",
        *op.inputs,
        *op.outputs,
        grads[1],
        grads[6],
        use_peephole=op.get_attr("use_peephole"),
    )
    return None, *made
