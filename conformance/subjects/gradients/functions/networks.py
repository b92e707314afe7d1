"""Functions of neural networks: convolutions, poolings, normalisation, layers, losses."""

from __future__ import annotations

from typing import Final

import numpy as np

from sessrun.conformance.subjects.gradients.functions.inputs import (
    REAL,
    WIDE,
    Form,
    Inputs,
    function,
)

__all__: list[str] = []

_PADDINGS: Final = ("SAME", "VALID")


@function("nn.conv1d", WIDE)
def _conv1d(x: Inputs) -> Form:
    return x.call(
        "nn.conv1d", x.tensor((2, 5, 2)), x.tensor((3, 2, 3)), x.choice(1, 2), x.choice(*_PADDINGS)
    )


@function("nn.conv2d", WIDE)
def _conv2d(x: Inputs) -> Form:
    paddings: list[str | list[list[int]]] = [*_PADDINGS, [[0, 0], [1, 0], [2, 1], [0, 0]]]
    padding = x.choice(*paddings)
    strides = [1, x.choice(1, 2), x.choice(1, 2), 1]
    return x.call("nn.conv2d", x.tensor((2, 5, 4, 2)), x.tensor((2, 3, 2, 3)), strides, padding)


@function("nn.conv2d_transpose", WIDE)
def _conv2d_transpose(x: Inputs) -> Form:
    return x.call(
        "nn.conv2d_transpose",
        x.tensor((1, 3, 2, 2)),
        x.tensor((2, 3, 3, 2)),
        [1, 6, 4, 3],
        2,
        "SAME",
    )


@function("nn.conv3d", WIDE)
def _conv3d(x: Inputs) -> Form:
    return x.call(
        "nn.conv3d",
        x.tensor((1, 3, 3, 2, 2)),
        x.tensor((2, 2, 1, 2, 2)),
        [1, 1, x.choice(1, 2), 1, 1],
        x.choice(*_PADDINGS),
    )


@function("nn.conv3d_transpose", WIDE)
def _conv3d_transpose(x: Inputs) -> Form:
    return x.call(
        "nn.conv3d_transpose",
        x.tensor((1, 2, 2, 1, 2)),
        x.tensor((2, 1, 2, 3, 2)),
        [1, 4, 2, 2, 3],
        [1, 2, 1, 2, 1],
        "SAME",
    )


@function("nn.depthwise_conv2d", WIDE)
def _depthwise(x: Inputs) -> Form:
    step = x.choice(1, 2)
    return x.call(
        "nn.depthwise_conv2d",
        x.tensor((1, 4, 4, 2)),
        x.tensor((2, 2, 2, 2)),
        [1, step, step, 1],
        x.choice(*_PADDINGS),
    )


@function("nn.separable_conv2d", WIDE)
def _separable(x: Inputs) -> Form:
    return x.call(
        "nn.separable_conv2d",
        x.tensor((1, 4, 3, 2)),
        x.tensor((2, 2, 2, 2)),
        x.tensor((1, 1, 4, 3)),
        [1, 1, 1, 1],
        x.choice(*_PADDINGS),
    )


@function("nn.atrous_conv2d", WIDE)
def _atrous(x: Inputs) -> Form:
    return x.call(
        "nn.atrous_conv2d",
        x.tensor((1, 6, 5, 2), way="known"),
        x.tensor((2, 2, 2, 3), way="known"),
        2,
        x.choice(*_PADDINGS),
    )


@function("nn.dilation2d", WIDE, second=False)
def _dilation(x: Inputs) -> Form:
    return x.call(
        "nn.dilation2d",
        x.tensor((1, 4, 4, 2), corners=False),
        x.tensor((2, 2, 2), corners=False),
        [1, 1, 2, 1],
        [1, 2, 1, 1],
        x.choice(*_PADDINGS),
    )


def _pooled(name: str, rank: int, *, second: bool = True) -> None:
    @function(name, ("float32",) if rank == 3 else WIDE, second=second)
    def _(x: Inputs) -> Form:
        shape = (2, *(x.draw.randint(2, 4) for _ in range(rank)), 2)
        size = [1, *(x.choice(1, 2) for _ in range(rank)), 1]
        strides = [1, *(x.choice(1, 2) for _ in range(rank)), 1]
        if rank == 1:
            return x.call(
                name, x.tensor(shape, way="known"), size[1], strides[1], x.choice(*_PADDINGS)
            )
        return x.call(
            name,
            x.tensor(shape, corners="3d" not in name, way="known"),
            size,
            strides,
            x.choice(*_PADDINGS),
        )


for _name, _rank in (
    ("nn.max_pool", 2),
    ("nn.avg_pool", 2),
    ("nn.avg_pool3d", 3),
    ("nn.max_pool3d", 3),
    ("nn.avg_pool1d", 1),
    ("nn.max_pool1d", 1),
):
    _pooled(_name, _rank)


@function("nn.pool", WIDE)
def _pool(x: Inputs) -> Form:
    padding = x.choice(*_PADDINGS)
    dilations = x.choice([1, 1], [2, 1] if padding == "VALID" else [1, 1])
    return x.call(
        "nn.pool",
        x.tensor((1, 4, 4, 2), way="known"),
        [2, 2],
        x.choice("AVG", "MAX"),
        padding,
        dilations=dilations,
    )


@function("nn.bias_add", REAL)
def _bias_add(x: Inputs) -> Form:
    shape = (*x.shape(1, 3), 3)
    if x.flag():
        return x.call("nn.bias_add", x.tensor(shape), x.tensor((3,)))
    shape = (2, 3, *x.shape(1, 2))
    return x.call("nn.bias_add", x.tensor(shape), x.tensor((3,)), data_format="NCHW")


@function("nn.moments", REAL)
def _moments(x: Inputs) -> Form:
    shape = x.shape(1, 4)
    axes = x.draw.sample(range(len(shape)), x.draw.randint(1, len(shape)))
    return x.call("nn.moments", x.tensor(shape), axes, keep_dims=x.flag())


@function("nn.weighted_moments", WIDE)
def _weighted_moments(x: Inputs) -> Form:
    weights = x.tensor(x.choice((), (3,), (2, 3), (2, 1)), 0.5, 2.0, corners=False)
    return x.call("nn.weighted_moments", x.tensor((2, 3)), [x.choice(0, 1, -1)], weights)


@function("nn.sufficient_statistics", ("float32",))
def _sufficient_statistics(x: Inputs) -> Form:
    statistics = x.call(
        "nn.sufficient_statistics", x.tensor((2, 3)), [0], shift=x.choice(None, 0.5)
    )
    return [{"$item": [statistics, at]} for at in (1, 2)]


@function("nn.normalize_moments", WIDE)
def _normalize_moments(x: Inputs) -> Form:
    mean, square = x.tensor((3,)), x.tensor((3,))
    shift = None if x.flag() else x.tensor((3,))
    return x.call("nn.normalize_moments", x.given(3.0), mean, square, shift)


@function("nn.batch_normalization", WIDE)
def _batch_normalization(x: Inputs) -> Form:
    scale = None if x.flag() else x.tensor((3,))
    offset = None if x.flag() else x.tensor((3,))
    return x.call(
        "nn.batch_normalization",
        x.tensor((2, 3)),
        x.tensor((3,)),
        x.tensor((3,), 0.5, corners=False),
        offset,
        scale,
        0.1,
    )


@function("nn.fused_batch_norm", ("float32",))
def _fused_batch_norm(x: Inputs) -> Form:
    training = x.flag()
    given = (
        {}
        if training
        else {
            "mean": x.tensor((2,), way="known", corners=False),
            "variance": x.tensor((2,), 0.5, way="known", corners=False),
        }
    )
    outputs = x.call(
        "nn.fused_batch_norm",
        x.tensor((2, 2, 2, 2), way="known"),
        x.tensor((2,), way="known"),
        x.tensor((2,), way="known"),
        **given,
        epsilon=0.01,
        is_training=training,
        data_format=x.choice("NHWC", "NHWC"),
    )
    return {"$item": [outputs, 0]}


@function("nn.lrn", ("float32",), second=False)
def _lrn(x: Inputs) -> Form:
    return x.call("nn.lrn", x.tensor((1, 2, 2, 4)), x.choice(1, 2), 1.0, 0.5, 0.75)


@function("nn.l2_loss", REAL)
def _l2_loss(x: Inputs) -> Form:
    return x.call("nn.l2_loss", x.tensor(x.shape(0, 3)))


@function("nn.dropout that keeps all", WIDE)
def _dropout(x: Inputs) -> Form:
    return x.call("nn.dropout", x.tensor(x.shape(1, 3)), rate=0.0)


@function("nn.xw_plus_b", WIDE)
def _xw_plus_b(x: Inputs) -> Form:
    return x.call("nn.xw_plus_b", x.tensor((2, 3)), x.tensor((3, 2)), x.tensor((2,)))


@function("nn.relu_layer", WIDE)
def _relu_layer(x: Inputs) -> Form:
    return x.call("nn.relu_layer", x.tensor((2, 3)), x.tensor((3, 2)), x.tensor((2,)))


@function("nn.scale_regularization_loss", WIDE)
def _scale_regularization_loss(x: Inputs) -> Form:
    return x.call("nn.scale_regularization_loss", x.tensor((3,)))


def _cross_entropy(name: str, dtypes: tuple[str, ...] = WIDE) -> None:
    @function(name, dtypes)
    def _(x: Inputs) -> Form:
        shape = x.shape(1, 3)
        labels = x.tensor(shape, 0.0, 1.0, corners=False)
        return x.call(name, labels=labels, logits=x.tensor(shape))


_cross_entropy("nn.sigmoid_cross_entropy_with_logits", REAL)


@function("nn.softmax_cross_entropy_with_logits_v2", WIDE, differences=False)
def _softmax_cross_entropy(x: Inputs) -> Form:
    shape = x.shape(2, 3)
    axis = x.choice(-1, 0, -1)
    labels = x.tensor(shape, 0.1, 1.0, corners=False, way="known")
    return x.call(
        "nn.softmax_cross_entropy_with_logits_v2",
        labels=labels,
        logits=x.tensor(shape, way="known"),
        axis=axis,
    )


@function("nn.sparse_softmax_cross_entropy_with_logits", REAL)
def _sparse_softmax_cross_entropy(x: Inputs) -> Form:
    shape = (*x.shape(0, 2), 3)
    labels = x.integers(shape[:-1], 0, 3)
    return x.call(
        "nn.sparse_softmax_cross_entropy_with_logits", labels=labels, logits=x.tensor(shape)
    )


@function("nn.weighted_cross_entropy_with_logits", WIDE)
def _weighted_cross_entropy(x: Inputs) -> Form:
    shape = x.shape(1, 2)
    return x.call(
        "nn.weighted_cross_entropy_with_logits",
        x.tensor(shape),
        x.tensor(shape),
        x.tensor(shape[1:]),
    )


@function("nn.log_poisson_loss", WIDE)
def _log_poisson_loss(x: Inputs) -> Form:
    shape = x.shape(1, 2)
    targets = x.tensor(shape, 1.2, 3.0, corners=False)
    return x.call("nn.log_poisson_loss", targets, x.tensor(shape), x.flag())


@function("nn.ctc_loss", ("float32",), second=False)
def _ctc_loss(x: Inputs) -> Form:
    labels = x.call(
        "SparseTensor",
        x.given([[0, 0], [0, 1], [1, 0]], "int64"),
        x.integers((3,), 0, 3, "int32"),
        x.given([2, 2], "int64"),
    )
    return x.call("nn.ctc_loss", labels, x.tensor((5, 2, 4)), x.given([5, 4], "int32"))


#: Losses of numbers and what they should be, whose weights are drawn; and more of their arguments.
_LOSSES: Final[dict[str, dict[str, float]]] = {
    "absolute_difference": {},
    "mean_squared_error": {},
    "huber_loss": {"delta": 0.5},
    "log_loss": {},
    "mean_pairwise_squared_error": {},
    "cosine_distance": {"axis": 1},
    "hinge_loss": {},
    "sigmoid_cross_entropy": {},
    "softmax_cross_entropy": {},
}


def _loss(name: str, options: dict[str, float]) -> None:
    @function(f"losses.{name}", ("float32",), differences=False)
    def _(x: Inputs) -> Form:
        shape = (3, 2)
        is_log = name == "log_loss"
        one = x.tensor(shape, 0.1, 0.9, corners=not is_log, way="known")
        labels = x.tensor(shape, 0.1, 0.9, corners=False, way="known")
        if name == "hinge_loss":
            labels = x.given(np.reshape([x.draw.randrange(2) for _ in range(6)], shape))
        of_rows = (3,) if name == "softmax_cross_entropy" else (3, 1)
        weights = x.choice(1.0, 0.0, x.tensor(of_rows, 0.5, corners=False, way="known"))
        more: dict[str, float | str] = {**options}
        if name != "mean_pairwise_squared_error":
            more["reduction"] = x.choice(
                "none",
                "weighted_sum",
                "weighted_mean",
                "weighted_sum_over_batch_size",
                "weighted_sum_by_nonzero_weights",
            )
        order = (one, labels) if name == "hinge_loss" else (labels, one)
        return x.call(
            f"losses.{name}",
            *(order[::-1] if name == "hinge_loss" else order),
            weights=weights,
            **more,
        )


for _name, _options in _LOSSES.items():
    _loss(_name, _options)


@function("losses.sparse_softmax_cross_entropy", ("float32",))
def _sparse_loss(x: Inputs) -> Form:
    return x.call(
        "losses.sparse_softmax_cross_entropy",
        x.integers((3,), 0, 4),
        x.tensor((3, 4), way="known"),
        x.choice(1.0, x.tensor((3,), 0.5, corners=False, way="known")),
    )
