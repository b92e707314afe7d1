"""Kernels of summaries of numbers and tensors, and the merging of summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.encoding import content_proto
from sessrun.reference.kernels.host import HOST, string_array
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel
from sessrun.spec.proto import foreign

if TYPE_CHECKING:
    from sessrun.spec.proto.summary_pb2 import Summary

__all__ = ["numbered_tags", "scalar_tag", "serialized"]

_CPU: Final = ("CPU",)


def serialized(summary: Summary) -> Array:
    """A serialized summary as a string tensor."""
    return string_array([foreign.serialize(summary)], ())


def scalar_tag(tag: Array) -> str:
    """The tag of a summary, which must be a scalar.

    Raises:
      KernelError: the tensor is no scalar.

    """
    require_rank(0, tag=tag)
    return _text(tag.item())


def numbered_tags(tag: str, kind: str, limit: int) -> list[str]:
    """The tags of `limit` values of a kind, numbered if there may be more than one."""
    return [f"{tag}/{kind}/{i}" for i in range(limit)] if limit > 1 else [f"{tag}/{kind}"]


def _text(tag: bytes) -> str:
    """A tag as text, which messages hold; a ValueError if it is not UTF-8."""
    return tag.decode()


@kernel("ScalarSummary", devices=_CPU)
def scalar_summary(_: object, tags: Array, values: Array) -> Array:
    """A Summary with a value for each tag."""
    from sessrun.spec.proto.summary_pb2 import Summary  # noqa: PLC0415 - few programs run summaries

    if tags.shape != values.shape:
        which = f" (tag '{tags.item().decode()}')" if tags.size == 1 else ""
        raise InvalidArgument(
            f"tags and values are not the same shape: {bracketed(tags.shape)} != "
            f"{bracketed(values.shape)}{which}"
        )
    with HOST.errstate(over="ignore"):
        numbers = values.reshape(-1).astype("float32").tolist()
    summary = Summary()
    for tag, number in zip(tags.reshape(-1).tolist(), numbers, strict=True):
        summary.value.add(tag=_text(tag), simple_value=number)
    return serialized(summary)


@binder("TensorSummary", devices=_CPU)
def tensor_summary(bind: Bind) -> KernelFunction:
    """A Summary of a tensor, under the name of the node."""
    from sessrun.spec.proto.summary_pb2 import Summary  # noqa: PLC0415 - as above

    name, dtype = bind.node.name, bind.attrs["T"]

    def compute(tensor: Array) -> Array:
        summary = Summary()
        summary.value.add(node_name=name, tensor=content_proto(tensor, dtype))
        return serialized(summary)

    return compute


@kernel("TensorSummaryV2", devices=_CPU)
def tagged_tensor_summary(
    _: object,
    tag: Array,
    tensor: Array,
    serialized_summary_metadata: Array,
    *,
    T: str,
) -> Array:
    """A Summary of a tensor with metadata, which is empty if it cannot be parsed."""
    from sessrun.spec.proto.summary_pb2 import Summary, SummaryMetadata  # noqa: PLC0415 - as above

    word = scalar_tag(tag)
    require_rank(0, serialized_summary_metadata=serialized_summary_metadata)
    try:
        metadata = foreign.parse(
            SummaryMetadata, bytes(serialized_summary_metadata.item()), "the metadata"
        )
    except foreign.ProtoError:
        metadata = SummaryMetadata()
    summary = Summary()
    summary.value.add(tag=word, tensor=content_proto(tensor, T), metadata=metadata)
    return serialized(summary)


@kernel("MergeSummary", devices=_CPU)
def merge_summary(_: object, *inputs: Array) -> Array:
    """One Summary with all values."""
    from sessrun.spec.proto.summary_pb2 import Summary  # noqa: PLC0415 - as above

    merged = Summary()
    tags: set[str] = set()
    for data in (item for one in inputs for item in one.reshape(-1).tolist()):
        try:
            summary = foreign.parse(Summary, bytes(data), "a summary")
        except foreign.ProtoError as error:
            raise InvalidArgument("Could not parse one of the summary inputs") from error
        for value in summary.value:
            if value.tag and value.tag in tags:
                raise InvalidArgument(f"Duplicate tag {value.tag} found in summary inputs")
            tags.add(value.tag)
        merged.value.extend(summary.value)
    return serialized(merged)
