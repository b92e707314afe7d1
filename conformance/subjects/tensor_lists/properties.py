"""Lists of tensors, each made of another or of tensors, as a model of lists says."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import shape_attr
from sessrun.conformance.generators.single_runs import Refused, SingleRun
from sessrun.conformance.property import prop
from sessrun.conformance.subjects.tensor_lists import clauses
from sessrun.conformance.subjects.tensor_lists.looking import ListRun, shape_array
from sessrun.conformance.subjects.tensor_lists.model import (
    ListModel,
    Shape,
    cut,
    is_full,
    merged,
)
from sessrun.conformance.subjects.variables.arrays import drawn
from sessrun.spec.cases.model import Case

_LISTS: Final = tuple(id_ for name, id_ in vars(clauses).items() if name.isupper())


class _Lists(ListRun):
    """The operations that make lists and read them."""

    # What makes lists.

    def _new_list(self, node: str, make: Callable[[], ListModel]) -> ListModel | None:
        """A new list; None if the node is refused."""
        try:
            new = replace(make(), output=f"{node}:0")
        except Refused as refused:
            length = self._node("TensorListLength", [node])
            self._run.refuses(f"{length}:0", refused)
            return None
        self._lists.append(new)
        return new

    def _begun(
        self, node: str, make: Callable[[], ListModel], elements: str, length: str = ""
    ) -> None:
        """A list that is made from tensors; its elements show the clauses."""
        new = self._new_list(node, make)
        if new is not None:
            self._look(new, elements, length or elements)

    def _changed(
        self,
        node: str,
        make: Callable[[], ListModel],
        sources: Sequence[ListModel],
        elements: str,
        length: str = "",
    ) -> None:
        """A list that is made from other lists, which stay unchanged or are not used any more."""
        new = self._new_list(node, make)
        if new is None:
            return
        for source in {source.output: source for source in sources}.values():
            for reader in self._readers.get(source.output, ()):
                self._run.writer.wait(node, reader)
        self._look(new, elements, length or elements)
        for source in {source.output: source for source in sources}.values():
            if self._draw.random() < 0.6:
                self._changed_once.add(source.output)
                self._look(source, clauses.KEPT, clauses.KEPT, after=node)
            else:  # an engine may make the new list of its memory
                self._lists = [other for other in self._lists if other.output != source.output]

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
        self._begun(node, lambda: self._of(shape, limit=limit), clauses.LENGTH)

    def _reserve(self) -> None:
        kind, shape = self._draw.choice(("int32", "int64")), self._partial()
        count = -1 if self._strange() else self._draw.randint(0, 4)

        def make() -> ListModel:
            return self._of(shape).resized(count)

        inputs = [self._shape(shape, kind), self._number(count)]
        node = self._node("TensorListReserve", inputs, kind)
        new = self._new_list(node, make)
        if new is None:
            return
        length = clauses.RESERVED
        if is_full(shape):  # a stack tells, too, how many there are
            self._run.part()
            stack = self._node("TensorListStack", [new.output, self._shape(shape)])
            self._shows(new, f"{stack}:0", new.packed(range(count), None), clauses.RESERVED)
            length = clauses.LENGTH
        self._look(new, clauses.ABSENT, length)

    def _from_tensor(self) -> None:
        kind, shape = self._draw.choice(("int32", "int64")), self._partial()
        rows = self._value(self._draw.randint(0, 3))
        if self._strange():
            rows = drawn(self._draw, self._dtype, ())
        inputs = [self._tensor(rows), self._shape(shape, kind)]
        node = self._node("TensorListFromTensor", inputs, kind)
        self._begun(node, lambda: self._of(shape, cut(rows, shape)), clauses.FROM_TENSOR)

    def _scatter(self) -> None:
        form = self._draw.choice(("TensorListScatter", "TensorListScatterV2"))
        kind, shape = self._draw.choice(("int32", "int64")), self._partial()
        count = self._draw.choice((-1, 3, 5, 5, -2 if self._strange() else 4))
        indices = self._indices(self._draw.randint(0, 3), 4)
        rows = self._rows(len(indices))

        def make() -> ListModel:
            if form.endswith("V2") and (count < -1 or -1 < count <= max(indices, default=-1)):
                raise Refused(clauses.SCATTER_BEYOND)
            length = max(count if form.endswith("V2") else 0, max(indices, default=-1) + 1)
            return self._of(shape).resized(length).scattered(indices, rows)

        inputs = [self._tensor(rows), self._vector(indices), self._shape(shape, kind)]
        if form.endswith("V2"):
            inputs.append(self._number(count))
        node = self._node(form, inputs, kind)
        self._begun(node, make, clauses.SCATTER, clauses.SCATTER_LENGTH)

    def _split(self) -> None:
        kind, shape = self._draw.choice(("int32", "int64")), self._partial()
        if shape:  # TensorFlow does not hold the lengths against it: what reads it may read beyond
            shape = (None, *shape[1:])
        lengths = [self._draw.randint(0, 2) for _ in range(self._draw.randint(0, 3))]
        rows = drawn(self._draw, self._dtype, (sum(lengths), *self._sizes[1:]))
        if self._strange():
            lengths = self._draw.choice(([*lengths, 1], [*lengths, -1, 1]))

        def make() -> ListModel:
            if min(lengths, default=0) < 0 or sum(lengths) != len(rows):
                raise Refused(clauses.SPLIT_LENGTHS)
            if shape == ():
                raise Refused(clauses.MISSHAPEN)
            merged(None if shape is None else shape[1:], rows.shape[1:], clauses.MISSHAPEN)
            ends = np.cumsum(lengths, dtype=int)
            parts = [rows[end - size : end] for end, size in zip(ends, lengths, strict=True)]
            return self._of(shape, parts)

        inputs = [self._tensor(rows), self._shape(shape, kind), self._vector(lengths, "int64")]
        self._begun(self._node("TensorListSplit", inputs, kind), make, clauses.SPLIT)

    def change(self) -> None:
        """A list that is made of another one."""
        if self._lists:
            self._draw.choice(
                (
                    self._push,
                    self._push,
                    self._put,
                    self._put,
                    self._pop,
                    self._resize,
                    self._scatter_into,
                    self._join,
                )
            )(self._draw.choice(self._lists))

    def _push(self, source: ListModel) -> None:
        value = self._value()
        node = self._node("TensorListPushBack", [source.output, self._tensor(value)])
        self._changed(node, lambda: source.pushed(value), [source], clauses.STACK)

    def _put(self, source: ListModel) -> None:
        index, value = self._index(len(source.elements)), self._value()
        # Growing to a negative index ends TensorFlow's process.
        grows = index >= 0 and self._draw.random() < 0.3

        inputs = [source.output, self._number(index), self._tensor(value)]
        attrs = {"resize_if_index_out_of_bounds": {"b": True}} if grows else {}
        node = self._node("TensorListSetItem", inputs, attrs=attrs)
        length = clauses.SET_GROWS if grows else clauses.SET
        self._changed(
            node, lambda: source.put(index, value, grows=grows), [source], clauses.SET, length
        )

    def _pop(self, source: ListModel) -> None:
        shape = self._partial()
        node = self._node("TensorListPopBack", [source.output, self._shape(shape)])
        try:
            last = source.last(shape)
        except Refused as refused:
            self._run.refuses(f"{node}:1", refused)
            return
        absent = source.elements[-1] is None
        self._run.shows(f"{node}:1", last, clauses.ABSENT if absent else clauses.POP)
        rest = source.elements[:-1]
        self._changed(node, lambda: replace(source, elements=rest), [source], clauses.POP)

    def _resize(self, source: ListModel) -> None:
        count = -1 if self._strange() else self._draw.randint(0, 5)
        node = self._node("TensorListResize", [source.output, self._number(count)])
        clause = clauses.CUT if count <= len(source.elements) else clauses.EXTENDED
        self._changed(node, lambda: source.resized(count), [source], clause)

    def _scatter_into(self, source: ListModel) -> None:
        # If indices are left out, TensorFlow makes elements there that are no tensors.
        # A negative one ends its process.
        indices = [self._draw.randrange(len(source.elements) + 1) for _ in range(2)]
        rows = self._rows(len(indices))
        try:
            merged(None if not rows.ndim else source.shape, rows.shape[1:], clauses.MISSHAPEN)
        except Refused:
            return  # TensorFlow does not look: what reads such a list reads other memory
        inputs = [source.output, self._tensor(rows), self._vector(indices)]
        node = self._node("TensorListScatterIntoExistingList", inputs)
        self._changed(node, lambda: source.scattered(indices, rows), [source], clauses.SCATTER_INTO)

    def _join(self, source: ListModel) -> None:
        other = self._draw.choice(self._lists)
        node = self._node("TensorListConcatLists", [source.output, other.output])
        self._changed(node, lambda: source.with_others(other), [source, other], clauses.APPEND)

    # What reads lists.

    def read(self) -> None:
        """What a list has."""
        if self._lists:
            self._draw.choice(
                (
                    self._get,
                    self._get,
                    self._stack,
                    self._stack,
                    self._gather,
                    self._concat,
                    self._length,
                    self._element_shape,
                )
            )(self._draw.choice(self._lists))

    def _shown(
        self,
        node: str,
        source: ListModel,
        make: Callable[[], Sequence[np.ndarray]],
        *named: str,
    ) -> None:
        """The expected outputs of a node that reads a list, with their clauses, or its refusal."""
        try:
            values = make()
        except Refused as refused:
            self._run.refuses(f"{node}:0", refused)
            return
        for number, (value, clause) in enumerate(zip(values, named, strict=True)):
            self._shows(source, f"{node}:{number}", value, clause)

    def _clause_of(self, source: ListModel, clause: str) -> str:
        """The clause of a reader that was looked at first: if it fails, a list has not stayed."""
        return clauses.KEPT if source.output in self._changed_once else clause

    def _get(self, source: ListModel) -> None:
        index, shape = self._index(len(source.elements)), self._partial()
        kind = self._draw.choice(("int32", "int64"))

        inputs = [source.output, self._number(index), self._shape(shape, kind)]
        node = self._node("TensorListGetItem", inputs, kind)
        there = dict(enumerate(source.elements)).get(index) is not None
        clause = self._clause_of(source, clauses.GET) if there else clauses.ABSENT
        self._shown(node, source, lambda: [source.element(index, shape)], clause)

    def _stack(self, source: ListModel) -> None:
        shape, length = self._partial(), len(source.elements)
        count = length + 1 if self._strange() else self._draw.choice((-1, length))

        def make() -> list[np.ndarray]:
            if count not in (-1, length):
                raise Refused(clauses.STACK_COUNT)
            return [source.packed(range(length), shape)]

        attrs = {"num_elements": {"i": str(count)}}
        inputs = [source.output, self._shape(shape)]
        node = self._node("TensorListStack", inputs, attrs=attrs)
        absent = any(held is None for held in source.elements)
        clause = clauses.ABSENT if absent else self._clause_of(source, clauses.STACK)
        self._shown(node, source, make, clause)

    def _gather(self, source: ListModel) -> None:
        length, shape = len(source.elements), self._partial()
        indices = self._indices(self._draw.randint(0, 3), length)
        if source.shape is None or None in source.shape or 0 in source.shape:
            # TensorFlow checks elements before it checks indices, or does not check them at all.
            indices = [index for index in indices if 0 <= index < length]
        inputs = [source.output, self._vector(indices), self._shape(shape)]
        node = self._node("TensorListGather", inputs)
        absent = any(source.elements[index] is None for index in indices if 0 <= index < length)
        clause = clauses.ABSENT if absent else clauses.GATHER
        self._shown(node, source, lambda: [source.packed(indices, shape)], clause)

    def _concat(self, source: ListModel) -> None:
        if self._draw.random() < 0.5:
            asked, leading = self._partial(), self._draw.choices((0, 1, 2), k=2)
            inputs = [source.output, self._shape(asked), self._vector(leading, "int64")]
            node = self._node("TensorListConcatV2", inputs, "int32")

            def make() -> list[np.ndarray]:
                return source.joined(merged(source.shape, asked, clauses.ASKED_SHAPE), leading)

            absent = any(held is None for held in source.elements[: len(leading)])
            joined = clauses.CONCAT_LEADING if absent else clauses.CONCAT
            self._shown(node, source, make, joined, clauses.CONCAT_LENGTHS)
            return
        # The older form does not ask the list for the shape of its elements, nor look at a wrong
        # attribute, or that of a scalar: it ends TensorFlow's process.
        shape: Shape = None
        if self._draw.random() < 0.7 and (source.shape or self._sizes):
            shape = source.shape if is_full(source.shape) else self._sizes
        declared = None if shape is None else (None, *shape[1:])
        attrs = {"element_shape": shape_attr(declared)}
        node = self._node("TensorListConcat", [source.output], attrs=attrs)
        self._shown(
            node,
            source,
            lambda: source.joined(declared, ()),
            clauses.CONCAT,
            clauses.CONCAT_LENGTHS,
        )

    def _length(self, source: ListModel) -> None:
        node = self._node("TensorListLength", [source.output])
        length = np.array(len(source.elements), np.int32)
        self._shows(source, f"{node}:0", length, self._clause_of(source, clauses.LENGTH))

    def _element_shape(self, source: ListModel) -> None:
        kind = self._draw.choice(("int32", "int64"))
        node = self._node("TensorListElementShape", [source.output], kind)
        shape = shape_array(source.shape, kind)
        self._shows(source, f"{node}:0", shape, clauses.ELEMENT_SHAPE)


@prop("tensor-lists", *_LISTS, weight=2)
def tensor_lists(draw: random.Random, id_: str) -> Case:
    """A list of tensors gives what a list gives; what makes another of it leaves it as it was."""
    run = SingleRun(draw)
    lists = _Lists(run)
    lists.begin()
    for _ in range(draw.randint(4, 14)):
        draw.choice(
            (lists.begin, lists.change, lists.change, lists.change, lists.read, lists.read)
        )()
    for _ in range(3):
        lists.read()
    title = "Lists of tensors give what was put into them, and stay as they were made."
    return run.case(id_, title)
