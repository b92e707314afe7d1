"""Faults of VARIABLES: `get_variable`, variable scopes and what they share."""

from __future__ import annotations

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Argument, Scope
from sessrun.spec.cases.library import VariableScope
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Variable


def _getting(tf: Namespace, get: Call) -> Namespace:
    """The namespace whose `get_variable` is `get(scope, name, *args, **kwargs)`."""

    def get_variable(name: str, *args: Argument, **kwargs: Argument) -> Variable:
        return get(tf.get_variable_scope(), name, *args, **kwargs)

    return override(tf, get_variable=get_variable)


def _opening(tf: Namespace, opened: Call) -> Namespace:
    """The namespace whose `variable_scope` is `opened`."""
    return override(tf, variable_scope=opened)


@fault("VARIABLES-044", "get_variable of a taken name returns the variable, reuse or not.")
def taken_names_are_shared(tf: Namespace) -> Namespace:
    """Ask again with reuse."""

    def get(scope: VariableScope, name: str, *args: Argument, **kwargs: Argument) -> Variable:
        try:
            return tf.get_variable(name, *args, **kwargs)
        except ValueError:
            if scope.reuse:
                raise
        with tf.variable_scope(scope, reuse=True):
            return tf.get_variable(name, *args, **kwargs)

    return _getting(tf, get)


@fault("VARIABLES-045", "A shared variable comes as another object each time.")
def shared_variables_are_copies(tf: Namespace) -> Namespace:
    """Return another Variable object, from the definition of the shared one."""

    def get(scope: VariableScope, name: str, *args: Argument, **kwargs: Argument) -> Variable:
        variable = tf.get_variable(name, *args, **kwargs)
        return tf.Variable.from_proto(variable.to_proto()) if scope.reuse is True else variable

    return _getting(tf, get)


@fault("VARIABLES-046", "A reusing scope makes the variables that it lacks.")
def reusing_scopes_make_variables(tf: Namespace) -> Namespace:
    """Ask again without reuse."""

    def get(scope: VariableScope, name: str, *args: Argument, **kwargs: Argument) -> Variable:
        try:
            return tf.get_variable(name, *args, **kwargs)
        except ValueError:
            if scope.reuse is not True:
                raise
        with tf.variable_scope(
            tf.VariableScope(False, name=scope.name), auxiliary_name_scope=False
        ):
            return tf.get_variable(name, *args, **kwargs)

    return _getting(tf, get)


@fault("VARIABLES-047", "A shared variable is returned whatever shape is asked for.")
def shared_shapes_are_not_compared(tf: Namespace) -> Namespace:
    """Ask again without a shape."""

    def get(scope: VariableScope, name: str, *args: Argument, **kwargs: Argument) -> Variable:
        try:
            return tf.get_variable(name, *args, **kwargs)
        except ValueError:
            if not scope.reuse or not args:
                raise
        with tf.variable_scope(scope, reuse=True):
            return tf.get_variable(name, *args[1:], **kwargs)

    return _getting(tf, get)


@fault("VARIABLES-048", "AUTO_REUSE is taken for no reuse.")
def auto_reuse_is_no_reuse(tf: Namespace) -> Namespace:
    """Pass None instead of AUTO_REUSE."""

    def opened(*args: Argument, reuse: bool | None = None, **kwargs: Argument) -> Scope:
        return tf.variable_scope(*args, reuse=None if reuse is tf.AUTO_REUSE else reuse, **kwargs)

    return _opening(tf, opened)


@fault("VARIABLES-049", "A name scope at the root is part of the names of variables.")
def name_scopes_name_variables(tf: Namespace) -> Namespace:
    """Put it before the name."""

    def get(scope: VariableScope, name: str, *args: Argument, **kwargs: Argument) -> Variable:
        outer = tf.get_default_graph().get_name_scope()
        if outer and not scope.name:
            name = f"{outer}/{name}"
        return tf.get_variable(name, *args, **kwargs)

    return _getting(tf, get)


@fault("VARIABLES-050", "A default name is taken as it is.")
def default_names_are_not_numbered(tf: Namespace) -> Namespace:
    """Open a scope of that name."""

    def opened(name: str, default_name: str | None = None, **kwargs: Argument) -> Scope:
        return tf.variable_scope(default_name if name is None else name, **kwargs)

    return _opening(tf, opened)


@fault("VARIABLES-051", "A scope inside a reusing scope does not reuse.")
def reuse_is_not_inherited(tf: Namespace) -> Namespace:
    """Open it by an object of its own."""

    def opened(name: str, *args: Argument, reuse: bool | None = None, **kwargs: Argument) -> Scope:
        outer = tf.get_variable_scope()
        if isinstance(name, str) and reuse is None and outer.reuse is True:
            name = tf.VariableScope(False, name=f"{outer.name}/{name}")
        return tf.variable_scope(name, *args, reuse=reuse, **kwargs)

    return _opening(tf, opened)


@fault("VARIABLES-052", "A variable without shape and initializer is a scalar.")
def shapeless_variables_are_scalars(tf: Namespace) -> Namespace:
    """Give it the shape []."""

    def get(_: VariableScope, name: str, *args: Argument, **kwargs: Argument) -> Variable:
        if not args and not {"shape", "initializer"} & kwargs.keys():
            kwargs["shape"] = []
        return tf.get_variable(name, *args, **kwargs)

    return _getting(tf, get)


@fault("VARIABLES-059", "A scope entered by its object inside another is one of that other.")
def scope_objects_are_relative(tf: Namespace) -> Namespace:
    """Open a scope of its name."""

    def opened(name: str | VariableScope, *args: Argument, **kwargs: Argument) -> Scope:
        if not isinstance(name, str) and tf.get_variable_scope().name:
            name = name.name
        return tf.variable_scope(name, *args, **kwargs)

    return _opening(tf, opened)


@fault("VARIABLES-060", "The initializer of a variable scope is forgotten.")
def initializers_of_scopes_are_forgotten(tf: Namespace) -> Namespace:
    """Drop the argument `initializer`."""

    def opened(*args: Argument, initializer: Argument = None, **kwargs: Argument) -> Scope:
        del initializer
        return tf.variable_scope(*args, **kwargs)

    return _opening(tf, opened)
