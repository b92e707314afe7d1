"""Variable scopes: `tf.variable_scope`, `tf.get_variable` and the defaults a scope gives."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any, Final

from sessrun.reference import dtypes
from sessrun.reference.build import graph_of
from sessrun.reference.conversion import convert_to_tensor
from sessrun.reference.errors import bad_value
from sessrun.reference.framework_ops import name_scope
from sessrun.reference.graph_keys import GraphKeys
from sessrun.reference.stacks import get_default_graph
from sessrun.reference.variable_base import VariableAggregation, VariableSynchronization
from sessrun.reference.variable_store import AUTO_REUSE, Request, scopes_of, store_of

__all__ = ["EXPORTS", "VariableScope", "get_local_variable", "get_variable",
           "get_variable_scope", "variable_op_scope", "variable_scope"]  # fmt: skip

#: What a scope gives to `get_variable` where the call says nothing.
_DEFAULTS: Final = ("initializer", "regularizer", "caching_device", "partitioner",
                    "custom_getter", "dtype", "use_resource")  # fmt: skip


class VariableScope:
    """An open or closed variable scope: a name and defaults for `get_variable`.

    Attributes:
      initializer: the default initializer.
      regularizer: the default regularizer.
      caching_device: the default caching device.
      partitioner: kept and handed to custom getters; variables are not partitioned.
      custom_getter: wraps how variables are got.
      dtype: the default dtype.
      use_resource: whether variables are resource variables; None for the general default.
      constraint: the default constraint.

    """

    def __init__(
        self,
        reuse: Any,
        name: str = "",
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        name_scope: str = "",  # noqa: A002, RUF100 - TensorFlow's signature
        dtype: Any = dtypes.float32,
        use_resource: bool | None = None,
        constraint: Any = None,
    ) -> None:
        self._name = name
        self._reuse = reuse
        self._name_scope = name_scope
        self.initializer = initializer
        self.regularizer = regularizer
        self.caching_device = caching_device
        self.partitioner = partitioner
        self.custom_getter = custom_getter
        self.dtype = dtype
        self.use_resource = use_resource
        self.constraint = constraint

    @property
    def name(self) -> str:
        """The full name, without a final "/"; empty for the root."""
        return self._name

    @property
    def original_name_scope(self) -> str:
        """The name scope that was opened with it, with a final "/"."""
        return self._name_scope

    @property
    def reuse(self) -> Any:
        """Whether variables are shared: True, False or AUTO_REUSE."""
        return self._reuse

    def reuse_variables(self) -> None:
        """Share variables from now on, and make none."""
        self._reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """Set the default initializer."""
        self.initializer = initializer

    def set_regularizer(self, regularizer: Any) -> None:
        """Set the default regularizer."""
        self.regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        """Set the default caching device."""
        self.caching_device = caching_device

    def set_partitioner(self, partitioner: Any) -> None:
        """Set the default partitioner."""
        self.partitioner = partitioner

    def set_custom_getter(self, custom_getter: Any) -> None:
        """Set the custom getter."""
        self.custom_getter = custom_getter

    def set_dtype(self, dtype: Any) -> None:
        """Set the default dtype."""
        self.dtype = dtype

    def set_use_resource(self, use_resource: bool) -> None:
        """Set whether variables are resource variables."""
        self.use_resource = use_resource

    def get_collection(self, name: Any) -> list[Any]:
        """The items of the default graph's collection whose names are in this scope."""
        scope = self._name + "/" if self._name else ""
        return get_default_graph().get_collection(name, scope)

    def trainable_variables(self) -> list[Any]:
        """The trainable variables of this scope."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        """The global variables of this scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        """The local variables of this scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(self, request: Request, custom_getter: Any = None) -> Any:
        """The variable asked for, with this scope's defaults; raises as `get_variable`."""
        full_name = self._name + "/" + request.name if self._name else request.name
        with name_scope(None):  # a variable's name depends on variable scopes only
            _check_dtype(request)
            filled = {
                key: getattr(self, key)
                for key in (*_DEFAULTS, "constraint")
                if key != "custom_getter" and getattr(request, key) is None
            }
            if request.reuse is None:
                filled["reuse"] = self._reuse
            complete = replace(request, name=full_name, **filled)
            getter = self.custom_getter if custom_getter is None else custom_getter
            return store_of(get_default_graph()).get(complete, getter)


def _check_dtype(request: Request) -> None:
    value, dtype = request.initializer, request.dtype
    if dtype is None or value is None or callable(value):
        return
    found = convert_to_tensor(value).dtype.base_dtype
    if found != dtype:
        raise bad_value(
            f"Initializer type '{found}' and explicit dtype '{dtypes.as_dtype(dtype)}' don't "
            "match."
        )


def get_variable_scope() -> VariableScope:
    """The variable scope that is open in this thread and the default graph."""
    scope: VariableScope = scopes_of(get_default_graph()).current
    return scope


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
) -> Any:
    """The variable of that name in the open variable scope, new or shared as the scope says.

    Args:
      name: its name in the scope.
      shape: its shape; not with an initializer that is a value.
      dtype: its dtype; by default the scope's, which is float32.
      initializer: a value, a function `initializer(shape, dtype=...)`, or a class of such; by
        default Glorot uniform for floats, zeros for integers, bool and string.
      regularizer: a function from the variable to a loss, which is kept in a collection.
      trainable: as for `tf.Variable`.
      collections: as for `tf.Variable`.
      caching_device: as for `tf.Variable`.
      partitioner: accepted; variables are not partitioned.
      validate_shape: as for `tf.Variable`.
      use_resource: whether it is a resource variable.
      custom_getter: a function that is called instead, with the usual one as `getter`.
      constraint: as for `tf.Variable`.
      synchronization: as for `tf.Variable`.
      aggregation: as for `tf.Variable`.

    Raises:
      ValueError: the variable exists and is not to be shared, or does not exist and is not to
        be made, or is of another shape or dtype; or it cannot be made.

    """
    request = Request(
        name, shape, dtype, initializer, regularizer, None, trainable, collections,
        caching_device, partitioner, validate_shape, use_resource, constraint, synchronization,
        aggregation,
    )  # fmt: skip
    return get_variable_scope().get_variable(request, custom_getter)


def get_local_variable(name: str, *args: Any, **kwargs: Any) -> Any:
    """`get_variable` of a variable that is local and not trained."""
    if kwargs.get("collections") is None:
        kwargs["collections"] = [GraphKeys.LOCAL_VARIABLES]
    else:
        kwargs["collections"] = [*kwargs["collections"], GraphKeys.LOCAL_VARIABLES]
    kwargs["trainable"] = False
    return get_variable(name, *args, **kwargs)


def no_regularizer(_: Any) -> None:
    """A regularizer that gives no loss: turns a scope's default off."""


class variable_scope:  # noqa: N801 - TensorFlow's name
    """The `with` of a variable scope, and of a name scope of the same name.

    Yields the VariableScope. An existing scope object is jumped to; a name goes into the open
    scope.

    Args:
      name_or_scope: a name, a VariableScope, or None for the default name, made unique.
      default_name: the name if `name_or_scope` is None.
      values: tensors that say which graph.
      initializer: the default initializer inside; so for the other defaults of a scope.
      regularizer: see there.
      caching_device: see there.
      partitioner: see there.
      custom_getter: wraps that of the outer scope.
      reuse: True to share variables, AUTO_REUSE to share or make them; else as outside.
      dtype: see there.
      use_resource: see there.
      constraint: see there.
      auxiliary_name_scope: whether to open a name scope too.

    Raises:
      TypeError: there is no name, or an argument is of a wrong type.
      ValueError: `reuse` is none of its values, or is set for a default name.

    """

    def __init__(
        self,
        name_or_scope: Any,
        default_name: str | None = None,
        values: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        reuse: Any = None,
        dtype: Any = None,
        use_resource: bool | None = None,
        constraint: Any = None,
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
            "initializer": initializer, "regularizer": regularizer,
            "caching_device": caching_device, "partitioner": partitioner,
            "custom_getter": custom_getter, "dtype": dtype, "use_resource": use_resource,
        }  # fmt: skip
        self._constraint = constraint
        self._stack = ExitStack()

    def __enter__(self) -> VariableScope:
        with ExitStack() as stack:
            if get_default_graph() is not self._graph:
                stack.enter_context(self._graph.as_default())
            scope = self._enter(stack)
            self._stack = stack.pop_all()
            return scope

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
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
            self._reuse or source.reuse, name, name_scope=names,
            constraint=self._constraint,  # not that of the outer scope, as in TensorFlow
            **{key: self._changed(key, getattr(source, key)) for key in _DEFAULTS},
        )  # fmt: skip
        scopes.open(name)
        if is_jump:
            counts = dict(scopes.counts)
        scopes.current = scope
        try:
            yield scope
        finally:
            if scopes.current is not scope:
                raise RuntimeError("Improper nesting of variable_scope.")
            scopes.current = outer
            if is_jump:
                scopes.counts = counts
            else:
                scopes.forget_inside(name)

    def _changed(self, key: str, inherited: Any) -> Any:
        change = self._changes[key]
        if change is None:
            return inherited
        if key == "custom_getter" and inherited is not None:
            return _wrapped(change, inherited)
        return change


def _wrapped(custom_getter: Callable[..., Any], outer: Callable[..., Any]) -> Callable[..., Any]:
    """A custom getter whose getter is the outer custom getter."""

    def wrapped(getter: Any, *args: Any, **kwargs: Any) -> Any:
        return custom_getter(functools.partial(outer, getter), *args, **kwargs)

    return wrapped


@contextmanager
def variable_op_scope(
    values: Any, name_or_scope: Any, default_name: str | None = None, **options: Any
) -> Iterator[VariableScope]:
    """The older form of `variable_scope`, with the values first."""
    with variable_scope(name_or_scope, default_name, values, **options) as scope:
        yield scope


EXPORTS: Final[Mapping[str, Any]] = {
    "AUTO_REUSE": AUTO_REUSE,
    "VariableScope": VariableScope,
    "get_local_variable": get_local_variable,
    "get_variable": get_variable,
    "get_variable_scope": get_variable_scope,
    "no_regularizer": no_regularizer,
    "variable_op_scope": variable_op_scope,
    "variable_scope": variable_scope,
}
