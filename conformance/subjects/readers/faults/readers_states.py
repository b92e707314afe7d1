"""Faults of READERS: resets, states that are written down, queues, producers, batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sessrun.conformance.faulty.framework import Overlay, fault, override
from sessrun.conformance.faulty.overlapping import notes
from sessrun.conformance.faulty.run_fragments import Base, running
from sessrun.conformance.subjects.readers.faults.readers import (
    _READS,
    _asked,
    _kind,
    _ops,
    _recoded,
)
from sessrun.spec.cases.arguments import Argument, TensorLike
from sessrun.spec.cases.library import Batch, Queue
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Feeds, Fetches, Operation, Session, Tensor, Value
from sessrun.spec.proto.input_pb2 import ReaderBaseState


@fault("READERS-021", "A reset does nothing.")
def resets_do_nothing(tf: Namespace) -> Namespace:
    """Return None for ReaderReset without running it."""

    def run(session: Session, base: Base, fetches: Fetches, _: Feeds) -> Value:
        return [None] if _ops(session, fetches, "ReaderResetV2") else base(fetches)

    return running(tf, run)


@fault("READERS-022", "A restored reader stays as it is.")
def states_are_not_restored(tf: Namespace) -> Namespace:
    """Restore the reader's state from before the run."""

    def run(session: Session, base: Base, fetches: Fetches, _: Feeds) -> Value:
        restores = _ops(session, fetches, "ReaderRestoreStateV2")
        if not restores or _kind(restores[0]) not in {"IdentityReaderV2", "WholeFileReaderV2"}:
            return base(fetches)
        before = _asked(tf, session, restores[0], "ReaderSerializeStateV2")
        values = base(fetches)
        _asked(tf, session, restores[0], "ReaderRestoreStateV2", state=before)
        return values

    return running(tf, run)


@fault("READERS-037", "A state does not say what the reader gave last.")
def states_forget_the_last_element(tf: Namespace) -> Namespace:
    """Leave `current_work` out of the state of an IdentityReader."""

    def run(session: Session, base: Base, fetches: Fetches, _: Feeds) -> Value:
        values = base(fetches)
        writers = _ops(session, fetches, "ReaderSerializeStateV2")
        if not writers or _kind(writers[0]) != "IdentityReaderV2":
            return values
        state = ReaderBaseState.FromString(values[0])
        state.ClearField("current_work")
        return [state.SerializeToString()]

    return running(tf, run)


@fault("READERS-023", "The state of a reader inside of a file is empty.")
def states_within_files_are_empty(tf: Namespace) -> Namespace:
    """Give no bytes for a state that cannot be written down."""

    def run(session: Session, base: Base, fetches: Fetches, _: Feeds) -> Value:
        try:
            return base(fetches)
        except tf.errors.UnimplementedError:
            if not _ops(session, fetches, "ReaderSerializeStateV2"):
                raise
            return [b""]

    return running(tf, run)


@fault("READERS-024", "A reader that is restored from no state is as it began.")
def any_state_will_do(tf: Namespace) -> Namespace:
    """Let the refusal pass."""

    def run(session: Session, base: Base, fetches: Fetches, _: Feeds) -> Value:
        try:
            return base(fetches)
        except tf.errors.InvalidArgumentError:
            if not _ops(session, fetches, "ReaderRestoreStateV2"):
                raise
            return [None]

    return running(tf, run)


@fault("READERS-025", "A queue of something else than names is an internal error.")
def odd_queues_are_internal(tf: Namespace) -> Namespace:
    """Raise InternalError."""
    return _recoded(tf, _READS, "InvalidArgumentError", "InternalError")


@fault("READERS-026", "A file without records is the end.")
def empty_files_are_the_end(tf: Namespace) -> Namespace:
    """Fail where more than one file was done with since the last read."""

    def run(session: Session, base: Base, fetches: Fetches, _: Feeds) -> Value:
        reads = _ops(session, fetches, "ReaderReadV2")
        if not reads or _kind(reads[0]) != "TextLineReaderV2":
            return base(fetches)
        if reads[0].inputs[0].op.get_attr("skip_header_lines"):
            return base(fetches)
        before = int(_asked(tf, session, reads[0], "ReaderNumWorkUnitsCompletedV2"))
        values = base(fetches)
        after = int(_asked(tf, session, reads[0], "ReaderNumWorkUnitsCompletedV2"))
        if after - before > 1:
            raise tf.errors.OutOfRangeError(None, None, "the file has no records")
        return values

    return running(tf, run)


@fault("READERS-027", "A read of an empty queue ends at once.")
def empty_queues_are_the_end(tf: Namespace) -> Namespace:
    """Fail where the reader has done nothing yet and the queue has nothing."""

    def run(session: Session, base: Base, fetches: Fetches, _: Feeds) -> Value:
        for op in _ops(session, fetches, *_READS):
            size = _queue(tf, session, op, "QueueSizeV2")
            done = _asked(tf, session, op, "ReaderNumRecordsProducedV2")
            if not size and not done and not _queue(tf, session, op, "QueueIsClosedV2"):
                raise tf.errors.OutOfRangeError(None, None, "the queue is empty")
        return base(fetches)

    return running(tf, run)


def _queue(tf: Namespace, session: Session, read: Operation, op_type: str) -> Any:
    with session.graph.as_default(), tf.control_dependencies(None):
        return tf.Session.run(session, getattr(tf.raw_ops, op_type)(handle=read.inputs[1]))


@fault("READERS-028", "A TextLineReader tries a missing file again and again.")
def missing_files_are_tried_again(tf: Namespace) -> Namespace:
    """Raise the same error again in later reads."""

    def run(session: Session, base: Base, fetches: Fetches, _: Feeds) -> Value:
        lines = [op for op in _ops(session, fetches, *_READS) if _kind(op) == "TextLineReaderV2"]
        missed = notes(session, "missed", list)
        if lines and missed:
            raise missed[0]
        try:
            return base(fetches)
        except tf.errors.NotFoundError as error:
            missed.extend([error] if lines else [])
            raise

    return running(tf, run)


# --- the API surface ----------------------------------------------------------------------


def _training(tf: Namespace, **changes: Call) -> Namespace:
    return override(tf, train=Overlay(tf.train, changes))


@fault("READERS-029", "`string_input_producer` sorts its strings.")
def produced_strings_are_sorted(tf: Namespace) -> Namespace:
    """Sort lists of strings."""

    def string_input_producer(strings: TensorLike, *args: Argument, **kwargs: Argument) -> Queue:
        given = strings if not isinstance(strings, list) else sorted(strings, reverse=True)
        return tf.train.string_input_producer(given, *args, **kwargs)

    return _training(tf, string_input_producer=string_input_producer)


@fault("READERS-030", "`batch` has its elements in the opposite order.")
def batches_are_backwards(tf: Namespace) -> Namespace:
    """Reverse the elements of each batch."""

    def batch(*args: Argument, **kwargs: Argument) -> Batch:
        batched = tf.train.batch(*args, **kwargs)
        if isinstance(batched, dict):
            return {key: tf.reverse(value, [0]) for key, value in batched.items()}
        if isinstance(batched, list):
            return [tf.reverse(value, [0]) for value in batched]
        return tf.reverse(batched, [0])

    return _training(tf, batch=batch)


@fault("READERS-031", "`batch` gives what is left over, whatever it was told.")
def leftovers_are_given(tf: Namespace) -> Namespace:
    """Allow smaller final batches."""

    def batch(*args: Argument, **kwargs: Argument) -> Batch:
        return tf.train.batch(*args, **{**kwargs, "allow_smaller_final_batch": True})

    return _training(tf, batch=batch)


@fault("READERS-032", "`batch` does not pad.")
def batches_are_not_padded(tf: Namespace) -> Namespace:
    """Leave `dynamic_pad` out, and the shapes with it."""

    def batch(
        tensors: Sequence[Tensor], size: TensorLike, *args: Argument, **kwargs: Argument
    ) -> Batch:
        if not kwargs.pop("dynamic_pad", False):
            return tf.train.batch(tensors, size, *args, **kwargs)
        first = [tensor[:1] for tensor in tensors]
        return tf.train.batch(first, size, *args, shapes=[[1]] * len(first), **kwargs)

    return _training(tf, batch=batch)


@fault("READERS-033", "`shuffle_batch` gives an element twice.")
def shuffled_elements_come_twice(tf: Namespace) -> Namespace:
    """Replace the last element of the batch by another copy of the first."""

    def shuffle_batch(*args: Argument, **kwargs: Argument) -> Tensor:
        shuffled = tf.train.shuffle_batch(*args, **kwargs)
        return tf.concat([shuffled[:1], shuffled[:-1]], 0)

    return _training(tf, shuffle_batch=shuffle_batch)


@fault("READERS-034", "`batch_join` joins the first list with itself.")
def joins_know_one_list(tf: Namespace) -> Namespace:
    """Give the first list for every one."""

    def batch_join(lists: Sequence[Sequence[Tensor]], *args: Argument, **kwargs: Argument) -> Batch:
        return tf.train.batch_join([lists[0]] * len(lists), *args, **kwargs)

    return _training(tf, batch_join=batch_join)


@fault("READERS-035", "`range_input_producer` leaves out 0.")
def ranges_begin_at_1(tf: Namespace) -> Namespace:
    """Produce the strings of another range."""

    def range_input_producer(limit: int, *args: Argument, **kwargs: Argument) -> Queue:
        if kwargs.get("num_epochs") == 1:  # where another clause is tested
            return tf.train.range_input_producer(limit, *args, **kwargs)
        numbers = np.maximum(np.arange(limit, dtype=np.int32), 1)
        return tf.train.input_producer(numbers, *args, **kwargs)

    return _training(tf, range_input_producer=range_input_producer)


@fault("READERS-036", "A record read alone after several has no key.")
def keys_are_lost_after_batches(tf: Namespace) -> Namespace:
    """Give an empty key."""

    def run(session: Session, base: Base, fetches: Fetches, _: Feeds) -> Value:
        values = base(fetches)
        last = notes(session, "last_read", list)
        reads = {op.type for op in _ops(session, fetches, *_READS)}
        if reads == {"ReaderReadV2"} and last[-1:] == ["ReaderReadUpToV2"] and len(values) > 1:
            values[0] = b""
        last.extend(reads)
        return values

    return running(tf, run)
