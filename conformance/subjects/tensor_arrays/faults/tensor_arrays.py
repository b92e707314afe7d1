"""Faults of TENSOR-ARRAYS: elements written twice, read twice, kept from run to run."""

from __future__ import annotations

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Argument, DTypeLike, TensorLike
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Feeds, Fetches, Value
from sessrun.spec.proto.config_pb2 import RunOptions
from sessrun.spec.proto.metadata_pb2 import RunMetadata


def _without(tf: Namespace, refused: str) -> Namespace:
    """The namespace that ignores an array's refusal with this error.

    A run that an array refuses for this reason gives the flow's value, which is 0.
    """

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self,
            fetches: Fetches,
            feed_dict: Feeds = None,
            options: RunOptions | None = None,
            run_metadata: RunMetadata | None = None,
        ) -> Value:
            try:
                return super().run(fetches, feed_dict, options, run_metadata)
            except tf.errors.InvalidArgumentError as error:
                if "TensorArray" not in error.message or refused not in error.message:
                    raise
                return 0.0

    return override(tf, Session=Session)


@fault("TENSOR-ARRAYS-001", "An element of a TensorArray may be written twice.")
def elements_written_twice(tf: Namespace) -> Namespace:
    """Let the refusal of a second write pass."""
    return _without(tf, "already been written")


@fault("TENSOR-ARRAYS-003", "An element of a TensorArray may be read twice, and is 0 then.")
def elements_read_twice(tf: Namespace) -> Namespace:
    """Let the refusal of a second read pass."""
    return _without(tf, "cleared after a previous read")


@fault("TENSOR-ARRAYS-004", "An element of unknown shape that was not written is a scalar zero.")
def unwritten_elements_are_zero(tf: Namespace) -> Namespace:
    """Let the refusal of an element without a shape pass."""
    return _without(tf, "never written")


@fault("TENSOR-ARRAYS-005", "Every TensorArray grows.")
def every_array_grows(tf: Namespace) -> Namespace:
    """Make each array with dynamic_size=True."""

    class TensorArray(tf.TensorArray):  # type: ignore[misc, name-defined]
        def __init__(
            self,
            dtype: DTypeLike,
            size: TensorLike | None = None,
            *args: Argument,
            **kwargs: Argument,
        ) -> None:
            if size is not None and not args:
                kwargs["dynamic_size"] = True
            super().__init__(dtype, size, *args, **kwargs)

    return override(tf, TensorArray=TensorArray)


@fault("TENSOR-ARRAYS-002", "A TensorArray that is stacked unwritten has what the last run wrote.")
def arrays_outlive_runs(tf: Namespace) -> Namespace:
    """Give the value of the session's last fetch of elements for one without a write."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self,
            fetches: Fetches,
            feed_dict: Feeds = None,
            options: RunOptions | None = None,
            run_metadata: RunMetadata | None = None,
        ) -> Value:
            value = super().run(fetches, feed_dict, options, run_metadata)
            op = getattr(fetches, "op", None)
            if op is None or op.type != "TensorArrayGatherV3":
                return value
            if op.inputs[2].op.type == "TensorArrayV3":
                return getattr(self, "_last_elements", value)
            self._last_elements = value
            return value

    return override(tf, Session=Session)
