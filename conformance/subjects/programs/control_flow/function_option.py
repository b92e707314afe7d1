"""Programs of defined functions: their options, overloads, gradients and libraries."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.program import Action

if TYPE_CHECKING:  # a worker in an environment of its own lacks these messages
    from sessrun.spec.proto.graph_pb2 import FunctionDefLibrary

__all__ = ["BEHAVIOURS"]


def _functions(tf):
    return module_of(tf, "framework.function")


def _plain(name: str) -> str:
    """A function's name without its hash."""
    return re.sub(r"_[A-Za-z0-9]{11}$", "", name)


def _attrs(definition):
    """The attributes of a function or of a call that come from its options."""
    return [
        [key, str(value)]
        for key, value in sorted(definition.attr.items())
        if key.startswith(("_Xla", "_implements", "_reference", "_noinline", "experimental"))
    ]


def _one(x):
    return x * 2.0


def _noted(tf):
    defun = _functions(tf).Defun

    def with_options(**options) -> Action:
        def program():
            function = defun(tf.float32, func_name="F", **options)(_one)
            output = function(tf.constant(1.0))
            return [_attrs(function.definition), _attrs(output.op.node_def), str(output.shape)]

        return lambda: _in_graph(tf, program)

    def called_with(**options) -> Action:
        function = defun(tf.float32, func_name="G")(_one)
        return lambda: _in_graph(tf, lambda: _attrs(function(1.0, **options).op.node_def))

    return attempt(
        with_options(compiled=True),
        with_options(compiled=False, noinline=True),
        with_options(compiled=True, separate_compiled_gradients=True),
        with_options(separate_compiled_gradients=True),
        with_options(_implements="doubled"),
        with_options(_reference="mine", noinline=False),
        with_options(_implements=3),
        with_options(experimental_a=True, experimental_b=2, experimental_c="d"),
        with_options(experimental_f=0.5),
        with_options(experimental_n=None),
        called_with(compiled=True),
        called_with(noinline=True),
        called_with(experimental_x="y"),
        called_with(_implements=b"no text"),
    )


def _in_graph(tf, program: Action):
    with tf.Graph().as_default():
        return program()


def _without_arguments(tf):
    """Functions without arguments, of any number of arguments, and of captured tensors."""
    defun = _functions(tf).Defun
    outside = tf.constant(3.0, name="outside")
    five = defun(func_name="five")(lambda: tf.constant(5.0))
    named = defun(func_name="six", out_names=["it"])(lambda: outside * 2.0)
    several = defun(tf.float32, tf.float32, func_name="all")(lambda *xs: tf.add_n(xs))
    bound = defun(tf.float32, func_name="method")(_Scaled(3.0).of)
    outputs = [five(), named(), several(1.0, 2.0), bound(2.0)]
    with tf.Session() as session:
        values = session.run(outputs)
    kinds = [output.op.type for output in outputs]
    arguments = [
        [arg.name for arg in f.definition.signature.input_arg]
        for f in (five, named, several, bound)
    ]
    return values, kinds, arguments, len(bound.declared_input_types), attempt(lambda: five(1.0))


class _Scaled:
    """A factor, with a method that multiplies by it."""

    def __init__(self, factor: float) -> None:
        self._factor = factor

    def of(self, x):
        return x * self._factor


def _overloads(tf):
    """A function that is defined anew for each combination of dtypes, with a gradient for each."""
    defun = _functions(tf).Defun
    back = defun(func_name="Back")(lambda x, grad: x * grad * 10.0)
    forth = defun(func_name="Forth", grad_func=back)(lambda x: x * x)
    xs = [tf.constant(2.0), tf.constant(3.0, tf.float64)]
    ys = [forth(x) for x in xs]
    slopes = [tf.gradients(y, x)[0] for x, y in zip(xs, ys, strict=True)]
    library = tf.get_default_graph().as_graph_def().library
    with tf.Session() as session:
        values = session.run([*ys, *slopes])
    either = defun(func_name="Kinds")(lambda x: tf.identity(x))
    kinds = (tf.int8, tf.uint16, tf.string, tf.complex64, tf.bool, tf.qint8, tf.quint8, tf.bfloat16)
    return [
        values,
        sorted(entry.signature.name for entry in library.function),
        sorted((entry.function_name, entry.gradient_func) for entry in library.gradient),
        attempt(*(lambda kind=kind: either(tf.placeholder(kind, [])).op.type for kind in kinds)),
        attempt(
            lambda: either(tf.placeholder(tf.variant, [])),
            lambda: either(tf.placeholder(tf.resource, [])),
        ),
    ]


def _gradients(tf):
    """Gradient functions: set late, given twice, or with names of their own."""
    defun = _functions(tf).Defun

    def back(name: str | None):
        return defun(tf.float32, tf.float32, func_name=name)(lambda x, grad: x * grad * 5.0)

    def late():
        function = defun(tf.float32, func_name="Late")(_one)
        function.set_grad_func(back("LateBack"))
        x = tf.constant(3.0)
        gradients = tf.gradients(function(x), x)
        return function.grad_func_name, tf.Session().run(gradients)

    def given_twice():
        function = defun(
            tf.float32,
            func_name="Twice",
            grad_func=back("TwiceBack"),
            python_grad_func=lambda _, grad: grad,
        )(_one)
        return function(1.0)

    def with_another():
        for name in ("OneBack", "OtherBack"):
            defun(tf.float32, func_name="Same", grad_func=back(name))(_one)(1.0)

    def unnamed():
        function = defun(tf.float32, grad_func=back("Unnamed"))(_one)
        return _plain(function.name), function.grad_func_name

    return attempt(
        *(
            lambda build=build: _in_graph(tf, build)
            for build in (late, given_twice, with_another, unnamed)
        )
    )


def _libraries(tf):
    """Functions that are read back from a function library."""
    functions = _functions(tf)
    defun = functions.Defun
    back = defun(tf.float32, tf.float32, func_name="Back")(lambda x, grad: x * grad * 7.0)
    defun(tf.float32, func_name="Forth", grad_func=back)(lambda x: x * 2.0)(1.0)
    library = tf.get_default_graph().as_graph_def().library

    def again():
        with tf.Graph().as_default():
            by_name = {function.name: function for function in functions.from_library(library)}
            x = tf.constant(3.0)
            y = by_name["Forth"](x)
            values = tf.Session().run([y, *tf.gradients(y, x)])
            return (
                sorted(by_name),
                values,
                by_name["Forth"].grad_func_name,
                [
                    [kind.name for kind in function.declared_input_types]
                    for function in by_name.values()
                ],
            )

    def changed(change: Callable[[FunctionDefLibrary], object]) -> Action:
        copy = type(library)()
        copy.CopyFrom(library)
        change(copy)
        return lambda: [function.name for function in functions.from_library(copy)]

    def cyclic(copy) -> None:
        copy.gradient.add(function_name="Back", gradient_func="Forth")

    return attempt(
        again,
        changed(lambda copy: copy.gradient.add(function_name="Nil", gradient_func="Back")),
        changed(lambda copy: copy.gradient.add(function_name="Back", gradient_func="Nil")),
        changed(cyclic),
        changed(lambda copy: copy.ClearField("gradient")),
        changed(lambda copy: copy.ClearField("function")),
    )


BEHAVIOURS = {
    function.__name__.removeprefix("_"): function
    for function in (_noted, _without_arguments, _overloads, _gradients, _libraries)
}
