"""Functions of networks as version 2 takes their arguments, for programs that import them by path.

TensorFlow's modules have both forms side by side, such as `nn_ops.softmax` and `nn_ops.softmax_v2`.
Most build the same graph, with fewer arguments or in another order. Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from sessrun.reference.api.nn import (
    activations,
    convolutions,
    cross_entropies,
    depthwise,
    dropouts,
    embeddings,
    general,
    morphology,
    odd_poolings,
    rankings,
    safe_embeddings,
    sampled_losses,
    statistics,
)
from sessrun.reference.api.nn.windows import each
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.base import dtypes
from sessrun.reference.build.argument_orders import in_order
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import erfc, tanh
from sessrun.reference.build.generated import pow as power
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.random_seed import get_seed, is_op_determinism_enabled
from sessrun.reference.graph.tensor import Tensor

#: Defaults of arguments that have none in the older function, or another one.
_DEFAULTS: Final[Mapping[str, Any]] = {"keepdims": False, "padding": "VALID"}

#: By name: the older function, the arguments in their order, those with a star needed; then what
#: it is always given besides.
_FORMS: Final[Mapping[str, tuple[Callable[..., Any], str, Mapping[str, Any]]]] = {
    "batch_norm_with_global_normalization_v2": (
        statistics.batch_norm_with_global_normalization,
        "input* mean* variance* beta* gamma* variance_epsilon* scale_after_normalization* name",
        {},
    ),
    "conv1d_v2": (
        convolutions.conv1d,
        "input* filters* stride* padding* data_format dilations name",
        {"use_cudnn_on_gpu": True},
    ),
    "conv2d_v2": (
        convolutions.conv2d,
        "input* filters* strides* padding* data_format dilations name",
        {},
    ),
    "crelu_v2": (activations.crelu, "features* axis name", {}),
    "depthwise_conv2d_v2": (
        depthwise.depthwise_conv2d,
        "input* filter* strides* padding* data_format dilations name",
        {},
    ),
    "dropout_v2": (dropouts.dropout, "x* rate* noise_shape seed name", {}),
    "embedding_lookup_v2": (
        embeddings.embedding_lookup,
        "params* ids* max_norm name",
        {"partition_strategy": "div"},
    ),
    "embedding_lookup_sparse_v2": (
        embeddings.embedding_lookup_sparse,
        "params* sp_ids* sp_weights* combiner max_norm name allow_fast_lookup",
        {"partition_strategy": "div"},
    ),
    "in_top_k_v2": (rankings.in_top_k, "targets* predictions* k* name", {}),
    "log_softmax_v2": (activations.log_softmax, "logits* axis name", {}),
    "moments_v2": (statistics.moments, "x* axes* shift keepdims name", {}),
    "nce_loss_v2": (
        sampled_losses.nce_loss,
        (
            "weights* biases* labels* inputs* num_sampled* num_classes* num_true sampled_values "
            "remove_accidental_hits name"
        ),
        {"partition_strategy": "div"},
    ),
    "pool_v2": (
        general.pool,
        "input* window_shape* pooling_type* strides padding data_format dilations name",
        {},
    ),
    "safe_embedding_lookup_sparse_v2": (
        safe_embeddings.safe_embedding_lookup_sparse,
        (
            "embedding_weights* sparse_ids* sparse_weights combiner default_id max_norm name "
            "allow_fast_lookup"
        ),
        {"partition_strategy": "div"},
    ),
    "sampled_softmax_loss_v2": (
        sampled_losses.sampled_softmax_loss,
        (
            "weights* biases* labels* inputs* num_sampled* num_classes* num_true sampled_values "
            "remove_accidental_hits seed name"
        ),
        {"partition_strategy": "div"},
    ),
    "separable_conv2d_v2": (
        depthwise.separable_conv2d,
        "input* depthwise_filter* pointwise_filter* strides* padding* data_format dilations name",
        {},
    ),
    "sigmoid_cross_entropy_with_logits_v2": (
        cross_entropies.sigmoid_cross_entropy_with_logits,
        "labels logits name",
        {},
    ),
    "softmax_v2": (activations.softmax, "logits* axis name", {}),
    "sparse_softmax_cross_entropy_with_logits_v2": (
        cross_entropies.sparse_softmax_cross_entropy_with_logits,
        "labels* logits* name",
        {},
    ),
    "sufficient_statistics_v2": (
        statistics.sufficient_statistics,
        "x* axes* shift keepdims name",
        {},
    ),
    "weighted_cross_entropy_with_logits_v2": (
        cross_entropies.weighted_cross_entropy_with_logits,
        "labels* logits* pos_weight* name",
        {},
    ),
    "weighted_moments_v2": (
        statistics.weighted_moments,
        "x* axes* frequency_weights* keepdims name",
        {},
    ),
}


globals().update(
    {name: in_order(name, *parts, defaults=_DEFAULTS) for name, parts in _FORMS.items()}
)


def _only_channels_last(data_format: str) -> None:
    if data_format != "NHWC":
        raise bad_value(
            "`data_format` values other  than 'NHWC' are not supported. Received: "
            f"data_format={data_format}"
        )


def convolution_v2(
    input: Any,  # noqa: A002 - TensorFlow's name
    filters: Any,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """A convolution in as many dimensions as the filters have; as `nn.convolution`."""
    return general.convolution_internal(
        input, filters, strides, padding, data_format, dilations, name
    )


def conv3d_v2(
    input: Any,  # noqa: A002 - TensorFlow's name
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Each window of volumes times each filter; more dimensions may stand before the others."""
    return convolutions.volume(
        input,
        filters,
        strides,
        name,
        padding=padding,
        data_format=data_format,
        dilations=dilations or [1] * 5,
    )


def dilation2d_v2(
    input: Any,  # noqa: A002 - TensorFlow's name
    filters: Any,
    strides: Any,
    padding: str,
    data_format: str,
    dilations: Any,
    name: str | None = None,
) -> Tensor:
    """As `nn.dilation2d`.

    Raises:
      ValueError: the format is not `NHWC`.

    """
    _only_channels_last(data_format)
    return morphology.dilation2d(input, filters, strides, dilations, padding, name)


def erosion2d_v2(
    value: Any,
    filters: Any,
    strides: Any,
    padding: str,
    data_format: str,
    dilations: Any,
    name: str | None = None,
) -> Tensor:
    """As `nn.erosion2d`.

    Raises:
      ValueError: the format is not `NHWC`.

    """
    _only_channels_last(data_format)
    return morphology.erosion2d(value, filters, strides, dilations, padding, name)


def max_pool_with_argmax_v2(
    input: Any,  # noqa: A002 - TensorFlow's name
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    output_dtype: Any = dtypes.int64,
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> odd_poolings.MaxPoolWithArgmax:
    """As `nn.max_pool_with_argmax`; sizes may be one number or two.

    Raises:
      ValueError: the format is not `NHWC`.

    """
    _only_channels_last(data_format)
    sizes, steps = each(ksize, 2, "ksize"), each(strides, 2, "strides")
    return odd_poolings.max_pool_with_argmax(
        input,
        sizes,
        steps,
        padding,
        name=name,
        output_dtype=output_dtype,
        include_batch_in_index=include_batch_in_index,
    )


def fractional_max_pool_v2(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> odd_poolings.FractionalMaxPool:
    """As `nn.fractional_max_pool`; the ratio may be one number or two, and 0 is no seed.

    Raises:
      ValueError: a ratio is below 1, or one of batch or channels is not 1.

    """
    if not isinstance(pooling_ratio, list | tuple | int | float):
        raise bad_value(
            "`pooling_ratio` should be an int or a list of ints. Received: "
            f"pooling_ratio={pooling_ratio}"
        )
    if isinstance(pooling_ratio, list | tuple):
        if pooling_ratio[0] != 1.0 or pooling_ratio[-1] != 1.0:
            raise bad_value(
                "`pooling_ratio` should have first and last elements with value 1.0. "
                f"Received: pooling_ratio={pooling_ratio}"
            )
        if any(ratio < 1.0 for ratio in pooling_ratio):
            raise bad_value(
                "`pooling_ratio` elements should be >= 1.0. Received: pooling_ratio="
                f"{pooling_ratio}"
            )
    elif pooling_ratio < 1.0:
        raise bad_value(
            f"`pooling_ratio` should be >= 1.0. Received: pooling_ratio={pooling_ratio}"
        )
    ratio = each(pooling_ratio, 2, "pooling_ratio")
    if seed == 0 and is_op_determinism_enabled():
        raise ValueError(
            "tf.nn.fractional_max_pool requires a non-zero seed to be passed in when "
            f"determinism is enabled, but got seed={seed}. Please pass in a non-zero "
            'seed, e.g. by passing "seed=1".'
        )
    return odd_poolings.fractional_max_pool(
        value, ratio, pseudo_random, overlapping, **_seeded(seed), name=name
    )


def fractional_avg_pool_v2(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> odd_poolings.FractionalAvgPool:
    """As `nn.fractional_avg_pool`; 0 is no seed."""
    return odd_poolings.fractional_avg_pool(
        value, pooling_ratio, pseudo_random, overlapping, **_seeded(seed), name=name
    )


def _seeded(seed: int) -> dict[str, Any]:
    if seed == 0:
        return {"deterministic": False, "seed": 0, "seed2": 0}
    first, second = get_seed(seed)
    return {"deterministic": True, "seed": first, "seed2": second}


def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Tensor:
    """X times the probability that a normal number is below it, or what comes near by a tanh.

    Raises:
      ValueError: the numbers are not floating point ones.

    """
    with name_scope(name, "Gelu", [features]):
        x = convert_to_tensor(features, name="features")
        if not x.dtype.is_floating:
            raise bad_value(
                "`features.dtype` must be a floating point tensor.Received:"
                f"features.dtype={x.dtype}"
            )
        if approximate:
            cubic = cast(0.044715, x.dtype)
            found = 0.5 * x * (1.0 + tanh(0.7978845608028654 * (x + cubic * power(x, 3))))
        else:
            found = 0.5 * x * erfc(-x * cast(0.7071067811865476, x.dtype))
        return found
