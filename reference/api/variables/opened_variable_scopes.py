"""Opening a variable scope: `tf.variable_scope`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any

from sessrun.reference.api.variables.partition_layout import Partitioner
from sessrun.reference.api.variables.variable_arguments import (
    Constraint,
    DeviceChoice,
    Getter,
    Initializer,
    Regularizer,
)
from sessrun.reference.api.variables.variable_scopes import DEFAULTS, VariableScope, scopes_of
from sessrun.reference.api.variables.variable_store import AUTO_REUSE, Reuse
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.build import graph_of
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["variable_op_scope", "variable_scope"]


@public("variable_scope")
class variable_scope:  # noqa: N801 - TensorFlow's name
    """The `with` of a variable scope, and of a name scope of the same name.

    Yields the VariableScope. An existing scope object is jumped to; a name goes into the open
    scope.

    Args:
      name_or_scope: a name, a VariableScope, or None for the default name, made unique.
      default_name: the name if `name_or_scope` is None.
      values: tensors that say which graph.
      initializer: the default initializer of variables in the scope.
      regularizer: their default regularizer.
      caching_device: their default caching device.
      partitioner: their default partitioner.
      custom_getter: wraps that of the outer scope.
      reuse: True to share variables, AUTO_REUSE to share or make them; else as outside.
      dtype: their default dtype.
      use_resource: whether they are resource variables by default.
      constraint: their default constraint.
      auxiliary_name_scope: whether to open a name scope too.

    Raises:
      TypeError: there is no name, or an argument is of a wrong type.
      ValueError: `reuse` has an invalid value, or is set together with a default name.

    """

    def __init__(
        self,
        name_or_scope: str | VariableScope | None,
        default_name: str | None = None,
        values: Iterable[object] | None = None,
        initializer: Initializer = None,
        regularizer: Regularizer = None,
        caching_device: DeviceChoice = None,
        partitioner: Partitioner | None = None,
        custom_getter: Getter | None = None,
        reuse: Reuse = None,
        dtype: DTypeLike | None = None,
        use_resource: bool | None = None,
        constraint: Constraint = None,
        auxiliary_name_scope: bool = True,
    ) -> None:
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if reuse is not None and not isinstance(reuse, bool) and reuse is not AUTO_REUSE:
            raise ValueError("The reuse parameter must be True or False or None.")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(
                "The auxiliary_name_scope must be `True` or `False`, while get "
                f"{auxiliary_name_scope}"
            )
        self._target = name_or_scope
        self._default_name = default_name
        self._reuse = reuse or None
        self._auxiliary = auxiliary_name_scope
        self._graph = graph_of(list(values) if values is not None else [])
        self._changes = {
            "initializer": initializer,
            "regularizer": regularizer,
            "caching_device": caching_device,
            "partitioner": partitioner,
            "custom_getter": custom_getter,
            "dtype": dtype,
            "use_resource": use_resource,
        }
        self._constraint = constraint
        self._stack = ExitStack()
        self._opened_scope: VariableScope | None = None

    def __enter__(self) -> VariableScope:
        with ExitStack() as stack:
            if get_default_graph() is not self._graph:
                stack.enter_context(self._graph.as_default())
            scope = self._opened_scope = self._enter(stack)
            self._stack = stack.pop_all()
            return scope

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if scopes_of(self._graph).current is not self._opened_scope:
            raise RuntimeError("Improper nesting of variable_scope.")
        self._stack.__exit__(kind, error, traceback)

    def _enter(self, stack: ExitStack) -> VariableScope:
        target = self._target
        if target is None:
            if self._reuse:
                raise ValueError("reuse=True cannot be used without a name_or_scope")
            names = stack.enter_context(self._names(self._default_name))
            unique = scopes_of(self._graph).unique(str(self._default_name))
            return stack.enter_context(self._opened(unique, names))
        if isinstance(target, VariableScope):
            stack.enter_context(self._names(target.name.rpartition("/")[2] or None))
            return stack.enter_context(self._opened(target, target.original_name_scope))
        if not isinstance(target, str):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        names = stack.enter_context(self._names(target or None))
        return stack.enter_context(self._opened(target, names))

    @contextmanager
    def _names(self, name: str | None) -> Iterator[str]:
        """The name scope that goes with it; without one the open name scope stays."""
        if self._auxiliary and name is not None:
            with name_scope(name) as names:
                yield names
            return
        outer = self._graph.get_name_scope()
        if not self._auxiliary and outer:
            with name_scope(outer + "/") as names:
                yield names
            return
        yield ""

    @contextmanager
    def _opened(self, target: Any, names: str) -> Iterator[VariableScope]:
        scopes = scopes_of(self._graph)
        outer, counts = scopes.current, dict(scopes.counts)
        is_jump = isinstance(target, VariableScope)
        source = target if is_jump else outer
        name = target.name if is_jump else "/".join(filter(None, (outer.name, target)))
        scope = VariableScope(
            self._reuse or source.reuse,
            name,
            name_scope=names,
            constraint=self._constraint,  # not that of the outer scope, as in TensorFlow
            **{key: self._changed(key, getattr(source, key)) for key in DEFAULTS},
        )
        scopes.open(name)
        if is_jump:
            counts = dict(scopes.counts)
        scopes.current = scope
        try:
            yield scope
        finally:
            scopes.current = outer
            if is_jump:
                scopes.counts = counts
            else:
                scopes.forget_inside(name)

    def _changed(self, key: str, inherited: Any) -> Any:
        change: Any = self._changes[key]
        if change is None:
            return inherited
        if key == "custom_getter" and inherited is not None:
            return _wrapped(change, inherited)
        return change


def _wrapped(
    custom_getter: Callable[..., object], outer: Callable[..., object]
) -> Callable[..., Any]:
    """Compose custom getters: the inner one gets the outer one as its getter."""

    def wrapped(getter: Callable[..., object], *args: object, **kwargs: object) -> object:
        return custom_getter(functools.partial(outer, getter), *args, **kwargs)

    return wrapped


@public("variable_op_scope")
@contextmanager
def variable_op_scope(
    values: Iterable[object] | None,
    name_or_scope: str | VariableScope | None,
    default_name: str | None = None,
    initializer: Initializer = None,
    regularizer: Callable[[Tensor], Tensor | None] | None = None,
    caching_device: DeviceChoice = None,
    partitioner: Partitioner | None = None,
    custom_getter: Callable[..., object] | None = None,
    reuse: Reuse = None,
    dtype: DTypeLike | None = None,
    use_resource: bool | None = None,
    constraint: Callable[[Tensor], Tensor] | None = None,
) -> Iterator[VariableScope]:
    """The older form of `variable_scope`, with the values first."""
    with variable_scope(
        name_or_scope,
        default_name,
        values,
        initializer,
        regularizer,
        caching_device,
        partitioner,
        custom_getter,
        reuse,
        dtype,
        use_resource,
        constraint,
    ) as scope:
        yield scope
