"""Vectors of GRADIENTS: what `tf.gradients` gives, through operations, branches and loops."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import (
    ApiAuthor,
    EngineAuthor,
    Symbol,
    api_case,
    engine_case,
)
from sessrun.conformance.subjects.run.cases.run import floats
from sessrun.spec.cases.objects import Tensor


def _call(c: ApiAuthor, name: str, *args: Symbol | float) -> Symbol:
    """A call that is made where a function is called, not here."""
    forms = [arg._expr if isinstance(arg, Symbol) else arg for arg in args]  # noqa: SLF001 - its form
    return Symbol(c, {"$call": f"tf.{name}", "args": forms})


def _loop(c: ApiAuthor, first: Symbol, factor: Symbol, **options: Recordable) -> Symbol:
    """A value times another as long as it is below 100."""
    goes_on = c.function(["v"], lambda v: _call(c, "less", v, 100.0))
    body = c.function(["v"], lambda v: _call(c, "multiply", v, factor))
    result: Symbol = c.tf.while_loop(goes_on, body, [first], **options)
    return result


@api_case("GRADIENTS-001", title="Several targets count as their sum.")
def several_targets(c: ApiAuthor) -> None:
    x = c.tf.constant([3.0, -1.0])
    gradients = c.tf.gradients([x * x, 3.0 * x], x)
    c.check(c.tf.Session().run(gradients), [floats(9, 1)])


@api_case("GRADIENTS-002", title="There is a gradient for each source, in order.")
def several_sources(c: ApiAuthor) -> None:
    x, y = c.tf.constant(3.0), c.tf.constant(5.0)
    gradients = c.tf.gradients(x * y, [y, x])
    c.check(c.tf.Session().run(gradients), [np.float32(3), np.float32(5)])


@api_case("GRADIENTS-003", title="What nothing depends on has no gradient.")
def nothing_depends_on_it(c: ApiAuthor) -> None:
    x, y = c.tf.constant(3.0), c.tf.constant(5.0)
    c.check(c.tf.gradients(x * x, y), [None])


@api_case("GRADIENTS-004", title="Zeros instead of no gradient, where that is asked for.")
def zeros_instead(c: ApiAuthor) -> None:
    x, y = c.tf.constant(3.0), c.tf.constant([5.0, 6.0])
    gradients = c.tf.gradients(x * x, y, unconnected_gradients="zero")
    c.check(c.tf.Session().run(gradients), [floats(0, 0)])


@api_case("GRADIENTS-005", title="The gradient is multiplied by what is given for the target.")
def given_gradients(c: ApiAuthor) -> None:
    x = c.tf.constant([3.0, -1.0])
    gradients = c.tf.gradients(x * x, x, grad_ys=c.tf.constant([10.0, 1.0]))
    c.check(c.tf.Session().run(gradients), [floats(60, -2)])


@api_case("GRADIENTS-005", title="Of two targets one is given a gradient, the other has ones.")
def given_for_one_of_two(c: ApiAuthor) -> None:
    x = c.tf.constant([5.0, -1.0])
    twice = c.tf.gradients([x * x, 3.0 * x], x, grad_ys=[None, c.tf.constant([2.0, 4.0])])
    both = [c.tf.constant([10.0, 1.0]), c.tf.constant([2.0, 4.0])]
    given = c.tf.gradients([x * x, 3.0 * x], x, grad_ys=both)
    c.check(c.tf.Session().run([twice, given]), [[floats(16, 10)], [floats(106, 10)]])


@api_case("GRADIENTS-006", title="Stopped tensors count as constants.")
def stopped(c: ApiAuthor) -> None:
    x = c.tf.constant(3.0)
    y = x * x
    gradients = c.tf.gradients(x * y, [x, y], stop_gradients=[y])
    c.check(c.tf.Session().run(gradients), [np.float32(9), np.float32(3)])


@api_case("GRADIENTS-007", title="No gradient goes through stop_gradient.")
def through_stop_gradient(c: ApiAuthor) -> None:
    x = c.tf.constant(3.0)
    c.check(c.tf.gradients(c.tf.stop_gradient(x * x), x), [None])
    gradients = c.tf.gradients(x * c.tf.stop_gradient(x), x)
    c.check(c.tf.Session().run(gradients), [np.float32(3)])


@api_case("GRADIENTS-008", title="An operation without a gradient is refused.")
def without_a_gradient(c: ApiAuthor) -> None:
    x = c.tf.constant([3.0, 3.0])
    places = c.tf.unique(x)
    c.raises("LookupError", lambda: c.tf.gradients(places[0], x))


@api_case("GRADIENTS-009", title="Given gradients must be as many as the targets.")
def too_few_given(c: ApiAuthor) -> None:
    x = c.tf.constant(3.0)
    c.raises("ValueError", lambda: c.tf.gradients([x, x * x], x, grad_ys=[x]))


@api_case("GRADIENTS-010", title="The gradient of gathered rows is rows.")
def gathered_rows(c: ApiAuthor) -> None:
    x = c.tf.constant([[1.0], [2.0], [3.0]])
    gradients = c.tf.gradients(c.tf.gather(x, [2, 0, 2]), x)
    c.check_instance(gradients[0], c.tf.IndexedSlices)
    c.check(
        c.tf.Session().run(c.tf.convert_to_tensor(gradients[0])),
        np.array([[1], [0], [2]], np.float32),
    )


@api_case("GRADIENTS-011", title="A gradient can be differentiated.")
def second_derivatives(c: ApiAuthor) -> None:
    x = c.tf.constant(2.0)
    first = c.tf.gradients(x * x * x, x)
    second = c.tf.gradients(first, x)
    c.check(c.tf.Session().run([first, second]), [[np.float32(12)], [np.float32(12)]])


@api_case("GRADIENTS-012", title="Gradients by the first value of a loop.")
def through_a_loop(c: ApiAuthor) -> None:
    x, factor = c.tf.constant(2.0), c.tf.constant(3.0)
    gradients = c.tf.gradients(_loop(c, x, factor), x)
    c.check(c.tf.Session().run(gradients), [np.float32(81)])


@api_case("GRADIENTS-013", title="Gradients by what a loop takes in every iteration.")
def by_a_loop_invariant(c: ApiAuthor) -> None:
    x, factor = c.tf.constant(2.0), c.tf.constant(3.0)
    gradients = c.tf.gradients(_loop(c, x, factor), factor)
    c.check(c.tf.Session().run(gradients), [np.float32(216)])


@api_case("GRADIENTS-014", title="The gradient of a loop has none.")
def second_order_of_a_loop(c: ApiAuthor) -> None:
    x, factor = c.tf.constant(2.0), c.tf.constant(3.0)
    gradients = c.tf.gradients(_loop(c, x, factor), x)
    c.raises("TypeError", lambda: c.tf.gradients(gradients, factor))


@api_case("GRADIENTS-015", title="A loop that is made without gradients has none.")
def a_loop_without_gradients(c: ApiAuthor) -> None:
    x, factor = c.tf.constant(2.0), c.tf.constant(3.0)
    c.check(c.tf.gradients(_loop(c, x, factor, back_prop=False), [x, factor]), [None, None])


@api_case("GRADIENTS-016", title="The gradient goes through the branch that is taken.")
def through_a_branch(c: ApiAuthor) -> None:
    p, x = c.tf.placeholder(c.tf.bool, []), c.tf.constant(3.0)
    on = c.function([], lambda: _call(c, "square", x))
    off = c.function([], lambda: _call(c, "negative", x))
    gradients = c.tf.gradients(c.tf.cond(p, on, off), x)
    session = c.tf.Session()
    for taken, value in ((True, 6), (False, -1)):
        c.check(session.run(gradients[0], c.expr("$dict", [[p, taken]])), np.float32(value))


@api_case("GRADIENTS-017", title="Hessians are second derivatives by pairs of elements.")
def hessians(c: ApiAuthor) -> None:
    x = c.tf.constant([1.0, 2.0])
    result = c.tf.hessians(c.tf.reduce_sum(x * x * x), x)
    c.check(c.tf.Session().run(result), [np.array([[6, 0], [0, 12]], np.float32)])


@api_case("GRADIENTS-018", title="Integers have no gradient.")
def of_integers(c: ApiAuthor) -> None:
    x = c.tf.constant(3)
    c.check(c.tf.gradients(x * x, x), [None])


@api_case("GRADIENTS-019", title="Complex targets need gradients to be given.")
def of_complex_numbers(c: ApiAuthor) -> None:
    x = c.tf.constant(3j)
    c.raises("TypeError", lambda: c.tf.gradients(x * x, x))


@api_case("GRADIENTS-019", title="None is no gradient of a complex target.")
def of_complex_numbers_and_none(c: ApiAuthor) -> None:
    x = c.tf.constant(3j)
    c.raises("TypeError", lambda: c.tf.gradients(x * x, x, grad_ys=[None]))
    given = c.tf.constant(1 + 0j)
    c.raises("TypeError", lambda: c.tf.gradients([x * x, x], x, grad_ys=[given, None]))


@api_case("GRADIENTS-020", title="What reaches a tensor by several ways is summed.")
def several_ways(c: ApiAuthor) -> None:
    x = c.tf.constant([1.0, 2.0])
    y = c.tf.exp(x * 0.0)
    gradients = c.tf.gradients(y * x + y * 3.0 + y, y)
    c.check(c.tf.Session().run(gradients), [floats(5, 6)])


@engine_case("GRADIENTS-021", title="A graph with the gradient of a nested loop.")
def a_nested_loop(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = tf.placeholder(tf.float32, [2], name="x")
        n = tf.placeholder(tf.int32, [], name="n")

        def body(i: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
            inner = tf.while_loop(lambda j, _: j < i, lambda j, w: (j + 1, w * x), [i * 0, v])
            return i + 1, tf.cond(i > 1, lambda: inner[1] * 2.0, lambda: inner[1] + x)

        outer = tf.while_loop(lambda i, _: i < n, body, [n * 0, x])[1]
        tf.identity(tf.gradients(outer, x)[0], name="g")
    session = c.open()
    for count, values in ((0, (1, 1)), (1, (2, 2)), (2, (9, 13)), (3, (152, 486))):
        feeds = {"x:0": floats(2, 3), "n:0": np.int32(count)}
        session.run(["g:0"], feeds, values=[floats(*values)])
