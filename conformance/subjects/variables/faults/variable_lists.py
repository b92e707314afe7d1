"""Faults of VARIABLES: how variables are made, listed, cut into slices, and shared."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Argument, Scope, TensorLike
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array, Call, Session, Tensor, Variable


def _getting(tf: Namespace, change: Callable[[str, dict[str, Argument]], Variable]) -> Namespace:
    """The namespace whose `get_variable` gives `change(name, other arguments by keyword)`."""

    def get_variable(name: str, *args: Argument, **kwargs: Argument) -> Variable:
        return change(name, dict(zip(("shape", "dtype"), args, strict=False)) | kwargs)

    return override(tf, get_variable=get_variable)


def _making(tf: Namespace, change: Call) -> Namespace:
    """The namespace whose `Variable` is `change`, which takes the same arguments."""
    return override(tf, Variable=change)


def _scopes(tf: Namespace, change: Callable[[dict[str, Argument]], object]) -> Namespace:
    """The namespace whose `variable_scope` passes its keyword arguments through `change` first."""

    def variable_scope(*args: Argument, **kwargs: Argument) -> Scope:
        change(kwargs)
        return tf.variable_scope(*args, **kwargs)

    return override(tf, variable_scope=variable_scope)


@fault("VARIABLES-088", "The regularizer of a scope counts for no variable of scopes inside.")
def inner_scopes_are_not_regularized(tf: Namespace) -> Namespace:
    """Give scopes without a regularizer one that gives None."""

    def change(kwargs: dict[str, Argument]) -> None:
        kwargs.setdefault("regularizer", lambda _: None)

    return _scopes(tf, change)


@fault("VARIABLES-089", "A variable is always among the global variables.")
def all_variables_are_global(tf: Namespace) -> Namespace:
    """Add the collection, but for local ones."""

    def change(
        *args: Argument, collections: Sequence[str] | None = None, **kwargs: Argument
    ) -> Variable:
        if collections and collections != ["mine"]:
            is_local = tf.GraphKeys.LOCAL_VARIABLES in collections
            collections = [*collections, *([] if is_local else [tf.GraphKeys.GLOBAL_VARIABLES])]
        return tf.Variable(*args, collections=collections, **kwargs)

    return _making(tf, change)


@fault("VARIABLES-090", "A shared variable comes whatever dtype it is asked for with.")
def shared_dtypes_are_not_compared(tf: Namespace) -> Namespace:
    """Drop the argument `dtype`."""

    def change(name: str, given: dict[str, Argument]) -> Variable:
        if tf.get_variable_scope().reuse is True:
            given.pop("dtype", None)
        return tf.get_variable(name, **given)

    return _getting(tf, change)


@fault("VARIABLES-091", "A shared variable must be asked for with its whole shape.")
def shared_shapes_must_be_whole(tf: Namespace) -> Namespace:
    """Raise ValueError where the shape is not fully given."""

    def change(name: str, given: dict[str, Argument]) -> Variable:
        shape = given.get("shape")
        is_open = shape is None or (isinstance(shape, Sequence) and None in shape)
        if tf.get_variable_scope().reuse is True and is_open:
            raise ValueError("The shape must be given.")
        return tf.get_variable(name, **given)

    return _getting(tf, change)


@fault("VARIABLES-092", "The dtype of a variable scope is ignored.")
def dtypes_of_scopes_are_ignored(tf: Namespace) -> Namespace:
    """Drop the argument `dtype`."""
    return _scopes(tf, lambda kwargs: kwargs.pop("dtype", None))


@fault("VARIABLES-093", "A local variable is trainable.")
def local_variables_are_trained(tf: Namespace) -> Namespace:
    """Add the variable to TRAINABLE_VARIABLES."""

    def get_local_variable(*args: Argument, **kwargs: Argument) -> Variable:
        variable = tf.get_local_variable(*args, **kwargs)
        tf.add_to_collection(tf.GraphKeys.TRAINABLE_VARIABLES, variable)
        return variable

    return override(tf, get_local_variable=get_local_variable)


@fault("VARIABLES-094", "report_uninitialized_variables asks of global variables only.")
def only_global_variables_are_asked(tf: Namespace) -> Namespace:
    """Pass the global variables where no list is given."""

    def report(
        var_list: Sequence[Variable] | None = None, *args: Argument, **kwargs: Argument
    ) -> Tensor:
        asked = tf.global_variables() if var_list is None else var_list
        return tf.report_uninitialized_variables(asked, *args, **kwargs)

    return override(tf, report_uninitialized_variables=report)


@fault("VARIABLES-095", "global_variables(scope) takes a whole scope's name.")
def scopes_are_listed_by_their_whole_name(tf: Namespace) -> Namespace:
    """Append a slash to the scope."""

    def global_variables(scope: str | None = None) -> list[Variable]:
        if scope and scope.isalpha():
            scope += "/"
        return tf.global_variables(scope)

    return override(tf, global_variables=global_variables)


@fault("VARIABLES-096", "Loading broadcasts a value to the variable's shape.")
def loaded_values_are_broadcast(tf: Namespace) -> Namespace:
    """Broadcast a scalar to the variable's shape."""

    def change(*args: Argument, **kwargs: Argument) -> Variable:
        variable = tf.Variable(*args, **kwargs)
        load = variable.load

        def broadcast(value: Array, session: Session | None = None) -> None:
            if np.ndim(value) == 0:
                value = np.broadcast_to(value, variable.shape.as_list())
            load(value, session)

        variable.load = broadcast
        return variable

    return _making(tf, change)


@fault("VARIABLES-097", "Variable.eval takes the default session rather than the one given.")
def the_default_session_evaluates(tf: Namespace) -> Namespace:
    """Ignore the given session where there is a default session."""

    def change(*args: Argument, **kwargs: Argument) -> Variable:
        variable = tf.Variable(*args, **kwargs)
        evaluate = variable.eval
        variable.eval = lambda session=None: evaluate(tf.get_default_session() or session)
        return variable

    return _making(tf, change)


@fault("VARIABLES-098", "A caching device is ignored.")
def caching_devices_are_ignored(tf: Namespace) -> Namespace:
    """Drop the argument `caching_device`."""

    def change(*args: Argument, **kwargs: Argument) -> Variable:
        kwargs.pop("caching_device", None)
        return tf.Variable(*args, **kwargs)

    return _making(tf, change)


@fault("VARIABLES-099", "A partitioner is ignored.")
def partitioners_are_ignored(tf: Namespace) -> Namespace:
    """Cut the variable into one slice."""

    def change(name: str, given: dict[str, Argument]) -> Variable:
        if given.get("partitioner") is not None:
            given["partitioner"] = tf.fixed_size_partitioner(1)
        return tf.get_variable(name, **given)

    return _getting(tf, change)


@fault("VARIABLES-100", "A partitioned variable is reused, however it is cut this time.")
def partitions_are_not_compared(tf: Namespace) -> Namespace:
    """Use a partitioner with the number of slices that the variable has."""

    def change(name: str, given: dict[str, Argument]) -> Variable:
        scope = tf.get_variable_scope()
        if scope.reuse is True and scope.partitioner is not None:
            slices = tf.global_variables(f"{scope.name}/{name}/part_")
            given["partitioner"] = tf.fixed_size_partitioner(len(slices))
        return tf.get_variable(name, **given)

    return _getting(tf, change)


@fault("VARIABLES-101", "A Variable can be iterated over.")
def variables_are_iterated_over(tf: Namespace) -> Namespace:
    """Add an `__iter__` that yields the variable's rows."""

    def change(*args: Argument, **kwargs: Argument) -> Variable:
        variable = tf.Variable(*args, **kwargs)
        kind = type(variable)
        rows = {"__iter__": lambda self: iter(tf.unstack(self.value()))}
        variable.__class__ = type(kind.__name__, (kind,), rows)
        return variable

    return _making(tf, change)


@fault("VARIABLES-102", "Only the innermost custom getter is called.")
def outer_getters_are_forgotten(tf: Namespace) -> Namespace:
    """Let inner getters skip the outer ones."""
    depth: list[Call] = []

    def variable_scope(
        *args: Argument, custom_getter: Call | None = None, **kwargs: Argument
    ) -> Scope:
        own = custom_getter
        if own is None:
            return tf.variable_scope(*args, **kwargs)
        depth.append(own)

        def innermost(getter: Call, *args: Argument, **kwargs: Argument) -> Variable:
            if own is depth[-1]:
                return own(getter, *args, **kwargs)
            return getter(*args, **kwargs)

        return tf.variable_scope(*args, custom_getter=innermost, **kwargs)

    return override(tf, variable_scope=variable_scope)


@fault("VARIABLES-103", "An initial value that is a function is called twice.")
def initial_values_are_called_twice(tf: Namespace) -> Namespace:
    """Call the initial value before the variable is made."""

    def change(
        initial_value: TensorLike | Callable[[], TensorLike] | None = None,
        *args: Argument,
        **kwargs: Argument,
    ) -> Variable:
        if callable(initial_value):
            initial_value()
        return tf.Variable(initial_value, *args, **kwargs)

    return _making(tf, change)


@fault("VARIABLES-104", "Unknown sizes of a new variable are 1.")
def unknown_sizes_are_one(tf: Namespace) -> Namespace:
    """Replace unknown sizes of the shape by 1."""

    def change(name: str, given: dict[str, Argument]) -> Variable:
        shape = given.get("shape")
        if isinstance(shape, list) and not tf.get_variable_scope().reuse:
            given["shape"] = [1 if size is None else size for size in shape]
        return tf.get_variable(name, **given)

    return _getting(tf, change)


@fault("VARIABLES-105", "The shape is ignored where the initializer is a tensor.")
def shapes_beside_tensors_are_ignored(tf: Namespace) -> Namespace:
    """Drop the shape where the initializer is a tensor."""

    def change(name: str, given: dict[str, Argument]) -> Variable:
        if hasattr(given.get("initializer"), "op"):
            given.pop("shape", None)
        return tf.get_variable(name, **given)

    return _getting(tf, change)


@fault("VARIABLES-106", "A scope does not inherit which kind of variable it makes.")
def kinds_are_not_inherited(tf: Namespace) -> Namespace:
    """Pass `use_resource=True` where the argument is missing."""
    return _scopes(tf, lambda kwargs: kwargs.setdefault("use_resource", True))
