"""`metrics.auc`: the area under a ROC or precision-recall curve (TF 2.21)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, Final

from sessrun.reference.api.ops.array_ops import where
from sessrun.reference.api.ops.fill_ops import ones_like
from sessrun.reference.api.ops.math_ops import div_no_nan, divide
from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.api.variables.opened_variable_scopes import variable_scope
from sessrun.reference.build.generated import log, logical_and, maximum, minimum, mul
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.metrics.metric_variables import (
    CollectionNames,
    Metric,
    added_to_collections,
)
from sessrun.reference.library.metrics.thresholds import (
    SMALL,
    Counts,
    confusion_at_thresholds,
    evenly_spaced,
)

__all__ = ["auc"]

#: What is added to counts, so that nothing is divided by zero.
_ADDED: Final = 1e-6
#: The height of a strip of the area, from the heights at its two ends.
_HEIGHTS: Final[dict[str, Callable[[Tensor, Tensor], Tensor]]] = {
    "careful_interpolation": lambda y, z: (y + z) / 2.0,
    "majoring": maximum,
    "minoring": minimum,
    "trapezoidal": lambda y, z: (y + z) / 2.0,
}


def auc(
    labels: Tensor,
    predictions: Tensor,
    weights: Tensor | None = None,
    num_thresholds: int = 200,
    metrics_collections: CollectionNames = None,
    updates_collections: CollectionNames = None,
    curve: str = "ROC",
    name: str | None = None,
    summation_method: str = "trapezoidal",
    thresholds: Iterable[float] | None = None,
) -> Metric:
    """The area under the ROC or precision-recall curve, approximated at thresholds.

    Args:
      labels: a tensor that is cast to bool.
      predictions: a tensor of probabilities, of the same shape.
      weights: None, or a tensor that broadcasts to the predictions.
      num_thresholds: how many thresholds are tried.
      metrics_collections: collections for the value.
      updates_collections: collections for the update.
      curve: `ROC`, or `PR` for that of precision and recall.
      name: a variable scope.
      summation_method: `trapezoidal`, `careful_interpolation` (for PR), `minoring`, `majoring`.
      thresholds: the thresholds themselves; two beyond 0 and 1 are added.

    Returns:
      `(value, update)`: float32 scalars.

    Raises:
      ValueError: there is no such curve or method, or shapes do not fit.

    """
    with variable_scope(name, "auc", (labels, predictions, weights)):
        if curve not in {"ROC", "PR"}:
            raise bad_value(f"Curve must be either ROC or PR. Curve {curve} is unknown.")
        if thresholds is None:
            tried = evenly_spaced(num_thresholds)
        else:
            tried = [0.0 - SMALL, *sorted(thresholds), 1.0 + SMALL]
        counts = confusion_at_thresholds(labels, predictions, tried, weights)
        area = _Area(len(tried) - 1, curve, summation_method)
        value, update = area.of(counts[0], "value"), area.of(counts[1], "update_op")
        return added_to_collections(value, update, metrics_collections, updates_collections)


class _Area:
    """The approximate area under a curve: a sum over strips between thresholds."""

    def __init__(self, strips: int, curve: str, method: str) -> None:
        self.strips = strips
        self.curve = curve
        self.method = method

    def of(self, counts: Counts, name: str) -> Tensor:
        """The area, from the confusion counts at all thresholds."""
        tp, fn, fp = counts["tp"], counts["fn"], counts["fp"]
        if self.curve == "PR" and self.method == "trapezoidal":
            logging.getLogger("sessrun").warning(
                "The trapezoidal rule gives wrong areas for PR: use careful_interpolation."
            )
        elif self.curve == "PR" and self.method == "careful_interpolation":
            return self._interpolated(tp, fp, fn)
        recall = divide(tp + _ADDED, tp + fn + _ADDED)
        if self.curve == "ROC":
            x, y = divide(fp, fp + counts["tn"] + _ADDED), recall
        else:
            x, y = recall, divide(tp + _ADDED, tp + fp + _ADDED)
        if self.method not in _HEIGHTS:
            raise bad_value(
                f"Invalid summation_method: {self.method} should be 'trapezoidal', "
                "'careful_interpolation', 'minoring', or 'majoring'."
            )
        width = x[: self.strips] - x[1:]
        height = _HEIGHTS[self.method](y[: self.strips], y[1:])
        return reduce_sum(mul(width, height), name=name)

    def _interpolated(self, tp: Any, fp: Any, fn: Any) -> Tensor:
        """Precision interpolated between thresholds as Davis and Goadrich do."""
        last = self.strips
        gained = tp[:last] - tp[1:]
        p = tp + fp
        fewer = maximum(p[:last] - p[1:], 0)
        slope = div_no_nan(gained, fewer, name="prec_slope")
        intercept = tp[1:] - mul(slope, p[1:])
        some = logical_and(p[:last] > 0, p[1:] > 0)
        ratio = div_no_nan(p[:last], maximum(p[1:], 0), name="recall_relative_ratio")
        safe_ratio = where(some, ratio, ones_like(p[1:]))
        strips = slope * (gained + intercept * log(safe_ratio))
        increments = div_no_nan(strips, maximum(tp[1:] + fn[1:], 0), name="pr_auc_increment")
        return reduce_sum(increments, name="interpolate_pr_auc")
