"""Gradients of BlockLSTM: an LSTM over all time steps."""

from __future__ import annotations

from sessrun.reference.build.gradient_nodes import gradient, nodes
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor


@gradient("BlockLSTM", "BlockLSTMV2")
def _block_lstm(op: Operation, *grads: Tensor) -> Gradients:
    # TensorFlow has the same for both, though the gates of BlockLSTMV2 are in another order.
    by_inputs = nodes(
        "BlockLSTMGrad",
        *op.inputs,
        *op.outputs,
        grads[1],
        grads[6],
        use_peephole=op.get_attr("use_peephole"),
    )
    return None, *by_inputs
