"""The kernel of nearest neighbours of points."""

from __future__ import annotations

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import scalar_int
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.registry import kernel


@kernel("NearestNeighbors", devices=("CPU",))
def nearest_neighbors(
    xp: ArrayModule, points: Array, centers: Array, k: Array
) -> tuple[Array, Array]:
    """The k nearest centers of each point, nearest first, and their squared distances.

    Raises:
      KernelError: points or centers are not matrices of one width, or `k` is not a scalar >= 0;
        TensorFlow's process dies of a negative one.

    """
    for name, value in (("points", points), ("centers", centers)):
        require_rank(2, **{name: value})
    require_rank(0, k=k)
    if points.shape[1] != centers.shape[1]:
        raise InvalidArgument(
            "Expected point_dimensions == center_dimensions: "
            f"{points.shape[1]} vs {centers.shape[1]}."
        )
    if not len(points):
        raise InvalidArgument("Expected points.rows() > 0.")
    if scalar_int(k) < 0:
        raise InvalidArgument("k should not be negative.")
    lengths = xp.add.reduce(centers * centers, axis=1)
    own = xp.add.reduce(points * points, axis=1)
    distances = own[:, None] - 2 * xp.matmul(points, centers.T) + lengths
    nearest = _nearest(xp, distances, min(scalar_int(k), len(centers)))
    near = xp.take_along_axis(distances, nearest, axis=1)
    order = xp.argsort(near, axis=1, kind="stable")
    return (
        xp.take_along_axis(nearest, order, axis=1).astype("int64"),
        xp.take_along_axis(near, order, axis=1),
    )


def _nearest(xp: ArrayModule, distances: Array, k: int) -> Array:
    """The columns of the k least elements of each row, in ascending order; ties go to the first."""
    rows, columns = distances.shape
    if k in {0, columns}:
        return xp.broadcast_to(xp.arange(k), (rows, k))
    farthest = xp.partition(distances, k - 1, axis=1)[:, k - 1 : k]
    nearer, equal = distances < farthest, distances == farthest
    left = k - xp.count_nonzero(nearer, axis=1)[:, None]
    chosen = nearer | (equal & (xp.cumsum(equal, axis=1) <= left))
    return xp.nonzero(chosen)[1].reshape(rows, k)
