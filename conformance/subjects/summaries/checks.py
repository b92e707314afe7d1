"""Named checks of SUMMARIES: images and events read back from their files."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from sessrun.conformance.subjects.programs.png import pixels_of
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.forms import Json

if TYPE_CHECKING:  # a worker in an environment of its own has no protobuf
    from sessrun.spec.proto.summary_pb2 import Event

__all__ = ["events", "pixels", "read"]

#: The length of a record, and of the checksums after it and after the data.
_LENGTH: Final = struct.Struct("<Q")
_CHECKSUM: Final = 4


def pixels(tf: Namespace, image: np.ndarray, max_outputs: int = 3) -> list[Json]:
    """Run `tf.summary.image` and decode what it gives.

    Returns:
      for each image its tag, height, width, how many numbers a pixel has, and the numbers.

    """
    with tf.Graph().as_default() as graph:
        summary = tf.summary.image("seen", tf.constant(image), max_outputs)
    with tf.Session(graph=graph) as session:
        (data,) = session.run([summary])
    colours: list[Json] = []
    for value in tf.Summary.FromString(data).value:
        seen = value.image
        numbers = pixels_of(seen.encoded_image_string)
        size = [seen.height, seen.width, seen.colorspace]
        colours.append([value.tag, *size, numbers.reshape(-1).tolist()])
    return colours


def events(tf: Namespace, folder: str, first: int = 1) -> list[list[list[Json]]]:
    """The events of each event file in a folder, parsed with the backend's messages.

    Returns:
      for each file, by name, its events from the one numbered `first`: the step, the kind, and
      what there is to compare.

    """
    paths = sorted(path for path in Path(folder).iterdir() if "tfevents" in path.name)
    files = [[tf.Event.FromString(record) for record in _records(path)] for path in paths]
    return [[_described(tf, event) for event in file[first:]] for file in files]


def read(tf: Namespace, path: str) -> list[Json]:
    """The events of a file as `tf.train.summary_iterator` gives them.

    Returns:
      for each event the step, the kind, and what there is to compare; in the end the name of the
      class of the error with which reading ended, if it did.

    """
    values: list[Json] = []
    try:
        for event in tf.train.summary_iterator(path):
            values.append(_described(tf, event))  # noqa: PERF401 - kept
    except tf.errors.DataLossError:
        values.append("DataLossError")
    return values


def _records(path: Path) -> Iterator[bytes]:
    data = path.read_bytes()
    offset = 0
    while offset < len(data):
        (length,) = _LENGTH.unpack_from(data, offset)
        offset += _LENGTH.size + _CHECKSUM
        yield data[offset : offset + length]
        offset += length + _CHECKSUM


def _described(tf: Namespace, event: Event) -> list[Json]:
    kind = event.WhichOneof("what")
    return [event.step, kind, _content(tf, event, kind)]


def _content(tf: Namespace, event: Event, kind: str | None) -> Json:
    if kind == "summary":
        return [
            [value.tag, value.simple_value, value.metadata.display_name]
            for value in event.summary.value
        ]
    if kind == "graph_def":
        nodes = tf.GraphDef.FromString(event.graph_def).node
        return sorted([node.name, "_output_shapes" in node.attr] for node in nodes)
    if kind == "tagged_run_metadata":
        return event.tagged_run_metadata.tag
    return event.file_version if kind == "file_version" else None
