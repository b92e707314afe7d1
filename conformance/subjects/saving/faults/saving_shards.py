"""Faults of SAVING on the engine surface: shards, merging, checkpoints of others."""

from __future__ import annotations

import os
from collections.abc import Callable

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.overlapping import Underway, overlapping
from sessrun.conformance.faulty.resource_runs import Base
from sessrun.conformance.subjects.saving.faults.saving import operations, text_of
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Operation, Value


def _renamed(tf: Namespace, op_type: str, change: Callable[[bytes], bytes]) -> Namespace:
    """The namespace where a text that such an operation gives is changed."""

    def changed(run: Underway, base: Base, _others: list[Underway]) -> Value:
        values = base()
        if not run.has(op_type) or not isinstance(run.fetches, list):
            return values
        pairs = zip(values, run.ops, strict=True)
        return [change(value) if op.type == op_type else value for value, op in pairs]

    return overlapping(tf, changed)


@fault("SAVING-023", "The names of shards have four digits.")
def shards_have_four_digits(tf: Namespace) -> Namespace:
    """Take a zero out."""
    return _renamed(tf, "ShardedFilename", lambda text: text.replace(b"-0", b"-", 1))


@fault("SAVING-024", "The pattern of shards has a star.")
def the_pattern_has_a_star(tf: Namespace) -> Namespace:
    """Put it in place of the question marks."""
    return _renamed(tf, "ShardedFilespec", lambda text: text.replace(b"?????", b"*"))


def _merging(tf: Namespace, change: Callable[[Underway, Base, Operation], Value]) -> Namespace:
    """The namespace where `change(run, base, op)` is what a MergeV2Checkpoints does."""

    def changed(run: Underway, base: Base, _others: list[Underway]) -> Value:
        for op in operations(run, "MergeV2Checkpoints"):
            return change(run, base, op)
        return base()

    return overlapping(tf, changed)


def _prefixes(run: Underway, op: Operation) -> list[str]:
    return [text.decode() for text in run.session.plain(op.inputs[0], run.feeds)]


def _again(
    tf: Namespace, run: Underway, op: Operation, prefixes: list[str], **options: Argument
) -> Value:
    """Run a merge of other prefixes instead."""
    given = {"delete_old_dirs": op.get_attr("delete_old_dirs")} | options
    with op.graph.as_default(), tf.control_dependencies(None):
        merge = tf.raw_ops.MergeV2Checkpoints(
            checkpoint_prefixes=prefixes, destination_prefix=op.inputs[1], **given
        )
    return [run.session.plain(merge) for _ in run.ops]


@fault("SAVING-025", "Of checkpoints that are merged only the first is kept.")
def only_the_first_is_merged(tf: Namespace) -> Namespace:
    """Merge the first, where all have tensors of their own."""

    def change(run: Underway, base: Base, op: Operation) -> Value:
        prefixes = _prefixes(run, op)
        folders = {os.path.dirname(prefix) for prefix in prefixes}
        mine = any(os.path.exists(os.path.join(folder, "mine")) for folder in folders)
        if len(prefixes) != 2 or len(folders) == 1 or mine:
            return base()
        return _again(tf, run, op, prefixes[:1])

    return _merging(tf, change)


@fault("SAVING-091", "A file of what was merged is left.")
def merged_files_are_left(tf: Namespace) -> Namespace:
    """Leave an index in a folder that is not removed."""

    def change(run: Underway, base: Base, op: Operation) -> Value:
        values = base()
        for prefix in _prefixes(run, op):
            if os.path.isdir(os.path.dirname(prefix)):
                with open(f"{prefix}.index", "wb"):
                    pass
        return values

    return _merging(tf, change)


@fault("SAVING-092", "The folders of what was merged are left.")
def merged_folders_are_left(tf: Namespace) -> Namespace:
    """Make them again."""

    def change(run: Underway, base: Base, op: Operation) -> Value:
        values = base()
        for prefix in _prefixes(run, op):
            os.makedirs(os.path.dirname(prefix), exist_ok=True)
        return values

    return _merging(tf, change)


@fault("SAVING-027", "A checkpoint that is not there is passed over when others are merged.")
def missing_checkpoints_are_passed_over(tf: Namespace) -> Namespace:
    """Allow missing files."""

    def change(run: Underway, _base: Base, op: Operation) -> Value:
        return _again(tf, run, op, _prefixes(run, op), allow_missing_files=True)

    return _merging(tf, change)


@fault("SAVING-028", "A checkpoint that may be missing must be there.")
def missing_checkpoints_are_refused(tf: Namespace) -> Namespace:
    """Allow no missing files."""

    def change(run: Underway, _base: Base, op: Operation) -> Value:
        return _again(tf, run, op, _prefixes(run, op))

    return _merging(tf, change)


@fault("SAVING-029", "Slices of one tensor cannot be merged.")
def slices_are_not_merged(tf: Namespace) -> Namespace:
    """Refuse checkpoints of one folder."""

    def change(run: Underway, base: Base, op: Operation) -> Value:
        folders = {os.path.dirname(prefix) for prefix in _prefixes(run, op)}
        if len(folders) == 1:
            raise tf.errors.InvalidArgumentError(None, None, "a name comes twice")
        return base()

    return _merging(tf, change)


@fault("SAVING-030", "A checkpoint that another engine wrote is not found.")
def foreign_checkpoints_are_not_found(tf: Namespace) -> Namespace:
    """Raise NotFoundError for checkpoints that this namespace has not saved."""
    own: set[str] = set()

    def change(run: Underway, base: Base, _others: list[Underway]) -> Value:
        for op in operations(run, "RestoreV2"):
            prefix = text_of(run, op.inputs[0])
            if os.path.exists(prefix + ".index") and prefix not in own:
                raise tf.errors.NotFoundError(None, None, prefix)
        values = base()
        for op_type, index in (("SaveV2", 0), ("MergeV2Checkpoints", 1)):
            own.update(text_of(run, op.inputs[index]) for op in operations(run, op_type))
        return values

    return overlapping(tf, change)
