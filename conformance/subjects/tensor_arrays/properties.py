"""Arrays of tensors written, read and cut in one order, as a model of them says.

An array lives for one run, so a case is one graph whose operations wait for each other. After one
that fails there is no other one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import dtype_attr, shape_attr, text_attr
from sessrun.conformance.generators.single_runs import Refused, SingleRun
from sessrun.conformance.property import prop
from sessrun.conformance.subjects.tensor_arrays import clauses
from sessrun.conformance.subjects.tensor_arrays.model import ArrayModel
from sessrun.conformance.subjects.tensor_lists.model import Shape
from sessrun.conformance.subjects.variables.arrays import NUMBERS, drawn
from sessrun.spec.cases.model import Case
from sessrun.spec.forms import Json

_ARRAYS: Final = tuple(id_ for name, id_ in vars(clauses).items() if name.isupper())
_DTYPES: Final = (*NUMBERS, "bool", "string")
_SHAPES: Final[tuple[tuple[int, ...], ...]] = ((), (2,), (0,), (3,), (1, 3), (2, 1, 2))


#: A value, and the clause that another one would show false.
_Given = tuple[np.ndarray, str]


class _Life:
    """The operations of one run on one array and on its gradients."""

    def __init__(self, run: SingleRun) -> None:
        self._run, self._draw = run, run.draw
        self._dtype = run.draw.choice(_DTYPES)
        self._sizes = run.draw.choice(_SHAPES)
        self._before: str | None = None
        self.is_over = False
        self._arrays: list[ArrayModel] = []
        self._look_first()
        self._arrays.append(self._new_array())

    def _new_array(self) -> ArrayModel:
        draw, count = self._draw, self._draw.randint(0, 5)
        shape: Shape = None
        if draw.random() < 0.6:
            shape = tuple(None if draw.random() < 0.2 else size for size in self._sizes)
        grows, clears, identical = (draw.random() < chance for chance in (0.4, 0.5, 0.3))
        return self._array(shape, count, grows=grows, clears=clears, identical=identical)

    def _array(
        self, shape: Shape, count: int, *, grows: bool, clears: bool, identical: bool
    ) -> ArrayModel:
        attrs = {
            "dtype": dtype_attr(self._dtype),
            "element_shape": shape_attr(shape),
            "dynamic_size": {"b": grows},
            "clear_after_read": {"b": clears},
            "identical_element_shapes": {"b": identical},
        }
        # Fed: of a constant TensorFlow's optimizer takes the size, that of a closed array too.
        size = self._fed(np.array(count, np.int32))
        node = self._run.writer.node("TensorArrayV3", [size], attrs)
        return ArrayModel(
            f"{node}:0",
            f"{node}:1",
            self._dtype,
            shape,
            [None] * count,
            grows=grows,
            clears=clears,
            identical=identical,
        )

    def _look_first(self) -> None:
        """Write, read and gather elements first: later operations are checked by reads and gathers.

        If these work, an element that is wrong later was written wrongly.
        """
        array = self._array(self._sizes, 2, grows=False, clears=False, identical=False)
        for index in (1, 0):
            self._put(array, index, drawn(self._draw, self._dtype, self._sizes, small=True))
        for index in (0, 1):
            self._see(array, index)
        self._picked(array, [1, 0], None)
        self._see_size(array, clauses.SIZE)

    # What arguments are made of.

    def _strange(self) -> bool:
        return self._draw.random() < 0.04

    def _value(self, array: ArrayModel, *front: int) -> np.ndarray:
        sizes = self._draw.choice(_SHAPES) if self._strange() else self._sizes
        return drawn(self._draw, self._dtype, (*front, *array.outer, *sizes), small=True)

    def _free(self, array: ArrayModel, count: int) -> list[int]:
        """Indices that can be written; sometimes also invalid or repeated ones."""
        if self._strange():
            return [self._draw.randint(-1, len(array.elements) + 1) for _ in range(count)]
        free = [
            index
            for index, held in enumerate(array.elements)
            if (held is None or array.adds) and index not in array.read
        ]
        if array.grows:
            free += range(len(array.elements), len(array.elements) + 2)
        self._draw.shuffle(free)
        return free[:count]

    def _there(self, array: ArrayModel, count: int) -> list[int]:
        """Indices that can be read; sometimes others, which arrays of gradients allow."""
        if self._strange() and not array.adds:
            return [self._draw.randint(-1, len(array.elements)) for _ in range(count)]
        there = [
            index
            for index, held in enumerate(array.elements)
            if (held is not None or self._draw.random() < 0.1)
            and not (array.clears and index in array.read)
        ]
        self._draw.shuffle(there)
        return there[:count]

    # The operations.

    def go_on(self) -> None:
        """Add one operation more, which waits for the one before it."""
        if self.is_over:
            return
        if self._draw.random() < 0.4:
            self._run.part()
        array = self._draw.choice(self._arrays)
        self._draw.choice(
            (
                self._write,
                self._write,
                self._write,
                self._scatter,
                self._read,
                self._read,
                self._gather,
                self._concat,
                self._split,
                self._size,
                self._gradient,
                self._close,
            )
        )(array)

    def _do(
        self,
        op: str,
        array: ArrayModel,
        inputs: Sequence[str],
        attrs: Mapping[str, Json],
        give: Callable[[], Sequence[_Given]] | None = None,
    ) -> str:
        """Write a node; `give` computes its value, or changes the model where it gives a flow."""
        waits = [] if self._before is None else [f"^{self._before}"]
        node = self._run.writer.node(op, [array.handle, *inputs, *waits], attrs)
        self._before = node
        try:
            values = () if give is None else give()
        except Refused as refused:
            self._run.refuses(f"{node}:0", refused)
            self.is_over = True
        else:
            for number, (value, clause) in enumerate(values):
                self._run.shows(f"{node}:{number}", value, clause)
        return node

    def _writes(
        self, op: str, array: ArrayModel, inputs: Sequence[str], do: Callable[[], None]
    ) -> None:
        length = len(array.elements)

        def give() -> Sequence[_Given]:
            do()
            return ()

        node = self._do(op, array, [*inputs, array.flow], {"T": dtype_attr(self._dtype)}, give)
        array.flow = f"{node}:0"
        if not self.is_over and len(array.elements) > length and self._draw.random() < 0.5:
            self._see_size(array, clauses.PAST_END)

    def _may_see(self, array: ArrayModel, indices: Sequence[int]) -> None:
        """Sometimes read an element that was just written, if it can be read again later."""
        if not (self.is_over or array.clears or array.adds) and self._draw.random() < 0.3:
            for index in indices:
                self._see(array, index)

    def _fed(self, value: np.ndarray) -> str:
        return self._run.given(value, fed=True)

    def _put(self, array: ArrayModel, index: int, value: np.ndarray) -> None:
        inputs = [self._fed(np.array(index, np.int32)), self._fed(value)]
        self._writes("TensorArrayWriteV3", array, inputs, lambda: array.write(index, value))

    def _write(self, array: ArrayModel) -> None:
        value = self._value(array)
        for index in self._free(array, 1):
            self._put(array, index, value)
            self._may_see(array, [index])

    def _scatter(self, array: ArrayModel) -> None:
        indices = self._free(array, self._draw.randint(0, 3))
        rows = self._value(array, len(indices) + (1 if self._strange() else 0))
        inputs = [self._fed(np.array(indices, np.int32)), self._fed(rows)]
        self._writes("TensorArrayScatterV3", array, inputs, lambda: array.scatter(indices, rows))
        self._may_see(array, indices)

    def _split(self, array: ArrayModel) -> None:
        if any(held is not None for held in array.elements) and not self._strange():
            return
        count = len(array.elements) + (1 if array.grows or self._strange() else 0)
        lengths = [self._draw.randint(0, 2) for _ in range(count)]
        rows = self._value(array, sum(lengths) + (1 if self._strange() else 0))

        inputs = [self._fed(rows), self._fed(np.array(lengths, np.int64))]
        self._writes("TensorArraySplitV3", array, inputs, lambda: array.split(rows, lengths))
        self._may_see(array, range(count))

    def _reads(
        self,
        op: str,
        array: ArrayModel,
        inputs: Sequence[str],
        attrs: Mapping[str, Json],
        give: Callable[[], Sequence[_Given]],
    ) -> None:
        attrs = {**attrs, "dtype": dtype_attr(self._dtype)}
        self._do(op, array, [*inputs, array.flow], attrs, give)

    def _see(self, array: ArrayModel, index: int) -> None:
        inputs = [self._fed(np.array(index, np.int32))]

        def give() -> list[_Given]:
            clause = array.clause_of([index], clauses.READ)
            return [(array.take(index), clause)]

        self._reads("TensorArrayReadV3", array, inputs, {}, give)

    def _read(self, array: ArrayModel) -> None:
        for index in self._there(array, 1):
            self._see(array, index)

    def _gather(self, array: ArrayModel) -> None:
        indices = self._there(array, self._draw.randint(0, 3))
        asked: Shape = None
        if self._draw.random() < 0.3:
            sizes = self._draw.choice(_SHAPES) if self._strange() else self._sizes
            asked = (*array.outer, *sizes)

        self._picked(array, indices, asked)

    def _picked(self, array: ArrayModel, indices: list[int], asked: Shape) -> None:
        def give() -> list[_Given]:
            clause = array.clause_of(indices, clauses.GATHER if indices else clauses.EMPTY)
            return [(array.gather(indices, asked), clause)]

        inputs = [self._fed(np.array(indices, np.int32))]
        attrs = {"element_shape": shape_attr(asked)}
        self._reads("TensorArrayGatherV3", array, inputs, attrs, give)

    def _concat(self, array: ArrayModel) -> None:
        if array.adds:
            return  # that of gradients of what was not split ends TensorFlow's process
        sizes = (*array.outer, *self._sizes)
        asked: Shape = None if self._draw.random() < 0.5 or not sizes else sizes[1:]

        def give() -> list[_Given]:
            clause = array.clause_of(range(len(array.elements)), clauses.CONCAT)
            joined, lengths = array.concat(asked)
            return [(joined, clause), (lengths, clauses.CONCAT_LENGTHS)]

        there = range(len(array.elements))
        if self._strange() or set(self._there(array, len(there))) == set(there):
            attrs = {"element_shape_except0": shape_attr(asked)}
            self._reads("TensorArrayConcatV3", array, (), attrs, give)

    def _size(self, array: ArrayModel) -> None:
        self._see_size(array, clauses.SIZE)

    def _see_size(self, array: ArrayModel, clause: str) -> None:
        size = np.array(len(array.elements), np.int32)
        self._do("TensorArraySizeV3", array, [array.flow], {}, lambda: [(size, clause)])

    def _gradient(self, array: ArrayModel) -> None:
        """The array of its gradients, in which what is written twice is added up."""
        if len(self._arrays) > 1 or array.is_split or self._dtype not in NUMBERS:
            return
        inputs, op = [array.flow], "TensorArrayGradV3"
        outer: tuple[int, ...] = ()
        if self._draw.random() < 0.4:
            outer, op = self._draw.choice(((2,), (1, 3))), "TensorArrayGradWithShape"
            inputs.append(self._fed(np.array(outer, np.int32)))
        node = self._do(op, array, inputs, {"source": text_attr("gradients")})
        self._arrays.append(array.gradients(f"{node}:0", f"{node}:1", outer))

    def _close(self, array: ArrayModel) -> None:
        if self._strange():
            self._do("TensorArrayCloseV3", array, (), {})
            self._do("TensorArraySizeV3", array, [array.flow], {}, self._refused)

    def _refused(self) -> Sequence[_Given]:
        raise Refused(clauses.CLOSED)


@prop("tensor-arrays", *_ARRAYS, weight=2)
def tensor_arrays(draw: random.Random, id_: str) -> Case:
    """An array of tensors gives in each run anew what was written to it, once."""
    run = SingleRun(draw)
    life = _Life(run)
    for _ in range(draw.randint(4, 18)):
        life.go_on()
    title = "Arrays of tensors give what was written to them, in each run anew."
    return run.case(id_, title, again=clauses.PER_RUN)
