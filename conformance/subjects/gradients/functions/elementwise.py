"""Functions of single elements: activations, powers, choices, clipping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sessrun.conformance.subjects.gradients.functions.inputs import (
    ALL,
    REAL,
    WIDE,
    Form,
    Inputs,
    function,
)

__all__: list[str] = []

#: Functions of one tensor that others make up.
_OF_ONE: Final = (
    "nn.swish",
    "nn.crelu",
    "nn.relu6",
    "math.log_sigmoid",
    "math.lbeta",
    "nn.softmax",
    "nn.log_softmax",
    "nn.relu",
    "nn.elu",
    "nn.selu",
    "nn.softplus",
)
#: The same where tensors of complex numbers are taken too.
_OF_ONE_COMPLEX: Final = (
    "sigmoid",
    "tanh",
    "square",
    "negative",
    "sin",
    "cos",
    "sinh",
    "cosh",
    "exp",
    "expm1",
    "abs",
)
#: Functions of two tensors of shapes that go together.
_OF_TWO: Final = (
    "maximum",
    "minimum",
    "math.squared_difference",
    "math.multiply_no_nan",
    "math.floormod",
)
_OF_TWO_COMPLEX: Final = ("add", "subtract", "multiply", "math.squared_difference")


def _of_one(name: str, dtypes: tuple[str, ...]) -> None:
    positive = name == "math.lbeta"

    @function(name, dtypes)
    def _(x: Inputs) -> Form:
        low = 0.3 if positive else -1.93
        return x.call(name, x.tensor(x.shape(1, 4), low, 1.97, corners=not positive))


def _of_two(name: str, title: str, dtypes: tuple[str, ...], low: float = -1.93) -> None:
    @function(title, dtypes)
    def _(x: Inputs) -> Form:
        one, other = broadcast_shapes(x)
        return x.call(
            name, x.tensor(one, low, corners=low < 0), x.tensor(other, low, corners=low < 0)
        )


def broadcast_shapes(x: Inputs) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes that go together, of ranks that differ, with sizes of one and of zero."""
    whole = tuple(x.draw.choice((0, 1, 2, 3, 3)) for _ in range(x.draw.randint(0, 4)))
    shapes = []
    for _ in range(2):
        dropped = x.draw.randint(0, len(whole)) if x.flag() else 0
        shapes.append(tuple(1 if x.draw.random() < 0.3 else size for size in whole[dropped:]))
    return shapes[0], shapes[1]


for _name in _OF_ONE:
    # Of bfloat16 a small negative number's selu is 0, and its gradient that of a positive one's.
    _of_one(_name, WIDE if _name in {"math.lbeta", "nn.selu"} else REAL)
for _name in _OF_ONE_COMPLEX:
    _of_one(_name, ALL)
for _name in _OF_TWO:
    _of_two(_name, _name, WIDE)
for _name in _OF_TWO_COMPLEX:
    _of_two(_name, f"{_name} of shapes that differ", ALL)
_of_two("divide", "divide", ALL, 0.6)
_of_two("pow", "pow of positive numbers", ALL, 0.6)
_of_two("math.xdivy", "math.xdivy of positive numbers", WIDE, 0.6)
_of_two("math.xlog1py", "math.xlog1py of positive numbers", WIDE, 0.6)
_of_two("atan2", "atan2 of positive numbers", WIDE, 0.6)


@function("nn.leaky_relu")
def _leaky_relu(x: Inputs) -> Form:
    return x.call("nn.leaky_relu", x.tensor(x.shape(0, 4)), alpha=x.choice(0.0, 0.25, 1.5))


@function("pow of powers that are known", WIDE, differences=False)
def _known_powers(x: Inputs) -> Form:
    base = x.tensor(x.shape(0, 3), 0.5)
    return x.call("pow", base, x.choice(0.0, 1.0, 2.0, 3.0))


@function("div_no_nan", WIDE, differences=False)
def _div_no_nan(x: Inputs) -> Form:
    one, other = broadcast_shapes(x)
    return x.call("math.divide_no_nan", x.tensor(one), x.tensor(other, 0.5))


@function("math.polyval", ALL)
def _polyval(x: Inputs) -> Form:
    shape = x.shape(0, 2)
    coefficients = [x.tensor(() if x.flag() else shape) for _ in range(x.draw.randint(1, 4))]
    return x.call("math.polyval", coefficients, x.tensor(shape))


@function("add_n", ALL)
def _add_n(x: Inputs) -> Form:
    shape = x.shape(0, 3)
    values = [x.tensor(shape) for _ in range(x.draw.randint(1, 4))]
    return x.call("add_n", [*values, x.choice(*values)])


@function("accumulate_n", ALL)
def _accumulate_n(x: Inputs) -> Form:
    shape = x.shape(0, 3)
    values = [x.tensor(shape, way="known") for _ in range(x.draw.randint(1, 4))]
    return x.call("accumulate_n", [*values, x.choice(*values)])


@function("clip_by_value of a tensor", REAL, differences=False)
def _clip_by_value(x: Inputs) -> Form:
    shape = x.shape(0, 3)
    low, high = x.choice((-1.0, 1.0), (0.0, 0.0), (-0.5, 2.0), (1.0, -1.0))
    return x.call("clip_by_value", x.tensor(shape), low, high)


@function("clip_by_value between tensors", WIDE, differences=False)
def _clip_between(x: Inputs) -> Form:
    shape = x.shape(1, 3)
    low, high = (x.tensor(x.choice(shape, shape[1:], ())) for _ in range(2))
    return x.call("clip_by_value", x.tensor(shape), low, high)


@function("clip_by_norm", WIDE)
def _clip_by_norm(x: Inputs) -> Form:
    shape = x.shape(1, 3)
    axes = x.choice(None, [x.axis(len(shape))])
    limit = x.choice(0.5, 100.0) if x.flag() else x.tensor((), 0.4, 0.6, corners=False)
    return x.call("clip_by_norm", x.tensor(shape), limit, axes)


@function("clip_by_average_norm", ("float32",))
def _clip_by_average_norm(x: Inputs) -> Form:
    return x.call(
        "clip_by_average_norm", x.tensor(x.shape(1, 3), 0.5, corners=False), x.choice(0.01, 100.0)
    )


@function("clip_by_global_norm", WIDE)
def _clip_by_global_norm(x: Inputs) -> Form:
    values: list[Form] = [
        x.tensor(x.shape(0, 3), 0.4, corners=False) for _ in range(x.draw.randint(1, 3))
    ]
    values.insert(x.draw.randint(0, len(values)), None)
    return x.call("clip_by_global_norm", values, x.choice(0.5, 100.0))


@function("global_norm", WIDE)
def _global_norm(x: Inputs) -> Form:
    return x.call("global_norm", [x.tensor(x.shape(0, 3), 0.4, corners=False) for _ in range(2)])


def _chosen(title: str, call: Callable[[Inputs, Form, Form, Form], Form]) -> None:
    @function(title, REAL)
    def _(x: Inputs) -> Form:
        one, other = broadcast_shapes(x)
        mask = x.given([x.flag() for _ in range(one[-1] if one else 1)], "bool")
        return call(x, mask, x.tensor(one), x.tensor(other))


_chosen("where_v2", lambda x, mask, one, other: x.call("where_v2", mask, one, other))


@function("where of rows", ALL)
def _where_of_rows(x: Inputs) -> Form:
    shape = x.shape(1, 3)
    rows = x.given([x.flag() for _ in range(shape[0])], "bool")
    one = x.tensor(shape, way="known")
    return x.call("where", rows, one, one if x.flag() else x.tensor(shape, way="known"))


@function("grad_pass_through", WIDE, differences=False)
def _pass_through(x: Inputs) -> Form:
    value = x.tensor(x.shape(0, 3))
    through = x.call("grad_pass_through", {"$": "tf.floor"})
    return x.call("square", {"$call": through, "args": [value]})


@function("custom_gradient", WIDE, second=False, differences=False)
def _custom_gradient(x: Inputs) -> Form:
    value, other = x.tensor(x.shape(0, 3)), x.tensor(())
    back: Form = {
        "$fn": {
            "params": ["dy"],
            "returns": [
                {"$op": ["*", {"$": "dy"}, {"$": "b"}]},
                {"$call": "tf.reduce_sum", "args": [{"$": "dy"}]},
            ],
        }
    }
    functions: Form = {
        "$fn": {
            "params": ["a", "b"],
            "returns": {"$tuple": [{"$op": ["+", {"$": "a"}, {"$": "b"}]}, back]},
        }
    }
    return {"$call": x.call("custom_gradient", functions), "args": [value, other]}


@function("stop_gradient of a factor", ALL, differences=False)
def _stopped_factor(x: Inputs) -> Form:
    value = x.tensor(x.shape(0, 3))
    return x.call("multiply", value, x.call("stop_gradient", x.call("exp", value)))


@function("check_numerics", REAL)
def _check_numerics(x: Inputs) -> Form:
    return x.call("check_numerics", x.tensor(x.shape(0, 3)), "text")


@function("complex of parts", WIDE, differences=False)
def _of_parts(x: Inputs) -> Form:
    one, other = broadcast_shapes(x)
    number = x.call("complex", x.tensor(one), x.tensor(other))
    part = x.choice("math.real", "math.imag", "math.conj", "abs", "math.angle")
    return x.call(part, x.call("multiply", number, number)) if part != "math.angle" else number


@function("cast there and back", REAL, differences=False)
def _cast(x: Inputs) -> Form:
    other = {"$": f"tf.{x.choice('float32', 'float64', 'float16')}"}
    return x.call("square", x.call("cast", x.tensor(x.shape(0, 3)), other))


@function("saturate_cast", WIDE, differences=False)
def _saturate_cast(x: Inputs) -> Form:
    return x.call("saturate_cast", x.tensor(x.shape(0, 3)), {"$": "tf.float16"})
