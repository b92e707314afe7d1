"""Summary operations, such as `tf.summary.scalar`. Source: TF 2.21.

The tag of a summary is derived from its unique name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from google.protobuf import json_format

from sessrun.reference.api.ops.cast_ops import cast, one
from sessrun.reference.base.dtypes import float32, string
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.base.text import as_text
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public
from sessrun.spec.proto import NodeDef
from sessrun.spec.proto.foreign import adopt, serialize
from sessrun.spec.proto.summary_pb2 import SummaryDescription, SummaryMetadata

__all__ = ["clean_tag", "collect", "fraction_summary", "scalar", "summary_scope"]

_ODD: Final = re.compile(r"[^-/\w.]")


def clean_tag(name: str | None) -> str | None:
    """The name with characters replaced that a node's name cannot have."""
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
    """A context with the name scope of a summary.

    Args:
      name: the name of the summary.
      family: a prefix of the name, which the tag has twice.
      default_name: the name if `name` is None.
      values: the tensors of the summary.

    Yields:
      The tag, and the scope, which becomes the name of the node.

    """
    name, family = clean_tag(name), clean_tag(family)
    with name_scope(name if family is None else f"{family}/{name}", default_name, values) as scope:
        tag = scope.rstrip("/")
        yield (tag if family is None else f"{family}/{tag}"), scope


def collect(summary: Tensor, collections: Iterable[str] | None, default: Iterable[str]) -> Tensor:
    """Add a summary to collections of the graph, and return it.

    Args:
      summary: the summary.
      collections: the keys of the collections, or None.
      default: the keys if `collections` is None.

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
      name: the name of the node, from which the tag derives.
      tensor: a scalar number.
      collections: the collections it is added to, by default `SUMMARIES`.
      family: a prefix of the tag.

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
    """A serialized Summary with a histogram of numbers.

    Args:
      name: the name of the node, from which the tag derives.
      values: numbers of any shape; if one is not finite, the run raises InvalidArgumentError.
      collections: the collections it is added to, by default `SUMMARIES`.
      family: a prefix of the tag.

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
    """A serialized Summary of images, encoded as PNG.

    Args:
      name: the name of the node, from which the tags derive.
      tensor: [batch, height, width, channels] with 1, 3 or 4 channels; floats are scaled to bytes,
        separately for each image.
      max_outputs: the greatest number of images.
      collections: the collections it is added to, by default `SUMMARIES`.
      family: a prefix of the tags.

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
    """A serialized Summary of sounds, encoded as WAV.

    Args:
      name: the name of the node, from which the tags derive.
      tensor: numbers from -1 to 1 of the shape [batch, frames] or [batch, frames, channels].
      sample_rate: the number of frames per second.
      max_outputs: the greatest number of sounds.
      collections: the collections it is added to, by default `SUMMARIES`.
      family: a prefix of the tags.

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
      name: the name of the node, from which the tag derives.
      tensor: the tensor.
      summary_description: a description, for the metadata.
      collections: the collections it is added to, by default `SUMMARIES`.
      summary_metadata: the SummaryMetadata, which names the plugin that displays it.
      family: a prefix of the tag.
      display_name: a display name, for the metadata.

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
def text(name: str, tensor: Tensor, collections: Iterable[str] | None = None) -> Tensor:
    """A serialized Summary of texts, which TensorBoard shows as Markdown.

    Args:
      name: the name of the node, from which the tag derives.
      tensor: a tensor of strings.
      collections: the collections it is added to, by default `SUMMARIES`.

    Raises:
      ValueError: the dtype is another one.

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
      inputs: a list of serialized summaries; if two share a tag, the run raises
        InvalidArgumentError.
      collections: the collections it is added to, by default none.
      name: the name scope.

    Raises:
      ValueError: `inputs` is empty.

    """
    word = clean_tag(name)
    with name_scope(word, "Merge", inputs):
        return collect(one("MergeSummary", {"inputs": inputs}, word), collections, [])


@public("summary.merge_all")
def merge_all(
    key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None
) -> Tensor | None:
    """All summaries of a collection merged; None if the collection is empty.

    Args:
      key: the key of the collection.
      scope: a regular expression that their names must match from the start.
      name: the name scope.

    """
    summaries = get_default_graph().get_collection(key, scope)
    return merge(summaries, name=name) if summaries else None


@public("summary.get_summary_description")
def get_summary_description(node_def: NodeDef) -> SummaryDescription:
    """The SummaryDescription of a TensorSummary node.

    Args:
      node_def: the NodeDef.

    Raises:
      ValueError: `node_def` has another op type.
      json_format.ParseError: its description is not the JSON of a SummaryDescription.

    """
    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    return json_format.Parse(as_text(node_def.attr["description"].s), SummaryDescription())


def fraction_summary(name: str, count: Tensor, total: int) -> None:
    """A scalar summary of a count divided by `total`."""
    scalar(name, cast(count, float32) * (1.0 / total))
