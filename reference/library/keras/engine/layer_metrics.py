"""Metrics that a layer adds in `call` by `add_metric`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.engine.properties import TraitsOfLayer

__all__ = ["MeasuredByLayer", "register_mean"]


class Measuring(Protocol):
    """A metric: it is called with a batch, and returns its value so far."""

    @property
    def name(self) -> str:
        """Its name."""

    def __call__(self, value: Tensor, /) -> Tensor:
        """The value with this batch."""


#: The class of metrics that sum a value up to its mean; `keras.metrics`, whose classes derive
#: from Layer, registers it.
_MEAN: Final[list[Callable[..., Measuring]]] = []


def register_mean(metric_class: Callable[..., Measuring]) -> None:
    """Let `add_metric(aggregation="mean")` create metrics of this class."""
    _MEAN[:] = [metric_class]


def _mean_of(value: Tensor, name: str | None) -> Measuring:
    """A Mean metric updated by a value."""
    metric = _MEAN[0](name=name, dtype=value.dtype)
    metric(value)
    return metric


class MeasuredByLayer(TraitsOfLayer):
    """Mixin of Layer: metrics."""

    _metrics: list[Measuring]

    @property
    def metrics(self) -> list[Measuring]:
        """The metrics of this layer and of those in it."""
        layers = self._flatten_layers()
        return [metric for layer in layers for metric in layer._metrics]  # noqa: SLF001 - a layer's own

    def add_metric(
        self, value: Tensor, aggregation: str | None = None, name: str | None = None
    ) -> None:
        """Add a metric of a value.

        Args:
          value: a tensor, or what a metric that was called gave.
          aggregation: `mean` for the mean of all values; None if a metric gave the value.
          name: the name of the metric; a metric has its own.

        Raises:
          ValueError: the aggregation is another one, there is no name, or no metric gave the value.

        """
        if aggregation not in {None, "mean"}:
            raise bad_value(
                "We currently support only `mean` sample-wise metric aggregation. You provided "
                f"aggregation=`{aggregation}`"
            )
        metric = getattr(value, "_metric_obj", None)
        if name is None and metric is None:
            raise bad_value(
                "Please provide a name for your metric like `self.add_metric("
                "tf.reduce_sum(inputs), name='mean_activation', aggregation='mean')`"
            )
        known = self._metric_named(name if metric is None else metric.name)
        if aggregation is None:
            self._keep_metric(known, metric)
        elif known is not None:
            known(value)
        else:
            self._metrics.append(_mean_of(value, name if metric is None else metric.name))

    def _keep_metric(self, known: Measuring | None, metric: Measuring | None) -> None:
        """Store the metric object that computed a value, once."""
        if known is not None:
            return
        if metric is None:
            raise bad_value(
                "We do not support adding an aggregated metric result tensor that is not the "
                "output of a `tf.keras.metrics.Metric` metric instance. Pass an un-aggregated "
                "result with `aggregation` parameter set as `mean`."
            )
        self._metrics.append(metric)

    def _metric_named(self, name: str | None) -> Measuring | None:
        """The metric of this layer with this name, or None."""
        named = [metric for metric in self._metrics if metric.name == name]
        if len(named) > 1:
            raise bad_value(
                "Please provide different names for the metrics you have added. We found "
                f'{len(named)} metrics with the name: "{name}"'
            )
        return named[0] if named else None
