"""What a layer measures as it is called: values that metrics sum up from batch to batch."""

from __future__ import annotations

from typing import Any

from sessrun.reference.errors import bad_value
from sessrun.reference.library.keras.engine.traits import TraitsOfLayer

__all__ = ["MeasuredByLayer"]


class MeasuredByLayer(TraitsOfLayer):
    """The part of a layer that has metrics."""

    _metrics: list[Any]

    @property
    def metrics(self) -> list[Any]:
        """The metrics of this layer and of those in it."""
        layers = self._flatten_layers()
        return [metric for layer in layers for metric in layer._metrics]  # noqa: SLF001 - a layer's own

    def add_metric(
        self, value: Any, aggregation: str | None = None, name: str | None = None
    ) -> None:
        """Measure a value in each batch.

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

    def _keep_metric(self, known: Any, metric: Any) -> None:
        """Keep the metric that gave a value, unless it is kept."""
        if known is not None:
            return
        if metric is None:
            raise bad_value(
                "We do not support adding an aggregated metric result tensor that is not the "
                "output of a `tf.keras.metrics.Metric` metric instance. Pass an un-aggregated "
                "result with `aggregation` parameter set as `mean`."
            )
        self._metrics.append(metric)

    def _metric_named(self, name: str | None) -> Any:
        """The metric of this layer with this name, or None."""
        found = [metric for metric in self._metrics if metric.name == name]
        if len(found) > 1:
            raise bad_value(
                "Please provide different names for the metrics you have added. We found "
                f'{len(found)} metrics with the name: "{name}"'
            )
        return found[0] if found else None


def _mean_of(value: Any, name: str | None) -> Any:
    """A metric that sums up a value to its mean."""
    from sessrun.reference.library.keras.metrics import Mean  # noqa: PLC0415 - metrics are layers

    metric = Mean(name=name, dtype=value.dtype)
    metric(value)
    return metric
