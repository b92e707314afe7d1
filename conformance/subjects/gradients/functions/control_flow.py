"""Branches, loops and functions, which have gradients by what enters them."""

from __future__ import annotations

from sessrun.conformance.subjects.gradients.functions.inputs import WIDE, Form, Inputs, function

__all__: list[str] = []


def _name(text: str) -> Form:
    return {"$": text}


def _fn(params: list[str], returns: Form) -> Form:
    return {"$fn": {"params": params, "returns": returns}}


def _op(symbol: str, *operands: Form) -> Form:
    return {"$op": [symbol, *operands]}


@function("cond", WIDE)
def _cond(x: Inputs) -> Form:
    value, other = x.tensor((3,)), x.tensor((3,))
    taken = x.given(x.flag(), "bool")
    on = _fn([], _op("*", value, value))
    off = _fn([], _op("*", value, other))
    return x.call("cond", taken, on, off)


# TensorFlow loses its second order where no condition holds: see docs/findings/tensorflow.md.
@function("case", WIDE, second=False)
def _case(x: Inputs) -> Form:
    value, other = x.tensor((2,)), x.tensor((2,))
    pairs = [
        {"$tuple": [x.given(x.flag(), "bool"), _fn([], _op("*", value, other))]},
        {"$tuple": [x.given(x.flag(), "bool"), _fn([], x.call("exp", other))]},
    ]
    return x.call("case", pairs, default=_fn([], _op("+", value, value)))


@function("while_loop", WIDE, second=False)
def _while_loop(x: Inputs) -> Form:
    first, factor = x.tensor((2,), way="known"), x.tensor((2,), way="known")
    count = x.given(x.draw.randint(0, 3), "int32")
    goes_on = _fn(["i", "v"], x.call("less", _name("i"), count))
    step = _op("*", _name("v"), factor) if x.flag() else x.call("sin", _op("+", _name("v"), factor))
    body = _fn(["i", "v"], {"$tuple": [_op("+", _name("i"), 1), step]})
    loop = x.call(
        "while_loop",
        goes_on,
        body,
        [0, first],
        parallel_iterations=x.choice(1, 10),
        swap_memory=x.flag(),
    )
    return {"$item": [loop, 1]}


@function("while_loop with a branch", WIDE, second=False)
def _branch_in_loop(x: Inputs) -> Form:
    first, factor = x.tensor((), way="known"), x.tensor((), way="known")
    count = x.given(x.draw.randint(0, 4), "int32")
    odd = x.call("equal", x.call("mod", _name("i"), 2), 1)
    step = x.call(
        "cond", odd, _fn([], _op("*", _name("v"), factor)), _fn([], x.call("sin", _name("v")))
    )
    body = _fn(["i", "v"], {"$tuple": [_op("+", _name("i"), 1), step]})
    loop = x.call(
        "while_loop", _fn(["i", "v"], x.call("less", _name("i"), count)), body, [0, first]
    )
    return {"$item": [loop, 1]}


@function("map_fn", WIDE, second=False)
def _map_fn(x: Inputs) -> Form:
    value, factor = x.tensor((3, 2), way="known"), x.tensor((2,), way="known")
    return x.call("map_fn", _fn(["e"], _op("*", x.call("sin", _name("e")), factor)), value)


@function("scan", WIDE, second=False)
def _scan(x: Inputs) -> Form:
    value = x.tensor((3, 2), way="known")
    return x.call(
        "scan", _fn(["a", "e"], _op("*", _name("a"), _name("e"))), value, reverse=x.flag()
    )


@function("foldl and foldr", WIDE, second=False)
def _fold(x: Inputs) -> Form:
    value, first = x.tensor((3, 2), way="known"), x.tensor((2,), way="known")
    step = _fn(["a", "e"], _op("+", _op("*", _name("a"), _name("e")), first))
    return x.call(x.choice("foldl", "foldr"), step, value, first)


@function("function with a loop or a branch", WIDE, second=False)
def _flow_in_function(x: Inputs) -> Form:
    value, other = x.tensor((3,), way="known"), x.tensor((3,), way="known")
    if x.flag():
        step = _op("*", _name("v"), x.call("sin", _name("b")))
        body = _fn(["i", "v"], {"$tuple": [_op("+", _name("i"), 1), step]})
        goes_on = _fn(["i", "v"], x.call("less", _name("i"), x.draw.randint(0, 3)))
        loop = x.call("while_loop", goes_on, body, [0, _name("a")])
        returns: Form = {"$item": [loop, 1]}
    else:
        taken = x.call("less", x.call("reduce_sum", _name("a")), 0.0)
        product = _fn([], _op("*", _name("a"), _name("b")))
        returns = x.call("cond", taken, product, _fn([], x.call("exp", _name("a"))))
    traced = x.call("function", _fn(["a", "b"], returns))
    return {"$call": traced, "args": [value, other]}


@function("function", WIDE)
def _function(x: Inputs) -> Form:
    value, other = x.tensor((3,), way="known"), x.tensor((3,), way="known")
    traced = x.call(
        "function", _fn(["a", "b"], _op("*", _op("*", _name("a"), _name("b")), _name("b")))
    )
    return {"$call": traced, "args": [value, other]}


@function("TensorArray", WIDE, second=False)
def _tensor_array(x: Inputs) -> Form:
    value = x.tensor((3, 2), way="known")
    array = x.call("TensorArray", _name(f"tf.{x.dtype}"), 3)
    unstacked: Form = {"$call": {"$getattr": [array, "unstack"]}, "args": [value]}
    read: Form = {"$call": {"$getattr": [unstacked, x.choice("stack", "concat")]}}
    return (
        x.call("square", read)
        if x.flag()
        else {"$call": {"$getattr": [unstacked, "gather"]}, "args": [x.given([2, 0], "int32")]}
    )


@function("recompute_grad", WIDE, second=False)
def _recompute_grad(x: Inputs) -> Form:
    value, other = x.tensor((3,), way="known"), x.tensor((3,), way="known")
    recomputed = x.call(
        "recompute_grad", _fn(["a", "b"], _op("*", x.call("sin", _name("a")), _name("b")))
    )
    return {"$call": recomputed, "args": [value, other]}


@function("hessians", WIDE, second=False, differences=False)
def _hessians(x: Inputs) -> Form:
    value = x.tensor((3,), way="known")
    return x.call("hessians", x.call("reduce_sum", _op("*", x.call("sin", value), value)), value)
