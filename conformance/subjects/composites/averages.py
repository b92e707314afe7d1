"""Moving averages of variables and tensors over several updates."""

from __future__ import annotations

import random
from typing import Final

import numpy as np

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import ApiAuthor, Symbol
from sessrun.spec.cases.model import Case

__all__ = ["case_of_average"]

_CONTRACTS: Final = {
    "float32": "close(1e-4, 1e-5)",
    "float64": "close(1e-9, 1e-10)",
    "float16": "close(1e-2, 4e-3)",
}


def _numbers(draw: random.Random, dtype: str, size: int) -> np.ndarray:
    return np.array([draw.uniform(-3, 3) for _ in range(size)], dtype)


def case_of_average(draw: random.Random, id_: str) -> Case:
    """A case: averages of variables of one or both kinds, or of a tensor, over some updates."""
    dtype = draw.choice(sorted(_CONTRACTS))
    counts, debias, of_tensor = draw.random() < 0.5, draw.random() < 0.3, draw.random() < 0.3
    c, size = ApiAuthor(), draw.randint(1, 3)
    fed = c.tf.placeholder(getattr(c.tf, dtype), [size])
    options: dict[str, Recordable] = {"zero_debias": debias} if debias else {}
    step = c.tf.placeholder(c.tf.int32, []) if counts else None
    if step is not None:
        options["num_updates"] = step
    average = c.tf.train.ExponentialMovingAverage(draw.choice((0.5, 0.75, 0.99)), **options)
    if of_tensor:
        watched = [fed * 2]
        assigned = None
    else:
        watched = [
            c.tf.Variable(_numbers(draw, dtype, size), use_resource=draw.random() < 0.5)
            for _ in range(draw.randint(1, 2))
        ]
        assigned = c.tf.group(*(variable.assign_add(fed) for variable in watched))
    update = average.apply(watched)
    averages = [average.average(item) for item in watched]
    session = c.tf.Session()
    session.run(c.tf.global_variables_initializer())
    for number in range(draw.randint(2, 4)):
        feeds: dict[Symbol, np.ndarray | np.generic] = {fed: _numbers(draw, dtype, size)}
        if assigned is not None:
            session.run(assigned, feeds)
        if step is not None:
            feeds[step] = np.int32(number + draw.randint(0, 3))
        session.run(update, feeds)
        c.against_oracle(session.run(averages), _CONTRACTS[dtype])
    clause = "OPTIMIZERS-047" if counts else "OPTIMIZERS-046"
    what = "a tensor" if of_tensor else "variables"
    return c.case(id_, f"The averages of {what} of {dtype} follow them.", (clause,))
