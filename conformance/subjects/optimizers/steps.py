"""Programs that train: variables, gradients of a form, an optimizer, several of its steps."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, Symbol
from sessrun.conformance.subjects.optimizers.classes import OptimizerClass

__all__ = ["FORMS", "Training", "train"]

#: How the gradients come: fed whole, fed by rows (each once, or some of them twice), or computed.
FORMS: Final = ("dense", "rows", "duplicates", "computed", "gathered")
_CONTRACTS: Final[Mapping[str, str]] = {
    "float16": "close(2e-2, 2e-2)",
    "float32": "close(1e-4, 1e-5)",
    "float64": "close(1e-9, 1e-10)",
}


@dataclass(slots=True)
class Training:
    """A program while it is recorded.

    Attributes:
      c: the author of the case.
      draw: the source of chance.
      cls: the optimizer's class.
      form: how gradients come.
      dtype: the dtype of the variables.
      shapes: the placeholders that each step feeds, with the shape or the rows of what they take.

    """

    c: ApiAuthor
    draw: random.Random
    cls: OptimizerClass
    form: str
    dtype: str
    shapes: list[tuple[Symbol, tuple[int, ...], int | None]] = field(default_factory=list)

    def numbers(self, shape: tuple[int, ...]) -> np.ndarray:
        """Numbers about zero, zero among them."""
        count = int(np.prod(shape))
        numbers = [
            self.draw.choice((0.0, self.draw.uniform(-2, 2)))
            if self.draw.random() < 0.2
            else self.draw.uniform(-2, 2)
            for _ in range(count)
        ]
        return np.array(numbers, self.dtype).reshape(shape)

    def variable(self) -> tuple[Symbol, tuple[int, ...]]:
        """A variable of either kind, and its shape."""
        rows = self.draw.randint(1, 4)
        shape = (rows, self.draw.randint(1, 3)) if self.draw.random() < 0.7 else (rows,)
        is_resource = self.draw.random() < 0.5
        value = self.numbers(shape)
        return self.c.tf.Variable(value, use_resource=is_resource), shape

    def fed(self, shape: tuple[int, ...], rows: int | None = None) -> Symbol:
        """A placeholder that each step feeds: numbers, or the indices of rows below `rows`."""
        dtype = self.c.tf.int64 if rows is not None else getattr(self.c.tf, self.dtype)
        placeholder: Symbol = self.c.tf.placeholder(dtype, shape)
        self.shapes.append((placeholder, shape, rows))
        return placeholder

    def feeds(self) -> dict[Symbol, np.ndarray]:
        """The feeds of a step: new values for every placeholder."""
        feeds: dict[Symbol, np.ndarray] = {}
        for placeholder, shape, rows in self.shapes:
            feeds[placeholder] = self.numbers(shape) if rows is None else self._rows(shape[0], rows)
        return feeds

    def _rows(self, count: int, rows: int) -> np.ndarray:
        if self.form == "rows":
            return np.array(self.draw.sample(range(rows), count), np.int64)
        return np.array([self.draw.randrange(rows) for _ in range(count)], np.int64)

    def gradient(self, shape: tuple[int, ...]) -> Symbol:
        """A gradient made of placeholders: a tensor, or IndexedSlices."""
        if self.form == "dense":
            return self.fed(shape)
        most = shape[0] if self.form == "rows" else shape[0] + 2
        count = self.draw.randint(1, most)
        values, indices = self.fed((count, *shape[1:])), self.fed((count,), shape[0])
        tf = self.c.tf
        return tf.IndexedSlices(values, indices, tf.constant(list(shape), tf.int64))

    def share(self, variable: Symbol, shape: tuple[int, ...]) -> Symbol:
        """A variable's term of the loss: over the entire variable, or over gathered rows."""
        tf = self.c.tf
        if self.form == "computed":
            return tf.reduce_sum(tf.square(variable) * self.fed(shape))
        count = self.draw.randint(1, shape[0] + 2)
        rows = tf.gather(variable, self.fed((count,), shape[0]))
        return tf.reduce_sum(rows * self.fed((count, *shape[1:])))


def _optimizer(t: Training, options: Mapping[str, float | bool], step: Symbol | None) -> Symbol:
    """The optimizer; its learning rate is a number, or a placeholder that each step feeds."""
    rate: float | Symbol = t.draw.choice(t.cls.rates)
    if t.draw.random() < 0.4:
        rate = t.c.tf.placeholder_with_default(np.array(rate, np.float32), [])
    given: dict[str, float | bool | Symbol] = dict(options)
    if t.draw.random() < 0.3:
        given["use_locking"] = True
    if t.cls.counts and step is not None:
        given["global_step"] = step
    optimizer: Symbol = getattr(t.c.tf.train, t.cls.name)(rate, **given)
    return optimizer


def _applied(
    t: Training,
    optimizer: Symbol,
    variables: list[tuple[Symbol, tuple[int, ...]]],
    step: Symbol | None,
) -> Symbol:
    """The training operation of the program, with gradients of its form."""
    tf, counted = t.c.tf, {} if step is None else {"global_step": step}
    if t.form in {"computed", "gathered"}:
        gate = t.draw.choice(("GATE_NONE", "GATE_OP", "GATE_GRAPH", None))
        shares = [t.share(*pair) for pair in variables]
        # Only where all gradients are there before the first step may one depend on the other.
        if gate == "GATE_GRAPH" and len(shares) > 1:
            shares.append(tf.tanh(shares[0]) * tf.tanh(shares[1]))
        loss = sum(shares[1:], shares[0])
        if gate is not None:
            minimized: Symbol = optimizer.minimize(
                loss, gate_gradients=getattr(optimizer, gate), **counted
            )
            return minimized
        applied: Symbol = optimizer.apply_gradients(optimizer.compute_gradients(loss), **counted)
        return applied
    gradients = [t.gradient(shape) for _, shape in variables]
    if t.draw.random() < 0.3:
        clipped = tf.clip_by_global_norm(gradients, 1.0)
        gradients = [clipped[0][index] for index in range(len(gradients))]
    pairs = [
        (gradient, variable) for gradient, (variable, _) in zip(gradients, variables, strict=True)
    ]
    train_op: Symbol = optimizer.apply_gradients(pairs, **counted)
    return train_op


def train(t: Training) -> None:
    """Record variables, optimizer and steps; compare all variables and slots after each step."""
    c, tf = t.c, t.c.tf
    variables = [t.variable() for _ in range(t.draw.randint(1, 2))]
    options = {name: drawn(t.draw) for name, drawn in t.cls.options.items()}
    counts = t.cls.counts or t.draw.random() < 0.4
    step = tf.train.get_or_create_global_step() if counts else None
    optimizer = _optimizer(t, options, step)
    applied = _applied(t, optimizer, variables, step)
    names = t.cls.slots(options)
    shown = [variable for variable, _ in variables]
    shown += [optimizer.get_slot(variable, name) for variable, _ in variables for name in names]
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    for _ in range(t.draw.randint(2, 3)):
        session.run(applied, t.feeds())
        c.against_oracle(session.run(shown), _CONTRACTS[t.dtype])
        if step is not None:
            c.against_oracle(session.run(step))
    c.against_oracle(session.run(optimizer.variables()), _CONTRACTS[t.dtype])
