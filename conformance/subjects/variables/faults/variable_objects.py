"""Faults of VARIABLES: creating variables, and the collections that they are in."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import (
    Element,
    Feeds,
    Fetches,
    Operation,
    Value,
    Variable,
)


def _making(
    tf: Namespace,
    arguments: Callable[[dict[str, Argument]], object],
    finish: Callable[[Any], None] | None = None,
) -> Namespace:
    """The namespace whose `Variable` passes its arguments and its result through functions."""

    def variable(*args: Argument, **kwargs: Argument) -> Variable:
        given = dict(zip(("initial_value", "trainable"), args, strict=False)) | kwargs
        arguments(given)
        result = tf.Variable(**given)
        if finish is not None:
            finish(result)
        return result

    return override(tf, Variable=variable)


def _as_given(_: dict[str, Argument]) -> None:
    """Change no argument."""


@fault("VARIABLES-023", "A global initializer without variables is refused.")
def initializers_of_nothing_are_refused(tf: Namespace) -> Namespace:
    """Raise ValueError where there are no global variables."""

    def initializer() -> Operation:
        if not tf.global_variables():
            raise ValueError("There are no variables.")
        return tf.global_variables_initializer()

    return override(tf, global_variables_initializer=initializer)


@fault("VARIABLES-024", "The global initializer initialises local variables too.")
def the_global_initializer_takes_local_ones(tf: Namespace) -> Namespace:
    """Initialize the local variables, too."""
    return override(
        tf,
        global_variables_initializer=lambda: tf.variables_initializer(
            tf.global_variables() + tf.local_variables()
        ),
    )


@fault("VARIABLES-026", "A variable that is not trainable is among the trainable ones.")
def every_variable_is_trainable(tf: Namespace) -> Namespace:
    """Drop the argument `trainable`."""
    return _making(tf, lambda given: given.pop("trainable", None))


@fault("VARIABLES-027", "A Variable without an initial value is zero.")
def missing_initial_values_are_zero(tf: Namespace) -> Namespace:
    """Pass 0.0 where no initial value is given."""
    return _making(tf, lambda given: given.setdefault("initial_value", 0.0))


@fault("VARIABLES-028", "A variable without a name is called variable.")
def nameless_variables_are_in_lower_case(tf: Namespace) -> Namespace:
    """Pass the name `variable` where none is given."""
    return _making(tf, lambda given: given.setdefault("name", "variable"))


@fault("VARIABLES-030", "Every global variable is reported as uninitialised.")
def all_variables_are_reported(tf: Namespace) -> Namespace:
    """Give the names of all global variables."""
    return override(
        tf,
        report_uninitialized_variables=lambda: tf.constant(
            [variable.op.name for variable in tf.global_variables()]
        ),
    )


@fault("VARIABLES-031", "A sum over a variable keeps the value that it had first.")
def sums_over_variables_are_folded(tf: Namespace) -> Namespace:
    """Return the first value of a sum in every later run."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self, fetches: Fetches, feed_dict: Feeds = None, *args: Argument, **kwargs: Argument
        ) -> Value:
            value = super().run(fetches, feed_dict, *args, **kwargs)
            if feed_dict or not _is_sum(fetches):
                return value
            return self.__dict__.setdefault("folded", {}).setdefault(fetches, value)

    return override(tf, Session=Session)


def _is_sum(fetch: Fetches) -> bool:
    """Whether a fetch is a sum whose first term is a product with a variable."""
    op = getattr(fetch, "op", None)
    if op is None or op.type != "AddV2" or op.inputs[0].op.type != "Mul":
        return False
    return bool(op.inputs[0].op.inputs[0].op.type in {"Identity", "ReadVariableOp"})


@fault("VARIABLES-032", "initialized_value() of a variable is zeros.")
def initialized_values_are_zeros(tf: Namespace) -> Namespace:
    """Replace `initialized_value` by a function that returns zeros."""

    def finish(variable: Any) -> None:
        variable.initialized_value = lambda: tf.zeros_like(variable.initial_value)

    return _making(tf, _as_given, finish)


@fault("VARIABLES-034", "The shape of an initial value must always be known.")
def initial_shapes_must_be_known(tf: Namespace) -> Namespace:
    """Drop validate_shape where the shape is not known."""

    def arguments(given: dict[str, Argument]) -> None:
        if getattr(given.get("initial_value"), "op", None) is not None:
            given.pop("validate_shape", None)

    return _making(tf, arguments)


@fault("VARIABLES-053", "Variable.load does nothing.")
def loads_are_dropped(tf: Namespace) -> Namespace:
    """Replace `load` by a function that does nothing."""

    def finish(variable: Any) -> None:
        variable.load = lambda value, session=None: None  # noqa: ARG005 - the method's signature

    return _making(tf, _as_given, finish)


@fault("VARIABLES-061", "The global initializer is called initialize.")
def the_global_initializer_has_another_name(tf: Namespace) -> Namespace:
    """Name the initializer `initialize`."""
    return override(
        tf,
        global_variables_initializer=lambda: tf.variables_initializer(
            tf.global_variables(), name="initialize"
        ),
    )


@fault("VARIABLES-062", "A variable made inside a block is initialised after what it lists.")
def initializers_wait_for_their_block(tf: Namespace) -> Namespace:
    """Create the initial value inside the block, so that it has the block's control inputs."""
    blocks: list[Sequence[Element]] = []

    @contextlib.contextmanager
    def control_dependencies(control_inputs: Sequence[Element]) -> Iterator[None]:
        with tf.control_dependencies(control_inputs):
            blocks.append(control_inputs)
            try:
                yield
            finally:
                blocks.pop()

    def arguments(given: dict[str, Argument]) -> None:
        if blocks and isinstance(given.get("initial_value"), float):
            given["initial_value"] = tf.constant(given["initial_value"])

    changed = _making(tf, arguments)
    return override(changed, control_dependencies=control_dependencies)


@fault("VARIABLES-063", "An assignment gives the value although it is told not to.")
def assignments_always_give_the_value(tf: Namespace) -> Namespace:
    """Pass `read_value=True` to every `assign`."""

    def finish(variable: Any) -> None:
        assign = variable.assign
        variable.assign = lambda value, **kwargs: assign(value, **(kwargs | {"read_value": True}))

    return _making(tf, _as_given, finish)


@fault("VARIABLES-064", "read_value() of a reference variable is the read it was made with.")
def reads_are_shared(tf: Namespace) -> Namespace:
    """Replace `read_value` of reference variables by `value`."""

    def finish(variable: Any) -> None:
        if variable.op.type == "VariableV2":
            variable.read_value = variable.value

    return _making(tf, _as_given, finish)
