"""Faults of PARSING: bytes, lines of fields, compressed strings, serialized tensors."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping

import numpy as np

from sessrun.conformance.faulty.computing import computing, single
from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.run_fragments import Base, editing, elements, fed, needed, running
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array, Feeds, Fetches, Operation, Session, Value
from sessrun.spec.proto.graph_pb2 import AttrValue, GraphDef

__all__ = ["recoded"]


def recoded(tf: Namespace, op_type: str, error: str, other: str, words: str = "") -> Namespace:
    """The namespace in which an operation of this type raises `other` where it raises `error`.

    Args:
      tf: the conforming namespace.
      op_type: the type; of any operation that the run executes.
      error: the name of the class that is raised.
      other: the name of the class that is raised in its place.
      words: what the conforming namespace's message has in it.

    """

    def run(session: Session, base: Base, fetches: Fetches, feeds: Feeds) -> Value:
        try:
            return base(fetches)
        except getattr(tf.errors, error) as raised:
            executed = needed(elements(session, fetches), fed(session, feeds))
            if words not in raised.message or all(op.type != op_type for op in executed):
                raise
            raise getattr(tf.errors, other)(None, None, raised.message) from raised

    return running(tf, run)


def _invalid(tf: Namespace, op_type: str, words: str = "") -> Namespace:
    return recoded(tf, op_type, "InvalidArgumentError", "InternalError", words)


def _importing(
    tf: Namespace, op_type: str, change: Callable[[Mapping[str, AttrValue]], None]
) -> Namespace:
    """The namespace that imports nodes of a type with changed attributes."""

    def changed(graph: GraphDef) -> None:
        for node in graph.node:
            if node.op == op_type:
                change(node.attr)

    return editing(tf, changed)


@fault("PARSING-001", "DecodeRaw gives its elements in the opposite order.")
def decoded_elements_are_backwards(tf: Namespace) -> Namespace:
    """Turn the last dimension round."""
    return computing(tf, {"DecodeRaw": single(lambda _, out, *__: out[..., ::-1])})


@fault("PARSING-002", "DecodeRaw reads every number as little-endian.")
def every_number_is_little_endian(tf: Namespace) -> Namespace:
    """Import it without `little_endian`."""

    def change(attr: Mapping[str, AttrValue]) -> None:
        attr["little_endian"].b = True

    return _importing(tf, "DecodeRaw", change)


@fault("PARSING-003", "Strings that DecodeRaw cannot take are an internal error.")
def odd_lengths_are_internal(tf: Namespace) -> Namespace:
    """Raise InternalError."""
    return _invalid(tf, "DecodeRaw")


@fault("PARSING-004", "DecodePaddedRaw fills strings up at their beginnings.")
def strings_are_padded_before(tf: Namespace) -> Namespace:
    """Put the zero bytes first."""

    def padded(op: Operation, out: np.ndarray, given: np.ndarray, length: np.ndarray) -> np.ndarray:
        if not op.get_attr("little_endian"):
            return out
        width = int(length)
        items = [item[:width].rjust(width, b"\0") for item in given.reshape(-1).tolist()]
        return np.frombuffer(b"".join(items), out.dtype).reshape(out.shape)

    return computing(tf, {"DecodePaddedRaw": single(padded)})


@fault("PARSING-005", "A comma is the only delimiter.")
def commas_are_the_delimiters(tf: Namespace) -> Namespace:
    """Import DecodeCSV without `field_delim`."""

    def change(attr: Mapping[str, AttrValue]) -> None:
        attr["field_delim"].s = b","

    return _importing(tf, "DecodeCSV", change)


@fault("PARSING-006", "Doubled quotes of a field stay doubled.")
def quotes_stay_doubled(tf: Namespace) -> Namespace:
    """Double the quotes of strings."""

    def change(_: Operation, outputs: list[Array], __: list[Array]) -> list[Array]:
        return [
            np.array([item.replace(b'"', b'""') for item in out.tolist()], object)
            if isinstance(out, np.ndarray) and out.dtype == object and out.ndim == 1
            else out
            for out in outputs
        ]

    return computing(tf, {"DecodeCSV": change})


@fault("PARSING-007", "Fields may be quoted whatever was said.")
def quotes_always_quote(tf: Namespace) -> Namespace:
    """Import DecodeCSV with `use_quote_delim`."""

    def change(attr: Mapping[str, AttrValue]) -> None:
        attr["use_quote_delim"].b = True

    return _importing(tf, "DecodeCSV", change)


@fault("PARSING-008", "Only an empty field is none.")
def only_empty_fields_are_none(tf: Namespace) -> Namespace:
    """Import DecodeCSV without `na_value`."""

    def change(attr: Mapping[str, AttrValue]) -> None:
        attr["na_value"].s = b""

    return _importing(tf, "DecodeCSV", change)


@fault("PARSING-009", "A field that must be there and is not is an internal error.")
def missing_fields_are_internal(tf: Namespace) -> Namespace:
    """Raise InternalError."""
    return _invalid(tf, "DecodeCSV", "required but missing")


@fault("PARSING-010", "All columns are given, whatever was chosen.")
def columns_are_not_chosen(tf: Namespace) -> Namespace:
    """Import DecodeCSV without `select_cols`."""

    def change(attr: Mapping[str, AttrValue]) -> None:
        attr["select_cols"].list.Clear()

    return _importing(tf, "DecodeCSV", change)


@fault("PARSING-011", "A line of another number of fields is an internal error.")
def odd_lines_are_internal(tf: Namespace) -> Namespace:
    """Raise InternalError."""
    return _invalid(tf, "DecodeCSV", "fields but have")


@fault("PARSING-012", "A field that is no number is an internal error.")
def odd_numbers_are_internal(tf: Namespace) -> Namespace:
    """Raise InternalError."""
    return _invalid(tf, "DecodeCSV", "is not a valid")


@fault("PARSING-013", "A misplaced quote is an internal error.")
def odd_quotes_are_internal(tf: Namespace) -> Namespace:
    """Raise InternalError."""
    return _invalid(tf, "DecodeCSV", "uote")


@fault("PARSING-014", "Of several gzip members only the first is decompressed.")
def first_members_are_enough(tf: Namespace) -> Namespace:
    """Stop at the end of the first member."""

    def first(op: Operation, out: np.ndarray, given: np.ndarray) -> np.ndarray:
        if op.get_attr("compression_type") != b"GZIP" or not given.ndim:
            return out
        items = [zlib.decompressobj(31).decompress(item) for item in given.tolist()]
        return np.array(items, object)

    return computing(tf, {"DecodeCompressed": single(first)})


@fault("PARSING-015", "Damaged compressed bytes are an invalid argument.")
def damaged_bytes_are_invalid(tf: Namespace) -> Namespace:
    """Raise InvalidArgumentError."""
    return recoded(tf, "DecodeCompressed", "DataLossError", "InvalidArgumentError")


@fault("PARSING-032", "A compressed string that is cut off is empty.")
def cut_strings_are_empty(tf: Namespace) -> Namespace:
    """Give an empty string for a stream that does not end."""

    def emptied(op: Operation, out: np.ndarray, given: np.ndarray) -> np.ndarray:
        if not op.get_attr("compression_type") or not given.ndim:
            return out
        kept = [
            text if _ends(item) else b""
            for text, item in zip(out.tolist(), given.tolist(), strict=True)
        ]
        return np.array(kept, object)

    return computing(tf, {"DecodeCompressed": single(emptied)})


def _ends(stream: bytes) -> bool:
    """Whether the stream is there to its end."""
    inflater = zlib.decompressobj(47)  # zlib's own format, or gzip's
    inflater.decompress(stream)
    return inflater.eof


@fault("PARSING-016", "A parsed tensor is a vector.")
def parsed_tensors_are_vectors(tf: Namespace) -> Namespace:
    """Lose the shape."""
    return computing(tf, {"ParseTensor": single(lambda _, out, *__: out.reshape(-1))})


@fault("PARSING-017", "Bytes that are no tensor are an internal error.")
def odd_tensors_are_internal(tf: Namespace) -> Namespace:
    """Raise InternalError."""
    return _invalid(tf, "ParseTensor")


@fault("PARSING-031", "The sixth line of a batch has the fields of the first.")
def sixth_lines_are_the_first(tf: Namespace) -> Namespace:
    """Repeat the first."""

    def change(_: Operation, outputs: list[Array], __: list[Array]) -> list[Array]:
        for out in outputs:
            if isinstance(out, np.ndarray) and out.ndim == 1 and len(out) > 5:
                out[5] = out[0]
        return outputs

    return computing(tf, {"DecodeCSV": change})
