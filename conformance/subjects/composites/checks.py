"""Named checks of the static types of tensors, which are known before a run."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.conformance.subjects.programs.described import tensor_described
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor

__all__ = ["told"]


def told(tf: Namespace, tensors: Sequence[Tensor]) -> list[list[str]]:
    """The names, dtypes and static shapes of tensors in a structure, in its order.

    Of sparse tensors and IndexedSlices it tells each component.
    """
    flat = tf.nest.flatten(tensors, expand_composites=True)
    return [tensor_described(tensor) for tensor in flat if isinstance(tensor, tf.Tensor)]
