"""`nn.silu` and `nn.swish`: a tensor times its sigmoid. Source: TF 2.21."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.custom_gradients import custom_gradient
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import sigmoid, square
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.default_graph import control_dependencies
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public


@public("nn.silu", "nn.swish")
def swish(features: TensorLike, beta: TensorLike = 1.0) -> Tensor:
    """X * sigmoid(beta * x).

    Its gradient recomputes the sigmoid, so that it need not be kept in memory.

    Args:
      features: x, a tensor of floating point numbers.
      beta: a number, or a tensor that broadcasts.

    """
    x = convert_to_tensor(features, name="features")
    slope = cast(convert_to_tensor(beta, name="beta"), x.dtype)

    def computed(x: Tensor, slope: Tensor) -> tuple[Any, Any]:
        def gradient(grad: Tensor) -> tuple[Tensor, Tensor]:
            with control_dependencies([grad]):
                gate = sigmoid(slope * x)
            by_x = gate * (1.0 + slope * x * (1.0 - gate))
            by_slope = reduce_sum(grad * square(x) * gate * (1.0 - gate))
            return grad * by_x, by_slope

        return x * sigmoid(slope * x), gradient

    activated: Tensor = custom_gradient(computed)(x, slope)
    return activated
