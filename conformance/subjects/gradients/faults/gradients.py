"""Faults of GRADIENTS: gradients that go too far or not far enough, of other values or kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypedDict, Unpack

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.resource_runs import nodes_of
from sessrun.conformance.faulty.run_fragments import editing
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Operation, Tensor
from sessrun.spec.proto.graph_pb2 import DT_FLOAT, GraphDef, NodeDef

#: The targets of a derivative, and its sources.
Tensors: TypeAlias = Tensor | list[Tensor] | tuple[Tensor, ...]
#: What `tf.gradients` gives: a tensor or IndexedSlices for each source, or None.
Gradients: TypeAlias = Sequence[Tensor | None]
#: The conforming `tf.gradients`.
Base: TypeAlias = Callable[..., Gradients]


class Options(TypedDict, total=False):
    """The arguments of `tf.gradients` beside targets and sources."""

    grad_ys: Tensor | list[Tensor | None] | tuple[Tensor | None, ...] | None
    name: str
    colocate_gradients_with_ops: bool
    gate_gradients: bool
    aggregation_method: int | None
    stop_gradients: Tensors
    unconnected_gradients: str


def listed(tensors: Tensors) -> list[Tensor]:
    """The targets or the sources as a list; a single one may be given without a list."""
    return list(tensors) if isinstance(tensors, list | tuple) else [tensors]


def gradients_given(options: Options) -> list[Tensor | None]:
    """The gradients of the targets that the caller gives."""
    given = options.get("grad_ys")
    if given is None:
        return []
    return list(given) if isinstance(given, list | tuple) else [given]


def _changed(tf: Namespace, change: Call) -> Namespace:
    """The namespace whose `gradients(ys, xs, ...)` is `change(base, ys, xs, **options)`."""

    def gradients(
        ys: Tensors,
        xs: Tensors,
        *args: Argument,
        **options: Unpack[Options],
    ) -> Gradients:
        return change(tf.gradients, ys, xs, *args, **options)

    return override(tf, gradients=gradients)


def _where(
    tf: Namespace,
    when: Callable[[Tensors, Tensors, Options], bool],
    give: Callable[[Base, Tensors, Tensors, Options], Gradients],
) -> Namespace:
    """The namespace whose gradients are `give(base, ys, xs, options)` where `when` says so."""

    def change(
        base: Base,
        ys: Tensors,
        xs: Tensors,
        **options: Unpack[Options],
    ) -> Gradients:
        return give(base, ys, xs, options) if when(ys, xs, options) else base(ys, xs, **options)

    return _changed(tf, change)


def _ops_behind(ys: Tensors) -> set[str]:
    """The types of the operations that targets depend on."""
    waiting = [getattr(y, "op", None) for y in listed(ys)]
    seen: dict[Operation, None] = {}
    while waiting:
        op = waiting.pop()
        if op is not None and op not in seen:
            seen[op] = None
            waiting += [tensor.op for tensor in op.inputs]
    return {op.type for op in seen}


def _has_loop(ys: Tensors) -> bool:
    return "LoopCond" in _ops_behind(ys)


@fault("GRADIENTS-001", "The gradient of several targets is that of the first.")
def first_target_only(tf: Namespace) -> Namespace:
    """Differentiate the first target only."""
    return _where(
        tf,
        lambda ys, _xs, options: len(listed(ys)) > 1 and "grad_ys" not in options,
        lambda base, ys, xs, options: base(listed(ys)[0], xs, **options),
    )


@fault("GRADIENTS-002", "Gradients come back in the other order.")
def gradients_come_backwards(tf: Namespace) -> Namespace:
    """Reverse the list of gradients."""
    return _where(
        tf,
        lambda _ys, xs, options: len(listed(xs)) > 1 and not options,
        lambda base, ys, xs, options: base(ys, xs, **options)[::-1],
    )


def _zeros_for_none(tf: Namespace, gradients: Gradients, xs: Tensors) -> Gradients:
    pairs = zip(gradients, listed(xs), strict=True)
    return [tf.zeros_like(x) if gradient is None else gradient for gradient, x in pairs]


@fault("GRADIENTS-003", "The gradient by what no target depends on is zeros.")
def unconnected_is_zero(tf: Namespace) -> Namespace:
    """Return zeros for None where a target is computed by nothing but products."""
    return _where(
        tf,
        lambda ys, _xs, options: not options and _ops_behind(ys) == {"Mul", "Const"},
        lambda base, ys, xs, options: [
            tf.zeros_like(x) if gradient is None and x.dtype.is_floating else gradient
            for gradient, x in zip(base(ys, xs, **options), listed(xs), strict=True)
        ],
    )


@fault("GRADIENTS-004", "Zeros that are asked for are None.")
def zeros_are_none(tf: Namespace) -> Namespace:
    """Drop `unconnected_gradients`."""
    return _where(
        tf,
        lambda _ys, _xs, options: "unconnected_gradients" in options,
        lambda base, ys, xs, _options: base(ys, xs),
    )


@fault("GRADIENTS-005", "Given gradients are not looked at.")
def given_gradients_do_not_count(tf: Namespace) -> Namespace:
    """Drop `grad_ys` where it has one for each target."""
    return _where(
        tf,
        lambda ys, _xs, options: len(gradients_given(options)) == len(listed(ys)),
        lambda base, ys, xs, _options: base(ys, xs),
    )


@fault("GRADIENTS-006", "Gradients go on through stopped tensors.")
def nothing_stops(tf: Namespace) -> Namespace:
    """Ignore `stop_gradients`."""
    return _where(
        tf,
        lambda _ys, _xs, options: "stop_gradients" in options,
        lambda base, ys, xs, _options: base(ys, xs),
    )


@fault("GRADIENTS-007", "Gradients go through stop_gradient.")
def stop_gradient_does_not_stop(tf: Namespace) -> Namespace:
    """Replace `stop_gradient` by `identity`."""
    return override(tf, stop_gradient=tf.identity)


@fault("GRADIENTS-008", "An operation without a gradient has none, and nothing is said.")
def gradients_are_lost(tf: Namespace) -> Namespace:
    """Give None where the conforming namespace raises."""

    def change(
        base: Base,
        ys: Tensors,
        xs: Tensors,
        **options: Unpack[Options],
    ) -> Gradients:
        try:
            return base(ys, xs, **options)
        except LookupError:
            return [None] * len(listed(xs))

    return _changed(tf, change)


@fault("GRADIENTS-009", "Missing given gradients are ones.")
def missing_ones_are_given(tf: Namespace) -> Namespace:
    """Append None to `grad_ys` up to the number of targets."""

    def give(
        base: Base,
        ys: Tensors,
        xs: Tensors,
        options: Options,
    ) -> Gradients:
        given = gradients_given(options)
        more = [None] * (len(listed(ys)) - len(given))
        return base(ys, xs, **{**options, "grad_ys": [*given, *more]})

    return _where(tf, lambda _ys, _xs, options: "grad_ys" in options, give)


@fault("GRADIENTS-010", "The gradient of gathered rows is a dense tensor.")
def rows_are_dense(tf: Namespace) -> Namespace:
    """Convert every IndexedSlices among the gradients to a dense tensor."""

    def change(
        base: Base,
        ys: Tensors,
        xs: Tensors,
        **options: Unpack[Options],
    ) -> Gradients:
        gradients = base(ys, xs, **options)
        return [
            tf.convert_to_tensor(gradient) if isinstance(gradient, tf.IndexedSlices) else gradient
            for gradient in gradients
        ]

    return _changed(tf, change)


def _scaled(factor: float) -> Callable[[Base, Tensors, Tensors, Options], Gradients]:
    def give(
        base: Base,
        ys: Tensors,
        xs: Tensors,
        options: Options,
    ) -> Gradients:
        gradients = base(ys, xs, **options)
        return [None if gradient is None else gradient * factor for gradient in gradients]

    return give


@fault("GRADIENTS-011", "A second derivative is half of what it should be.")
def second_derivatives_are_halved(tf: Namespace) -> Namespace:
    """Halve the gradient of a gradient."""

    def is_gradient(ys: Tensors, _xs: Tensors, _options: Options) -> bool:
        return any(y.name.startswith("gradients") for y in listed(ys))

    return _where(tf, is_gradient, _scaled(0.5))


@fault("GRADIENTS-012", "The gradient through a loop is that of one iteration.")
def loops_go_back_once(tf: Namespace) -> Namespace:
    """Return threes, whatever the number of iterations."""

    def is_first(ys: Tensors, xs: Tensors, options: Options) -> bool:
        return not options and _has_loop(ys) and _is_first_value(xs)

    return _where(tf, is_first, lambda _base, _ys, xs, _options: [tf.ones_like(xs) * 3.0])


def _is_first_value(xs: Tensors) -> bool:
    """Whether a tensor enters a loop as the first value of a variable."""
    users = [user for x in listed(xs) for user in x.consumers()]
    return any(user.type == "Enter" and not user.get_attr("is_constant") for user in users)


@fault("GRADIENTS-013", "The gradient by an invariant is that of one iteration.")
def invariants_count_once(tf: Namespace) -> Namespace:
    """Multiply the gradient by 0.25."""

    def is_invariant(ys: Tensors, xs: Tensors, options: Options) -> bool:
        return not options and _has_loop(ys) and not _is_first_value(xs)

    return _where(tf, is_invariant, _scaled(0.25))


@fault("GRADIENTS-014", "The gradient of a loop's gradient is None.")
def second_order_is_none(tf: Namespace) -> Namespace:
    """Give None where the conforming namespace raises."""

    def change(
        base: Base,
        ys: Tensors,
        xs: Tensors,
        **options: Unpack[Options],
    ) -> Gradients:
        try:
            return base(ys, xs, **options)
        except TypeError:
            if not _has_loop(ys):
                raise
            return [None] * len(listed(xs))

    return _changed(tf, change)


@fault("GRADIENTS-015", "A loop that is made without gradients has them.")
def loops_always_go_back(tf: Namespace) -> Namespace:
    """Drop `back_prop`."""

    def while_loop(*args: Argument, **options: Argument) -> Tensor | Sequence[Tensor]:
        options.pop("back_prop", None)
        return tf.while_loop(*args, **options)

    return override(tf, while_loop=while_loop)


@fault("GRADIENTS-016", "The gradient of a conditional is that of the branch that is not taken.")
def other_branch_goes_back(tf: Namespace) -> Namespace:
    """Negate the gradient where the target has a conditional."""

    def has_branches(ys: Tensors, _xs: Tensors, _options: Options) -> bool:
        behind = _ops_behind(ys)
        return "Merge" in behind and "LoopCond" not in behind

    return _where(tf, has_branches, _scaled(-1.0))


@fault("GRADIENTS-017", "Hessians are those of half the target.")
def hessians_are_halved(tf: Namespace) -> Namespace:
    """Multiply every Hessian by 0.5."""
    return override(
        tf,
        hessians=lambda *args, **options: [
            hessian * 0.5 for hessian in tf.hessians(*args, **options)
        ],
    )


@fault("GRADIENTS-018", "The gradient of integers is zeros.")
def integers_have_gradients(tf: Namespace) -> Namespace:
    """Give zeros for integers."""
    return _where(
        tf,
        lambda _ys, xs, _options: all(x.dtype.is_integer for x in listed(xs)),
        lambda base, ys, xs, options: _zeros_for_none(tf, base(ys, xs, **options), xs),
    )


@fault("GRADIENTS-019", "Complex targets are differentiated by ones.")
def complex_ones_are_given(tf: Namespace) -> Namespace:
    """Pass ones as `grad_ys` for complex targets."""
    return _where(
        tf,
        lambda ys, _xs, options: not options and listed(ys)[0].dtype.is_complex,
        lambda base, ys, xs, _options: base(ys, xs, grad_ys=tf.ones_like(ys)),
    )


@fault("GRADIENTS-020", "Gradients that meet are not summed: the last one counts.")
def ways_do_not_add_up(tf: Namespace) -> Namespace:
    """Return ones where the source has several consumers."""

    def meets(ys: Tensors, xs: Tensors, options: Options) -> bool:
        kinds = _ops_behind(ys)
        return not options and "Exp" in kinds and len(listed(xs)[0].consumers()) > 1

    return _where(tf, meets, lambda _base, _ys, xs, _options: [tf.ones_like(xs)])


@fault("GRADIENTS-021", "What iterations kept for the gradient is given back in floats of zero.")
def kept_floats_are_zero(tf: Namespace) -> Namespace:
    """Replace floats that are popped from a stack by zeros."""

    def change(definition: GraphDef) -> None:
        for node in nodes_of(definition, ("StackPopV2",)):
            if node.attr["elem_type"].type == 1:
                _zero_after(definition, node)

    return editing(tf, change)


def _zero_after(definition: GraphDef, node: NodeDef) -> None:
    for user in definition.node:
        for index, text in enumerate(user.input):
            if text in {node.name, f"{node.name}:0"}:
                zeros = definition.node.add(name=f"{user.name}/zero_{index}", op="ZerosLike")
                zeros.input.append(text)
                zeros.attr["T"].type = DT_FLOAT
                user.input[index] = zeros.name
                return
