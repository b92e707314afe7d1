"""`tf.batch_scatter_update`: assigns elements of a variable by batches of indices."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.ops.array_ops import concat, expand_dims, shape
from sessrun.reference.api.ops.fill_ops import ones_like
from sessrun.reference.api.ops.math_ops import range_
from sessrun.reference.api.variables.state_ops import scatter_nd_update
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import reshape
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.public import public

__all__ = ["batch_scatter_update"]


@public("batch_scatter_update")
def batch_scatter_update(
    ref: object, indices: object, updates: object, use_locking: bool = True, name: str | None = None
) -> Any:
    """Replace elements along the dimension that is the indices' last.

    Args:
      ref: the variable.
      indices: int32 or int64; all dimensions but the last are those of the variable.
      updates: of the variable's dtype, one for every index.
      use_locking: whether no other locking update may come between; references only.
      name: the operations' scope.

    Raises:
      ValueError: the rank of the indices is not known.

    """
    with name_scope(name):
        places = convert_to_tensor(indices, name="indices")
        sizes = shape(places)
        rank = places.shape.ndims
        if rank is None:
            raise bad_value("batch_scatter_update does not allow indices with unknown shape.")
        wide = expand_dims(places, axis=-1)
        vectors = []
        for axis in range(rank - 1):
            size = sizes[axis]
            spread: list[object] = [1] * (rank + 1)
            spread[axis] = size
            numbers = range_(0, size, dtype=places.dtype, name="Range")
            vectors.append(reshape(numbers, spread) * ones_like(wide))
        full_indices = concat([*vectors, wide], axis=-1)
        return scatter_nd_update(ref, full_indices, updates, use_locking=use_locking)
