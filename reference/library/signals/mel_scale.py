"""Mel scale: weight matrix from linear spectrograms, and MFCCs."""

from __future__ import annotations

from typing import Any, Final

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.array_ops import expand_dims, pad, reshape, split
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.grids import linspace
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import log, maximum, minimum, rsqrt
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.signals.cosine_transforms import dct
from sessrun.reference.library.signals.framing import frame
from sessrun.reference.public import public

#: The scale is `_HIGH * log(1 + hertz / _BREAK)`.
_BREAK: Final = 700.0
_HIGH: Final = 1127.0


def _to_mel(hertz: TensorLike) -> Tensor:
    with name_scope(None, "hertz_to_mel", [hertz]):
        return _HIGH * log(1.0 + convert_to_tensor(hertz) / _BREAK)


def _check(bins: Any, rate: float | Tensor, lower: Any, upper: Any, dtype: DType) -> None:
    if bins <= 0:
        raise bad_value(f"num_mel_bins must be positive. Got: {bins}")
    if lower < 0.0:
        raise bad_value(f"lower_edge_hertz must be non-negative. Got: {lower}")
    if lower >= upper:
        raise bad_value(f"lower_edge_hertz {lower:.1f} >= upper_edge_hertz {upper:.1f}")
    if not isinstance(rate, Tensor):
        if rate <= 0.0:
            raise bad_value(f"sample_rate must be positive. Got: {rate}")
        if upper > rate / 2:
            raise bad_value(
                "upper_edge_hertz must not be larger than the Nyquist frequency "
                f"(sample_rate / 2). Got {upper} for sample_rate: {rate}"
            )
    if not dtype.is_floating:
        raise bad_value(f"dtype must be a floating point type. Got: {dtype}")


@public("signal.linear_to_mel_weight_matrix")
def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: int | Tensor = 129,
    sample_rate: float | Tensor = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: DType = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """The matrix of weights from linear frequencies to bands of the mel scale.

    Args:
      num_mel_bins: how many bands there are.
      num_spectrogram_bins: how many frequencies, from 0 to half the sample rate.
      sample_rate: samples a second.
      lower_edge_hertz: where the lowest band begins.
      upper_edge_hertz: where the highest one ends.
      dtype: of floating point.
      name: the operations' scope.

    Returns:
      A tensor of shape `[num_spectrogram_bins, num_mel_bins]`.

    Raises:
      ValueError: the numbers contradict each other.

    """
    with name_scope(name, "linear_to_mel_weight_matrix") as scope:
        if isinstance(sample_rate, Tensor):
            known = constant_value(sample_rate)
            sample_rate = sample_rate if known is None else known
        _check(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype)
        rate = cast(sample_rate, dtype, name="sample_rate")
        lower = convert_to_tensor(lower_edge_hertz, dtype, name="lower_edge_hertz")
        upper = convert_to_tensor(upper_edge_hertz, dtype, name="upper_edge_hertz")
        zero = convert_to_tensor(0.0, dtype)
        highest = rate / 2.0
        # Frequency 0 has no weight.
        linear = linspace(zero, highest, num_spectrogram_bins, name="linspace")[1:]
        bins = expand_dims(_to_mel(linear), 1)
        edges = frame(
            linspace(_to_mel(lower), _to_mel(upper), num_mel_bins + 2, name="linspace"),
            frame_length=3,
            frame_step=1,
        )
        low, center, high = (reshape(edge, [1, num_mel_bins]) for edge in split(edges, 3, axis=1))
        rising = (bins - low) / (center - low)
        falling = (high - bins) / (high - center)
        return pad(maximum(zero, minimum(rising, falling)), [[1, 0], [0, 0]], name=scope)


@public("signal.mfccs_from_log_mel_spectrograms")
def mfccs_from_log_mel_spectrograms(
    log_mel_spectrograms: TensorLike, name: str | None = None
) -> Tensor:
    """The cepstral coefficients of logarithmic mel spectrograms.

    Args:
      log_mel_spectrograms: of shape `[..., num_mel_bins]`.
      name: the operations' scope.

    Raises:
      ValueError: there are no bins.

    """
    with name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        value = convert_to_tensor(log_mel_spectrograms)
        count: Any = None
        if value.shape.ndims and value.shape.dims is not None:
            count = value.shape.dims[-1].value
        if count == 0:
            raise bad_value(f"num_mel_bins must be positive. Got: {value}")
        if count is None:
            count = shape(value)[-1]
        cepstrum = dct(value, type=2)
        return cepstrum * rsqrt(cast(count, cepstrum.dtype) * 2.0)
