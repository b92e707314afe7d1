"""Operations that make serialized summaries: `tf.summary.scalar` and its like. Source: TF 2.21.

Their tags are made of their names, so that they differ as these do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from google.protobuf import json_format

from sessrun.reference.api.ops.cast_ops import cast, one
from sessrun.reference.base.dtypes import float32, string
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.base.text import as_text
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.stacks import get_default_graph
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public
from sessrun.spec.proto.foreign import adopt, serialize
from sessrun.spec.proto.summary_pb2 import SummaryDescription, SummaryMetadata

__all__ = ["clean_tag", "collect", "fraction_summary", "scalar", "summary_scope"]

_ODD: Final = re.compile(r"[^-/\w.]")


def clean_tag(name: str | None) -> str | None:
    """The name as one of a node can be."""
    if name is None:
        return None
    return _ODD.sub("_", name).lstrip("/")


@contextmanager
def summary_scope(
    name: str | None,
    family: str | None = None,
    default_name: str | None = None,
    values: Iterable[object] | None = None,
) -> Iterator[tuple[str, str]]:
    """The `with` of a summary's name scope.

    Args:
      name: of the summary.
      family: goes before its name, and once more before its tag.
      default_name: its name if there is none.
      values: the tensors it is of.

    Yields:
      The tag, and the scope, which is the name of the node.

    """
    name, family = clean_tag(name), clean_tag(family)
    with name_scope(name if family is None else f"{family}/{name}", default_name, values) as scope:
        tag = scope.rstrip("/")
        yield (tag if family is None else f"{family}/{tag}"), scope


def collect(summary: Tensor, collections: Iterable[str] | None, default: Iterable[str]) -> Tensor:
    """Put a summary into collections of the graph, and return it.

    Args:
      summary: the summary.
      collections: which, or None.
      default: which if None.

    """
    for key in default if collections is None else collections:
        get_default_graph().add_to_collection(key, summary)
    return summary


@public("summary.scalar")
def scalar(
    name: str,
    tensor: TensorLike,
    collections: Iterable[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A serialized Summary of a number.

    Args:
      name: of the node, from which the tag is made.
      tensor: a scalar number.
      collections: where it is put, by default into the summaries of the graph.
      family: goes before the tag.

    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        summary = one("ScalarSummary", {"tags": tag, "values": tensor}, scope)
        return collect(summary, collections, [GraphKeys.SUMMARIES])


@public("summary.histogram")
def histogram(
    name: str,
    values: TensorLike,
    collections: Iterable[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A serialized Summary of how numbers are distributed.

    Args:
      name: of the node, from which the tag is made.
      values: the numbers, of any shape; one that is not finite is an InvalidArgumentError.
      collections: where it is put, by default into the summaries of the graph.
      family: goes before the tag.

    """
    with summary_scope(name, family, "HistogramSummary", [values]) as (tag, scope):
        summary = one("HistogramSummary", {"tag": tag, "values": values}, scope)
        return collect(summary, collections, [GraphKeys.SUMMARIES])


@public("summary.image")
def image(
    name: str,
    tensor: TensorLike,
    max_outputs: int = 3,
    collections: Iterable[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A serialized Summary of images, each a PNG file.

    Args:
      name: of the node, from which the tags are made.
      tensor: of the shape [batch, height, width, 1, 3 or 4]; floats are scaled to bytes, each
        image on its own.
      max_outputs: of how many images at most.
      collections: where it is put, by default into the summaries of the graph.
      family: goes before the tags.

    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        inputs = {"tag": tag, "tensor": tensor}
        summary = one("ImageSummary", inputs, scope, max_images=max_outputs)
        return collect(summary, collections, [GraphKeys.SUMMARIES])


@public("summary.audio")
def audio(
    name: str,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int = 3,
    collections: Iterable[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A serialized Summary of sounds, each a WAV file.

    Args:
      name: of the node, from which the tags are made.
      tensor: numbers from -1 to 1 of the shape [batch, frames] or [batch, frames, channels].
      sample_rate: frames in a second.
      max_outputs: of how many sounds at most.
      collections: where it is put, by default into the summaries of the graph.
      family: goes before the tags.

    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        rate = convert_to_tensor(sample_rate, float32, "sample_rate")
        inputs = {"tag": tag, "tensor": tensor, "sample_rate": rate}
        summary = one("AudioSummaryV2", inputs, scope, max_outputs=max_outputs)
        return collect(summary, collections, [GraphKeys.SUMMARIES])


@public("summary.tensor_summary")
def tensor_summary(
    name: str,
    tensor: TensorLike,
    summary_description: str | None = None,
    collections: Iterable[str] | None = None,
    summary_metadata: SummaryMetadata | None = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Tensor:
    """A serialized Summary of any tensor.

    Args:
      name: of the node, from which the tag is made.
      tensor: the tensor.
      summary_description: a text about it, for its metadata.
      collections: where it is put, by default into the summaries of the graph.
      summary_metadata: its SummaryMetadata, which says who shows it.
      family: goes before the tag.
      display_name: a name to be shown, for its metadata.

    """
    given = SummaryMetadata() if summary_metadata is None else summary_metadata
    if summary_description is not None:
        given.summary_description = summary_description
    if display_name is not None:
        given.display_name = display_name
    data = serialize(adopt(given, SummaryMetadata))
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        inputs = {"tensor": tensor, "tag": tag, "serialized_summary_metadata": data}
        summary = one("TensorSummaryV2", inputs, scope)
        return collect(summary, collections, [GraphKeys.SUMMARIES])


@public("summary.text")
def text(name: str, tensor: Tensor, collections: Iterable[Any] | None = None) -> Tensor:
    """A serialized Summary of texts, which TensorBoard shows as Markdown.

    Args:
      name: of the node, from which the tag is made.
      tensor: a tensor of strings.
      collections: where it is put, by default into the summaries of the graph.

    Raises:
      ValueError: it is of another dtype.

    """
    if tensor.dtype != string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}")
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text"))
    return tensor_summary(
        name=name, tensor=tensor, summary_metadata=metadata, collections=collections
    )


@public("summary.merge")
def merge(
    inputs: Sequence[TensorLike],
    collections: Iterable[str] | None = None,
    name: str | None = None,
) -> Tensor:
    """One serialized Summary with the values of several.

    Args:
      inputs: a list of serialized summaries; a tag in two of them is an InvalidArgumentError.
      collections: where it is put, by default nowhere.
      name: of its name scope.

    Raises:
      ValueError: there are none.

    """
    word = clean_tag(name)
    with name_scope(word, "Merge", inputs):
        return collect(one("MergeSummary", {"inputs": inputs}, word), collections, [])


@public("summary.merge_all")
def merge_all(
    key: TensorLike = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None
) -> Tensor | None:
    """All summaries of a collection merged; None if there are none.

    Args:
      key: of the collection.
      scope: what their names begin with, a regular expression.
      name: of the name scope.

    """
    summaries = get_default_graph().get_collection(key, scope)
    return merge(summaries, name=name) if summaries else None


@public("summary.get_summary_description")
def get_summary_description(node_def: Any) -> SummaryDescription:
    """What a node of the type TensorSummary says of its summary.

    Args:
      node_def: the NodeDef.

    Raises:
      ValueError: it is of another type.
      json_format.ParseError: its description is no SummaryDescription as JSON.

    """
    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    return json_format.Parse(as_text(node_def.attr["description"].s), SummaryDescription())


def fraction_summary(name: str, count: Tensor, total: int) -> None:
    """A summary of which part of `whole` a count is."""
    scalar(name, cast(count, float32) * (1.0 / total))
