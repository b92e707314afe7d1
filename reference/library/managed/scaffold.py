"""`tf.train.Scaffold`: the operations that make the model of a graph ready. Source: TF 2.21."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final, TypeVar

from sessrun.reference.api.ops.array_ops import concat
from sessrun.reference.api.ops.summary_ops import merge_all
from sessrun.reference.api.saving.saver import Saver
from sessrun.reference.api.tables.table_initializers import tables_initializer
from sessrun.reference.api.variables import shared_resources
from sessrun.reference.api.variables.variable_lists import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from sessrun.reference.base import log_messages
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build.framework_ops import group
from sessrun.reference.graph.default_graph import (
    add_to_collection,
    get_collection,
    get_default_graph,
)
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public
from sessrun.reference.session.resolve.feeds import FeedDict
from sessrun.reference.session.session import Session

__all__ = ["Scaffold"]

#: Operations of loaded models, which initialize them.
LOADED_INITIALIZERS: Final = "saved_model_initializers"


#: A part of a scaffold: an operation, a tensor or a saver.
Part = TypeVar("Part")


def _kept(name: str, text: str) -> Any:
    """A read-only property of a scaffold."""
    return property(operator.attrgetter(f"_{name}"), doc=text)


#: The parts that a scaffold copies from another one, in the order of the arguments.
_TAKEN_OVER: Final = (
    "init_op",
    "init_feed_dict",
    "ready_op",
    "ready_for_local_init_op",
    "local_init_op",
    "local_init_feed_dict",
    "summary_op",
    "saver",
)


@public("train.Scaffold")
class Scaffold:
    """The operations that prepare a model: given, else from a collection, else created.

    Args:
      init_op: initializes the model where no checkpoint is restored.
      init_feed_dict: what `init_op` is fed.
      init_fn: is called after `init_op` with the scaffold and the session.
      ready_op: a string tensor of the names of uninitialized variables, empty once it is ready.
      ready_for_local_init_op: gives the names of what `local_init_op` still waits for.
      local_init_op: initializes what each session has for itself.
      summary_op: the merged summaries.
      saver: saves and restores the model.
      copy_from_scaffold: a Scaffold whose values replace arguments that are not given.
      local_init_feed_dict: what `local_init_op` is fed.

    Raises:
      TypeError: `copy_from_scaffold` is not a scaffold.

    """

    init_op = _kept("init_op", "Initializes the model.")
    init_feed_dict = _kept("init_feed_dict", "What `init_op` is fed.")
    init_fn = _kept("init_fn", "Is called after `init_op`, with the session.")
    ready_op = _kept("ready_op", "Gives the names of what is not initialized.")
    ready_for_local_init_op = _kept(
        "ready_for_local_init_op", "Gives the names of what `local_init_op` still waits for."
    )
    local_init_op = _kept("local_init_op", "Initializes what each session has for itself.")
    local_init_feed_dict = _kept("local_init_feed_dict", "What `local_init_op` is fed.")
    summary_op = _kept("summary_op", "The merged summaries.")
    saver = _kept("saver", "Saves and restores the model.")

    def __init__(
        self,
        init_op: Tensor | Operation | None = None,
        init_feed_dict: FeedDict | None = None,
        init_fn: Callable[[Scaffold, Session], object] | None = None,
        ready_op: Tensor | None = None,
        ready_for_local_init_op: Tensor | None = None,
        local_init_op: Tensor | Operation | None = None,
        summary_op: Tensor | None = None,
        saver: Saver | None = None,
        copy_from_scaffold: Scaffold | None = None,
        local_init_feed_dict: FeedDict | None = None,
    ) -> None:
        self._init_op = init_op
        self._init_feed_dict = init_feed_dict
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._local_init_op = local_init_op
        self._local_init_feed_dict = local_init_feed_dict
        self._summary_op = summary_op
        self._saver = saver
        other = copy_from_scaffold
        if other is not None:
            if not isinstance(other, Scaffold):
                raise TypeError("copy_from_scaffold is not a Scaffold instance.")
            for name in _TAKEN_OVER:
                if getattr(self, name) is None:
                    setattr(self, f"_{name}", getattr(other, name))
            init_fn = other.user_init_fn if init_fn is None else init_fn
        #: The `init_fn` argument, a function of the scaffold and the session.
        self.user_init_fn: Callable[[Scaffold, Session], object] | None = init_fn
        self._init_fn = (lambda sess: init_fn(self, sess)) if init_fn else None

    def finalize(self) -> Scaffold:
        """Complete missing parts from collections or defaults, and finalize the default graph.

        Raises:
          RuntimeError: a collection has more than one item to choose from.

        """
        defaults = (
            ("init_op", GraphKeys.INIT_OP, self._default_init_op),
            ("ready_op", GraphKeys.READY_OP, self._default_ready_op),
            (
                "ready_for_local_init_op",
                GraphKeys.READY_FOR_LOCAL_INIT_OP,
                self._default_ready_for_local_init_op,
            ),
            ("local_init_op", GraphKeys.LOCAL_INIT_OP, self.default_local_init_op),
            ("summary_op", GraphKeys.SUMMARY_OP, merge_all),
            ("saver", GraphKeys.SAVERS, _default_saver),
        )
        for name, collection, make in defaults:
            if getattr(self, name) is None:
                setattr(self, f"_{name}", self.get_or_default(name, collection, make))
        assert self._saver is not None  # the defaults have set it
        self._saver.build()
        get_default_graph().finalize()
        log_messages.info("Graph was finalized.")
        return self

    @staticmethod
    def get_or_default(
        arg_name: str, collection_key: str, default_constructor: Callable[[], Part]
    ) -> Part:
        """The only item of a collection of the default graph; an empty one gets a default item.

        Raises:
          RuntimeError: the collection has more than one.

        """
        items = get_collection(collection_key)
        if len(items) > 1:
            raise RuntimeError(
                f'More than one item in the collection "{collection_key}". Please indicate which '
                f"one to use by passing it to the tf.Scaffold constructor as:  "
                f"tf.Scaffold({arg_name}=item to use)"
            )
        if items:
            only_item: Part = items[0]
            return only_item
        item = default_constructor()
        if item is not None:
            add_to_collection(collection_key, item)
        return item

    @staticmethod
    def default_local_init_op() -> Operation:
        """An operation that initializes local variables, tables and local resources."""
        return group(
            local_variables_initializer(),
            tables_initializer(),
            shared_resources.initialize_resources(shared_resources.local_resources()),
        )

    @staticmethod
    def _default_init_op() -> Operation:
        return group(
            global_variables_initializer(),
            shared_resources.initialize_resources(shared_resources.shared_resources()),
            get_collection(LOADED_INITIALIZERS),
        )

    @staticmethod
    def _default_ready_op() -> Tensor:
        return concat(
            [report_uninitialized_variables(), shared_resources.report_uninitialized_resources()], 0
        )

    @staticmethod
    def _default_ready_for_local_init_op() -> Tensor:
        return concat(
            [
                report_uninitialized_variables(global_variables()),
                shared_resources.report_uninitialized_resources(
                    shared_resources.shared_resources()
                ),
            ],
            0,
        )


def _default_saver() -> Saver:
    return Saver(sharded=True, allow_empty=True)
