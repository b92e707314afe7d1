"""A run on lists of tensors: it draws arguments, and reads the lists that were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import dtype_attr
from sessrun.conformance.generators.single_runs import SingleRun
from sessrun.conformance.subjects.tensor_lists import clauses
from sessrun.conformance.subjects.tensor_lists.model import ListModel, Shape, is_full
from sessrun.conformance.subjects.variables.arrays import DTYPES, drawn
from sessrun.spec.forms import Json

__all__ = ["ListRun", "shape_array"]

#: How many elements of a list, at most, are read after it was made.
_LOOKED_AT: Final = 3
_SHAPES: Final[tuple[tuple[int, ...], ...]] = (
    (),
    (2,),
    (0,),
    (3,),
    (1, 3),
    (2, 0, 1),
    (1, 2, 1, 2),
)


def shape_array(shape: Shape, dtype: str) -> np.ndarray:
    """A shape as an array: a scalar -1 for one of which nothing is known."""
    sizes = -1 if shape is None else [-1 if size is None else size for size in shape]
    return np.array(sizes, dtype)


class ListRun:
    """A run on lists of one dtype: arguments of operations, and looks at what they have made.

    The elements are all of one shape or, where `ragged`, of different lengths.
    """

    def __init__(self, run: SingleRun) -> None:
        self._run, self._draw = run, run.draw
        self._dtype = run.draw.choice(DTYPES)
        self._sizes = run.draw.choice(_SHAPES)
        self._ragged = bool(self._sizes) and run.draw.random() < 0.25
        self._lists: list[ListModel] = []
        #: The nodes that read each list, by the list's output: a change of the list waits for them.
        self._readers: dict[str, list[str]] = {}
        #: The outputs of the lists of which others were made, and that are still read.
        self._changed_once: set[str] = set()
        self._look_first()

    # What arguments are made of.

    def _strange(self) -> bool:
        """Whether the next argument is one that may be refused."""
        return self._draw.random() < 0.08

    def _value(self, *front: int) -> np.ndarray:
        """A tensor of elements; now and then of another shape than the others."""
        sizes = self._draw.choice(_SHAPES) if self._strange() else self._sizes
        if self._ragged and sizes:
            sizes = (self._draw.randint(0, 3), *sizes[1:])
        return drawn(self._draw, self._dtype, (*front, *sizes))

    def _partial(self) -> Shape:
        """What may be known of the shape of the elements."""
        if self._draw.random() < 0.3:
            return None
        if self._strange():
            return self._draw.choice(_SHAPES)
        return tuple(
            None if self._draw.random() < 0.2 or (self._ragged and not axis) else size
            for axis, size in enumerate(self._sizes)
        )

    def _shape(self, shape: Shape, dtype: str = "int32") -> str:
        return self._run.given(shape_array(shape, dtype), fed=True)

    def _number(self, value: int, dtype: str = "int32") -> str:
        return self._run.given(np.array(value, dtype), fed=True)

    def _vector(self, values: Sequence[int], dtype: str = "int32") -> str:
        return self._run.given(np.array(values, dtype).reshape(-1), fed=True)

    def _tensor(self, value: np.ndarray) -> str:
        return self._run.given(value, fed=not value.ndim or self._draw.random() < 0.7)

    def _indices(self, count: int, length: int) -> list[int]:
        """Places below a length, if it has any; now and then one outside."""
        indices = [self._draw.randrange(length) for _ in range(count if length else 0)]
        if self._strange():
            indices.append(self._draw.choice((-1, length, length + 3)))
        return indices

    def _index(self, length: int) -> int:
        return (self._indices(1, length) or [self._draw.choice((-1, 0, 1))])[-1]

    def _rows(self, count: int) -> np.ndarray:
        """A tensor of so many elements; now and then of more, or one without rows."""
        if self._draw.random() < 0.02:
            return drawn(self._draw, self._dtype, ())
        return self._value(count + 1 if self._strange() else count)

    # What is built of them.

    def _of(
        self, shape: Shape, elements: Sequence[np.ndarray | None] = (), *, limit: int = -1
    ) -> ListModel:
        return ListModel(self._dtype, shape, tuple(elements), limit)

    def _node(
        self, op: str, inputs: list[str], shape_type: str = "", attrs: Mapping[str, Json] = {}
    ) -> str:
        written = dict(attrs)
        if op not in {"TensorListResize", "TensorListLength", "TensorListElementShape"}:
            written["element_dtype"] = dtype_attr(self._dtype)
        if shape_type:
            name = "Tshape" if op == "TensorListGetItem" else "shape_type"
            written[name] = dtype_attr(shape_type)
        return self._run.writer.node(op, inputs, written)

    def _look(self, source: ListModel, elements: str, length: str, after: str = "") -> None:
        """Read the length and some elements of a list: they show the clauses."""
        if not after:
            self._run.part()
        waits = [f"^{after}"] if after else []
        node = self._node("TensorListLength", [source.output, *waits])
        self._shows(source, f"{node}:0", np.array(len(source.elements), np.int32), length)
        there = [index for index, held in enumerate(source.elements) if held is not None]
        for index in sorted(self._draw.sample(there, min(len(there), _LOOKED_AT))):
            inputs = [source.output, self._number(index), self._shape(None), *waits]
            node = self._node("TensorListGetItem", inputs, "int32")
            self._shows(source, f"{node}:0", source.element(index, None), elements)
        for index, held in enumerate(source.elements[:_LOOKED_AT]):
            if held is None and is_full(source.shape):
                inputs = [source.output, self._number(index), self._shape(source.shape), *waits]
                node = self._node("TensorListGetItem", inputs, "int32")
                clause = elements if after else clauses.ABSENT
                self._shows(source, f"{node}:0", source.element(index, None), clause)

    def _shows(self, source: ListModel, fetch: str, value: np.ndarray, clause: str) -> None:
        """Note the expected value of a fetch that reads a list."""
        self._run.shows(fetch, value, clause)
        self._readers.setdefault(source.output, []).append(fetch.partition(":")[0])

    def _look_first(self) -> None:
        """Push, stack, read and count a first list: other lists are checked by these operations.

        If these work, a list that is wrong later was made wrongly.
        """
        model = self._of(self._sizes)
        inputs = [self._shape(self._sizes), self._number(-1)]
        output = f"{self._node('EmptyTensorList', inputs, 'int32')}:0"
        for _ in range(2):
            value = drawn(self._draw, self._dtype, self._sizes)
            node = self._node("TensorListPushBack", [output, self._tensor(value)])
            model, output = model.pushed(value), f"{node}:0"
        model = replace(model, output=output)
        attrs = {"num_elements": {"i": "-1"}}
        node = self._node("TensorListStack", [output, self._shape(self._sizes)], attrs=attrs)
        self._shows(model, f"{node}:0", model.packed(range(2), None), clauses.STACK)
        self._look(model, clauses.GET, clauses.LENGTH)
