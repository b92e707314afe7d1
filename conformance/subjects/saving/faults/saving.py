"""Faults of SAVING on the engine surface: checkpoints that are not kept, cut, mixed up.

The faults change the values of runs that save or restore, or the files that these have written.
"""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Callable, Iterable
from typing import Final

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.overlapping import Underway, notes, overlapping
from sessrun.conformance.faulty.resource_runs import Base
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array, Fetch, Operation, Session, Tensor, Value

__all__ = ["operations", "text_of"]


_RESTORING: Final = frozenset({"RestoreV2"})


def text_of(run: Underway, tensor: Tensor) -> str:
    """The value of a string input of a run, as text."""
    return str(run.session.plain(tensor, run.feeds).decode())


def _names(op: Operation) -> list[str]:
    """The tensor names that an operation has as its constant second input."""
    return [name.decode() for name in op.inputs[1].op.get_attr("value").string_val]


def _specs(op: Operation) -> list[str]:
    return [text.decode() for text in op.inputs[2].op.get_attr("value").string_val]


def _restored(tf: Namespace, change: Callable[[Operation, int, np.ndarray], Value]) -> Namespace:
    """The namespace where `change(op, index, value)` is what a RestoreV2 gives."""

    def changed(run: Underway, base: Base, _others: list[Underway]) -> Value:
        values = base()
        if not isinstance(run.fetches, list):
            return values
        return [
            change(op, _index(fetch), value) if op.type in _RESTORING else value
            for fetch, op, value in zip(run.fetches, run.ops, values, strict=True)
        ]

    return overlapping(tf, changed)


def _index(fetch: Fetch) -> int:
    name = fetch if isinstance(fetch, str) else fetch.name
    return int(name.partition(":")[2] or 0)


def operations(run: Underway, op_type: str) -> Iterable[Operation]:
    """The operations of a type that a run fetches."""
    return (op for op in run.ops if op.type == op_type)


def _after_saving(tf: Namespace, spoil: Callable[[Underway, Operation, str], None]) -> Namespace:
    """The namespace where `spoil(run, op, prefix)` follows each SaveV2."""

    def change(run: Underway, base: Base, _others: list[Underway]) -> Value:
        values = base()
        for op in operations(run, "SaveV2"):
            spoil(run, op, text_of(run, op.inputs[0]))
        return values

    return overlapping(tf, change)


def _on_error(
    tf: Namespace,
    op_type: str,
    error: str,
    instead: Callable[[Underway, Operation, Exception], Value],
) -> Namespace:
    """The namespace where `instead(run, op, raised)` replaces an error of such an operation."""

    def change(run: Underway, base: Base, _others: list[Underway]) -> Value:
        try:
            return base()
        except getattr(tf.errors, error) as raised:
            for op in operations(run, op_type):
                return instead(run, op, raised)
            raise

    return overlapping(tf, change)


def _message(raised: Exception) -> str:
    """The message of an error, without the operation that failed."""
    return str(getattr(raised, "message", raised))


def _other_error(tf: Namespace, op_type: str, error: str, other: str, says: str = "") -> Namespace:
    """The namespace that raises `other` for `error` where the message of the error has `says`."""

    def instead(_run: Underway, _op: Operation, raised: Exception) -> Value:
        if says not in _message(raised):
            raise raised
        raise getattr(tf.errors, other)(None, None, _message(raised)) from raised

    return _on_error(tf, op_type, error, instead)


@fault("SAVING-001", "Doubles are restored with the precision of floats.")
def saved_doubles_lose_precision(tf: Namespace) -> Namespace:
    """Round float64 to float32 and the largest integers to float64."""

    def change(_op: Operation, _index: int, value: np.ndarray) -> Value:
        if value.dtype == np.uint64:
            return value // np.uint64(2) * np.uint64(2)
        return value.astype(np.float32).astype(value.dtype) if value.dtype == np.float64 else value

    return _restored(tf, change)


@fault("SAVING-002", "Restored strings end at the first zero byte.")
def saved_strings_end_at_zero(tf: Namespace) -> Namespace:
    """Cut each restored string at its first NUL."""

    def change(_op: Operation, _index: int, value: np.ndarray) -> Value:
        if value.dtype != object or value.ndim != 1 + (value.size > 3):
            return value
        return np.array([text.split(b"\0")[0] for text in value.flat], object).reshape(value.shape)

    return _restored(tf, change)


@fault("SAVING-003", "Scalars are restored as vectors of one element.")
def saved_scalars_are_vectors(tf: Namespace) -> Namespace:
    """Give floating-point scalars an axis."""

    def change(_op: Operation, _index: int, value: Array) -> Value:
        is_scalar = np.ndim(value) == 0 and np.asarray(value).dtype == np.float32
        return np.reshape(value, [1]) if is_scalar else value

    return _restored(tf, change)


@fault("SAVING-004", "Checkpoints go with the session that saved them.")
def checkpoints_go_with_their_session(tf: Namespace) -> Namespace:
    """Remove them when it is closed."""

    def change(run: Underway, base: Base, _others: list[Underway]) -> Value:
        values = base()
        for op in operations(run, "SaveV2"):
            notes(run.session, "saved", list).append(text_of(run, op.inputs[0]))
        return values

    def closing(session: Session, _runs: list[Underway]) -> None:
        for prefix in notes(session, "saved", list):
            for path in glob.glob(glob.escape(prefix) + ".*"):
                os.unlink(path)

    return overlapping(tf, change, closing=closing)


@fault("SAVING-005", "Tensors are restored in the order of their names.")
def restored_in_alphabetical_order(tf: Namespace) -> Namespace:
    """Sort what a whole RestoreV2 of more than three tensors gives."""

    def change(run: Underway, base: Base, _others: list[Underway]) -> Value:
        values = base()
        ops = set(run.ops)
        if len(ops) == 1 and run.has("RestoreV2") and len(run.ops) > 3:
            names = _names(run.ops[0])
            order = sorted(range(len(names)), key=lambda i: names[i])
            if not any(_specs(run.ops[0])) and len(set(names)) < len(names):
                return [values[i] for i in order]
        return values

    return overlapping(tf, change)


@fault("SAVING-006", "A restored slice begins at the start of its tensor.")
def slices_begin_at_the_start(tf: Namespace) -> Namespace:
    """Restore the full tensor, and cut a slice of the same shape from its start."""

    def changed(run: Underway, base: Base, _others: list[Underway]) -> Value:
        values = base()
        for position, op in enumerate(run.ops):
            if op.type == "RestoreV2" and isinstance(run.fetches, list) and len(_names(op)) > 3:
                index = _index(run.fetches[position])
                if _specs(op)[index]:
                    values[position] = _front(tf, run, op, index, np.shape(values[position]))
        return values

    return overlapping(tf, changed)


def _front(
    tf: Namespace, run: Underway, op: Operation, index: int, shape: tuple[int, ...]
) -> Value:
    with op.graph.as_default(), tf.control_dependencies(None):
        (restored,) = tf.raw_ops.RestoreV2(
            prefix=op.inputs[0],
            tensor_names=[_names(op)[index]],
            shape_and_slices=[""],
            dtypes=[op.outputs[index].dtype],
        )
    return run.session.plain(restored)[tuple(slice(size) for size in shape)]


@fault("SAVING-007", "Of a tensor saved in slices the first one fills the rest.")
def the_first_slice_is_all(tf: Namespace) -> Namespace:
    """Return the first half twice where a tensor was saved in halves."""
    halves: set[str] = set()

    def change(run: Underway, base: Base, _others: list[Underway]) -> Value:
        values = base()
        for op in operations(run, "SaveV2"):
            if len(_names(op)) > len(set(_names(op))):
                halves.add(text_of(run, op.inputs[0]))
        for index, op in enumerate(run.ops):
            if op.type == "RestoreV2" and text_of(run, op.inputs[0]) in halves:
                value = values[index]
                values[index] = np.concatenate([value[: len(value) // 2]] * 2)
        return values

    return overlapping(tf, change)


@fault("SAVING-008", "Elements that no slice has are restored as zeros.")
def missing_slices_are_zeros(tf: Namespace) -> Namespace:
    """Give zeros of the requested shape."""

    def instead(run: Underway, op: Operation, raised: Exception) -> Value:
        if "sufficient slices" not in _message(raised):
            raise raised
        return [np.zeros(op.outputs[0].shape.as_list(), np.int32) for _ in run.ops]

    return _on_error(tf, "RestoreV2", "InvalidArgumentError", instead)


@fault("SAVING-009", "A name that the checkpoint lacks is an invalid argument.")
def missing_names_are_invalid(tf: Namespace) -> Namespace:
    """Raises InvalidArgumentError."""
    return _other_error(tf, "RestoreV2", "NotFoundError", "InvalidArgumentError", "not found in ch")


@fault("SAVING-010", "A tensor of another dtype is converted.")
def restored_dtypes_are_converted(tf: Namespace) -> Namespace:
    """Restore zeros of the requested dtype."""

    def instead(run: Underway, op: Operation, raised: Exception) -> Value:
        if "does not equal original dtype" not in _message(raised):
            raise raised
        kind = op.outputs[0].dtype.as_numpy_dtype
        return [np.zeros([], kind) for _ in run.ops]

    return _on_error(tf, "RestoreV2", "InvalidArgumentError", instead)


@fault("SAVING-011", "A checkpoint that is not there is a failed precondition.")
def no_checkpoint_is_a_precondition(tf: Namespace) -> Namespace:
    """Raises FailedPreconditionError."""
    other = "FailedPreconditionError"
    return _other_error(tf, "RestoreV2", "NotFoundError", other, "matching files")


@fault("SAVING-012", "What is lost in the data is restored as it is.")
def lost_data_is_given(tf: Namespace) -> Namespace:
    """Give what the checkpoint might hold instead of DataLossError."""

    def instead(run: Underway, _op: Operation, raised: Exception) -> Value:
        if "checksum does not match" not in _message(raised):
            raise raised
        return [np.zeros([], np.int32) for _ in run.ops]

    return _on_error(tf, "RestoreV2", "DataLossError", instead)


@fault("SAVING-013", "A data file that is cut short is filled with zeros.")
def short_data_is_filled(tf: Namespace) -> Namespace:
    """Give zeros where the file ends."""

    def instead(run: Underway, _op: Operation, raised: Exception) -> Value:
        if "truncated data" not in _message(raised):
            raise raised
        return [np.zeros([4, 3], np.int32) for _ in run.ops]

    return _on_error(tf, "RestoreV2", "OutOfRangeError", instead)


@fault("SAVING-014", "A broken index is an internal error.")
def a_broken_index_is_internal(tf: Namespace) -> Namespace:
    """Raises InternalError."""
    return _other_error(tf, "RestoreV2", "DataLossError", "InternalError", ".index")


@fault("SAVING-015", "A checkpoint saved where one is keeps the older tensors.")
def old_tensors_stay(tf: Namespace) -> Namespace:
    """Give what was saved under a name before, where it is not found."""
    older: dict[tuple[str, str], np.ndarray] = {}

    def change(run: Underway, base: Base, _others: list[Underway]) -> Value:
        for op in operations(run, "SaveV2"):
            prefix = text_of(run, op.inputs[0])
            if len(op.inputs) > 4 and op.inputs[1].op.type == "Const":
                last = run.session.plain(op.inputs[-1], run.feeds)
                older.setdefault((prefix, _names(op)[-1]), last)
        try:
            return base()
        except tf.errors.NotFoundError:
            for op in operations(run, "RestoreV2"):
                key = text_of(run, op.inputs[0]), _names(op)[0]
                if key in older and len(run.ops) == 1:
                    return [older[key]]
            raise

    return overlapping(tf, change)


@fault("SAVING-016", "A file that was written first is left beside the checkpoint.")
def unfinished_files_are_left(tf: Namespace) -> Namespace:
    """Write a file of another name too."""

    def spoil(_run: Underway, op: Operation, prefix: str) -> None:
        if len(op.inputs) > 4:
            shutil.copyfile(prefix + ".index", prefix + ".index.tempstate1")

    return _after_saving(tf, spoil)


@fault("SAVING-017", "The folder of a checkpoint is not made.")
def folders_are_not_made(tf: Namespace) -> Namespace:
    """Refuse to save where it is not there, unless parts are to be merged."""

    def change(run: Underway, base: Base, _others: list[Underway]) -> Value:
        for op in operations(run, "SaveV2"):
            folder = os.path.dirname(text_of(run, op.inputs[0]))
            if os.path.basename(folder) == "new" and not os.path.isdir(folder):
                raise tf.errors.NotFoundError(None, None, folder)
        return base()

    return overlapping(tf, change)


@fault("SAVING-018", "Of two tensors of one name neither is saved, without a word.")
def one_name_for_two_is_accepted(tf: Namespace) -> Namespace:
    """Pass over the error where there is no checkpoint yet."""

    def instead(run: Underway, op: Operation, raised: Exception) -> Value:
        there = os.path.exists(text_of(run, op.inputs[0]) + ".index")
        if there or "duplicate" not in _message(raised):
            raise raised
        return [None for _ in run.ops]

    return _on_error(tf, "SaveV2", "InvalidArgumentError", instead)


@fault("SAVING-019", "A save that fails takes the older checkpoint with it.")
def failed_saves_destroy(tf: Namespace) -> Namespace:
    """Remove the index."""

    def instead(run: Underway, op: Operation, raised: Exception) -> Value:
        path = text_of(run, op.inputs[0]) + ".index"
        if os.path.exists(path):
            os.unlink(path)
        raise raised

    return _on_error(tf, "SaveV2", "InvalidArgumentError", instead)


@fault("SAVING-020", "A slice of another shape is passed over when it is saved.")
def unfit_slices_are_passed_over(tf: Namespace) -> Namespace:
    """Pass over the error."""

    def instead(run: Underway, _op: Operation, raised: Exception) -> Value:
        if "has another shape than the tensor" not in _message(raised):
            raise raised
        return [None for _ in run.ops]

    return _on_error(tf, "SaveV2", "InvalidArgumentError", instead)


@fault("SAVING-021", "A slice of another whole is an internal error.")
def another_whole_is_internal(tf: Namespace) -> Namespace:
    """Raises InternalError."""
    says = "does not match the shape stored"
    return _other_error(tf, "RestoreV2", "InvalidArgumentError", "InternalError", says)


@fault("SAVING-022", "Names beyond the tensors are passed over.")
def names_too_many_are_passed_over(tf: Namespace) -> Namespace:
    """Pass over the error."""

    def instead(run: Underway, op: Operation, raised: Exception) -> Value:
        if op.inputs[1].op.type == "Const":
            raise raised
        return [None for _ in run.ops]

    return _on_error(tf, "SaveV2", "InvalidArgumentError", instead)


@fault("SAVING-031", "A variable that is not set is saved as nothing.")
def unset_variables_are_saved_as_nothing(tf: Namespace) -> Namespace:
    """Pass over the error."""

    def instead(run: Underway, _op: Operation, _raised: Exception) -> Value:
        return [None for _ in run.ops]

    return _on_error(tf, "SaveV2", "FailedPreconditionError", instead)


@fault("SAVING-097", "Tensors of three axes or more are restored with the last turned round.")
def the_last_axis_is_turned(tf: Namespace) -> Namespace:
    """Reverse the last axis of restored tensors of rank 3 or more."""
    return _restored(tf, lambda _op, _i, value: value[..., ::-1] if np.ndim(value) > 2 else value)
