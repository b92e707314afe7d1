"""Operations that write summaries to the default writer of the graph.

Each gives True once its summary is written, False where none are. Source: TF 2.21,
`tensorflow.python.ops.summary_ops_v2` in graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.base import dtypes
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.graph.default_graph import control_dependencies, device
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.summaries.graph_writers import (
    get_step,
    has_default_writer,
    step_of,
    writer_resource,
    written,
    written_if,
)
from sessrun.spec.proto.foreign import serialize
from sessrun.spec.proto.summary_pb2 import SummaryMetadata

__all__ = ["audio", "generic", "histogram", "image", "scalar", "write", "write_raw_pb"]

#: The pixel that stands for one with a value that is not finite.
_BAD_COLOR: Final = (255, 0, 0, 255)


def _of_kind(
    op_type: str,
    name: str,
    tensor: tuple[str, TensorLike],
    family: str | None,
    step: TensorLike | None,
    inputs: Mapping[str, object] | None = None,
    **attrs: int,
) -> Tensor | Operation:
    """Write a summary by an operation of `op_type`; `tensor` is (input name, value)."""

    def write(tag: str, scope: str) -> Operation:
        op_inputs = {
            key: value() if callable(value) else value for key, value in (inputs or {}).items()
        }
        given = {"writer": writer_resource(), "step": step_of(step), "tag": tag}
        return apply_op(
            op_type, {**given, tensor[0]: identity(tensor[1]), **op_inputs}, attrs, scope
        )

    return written(name, tensor[1], family, step, write)


def scalar(
    name: str, tensor: TensorLike, family: str | None = None, step: TensorLike | None = None
) -> Tensor | Operation:
    """Write a number.

    Args:
      name: of the operation, from which the tag is made.
      tensor: the number.
      family: goes before the tag.
      step: of the event, by default the global step.

    """
    return _of_kind("WriteScalarSummary", name, ("value", tensor), family, step)


def histogram(
    name: str, tensor: TensorLike, family: str | None = None, step: TensorLike | None = None
) -> Tensor | Operation:
    """Write a histogram; the arguments are those of `scalar`."""
    return _of_kind("WriteHistogramSummary", name, ("values", tensor), family, step)


def image(
    name: str,
    tensor: Tensor,
    bad_color: TensorLike | None = None,
    max_images: int = 3,
    family: str | None = None,
    step: TensorLike | None = None,
) -> Tensor | Operation:
    """Write the first images of a batch.

    Args:
      name: of the operation, from which the tags are made.
      tensor: of the shape [batch, height, width, 1, 3 or 4].
      bad_color: the pixel for one with a value that is not finite, of uint8; by default red.
      max_images: how many of the images.
      family: goes before the tags.
      step: of the event, by default the global step.

    """

    def pixel() -> TensorLike:
        return constant(_BAD_COLOR, dtypes.uint8) if bad_color is None else bad_color

    return _of_kind(
        "WriteImageSummary",
        name,
        ("tensor", tensor),
        family,
        step,
        {"bad_color": pixel},
        max_images=max_images,
    )


def audio(
    name: str,
    tensor: Tensor,
    sample_rate: float | Tensor,
    max_outputs: int,
    family: str | None = None,
    step: TensorLike | None = None,
) -> Tensor | Operation:
    """Write the first sounds of a batch.

    Args:
      name: of the operation, from which the tags are made.
      tensor: float32 of the shape [batch, frames] or [batch, frames, channels].
      sample_rate: frames in a second.
      max_outputs: how many of the sounds.
      family: goes before the tags.
      step: of the event, by default the global step.

    """
    return _of_kind(
        "WriteAudioSummary",
        name,
        ("tensor", tensor),
        family,
        step,
        {"sample_rate": sample_rate},
        max_outputs=max_outputs,
    )


def generic(
    name: str,
    tensor: TensorLike,
    metadata: SummaryMetadata | bytes | None = None,
    family: str | None = None,
    step: TensorLike | None = None,
) -> Tensor | Operation:
    """Write a tensor.

    Args:
      name: of the operation, from which the tag is made.
      tensor: the tensor.
      metadata: a SummaryMetadata, its bytes, or None.
      family: goes before the tag.
      step: of the event, by default the global step.

    """

    def write(tag: str, scope: str) -> Operation:
        serialized: Any = metadata
        if metadata is None or hasattr(metadata, "SerializeToString"):
            serialized = constant("" if metadata is None else serialize(serialized))
        inputs = {
            "writer": writer_resource(),
            "step": step_of(step),
            "tensor": identity(tensor),
            "tag": tag,
            "summary_metadata": serialized,
        }
        return apply_op("WriteSummary", inputs, {}, scope)

    return written(name, tensor, family, step, write)


def write(
    tag: str | Tensor,
    tensor: TensorLike | Callable[[], TensorLike],
    step: TensorLike | None = None,
    metadata: SummaryMetadata | bytes | None = None,
    name: str | None = None,
) -> Tensor:
    """Write a tensor, if summaries are recorded.

    Args:
      tag: the tag of the summary, to which no scope is added.
      tensor: the tensor, or what makes it.
      step: of the event, by default that of `set_step`.
      metadata: a SummaryMetadata, its bytes, or None.
      name: of the operation.

    Raises:
      ValueError: there is no step.

    """
    message: Any = metadata
    serialized = serialize(message) if hasattr(message, "SerializeToString") else message or b""

    def inputs() -> dict[str, object]:
        value = tensor() if callable(tensor) else identity(tensor)
        return {"tensor": value, "tag": tag, "summary_metadata": serialized}

    return _write_if_recording("WriteSummary", inputs, step, (name, "write_summary"))


def write_raw_pb(tensor: Tensor, step: TensorLike | None = None, name: str | None = None) -> Tensor:
    """Write serialized summaries, if summaries are recorded.

    Args:
      tensor: the summaries.
      step: of the event, by default that of `set_step`.
      name: of the operation.

    Raises:
      ValueError: there is no step.

    """

    def inputs() -> dict[str, object]:
        return {"tensor": identity(tensor)}

    return _write_if_recording("WriteRawProtoSummary", inputs, step, (name, "write_raw_pb"))


def _write_if_recording(
    op_type: str,
    inputs: Callable[[], dict[str, object]],
    step: TensorLike | None,
    names: tuple[str | None, str],
) -> Tensor:
    if step is not None:
        step_of(step)  # refuses a tag that is not a scalar
    with name_scope(*names) as scope:
        if not has_default_writer():
            return constant(False)
        at = get_step() if step is None else step

        def record() -> Tensor:
            if at is None:
                raise ValueError(
                    "No step set. Please specify one either through the `step` argument or "
                    "through tf.summary.experimental.set_step()"
                )
            with device("cpu:0"):
                given = {"writer": writer_resource(), "step": at, **inputs()}
                with control_dependencies([apply_op(op_type, given, {}, scope)]):
                    return constant(True)

        return written_if(record, "summary_cond", default=True)
