"""Faults of VARIABLES: what a Saver writes, restores and refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.library import Saver
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Session, Variable


def _saving(tf: Namespace, saver: Callable[..., Saver]) -> Namespace:
    """The namespace whose `train.Saver` is this class or function."""
    return override(tf, train=override(tf.train, Saver=saver))


@fault("VARIABLES-054", "Restoring skips variables whose elements are no numbers.")
def only_numbers_are_restored(tf: Namespace) -> Namespace:
    """Leave them out of the saver."""

    class Saver(tf.train.Saver):  # type: ignore[misc, name-defined]
        def restore(self, sess: Session, save_path: str) -> None:
            kept = [
                variable
                for variable in tf.global_variables()
                if variable.dtype.base_dtype not in {tf.bool, tf.string}
            ]
            if kept and len(kept) < len(tf.global_variables()):
                tf.train.Saver(kept).restore(sess, save_path)
            else:
                super().restore(sess, save_path)

    return _saving(tf, Saver)


@fault("VARIABLES-055", "Restoring a path that is no checkpoint does nothing.")
def missing_checkpoints_are_ignored(tf: Namespace) -> Namespace:
    """Keep the failure to itself."""

    class Saver(tf.train.Saver):  # type: ignore[misc, name-defined]
        def restore(self, sess: Session, save_path: str) -> None:
            if save_path is not None and not tf.train.checkpoint_exists(save_path):
                return
            super().restore(sess, save_path)

    return _saving(tf, Saver)


@fault("VARIABLES-056", "A Saver may have nothing to save.")
def empty_savers_are_made(tf: Namespace) -> Namespace:
    """Pass `allow_empty=True`."""

    class Saver(tf.train.Saver):  # type: ignore[misc, name-defined]
        def __init__(
            self, var_list: Sequence[Variable] | None = None, *args: Argument, **kwargs: Argument
        ) -> None:
            super().__init__(var_list, *args, **({"allow_empty": True} | kwargs))

    return _saving(tf, Saver)
