"""Lists of tensors, each made of another or of tensors, as a model of lists says."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from sessrun.conformance.generators.graphdef import dtype_attr, shape_attr
from sessrun.conformance.generators.single_runs import Refused, SingleRun
from sessrun.conformance.generators.tensor_list_model import (
    ListModel,
    Shape,
    cut,
    is_full,
    merged,
)
from sessrun.conformance.generators.variable_model import DTYPES, drawn
from sessrun.conformance.properties import prop
from sessrun.spec.cases.model import Case

_LISTS: Final = (
    "CONTROL-FLOW-021", "CONTROL-FLOW-022", "CONTROL-FLOW-023", "CONTROL-FLOW-024",
    "CONTROL-FLOW-025",
)  # fmt: skip
_SHAPES: Final[tuple[tuple[int, ...], ...]] = (
    (), (2,), (0,), (3,), (1, 3), (2, 0, 1), (1, 2, 1, 2),
)  # fmt: skip


def _shape_array(shape: Shape, dtype: str) -> np.ndarray:
    """A shape as an array: a scalar -1 for one of which nothing is known."""
    sizes = -1 if shape is None else [-1 if size is None else size for size in shape]
    return np.array(sizes, dtype)


class _Lists:
    """Lists of one dtype, and the operations that make and read them.

    The elements are all of one shape or, where `ragged`, of different lengths.
    """

    def __init__(self, run: SingleRun) -> None:
        self._run, self._draw = run, run.draw
        self._dtype = run.draw.choice(DTYPES)
        self._sizes = run.draw.choice(_SHAPES)
        self._ragged = bool(self._sizes) and run.draw.random() < 0.25
        self._lists: list[ListModel] = []

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
        return self._run.given(_shape_array(shape, dtype), fed=True)

    def _number(self, value: int, dtype: str = "int32") -> str:
        return self._run.given(np.array(value, dtype), fed=True)

    def _vector(self, values: Sequence[int], dtype: str = "int32") -> str:
        return self._run.given(np.array(values, dtype).reshape(-1), fed=True)

    def _tensor(self, value: np.ndarray) -> str:
        return self._run.given(value, fed=not value.ndim or self._draw.random() < 0.7)

    def _places(self, count: int, length: int) -> list[int]:
        """Places below a length, if it has any; now and then one outside."""
        places = [self._draw.randrange(length) for _ in range(count if length else 0)]
        if self._strange():
            places.append(self._draw.choice((-1, length, length + 3)))
        return places

    def _place(self, length: int) -> int:
        return (self._places(1, length) or [self._draw.choice((-1, 0, 1))])[-1]

    def _rows(self, count: int) -> np.ndarray:
        """A tensor of so many elements; now and then of more, or one without rows."""
        if self._draw.random() < 0.02:
            return drawn(self._draw, self._dtype, ())
        return self._value(count + 1 if self._strange() else count)

    # What makes lists.

    def _of(
        self, shape: Shape, elements: Sequence[np.ndarray | None] = (), *, limit: int = -1
    ) -> ListModel:
        return ListModel(self._dtype, shape, tuple(elements), limit)

    def _node(
        self, op: str, inputs: list[str], shape_type: str = "", attrs: Mapping[str, Any] = {}
    ) -> str:
        written = dict(attrs)
        if op not in {"TensorListResize", "TensorListLength", "TensorListElementShape"}:
            written["element_dtype"] = dtype_attr(self._dtype)
        if shape_type:
            name = "Tshape" if op == "TensorListGetItem" else "shape_type"
            written[name] = dtype_attr(shape_type)
        return self._run.writer.node(op, inputs, written)

    def _made(self, node: str, make: Callable[[], ListModel]) -> None:
        """A new list, or a node that is refused."""
        try:
            self._lists.append(replace(make(), output=f"{node}:0"))
        except Refused as refused:
            self._run.refuses(f"{self._node('TensorListLength', [node])}:0", refused)

    def begin(self) -> None:
        """A list that is made of no other one."""
        self._draw.choice(
            (self._empty, self._reserve, self._from_tensor, self._scatter, self._split)
        )()

    def _empty(self) -> None:
        kind, shape = self._draw.choice(("int32", "int64")), self._partial()
        limit = self._draw.choice((-1, -1, 0, 2, 4))
        inputs = [self._shape(shape, kind), self._number(limit)]
        node = self._node("EmptyTensorList", inputs, kind)
        self._made(node, lambda: self._of(shape, limit=limit))

    def _reserve(self) -> None:
        kind, shape = self._draw.choice(("int32", "int64")), self._partial()
        count = -1 if self._strange() else self._draw.randint(0, 4)

        def make() -> ListModel:
            return self._of(shape).resized(count)

        inputs = [self._shape(shape, kind), self._number(count)]
        self._made(self._node("TensorListReserve", inputs, kind), make)

    def _from_tensor(self) -> None:
        kind, shape = self._draw.choice(("int32", "int64")), self._partial()
        rows = self._value(self._draw.randint(0, 3))
        if self._strange():
            rows = drawn(self._draw, self._dtype, ())
        inputs = [self._tensor(rows), self._shape(shape, kind)]
        node = self._node("TensorListFromTensor", inputs, kind)
        self._made(node, lambda: self._of(shape, cut(rows, shape)))

    def _scatter(self) -> None:
        form = self._draw.choice(("TensorListScatter", "TensorListScatterV2"))
        kind, shape = self._draw.choice(("int32", "int64")), self._partial()
        count = self._draw.choice((-1, 3, 5, 5, -2 if self._strange() else 4))
        places = self._places(self._draw.randint(0, 3), 4)
        rows = self._rows(len(places))

        def make() -> ListModel:
            if form.endswith("V2") and (count < -1 or -1 < count <= max(places, default=-1)):
                raise Refused
            length = max(count if form.endswith("V2") else 0, max(places, default=-1) + 1)
            return self._of(shape).resized(length).scattered(places, rows)

        inputs = [self._tensor(rows), self._vector(places), self._shape(shape, kind)]
        if form.endswith("V2"):
            inputs.append(self._number(count))
        self._made(self._node(form, inputs, kind), make)

    def _split(self) -> None:
        kind, shape = self._draw.choice(("int32", "int64")), self._partial()
        if shape:  # TensorFlow does not hold the lengths against it: what reads it may read beyond
            shape = (None, *shape[1:])
        lengths = [self._draw.randint(0, 2) for _ in range(self._draw.randint(0, 3))]
        rows = drawn(self._draw, self._dtype, (sum(lengths), *self._sizes[1:]))
        if self._strange():
            lengths = self._draw.choice(([*lengths, 1], [*lengths, -1, 1]))

        def make() -> ListModel:
            if min(lengths, default=0) < 0 or sum(lengths) != len(rows) or shape == ():
                raise Refused
            merged(None if shape is None else shape[1:], rows.shape[1:])
            ends = np.cumsum(lengths, dtype=int)
            parts = [rows[end - size : end] for end, size in zip(ends, lengths, strict=True)]
            return self._of(shape, parts)

        inputs = [self._tensor(rows), self._shape(shape, kind), self._vector(lengths, "int64")]
        self._made(self._node("TensorListSplit", inputs, kind), make)

    def change(self) -> None:
        """A list that is made of another one."""
        if self._lists:
            self._draw.choice(
                (self._push, self._push, self._put, self._put, self._pop, self._resize,
                 self._scatter_into, self._join)
            )(self._draw.choice(self._lists))  # fmt: skip

    def _push(self, source: ListModel) -> None:
        value = self._value()
        node = self._node("TensorListPushBack", [source.output, self._tensor(value)])
        self._made(node, lambda: source.pushed(value))

    def _put(self, source: ListModel) -> None:
        place, value = self._place(len(source.elements)), self._value()
        # Growing to a negative place ends TensorFlow's process.
        grows = place >= 0 and self._draw.random() < 0.3

        inputs = [source.output, self._number(place), self._tensor(value)]
        attrs = {"resize_if_index_out_of_bounds": {"b": True}} if grows else {}
        node = self._node("TensorListSetItem", inputs, attrs=attrs)
        self._made(node, lambda: source.put(place, value, grows=grows))

    def _pop(self, source: ListModel) -> None:
        shape = self._partial()
        node = self._node("TensorListPopBack", [source.output, self._shape(shape)])
        try:
            self._run.shows(f"{node}:1", source.last(shape))
        except Refused as refused:
            self._run.refuses(f"{node}:1", refused)
        else:
            self._made(node, lambda: replace(source, elements=source.elements[:-1]))

    def _resize(self, source: ListModel) -> None:
        count = -1 if self._strange() else self._draw.randint(0, 5)
        node = self._node("TensorListResize", [source.output, self._number(count)])
        self._made(node, lambda: source.resized(count))

    def _scatter_into(self, source: ListModel) -> None:
        # One that leaves places out makes elements of them that are no tensors, in TensorFlow.
        places = [self._draw.randrange(len(source.elements) + 1) for _ in range(2)]
        rows = self._rows(len(places))
        try:
            merged(None if not rows.ndim else source.shape, rows.shape[1:])
        except Refused:
            return  # TensorFlow does not look: what reads such a list reads other memory
        inputs = [source.output, self._tensor(rows), self._vector(places)]
        node = self._node("TensorListScatterIntoExistingList", inputs)
        self._made(node, lambda: source.scattered(places, rows))

    def _join(self, source: ListModel) -> None:
        other = self._draw.choice(self._lists)
        node = self._node("TensorListConcatLists", [source.output, other.output])
        self._made(node, lambda: source.with_others(other))

    # What reads lists.

    def read(self) -> None:
        """What a list has."""
        if self._lists:
            self._draw.choice(
                (self._get, self._get, self._stack, self._stack, self._gather, self._concat,
                 self._length, self._element_shape)
            )(self._draw.choice(self._lists))  # fmt: skip

    def _shown(self, node: str, make: Callable[[], Sequence[np.ndarray]]) -> None:
        try:
            values = make()
        except Refused as refused:
            self._run.refuses(f"{node}:0", refused)
            return
        for number, value in enumerate(values):
            self._run.shows(f"{node}:{number}", value)

    def _get(self, source: ListModel) -> None:
        place, shape = self._place(len(source.elements)), self._partial()
        kind = self._draw.choice(("int32", "int64"))

        inputs = [source.output, self._number(place), self._shape(shape, kind)]
        node = self._node("TensorListGetItem", inputs, kind)
        self._shown(node, lambda: [source.element(place, shape)])

    def _stack(self, source: ListModel) -> None:
        shape, length = self._partial(), len(source.elements)
        count = length + 1 if self._strange() else self._draw.choice((-1, length))

        def make() -> list[np.ndarray]:
            if count not in (-1, length):
                raise Refused
            return [source.packed(range(length), shape)]

        attrs = {"num_elements": {"i": str(count)}}
        inputs = [source.output, self._shape(shape)]
        self._shown(self._node("TensorListStack", inputs, attrs=attrs), make)

    def _gather(self, source: ListModel) -> None:
        length, shape = len(source.elements), self._partial()
        places = self._places(self._draw.randint(0, 3), length)
        if source.shape is None or None in source.shape or 0 in source.shape:
            # TensorFlow looks at elements before it looks at their places, or not at all.
            places = [place for place in places if 0 <= place < length]
        inputs = [source.output, self._vector(places), self._shape(shape)]
        node = self._node("TensorListGather", inputs)
        self._shown(node, lambda: [source.packed(places, shape)])

    def _concat(self, source: ListModel) -> None:
        if self._draw.random() < 0.5:
            asked, leading = self._partial(), self._draw.choices((0, 1, 2), k=2)
            inputs = [source.output, self._shape(asked), self._vector(leading, "int64")]
            node = self._node("TensorListConcatV2", inputs, "int32")
            self._shown(node, lambda: source.joined(merged(source.shape, asked), leading))
            return
        # The older form does not ask the list for the shape of its elements, nor look at a wrong
        # attribute, or that of a scalar: it ends TensorFlow's process.
        shape: Shape = None
        if self._draw.random() < 0.7 and (source.shape or self._sizes):
            shape = source.shape if is_full(source.shape) else self._sizes
        declared = None if shape is None else (None, *shape[1:])
        attrs = {"element_shape": shape_attr(declared)}
        node = self._node("TensorListConcat", [source.output], attrs=attrs)
        self._shown(node, lambda: source.joined(declared, ()))

    def _length(self, source: ListModel) -> None:
        node = self._node("TensorListLength", [source.output])
        self._run.shows(f"{node}:0", np.array(len(source.elements), np.int32))

    def _element_shape(self, source: ListModel) -> None:
        kind = self._draw.choice(("int32", "int64"))
        node = self._node("TensorListElementShape", [source.output], kind)
        self._run.shows(f"{node}:0", _shape_array(source.shape, kind))


@prop("tensor-lists", *_LISTS, weight=2)
def tensor_lists(draw: random.Random, id_: str) -> Case:
    """A list of tensors gives what a list gives; what makes another of it leaves it as it was."""
    run = SingleRun(draw)
    lists = _Lists(run)
    lists.begin()
    for _ in range(draw.randint(4, 14)):
        draw.choice((lists.begin, lists.change, lists.change, lists.change, lists.read,
                     lists.read))()  # fmt: skip
    for _ in range(3):
        lists.read()
    title = "Lists of tensors give what was put into them, and stay as they were made."
    return run.case(id_, title, _LISTS)
