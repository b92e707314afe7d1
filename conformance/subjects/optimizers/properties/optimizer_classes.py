"""Each optimizer of `tf.train` with each form of gradients, over several steps."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from typing import Final

from sessrun.conformance.authoring.record import ApiAuthor
from sessrun.conformance.property import prop
from sessrun.conformance.subjects.optimizers.classes import CLASSES, OptimizerClass
from sessrun.conformance.subjects.optimizers.steps import FORMS, Training, train
from sessrun.spec.cases.model import Case

#: The clause that each form of gradients can show false.
_CLAUSES: Final[Mapping[str, str]] = {
    "dense": "OPTIMIZERS-049",
    "rows": "OPTIMIZERS-050",
    "duplicates": "OPTIMIZERS-036",
    "computed": "OPTIMIZERS-051",
    "gathered": "OPTIMIZERS-050",
}
_ROWS: Final = tuple(itertools.product(CLASSES, FORMS))


def _clause(cls: OptimizerClass, form: str) -> str:
    """The clause of a form of gradients; Adam has one of its own for rows, since it moves all."""
    is_dense = form in {"dense", "computed"}
    return _CLAUSES[form] if is_dense or cls.name != "AdamOptimizer" else "OPTIMIZERS-037"


@prop("optimizer-classes", *sorted({_clause(cls, form) for cls, form in _ROWS}))
def optimizer_classes(draw: random.Random, id_: str) -> Case:
    """Steps of an optimizer of tf.train leave variables and slots as its formula says."""
    cls, form = _ROWS[int(id_.rpartition(":")[2]) % len(_ROWS)]
    training = Training(ApiAuthor(), draw, cls, form, draw.choice(cls.dtypes))
    train(training)
    title = f"{cls.name} of {form} gradients of {training.dtype} does its steps."
    return training.c.case(id_, title, (_clause(cls, form),))
