"""Kernels of summaries of numbers, histograms and tensors, and of summaries merged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.encoding import content_proto
from sessrun.reference.kernels.host import HOST, string_array
from sessrun.reference.kernels.registry import Bind, binder, kernel
from sessrun.spec.proto import foreign

__all__ = ["numbered_tags", "scalar_tag", "serialized"]

_CPU: Final = ("CPU",)


def serialized(summary: Any) -> Any:
    """A message as a string tensor."""
    return string_array([foreign.serialize(summary)], ())


def scalar_tag(tag: Any) -> Any:
    """The one tag of a summary.

    Raises:
      KernelError: there is not one.

    """
    if tag.shape != ():
        raise InvalidArgument(f"tag must be a scalar, got shape {bracketed(tag.shape)}")
    return _text(tag.item())


def numbered_tags(tag: str, kind: str, limit: int) -> list[str]:
    """The tags of as many values of a kind, numbered where there may be more than one."""
    return [f"{tag}/{kind}/{i}" for i in range(limit)] if limit > 1 else [f"{tag}/{kind}"]


def _text(tag: bytes) -> str:
    """A tag as the messages have it, which hold text only: a ValueError where it is none."""
    return tag.decode()


@kernel("ScalarSummary", devices=_CPU)
def scalar_summary(_: Any, tags: Any, values: Any) -> Any:
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
def tensor_summary(bind: Bind) -> Callable[..., Any]:
    """A Summary of a tensor, under the name of the node."""
    from sessrun.spec.proto.summary_pb2 import Summary  # noqa: PLC0415 - as above

    name, dtype = bind.node.name, bind.attrs["T"]

    def compute(tensor: Any) -> Any:
        summary = Summary()
        summary.value.add(node_name=name, tensor=content_proto(tensor, dtype))
        return serialized(summary)

    return compute


@kernel("TensorSummaryV2", devices=_CPU)
def tagged_tensor_summary(
    _: Any,
    tag: Any,
    tensor: Any,
    serialized_summary_metadata: Any,
    *,
    T: str,  # noqa: N803 - the attribute's name
) -> Any:
    """A Summary of a tensor, with metadata; of damaged metadata there is none."""
    from sessrun.spec.proto.summary_pb2 import Summary, SummaryMetadata  # noqa: PLC0415 - as above

    word = scalar_tag(tag)
    if serialized_summary_metadata.shape != ():
        raise InvalidArgument(
            "serialized_summary_metadata must be a scalar, got shape "
            f"{bracketed(serialized_summary_metadata.shape)}"
        )
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
def merge_summary(_: Any, *inputs: Any) -> Any:
    """One Summary with all values."""
    from sessrun.spec.proto.summary_pb2 import Summary  # noqa: PLC0415 - as above

    merged = Summary()
    tags: set[str] = set()
    for data in (item for one in inputs for item in one.reshape(-1).tolist()):
        try:
            found = foreign.parse(Summary, bytes(data), "a summary")
        except foreign.ProtoError as error:
            raise InvalidArgument("Could not parse one of the summary inputs") from error
        for value in found.value:
            if value.tag and value.tag in tags:
                raise InvalidArgument(f"Duplicate tag {value.tag} found in summary inputs")
            tags.add(value.tag)
        merged.value.extend(found.value)
    return serialized(merged)
