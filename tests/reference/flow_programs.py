"""Programs with branches and loops, drawn by a seed; they run on any `tensorflow.compat.v1`."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["drawn_program"]


class _Program:
    """A program while it is drawn."""

    def __init__(self, tf: Any, rng: np.random.Generator) -> None:
        self.tf, self.rng = tf, rng
        self.placeholders = [tf.placeholder(tf.float32, []) for _ in range(3)]
        is_resource = bool(rng.random() < 0.5)
        self.variables = [
            tf.get_variable(f"v{n}", initializer=float(n), use_resource=is_resource)
            for n in range(2)
        ]
        self.is_resource = is_resource

    def value(self, known: list[Any], depth: int) -> Any:
        """A new scalar made of known ones."""
        tf, rng = self.tf, self.rng
        a, b = (known[i] for i in rng.integers(0, len(known), 2))
        choice = rng.random() if depth < 3 else rng.random() * 0.5
        if choice < 0.2:
            return a + b
        if choice < 0.3:
            return tf.tanh(a * b)
        if choice < 0.36:
            return tf.identity(a)
        if choice < 0.4:
            return tf.constant(float(rng.integers(-2, 3)))
        if choice < 0.45:
            return tf.maximum(a, b) - 0.5
        if choice < 0.5:
            return self.read()
        if choice < 0.75:
            return self.branch(known, a, b, depth)
        return self.loop(known, a, b, depth)

    def read(self) -> Any:
        """The value of a variable."""
        variable = self.variables[self.rng.integers(2)]
        return variable.read_value() if self.is_resource else self.tf.identity(variable)

    def branch(self, known: list[Any], a: Any, b: Any, depth: int) -> Any:
        """A conditional, one of whose sides may hand a value on, or check one."""
        tf, rng = self.tf, self.rng

        def side() -> Any:
            mine = list(known)
            for _ in range(rng.integers(0, 3)):
                mine.append(self.value(mine, depth + 1))
            if rng.random() < 0.1:
                check = tf.Assert(mine[-1] < 1.5, [mine[-1]])
                with tf.control_dependencies([check]):
                    return tf.identity(mine[-1])
            return mine[-1] if rng.random() < 0.8 else tf.identity(mine[-1])

        return tf.cond(a > b if rng.random() < 0.7 else tf.less(a, 0.3), side, side)

    def loop(self, known: list[Any], a: Any, b: Any, depth: int) -> Any:
        """A loop of a few iterations with one to three variables."""
        tf, rng = self.tf, self.rng
        count = int(rng.integers(0, 5))
        width = int(rng.integers(1, 3))

        def body(i: Any, *values: Any) -> Any:
            mine = [*known, *values]
            for _ in range(rng.integers(1, 3)):
                mine.append(self.value(mine, depth + 1))
            new = [tf.tanh(mine[-1 - n]) for n in range(width)]
            return [i + 1, *(new[::-1] if rng.random() < 0.3 else new)]

        def goes_on(i: Any, *values: Any) -> Any:
            return i < count if rng.random() < 0.7 else tf.logical_and(i < count, values[0] < 0.9)

        firsts = [tf.identity(a), tf.identity(b)][:width]
        return tf.while_loop(goes_on, body, [0, *firsts])[-1]


def drawn_program(tf: Any, seed: int) -> tuple[list[Any], list[Any]]:
    """The placeholders and the fetches of a program, in the default graph."""
    rng = np.random.default_rng(seed)
    program = _Program(tf, rng)
    known = [*program.placeholders, tf.constant(0.25)]
    for _ in range(int(rng.integers(2, 6))):
        known.append(program.value(known, 0))
    total = tf.add_n(known)
    fetches = [total, known[-1]]
    if rng.random() < 0.5:
        gradients = tf.gradients(total, program.placeholders)
        fetches += [gradient for gradient in gradients if gradient is not None]
    if rng.random() < 0.4:
        before = fetches[0]
        with tf.control_dependencies([before]):
            fetches.append(program.variables[0].assign_add(0.5))
    return program.placeholders, fetches
