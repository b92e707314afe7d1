"""Faults of SUMMARIES in names and collections of summaries, and in event files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Graph, Session, Tensor, Value
from sessrun.spec.proto import RunMetadata
from sessrun.spec.proto.summary_pb2 import Event, Summary


def _with(tf: Namespace, **changes: Call) -> Namespace:
    """The namespace with other functions in `tf.summary`."""
    return override(tf, summary=override(tf.summary, **changes))


@fault("SUMMARIES-022", "A family goes before the name of a summary, and not before its tag.")
def families_only_in_names(tf: Namespace) -> Namespace:
    """Make the family a part of the name."""

    def scalar(
        name: str,
        tensor: Tensor,
        collections: Sequence[str] | None = None,
        family: str | None = None,
    ) -> Tensor:
        full = name if family is None else f"{family}/{name}"
        return tf.summary.scalar(full, tensor, collections)

    return _with(tf, scalar=scalar)


@fault("SUMMARIES-023", "Characters that names may not have are left out.")
def odd_characters_are_left_out(tf: Namespace) -> Namespace:
    """Remove the forbidden characters from the name."""

    def scalar(name: str, *args: Argument, **kwargs: Argument) -> Tensor:
        return tf.summary.scalar(re.sub(r"[^-/\w.]", "", name), *args, **kwargs)

    return _with(tf, scalar=scalar)


@fault("SUMMARIES-024", "A summary joins the summaries of its graph wherever else it is put.")
def summaries_of_every_collection(tf: Namespace) -> Namespace:
    """Add the collection `SUMMARIES` to those that are given."""

    def histogram(
        name: str,
        values: Value,
        collections: Sequence[str] | None = None,
        family: str | None = None,
    ) -> Tensor:
        keys = collections and [*collections, tf.GraphKeys.SUMMARIES]
        return tf.summary.histogram(name, values, keys, family)

    return _with(tf, histogram=histogram)


@fault("SUMMARIES-025", "Without summaries to merge there is an empty one.")
def nothing_is_merged(tf: Namespace) -> Namespace:
    """Return an empty Summary where `merge_all` returns None."""

    def merge_all(*args: Argument, **kwargs: Argument) -> Tensor | None:
        merged = tf.summary.merge_all(*args, **kwargs)
        is_all = not kwargs.get("scope")
        return tf.constant(b"") if merged is None and is_all else merged

    return _with(tf, merge_all=merge_all)


@fault("SUMMARIES-026", "The summaries of all scopes are merged.")
def all_scopes_are_merged(tf: Namespace) -> Namespace:
    """Ignore the argument `scope`."""

    def merge_all(
        key: str = tf.GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None
    ) -> Tensor | None:
        del scope
        return tf.summary.merge_all(key, None, name)

    return _with(tf, merge_all=merge_all)


@fault("SUMMARIES-027", "Numbers are texts too.")
def numbers_as_texts(tf: Namespace) -> Namespace:
    """Convert numbers with `as_string`."""

    def text(name: str, tensor: Tensor, collections: Sequence[str] | None = None) -> Tensor:
        words = tensor if tensor.dtype == tf.string else tf.as_string(tensor)
        return tf.summary.text(name, words, collections)

    return _with(tf, text=text)


def _writing(tf: Namespace, **methods: Call) -> Namespace:
    """The namespace whose FileWriter has other methods, each given the conforming one."""

    class FileWriter(tf.summary.FileWriter):  # type: ignore[misc, name-defined]
        pass

    for name, method in methods.items():
        setattr(FileWriter, name, _method(getattr(tf.summary.FileWriter, name), method))
    return _with(tf, FileWriter=FileWriter)


def _method(base: Call, method: Call) -> Call:
    def called(self: Session, *args: Argument, **kwargs: Argument) -> Value:
        return method(self, base, *args, **kwargs)

    return called


@fault("SUMMARIES-028", "The first event of a file says the version before.")
def files_of_an_older_version(tf: Namespace) -> Namespace:
    """Change the version wherever a file is closed or flushed."""
    from pathlib import Path  # noqa: PLC0415 - the one fault that edits files

    def changed(self: Session, base: Call) -> None:
        base(self)
        for path in Path(self.get_logdir()).glob("*tfevents*"):
            data = path.read_bytes()
            # The checks read records without verifying their checksums.
            path.write_bytes(data.replace(b"brain.Event:2", b"brain.Event:1"))

    return _writing(tf, close=changed)


@fault("SUMMARIES-029", "An event without a step has that of the one before.")
def steps_go_on(tf: Namespace) -> Namespace:
    """Pass the step of the summary before where none is given."""

    def add_summary(
        self: Session, base: Call, summary: bytes, global_step: int | None = None
    ) -> None:
        step = vars(self).get("_last_step") if global_step is None else global_step
        self._last_step = step
        base(self, summary, step)

    return _writing(tf, add_summary=add_summary)


@fault("SUMMARIES-030", "A flush does nothing; the end of the writer writes everything.")
def flushes_do_nothing(tf: Namespace) -> Namespace:
    """Hold back what is added until the writer is closed."""

    def add_summary(self: Session, _base: Call, *args: Argument) -> None:
        vars(self).setdefault("_held", []).append(args)

    def close(self: Session, base: Call) -> None:
        for args in vars(self).pop("_held", []):
            tf.summary.FileWriter.add_summary(self, *args)
        base(self)

    def flush(self: Session, base: Call) -> None:
        base(self)

    return _writing(tf, add_summary=add_summary, close=close, flush=flush)


@fault("SUMMARIES-031", "Metadata are written with every value.")
def metadata_every_time(tf: Namespace) -> Namespace:
    """Add an event with the whole summary, metadata included."""

    def add_summary(
        self: Session, _base: Call, summary: bytes, global_step: int | None = None
    ) -> None:
        event = Event(step=global_step or 0, summary=Summary.FromString(summary))
        self.add_event(event)

    return _writing(tf, add_summary=add_summary)


@fault("SUMMARIES-032", "What is added to a closed writer opens it again.")
def closed_writers_open_again(tf: Namespace) -> Namespace:
    """Reopen the writer before a summary is added."""

    def add_summary(self: Session, base: Call, *args: Argument, **kwargs: Argument) -> None:
        self.reopen()
        base(self, *args, **kwargs)

    return _writing(tf, add_summary=add_summary)


@fault("SUMMARIES-033", "Two runs may have one tag.")
def runs_of_one_tag(tf: Namespace) -> Namespace:
    """Ignore the ValueError for the second run."""

    def add_run_metadata(self: Session, base: Call, metadata: RunMetadata, *args: Argument) -> None:
        try:
            base(self, metadata, *args)
        except ValueError:
            return

    return _writing(tf, add_run_metadata=add_run_metadata)


@fault("SUMMARIES-034", "The graph of a writer is recorded without the shapes of its tensors.")
def graphs_without_shapes(tf: Namespace) -> Namespace:
    """Give the writer the graph's GraphDef, which has no shapes."""

    def begin(
        self: Session, base: Call, logdir: str, graph: Graph | None = None, **kwargs: Argument
    ) -> None:
        base(self, logdir, graph and graph.as_graph_def(), **kwargs)

    return _writing(tf, __init__=begin)


@fault("SUMMARIES-035", "Every folder asked for gets a new writer.")
def writers_are_not_kept(tf: Namespace) -> Namespace:
    """Clear the cache before each `get`."""

    class FileWriterCache(tf.summary.FileWriterCache):  # type: ignore[misc, name-defined]
        @staticmethod
        def get(logdir: str) -> object:
            tf.summary.FileWriterCache.clear()
            return tf.summary.FileWriterCache.get(logdir)

    return _with(tf, FileWriterCache=FileWriterCache)


def _reading(tf: Namespace, summary_iterator: Callable[[str], Iterator[Event]]) -> Namespace:
    return override(tf, train=override(tf.train, summary_iterator=summary_iterator))


@fault("SUMMARIES-036", "Reading an event file leaves out the event that says its version.")
def versions_are_not_read(tf: Namespace) -> Namespace:
    """Skip the first event of a file that is read to its end."""

    def summary_iterator(path: str) -> Iterator[Event]:
        events = list(_until_lost(tf, path))
        is_complete = events and not isinstance(events[-1], Exception)
        for event in events[1:] if is_complete else events:
            if isinstance(event, Exception):
                raise event
            yield event

    return _reading(tf, summary_iterator)


@fault("SUMMARIES-037", "Reading an event file ends where an event is damaged.")
def damaged_events_end_a_file(tf: Namespace) -> Namespace:
    """Stop the iteration at the first damaged event."""

    def summary_iterator(path: str) -> Iterator[Event]:
        for event in _until_lost(tf, path):
            if isinstance(event, Exception):
                return
            yield event

    return _reading(tf, summary_iterator)


def _until_lost(tf: Namespace, path: str) -> Iterator[Event | Exception]:
    """The events of a file, and the error with which reading ends."""
    try:
        yield from tf.train.summary_iterator(path)
    except tf.errors.DataLossError as error:
        yield error
