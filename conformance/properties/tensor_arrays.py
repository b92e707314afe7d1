"""Arrays of tensors written, read and cut in one order, as a model of them says.

An array lives for one run, so a case is one graph whose operations wait for each other. After one
that fails there is no other one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from sessrun.conformance.generators.graphdef import dtype_attr, shape_attr, text_attr
from sessrun.conformance.generators.single_runs import Refused, SingleRun
from sessrun.conformance.generators.tensor_list_model import Shape, is_full, merged, sized
from sessrun.conformance.generators.variable_model import NUMBERS, drawn
from sessrun.conformance.properties import prop
from sessrun.spec.cases.model import Case
from sessrun.spec.dtypes import BY_NAME

_ARRAYS: Final = (
    "TENSOR-ARRAYS-001", "TENSOR-ARRAYS-002", "TENSOR-ARRAYS-003", "TENSOR-ARRAYS-004",
    "TENSOR-ARRAYS-005", "TENSOR-ARRAYS-006", "TENSOR-ARRAYS-007", "TENSOR-ARRAYS-008",
    "TENSOR-ARRAYS-009", "TENSOR-ARRAYS-010", "TENSOR-ARRAYS-011", "TENSOR-ARRAYS-012",
)  # fmt: skip
_DTYPES: Final = (*NUMBERS, "bool", "string")
_SHAPES: Final[tuple[tuple[int, ...], ...]] = ((), (2,), (0,), (3,), (1, 3), (2, 1, 2))


@dataclass(slots=True)
class _Array:
    """An array as the model has it.

    Attributes:
      handle: the output of its node that is the handle.
      flow: the output that gives the flow.
      shape: what is known of the shape of each element.
      elements: the elements by place; None for one that was never written.
      grows: whether a write past the end makes it longer.
      clears: whether an element is gone once it was read.
      identical: whether the first element that is written settles the shape of all.
      adds: whether a second write of an element adds to it.
      read: the places that were read.
      outer: the sizes that elements have before those of the array's of which it is a gradient.
      is_split: whether it was split.

    """

    handle: str
    flow: str
    shape: Shape
    elements: list[np.ndarray | None]
    grows: bool = False
    clears: bool = True
    identical: bool = False
    adds: bool = False
    read: set[int] = field(default_factory=set)
    outer: tuple[int, ...] = ()
    is_split: bool = False

    def write(self, place: int, value: np.ndarray) -> None:
        """Write one element."""
        if place < 0 or (place >= len(self.elements) and not self.grows):
            raise Refused
        merged(self.shape, value.shape)
        self.elements += [None] * (place + 1 - len(self.elements))
        if self.identical:
            self.shape = value.shape
        held = self.elements[place]
        if place in self.read or (held is not None and not self.adds):
            raise Refused
        if held is not None:
            if held.shape != value.shape:
                raise Refused
            value = held + value
        self.elements[place] = value

    def take(self, place: int, dtype: str) -> np.ndarray:
        """Read one element; zeros where none was written, if their shape is known."""
        if not 0 <= place < len(self.elements):
            raise Refused
        if place in self.read and self.clears:
            raise Refused
        found = self.elements[place]
        if found is None:
            sizes = sized(self.shape)
            if dtype == "string" and 0 not in sizes:
                raise Refused
            found = np.zeros(sizes, BY_NAME[dtype].numpy)
            self.elements[place] = found
        self.read.add(place)
        return found


class _Life:
    """The operations of one run on one array and on its gradients."""

    def __init__(self, run: SingleRun) -> None:
        self._run, self._draw = run, run.draw
        self._dtype = run.draw.choice(_DTYPES)
        self._sizes = run.draw.choice(_SHAPES)
        self._before: str | None = None
        self.is_over = False
        self._arrays = [self._made()]

    def _made(self) -> _Array:
        draw, count = self._draw, self._draw.randint(0, 5)
        shape: Shape = None
        if draw.random() < 0.6:
            shape = tuple(None if draw.random() < 0.2 else size for size in self._sizes)
        grows, clears, identical = (draw.random() < chance for chance in (0.4, 0.5, 0.3))
        attrs = {
            "dtype": dtype_attr(self._dtype), "element_shape": shape_attr(shape),
            "dynamic_size": {"b": grows}, "clear_after_read": {"b": clears},
            "identical_element_shapes": {"b": identical},
        }  # fmt: skip
        # Fed: of a constant TensorFlow's optimizer takes the size, that of a closed array too.
        size = self._fed(np.array(count, np.int32))
        node = self._run.writer.node("TensorArrayV3", [size], attrs)
        return _Array(
            f"{node}:0", f"{node}:1", shape, [None] * count, grows=grows, clears=clears,
            identical=identical,
        )  # fmt: skip

    # What arguments are made of.

    def _strange(self) -> bool:
        return self._draw.random() < 0.04

    def _value(self, array: _Array, *front: int) -> np.ndarray:
        sizes = self._draw.choice(_SHAPES) if self._strange() else self._sizes
        return drawn(self._draw, self._dtype, (*front, *array.outer, *sizes), small=True)

    def _free(self, array: _Array, count: int) -> list[int]:
        """Places that can be written; now and then others, or some more than once."""
        if self._strange():
            return [self._draw.randint(-1, len(array.elements) + 1) for _ in range(count)]
        free = [
            place for place, held in enumerate(array.elements)
            if (held is None or array.adds) and place not in array.read
        ]  # fmt: skip
        if array.grows:
            free += range(len(array.elements), len(array.elements) + 2)
        self._draw.shuffle(free)
        return free[:count]

    def _there(self, array: _Array, count: int) -> list[int]:
        """Places that can be read; now and then others, which TensorFlow lets gradients have."""
        if self._strange() and not array.adds:
            return [self._draw.randint(-1, len(array.elements)) for _ in range(count)]
        there = [
            place for place, held in enumerate(array.elements)
            if (held is not None or self._draw.random() < 0.1)
            and not (array.clears and place in array.read)
        ]  # fmt: skip
        self._draw.shuffle(there)
        return there[:count]

    # The operations.

    def go_on(self) -> None:
        """Add one operation more, which waits for the one before it."""
        if self.is_over:
            return
        array = self._draw.choice(self._arrays)
        self._draw.choice(
            (self._write, self._write, self._write, self._scatter, self._read, self._read,
             self._gather, self._concat, self._split, self._size, self._gradient, self._close)
        )(array)  # fmt: skip

    def _do(
        self, op: str, array: _Array, inputs: Sequence[str], attrs: dict[str, Any],
        give: Callable[[], Sequence[np.ndarray]] | None = None,
    ) -> str:  # fmt: skip
        """Write a node; `give` says what it gives, or, if it gives a flow, does what it does."""
        waits = [] if self._before is None else [f"^{self._before}"]
        node = self._run.writer.node(op, [array.handle, *inputs, *waits], attrs)
        self._before = node
        try:
            values = () if give is None else give()
        except Refused as refused:
            self._run.refuses(f"{node}:0", refused)
            self.is_over = True
        else:
            for number, value in enumerate(values):
                self._run.shows(f"{node}:{number}", value)
        return node

    def _writes(
        self, op: str, array: _Array, inputs: Sequence[str], do: Callable[[], None]
    ) -> None:
        def give() -> Sequence[np.ndarray]:
            do()
            return ()

        node = self._do(op, array, [*inputs, array.flow], {"T": dtype_attr(self._dtype)}, give)
        array.flow = f"{node}:0"

    def _fed(self, value: np.ndarray) -> str:
        return self._run.given(value, fed=True)

    def _write(self, array: _Array) -> None:
        value = self._value(array)
        for place in self._free(array, 1):
            inputs = [self._fed(np.array(place, np.int32)), self._fed(value)]
            self._writes("TensorArrayWriteV3", array, inputs, lambda: array.write(place, value))  # noqa: B023 - called at once

    def _scatter(self, array: _Array) -> None:
        places = self._free(array, self._draw.randint(0, 3))
        rows = self._value(array, len(places) + (1 if self._strange() else 0))

        def do() -> None:
            if len(places) != len(rows):
                raise Refused
            for place, row in zip(places, rows, strict=True):
                array.write(place, np.asarray(row, rows.dtype))

        inputs = [self._fed(np.array(places, np.int32)), self._fed(rows)]
        self._writes("TensorArrayScatterV3", array, inputs, do)

    def _split(self, array: _Array) -> None:
        if any(held is not None for held in array.elements) and not self._strange():
            return
        count = len(array.elements) + (1 if array.grows or self._strange() else 0)
        lengths = [self._draw.randint(0, 2) for _ in range(count)]
        rows = self._value(array, sum(lengths) + (1 if self._strange() else 0))

        def do() -> None:
            if sum(lengths) != len(rows):
                raise Refused
            if not (array.grows or len(lengths) == len(array.elements)):
                raise Refused
            array.is_split = True
            ends = np.cumsum(lengths, dtype=int)
            for place, (end, size) in enumerate(zip(ends, lengths, strict=True)):
                array.write(place, rows[end - size : end])

        inputs = [self._fed(rows), self._fed(np.array(lengths, np.int64))]
        self._writes("TensorArraySplitV3", array, inputs, do)

    def _reads(
        self, op: str, array: _Array, inputs: Sequence[str], attrs: dict[str, Any],
        give: Callable[[], Sequence[np.ndarray]],
    ) -> None:  # fmt: skip
        attrs = {**attrs, "dtype": dtype_attr(self._dtype)}
        self._do(op, array, [*inputs, array.flow], attrs, give)

    def _read(self, array: _Array) -> None:
        for place in self._there(array, 1):
            inputs = [self._fed(np.array(place, np.int32))]
            self._reads("TensorArrayReadV3", array, inputs, {},
                        lambda: [array.take(place, self._dtype)])  # fmt: skip # noqa: B023

    def _gather(self, array: _Array) -> None:
        places = self._there(array, self._draw.randint(0, 3))
        asked: Shape = None
        if self._draw.random() < 0.3:
            sizes = self._draw.choice(_SHAPES) if self._strange() else self._sizes
            asked = (*array.outer, *sizes)

        def give() -> list[np.ndarray]:
            array.shape = merged(array.shape, asked)
            if not places and not is_full(asked):
                raise Refused(12)
            found = [array.take(place, self._dtype) for place in places]
            shape = array.shape
            for each in found[: 1 if found and not found[0].size else None]:
                shape = merged(shape, each.shape)  # nobody looks past an empty one
            if not found:
                return [np.zeros((0, *sized(shape)), BY_NAME[self._dtype].numpy)]
            return [np.stack(found) if found[0].size else np.stack([found[0]] * len(found))]

        inputs = [self._fed(np.array(places, np.int32))]
        attrs = {"element_shape": shape_attr(asked)}
        self._reads("TensorArrayGatherV3", array, inputs, attrs, give)

    def _concat(self, array: _Array) -> None:
        if array.adds:
            return  # that of gradients of what was not split ends TensorFlow's process
        sizes = (*array.outer, *self._sizes)
        asked: Shape = None if self._draw.random() < 0.5 or not sizes else sizes[1:]

        def give() -> list[np.ndarray]:
            if not array.elements:
                if not is_full(asked):
                    raise Refused(12)
                empty = np.zeros((0, *sized(asked)), BY_NAME[self._dtype].numpy)
                return [empty, np.zeros(0, np.int64)]
            found = [array.take(place, self._dtype) for place in range(len(array.elements))]
            rest = asked
            for each in found:
                if not each.ndim:
                    raise Refused
                rest = merged(rest, each.shape[1:])
            return [np.concatenate(found), np.array([len(each) for each in found], np.int64)]

        there = range(len(array.elements))
        if self._strange() or set(self._there(array, len(there))) == set(there):
            attrs = {"element_shape_except0": shape_attr(asked)}
            self._reads("TensorArrayConcatV3", array, (), attrs, give)

    def _size(self, array: _Array) -> None:
        size = np.array(len(array.elements), np.int32)
        self._do("TensorArraySizeV3", array, [array.flow], {}, lambda: [size])

    def _gradient(self, array: _Array) -> None:
        """The array of its gradients, in which what is written twice is added up."""
        if len(self._arrays) > 1 or array.is_split or self._dtype not in NUMBERS:
            return
        inputs, op = [array.flow], "TensorArrayGradV3"
        outer: tuple[int, ...] = ()
        if self._draw.random() < 0.4:
            outer, op = self._draw.choice(((2,), (1, 3))), "TensorArrayGradWithShape"
            inputs.append(self._fed(np.array(outer, np.int32)))
        array.grows = False
        node = self._do(op, array, inputs, {"source": text_attr("gradients")})
        zeros = [
            None if held is None else np.zeros((*outer, *held.shape), held.dtype)
            for held in array.elements
        ]
        shape = None if array.shape is None else (*outer, *array.shape)
        self._arrays.append(_Array(
            f"{node}:0", f"{node}:1", shape, zeros, identical=array.identical, adds=True,
            outer=outer,
        ))  # fmt: skip

    def _close(self, array: _Array) -> None:
        if self._strange():
            self._do("TensorArrayCloseV3", array, (), {})
            self._do("TensorArraySizeV3", array, [array.flow], {}, self._refused)

    def _refused(self) -> Sequence[np.ndarray]:
        raise Refused


@prop("tensor-arrays", *_ARRAYS, weight=2)
def tensor_arrays(draw: random.Random, id_: str) -> Case:
    """An array of tensors gives in each run anew what was written to it, once."""
    run = SingleRun(draw)
    life = _Life(run)
    for _ in range(draw.randint(4, 18)):
        life.go_on()
    title = "Arrays of tensors give what was written to them, in each run anew."
    return run.case(id_, title, _ARRAYS)
