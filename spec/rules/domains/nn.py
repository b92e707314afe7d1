"""Value domains of activations, biases, losses and gradients."""

from __future__ import annotations

import numpy as np

from sessrun.spec.rules.domains.base import Arguments, Draw, domain

__all__: list[str] = []


@domain
def rows(draw: Draw, logits: str) -> Arguments:
    """Finite logits of rank 1 to 4, the last dimension not empty."""
    shape = (*draw.shape(0, 3), draw.dim(1))
    return draw.arguments(**{logits: draw.tensor(logits, shape, "plain")})


@domain
def biased(draw: Draw, value: str, bias: str, data_format: str) -> Arguments:
    """A tensor of rank 2 at least (4 for channels first) and one bias per channel."""
    first = draw.attrs.get(data_format, data_format) == "NCHW"
    shape = draw.shape(3 if first else 2, 4, 1)
    channels = shape[1] if first else shape[-1]
    return draw.arguments(
        **{
            value: draw.tensor(value, shape, "moderate"),
            bias: draw.tensor(bias, (channels,), "moderate"),
        }
    )


@domain
def channels(draw: Draw, x: str, data_format: str) -> Arguments:
    """A tensor of rank 2 at least (4 for channels first)."""
    shape = draw.shape(3 if draw.attrs[data_format] == "NCHW" else 2, 4, 1)
    return draw.arguments(**{x: draw.tensor(x, shape, "small")})


@domain
def label_rows(draw: Draw, features: str, labels: str) -> Arguments:
    """Logits and rows of probabilities; the first dimension may be broadcast in either."""
    shape = (draw.dim(1), draw.dim(1))
    probabilities = draw.tensor(labels, shape, "positive")
    total = probabilities.astype(np.float64).sum(axis=1, keepdims=True)
    scaled = (probabilities.astype(np.float64) / total).astype(probabilities.dtype)
    return draw.arguments(**{features: draw.tensor(features, shape, "plain"), labels: scaled})


@domain
def label_numbers(draw: Draw, features: str, labels: str) -> Arguments:
    """Logits and for each row the number of its class."""
    shape = (draw.dim(1), draw.dim(1))
    numbers = [draw.random.randrange(shape[1]) for _ in range(shape[0])]
    return draw.arguments(
        **{features: draw.tensor(features, shape, "plain"), labels: draw.integers(labels, numbers)}
    )


@domain
def regressed(draw: Draw, x: str) -> Arguments:
    """Rows of numbers, and the dtype that solutions of theirs have."""
    kinds = {"int8": "float32", "int16": "float32", "int32": "float64", "int64": "float64"}
    draw.attrs["output_dtype"] = kinds.get(draw.dtype(x), draw.dtype(x))
    shape = (*draw.shape(0, 3), draw.dim(1))
    return draw.arguments(**{x: draw.tensor(x, shape, "small")})


@domain
def twins(draw: Draw, a: str, b: str, style: str = "any") -> Arguments:
    """Two tensors of one shape, their values in a style."""
    shape = draw.shape()
    return draw.arguments(**{a: draw.tensor(a, shape, style), b: draw.tensor(b, shape, style)})
