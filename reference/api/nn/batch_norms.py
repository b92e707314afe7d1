"""Batch normalization in one operation. Source: TF 2.21."""

from __future__ import annotations

from sessrun.reference.build.build import apply_op
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["fused_batch_norm"]


@public("nn.fused_batch_norm")
def fused_batch_norm(
    x: TensorLike,
    scale: TensorLike,
    offset: TensorLike,
    mean: TensorLike | None = None,
    variance: TensorLike | None = None,
    epsilon: float | None = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
    exponential_avg_factor: float = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Normalize each channel to mean 0 and variance 1, then multiply by `scale` and add `offset`.

    Args:
      x: a batch of images or volumes; float32, float16 or bfloat16.
      scale: [channels].
      offset: [channels].
      mean: [channels], the means used when not training; when training, the moving averages.
      variance: [channels], the variances, likewise.
      epsilon: a small number that is added to the variance.
      data_format: the order of the dimensions, such as `NHWC` or `NCHW`.
      is_training: whether mean and variance are computed from the batch.
      name: the operation's name.
      exponential_avg_factor: the weight of the batch's statistics in the moving averages.

    Returns:
      The normalized batch, the means and the variances.

    Raises:
      ValueError: means and variances are required and missing.

    """
    if (not is_training or exponential_avg_factor != 1.0) and (mean is None or variance is None):
        raise bad_value(
            "Both `mean` and `variance` must be given when `is_training` is False "
            "or `exponential_avg_factor` != 1.0. Received: `mean` "
            f"{mean!r} and `variance` {variance!r}"
        )
    batch = convert_to_tensor(x, name="input")
    factor = convert_to_tensor(scale, name="scale")
    summand = convert_to_tensor(offset, name="offset")
    means = constant([]) if mean is None else mean
    variances = constant([]) if variance is None else variance
    inputs = {"x": batch, "scale": factor, "offset": summand, "mean": means, "variance": variances}
    attrs = {
        "exponential_avg_factor": exponential_avg_factor,
        "data_format": data_format,
        "is_training": is_training,
    }
    if epsilon is not None:
        attrs["epsilon"] = epsilon
    op = apply_op("FusedBatchNormV3", inputs, attrs, name)
    return op.outputs[0], op.outputs[1], op.outputs[2]
