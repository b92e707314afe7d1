"""Inputs of an operation being built: converted to tensors, their dtypes inferred and compared."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from sessrun.reference.base import dtypes
from sessrun.reference.base.attributes import AttrValues
from sessrun.reference.base.dtypes import DType
from sessrun.reference.build.constant_arrays import to_array
from sessrun.reference.build.construction import apply_const
from sessrun.reference.build.conversion import convert_to_tensor, is_constant
from sessrun.reference.build.signature import Signature
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph.creation import Frames
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.operations import ArgDecl

__all__ = ["convert"]


def convert(
    declared: Signature,
    graph: Graph,
    name: str,
    inputs: Mapping[str, object],
    attrs: AttrValues,
    frames: Frames,
) -> list[Tensor | list[Tensor]]:
    """Convert the inputs: a Tensor, or a list of Tensors, for each declared input.

    The attributes that the inputs determine are put into `attrs`. New constants are named
    after the input in the operation's own name scope; `frames` tells where in the program the
    operation is made, and so are they.

    Raises:
      InvalidArgumentTypeError: an input cannot become a tensor of the dtype wanted, or dtypes
        or types disagree.
      InvalidArgumentValueError: an input is None, or a list has a wrong length.

    """
    groups: list[Tensor | list[Tensor]] = []
    for taken in declared.prepared_inputs:
        if taken.name not in inputs:
            op_type = declared.declaration.name
            raise bad_type(f"No argument for input {taken.name} of op '{op_type}'")
        value = inputs[taken.name]
        if taken.is_list:
            groups.append(_Context(declared, graph, name, taken.arg, attrs, frames).several(value))
            continue
        type_attr = taken.type_attr
        wanted = taken.dtype if type_attr is None else attrs.get(type_attr)
        if type(value) is Tensor:
            tensor = value
        else:
            context = _Context(declared, graph, name, taken.arg, attrs, frames)
            tensor = context.converted(value, wanted)
        dtype = tensor.dtype.spec_name
        if wanted is None:
            assert type_attr is not None
            if taken.allowed is not None and dtype not in taken.allowed:
                raise _Context(declared, graph, name, taken.arg, attrs, frames).not_allowed(dtype)
            attrs[type_attr] = dtype
        elif dtype != wanted:
            raise _Context(declared, graph, name, taken.arg, attrs, frames).mismatch(dtype, wanted)
        if taken.is_ref:
            _Context(declared, graph, name, taken.arg, attrs, frames).check_ref(tensor)
        groups.append(tensor)
    return groups


class _Context:
    """The conversion of one declared input of an operation, and the errors about it."""

    __slots__ = ("arg", "attrs", "declared", "frames", "graph", "name")

    def __init__(
        self,
        declared: Signature,
        graph: Graph,
        name: str,
        arg: ArgDecl,
        attrs: AttrValues,
        frames: Frames,
    ) -> None:
        self.declared = declared
        self.graph = graph
        self.name = name
        self.arg = arg
        self.attrs = attrs
        self.frames = frames

    @property
    def op_type(self) -> str:
        return self.declared.declaration.name

    def several(self, value: object) -> list[Tensor]:
        if not isinstance(value, list | tuple):
            raise bad_type(
                f"Expected list for '{self.arg.name}' argument to '{self.op_type}' Op, not {value}."
            )
        if self.arg.type_list_attr is not None:
            return self._of_any_dtypes(value)
        return self._of_one_dtype(value)

    def _of_any_dtypes(self, values: Any) -> list[Tensor]:
        name = self.arg.type_list_attr
        assert name is not None
        earlier = self._earlier("type_list_attr")
        given = None if earlier is not None else self.attrs.get(name)
        if given is not None and len(given) != len(values):
            raise bad_value(
                f"List argument '{self.arg.name}' to '{self.op_type}' Op with length "
                f"{len(values)} must match length {len(given)} of attr '{name}'."
            )
        wanted = (None,) * len(values) if given is None else given
        tensors = self._all_converted(values, wanted, None)
        types = tuple(tensor.dtype.spec_name for tensor in tensors)
        if earlier is not None and types != self.attrs[name]:
            raise bad_type(
                f"Input '{self.arg.name}' of '{self.op_type}' Op has type list of "
                f"{', '.join(types)} that does not match type list "
                f"{', '.join(self.attrs[name])} of argument '{earlier.name}'."
            )
        if given is not None and types != tuple(given):
            pairs = zip(types, given, strict=True)
            raise self.mismatch(*next(pair for pair in pairs if pair[0] != pair[1]))
        for tensor in tensors:
            self._allow(name, tensor.dtype.spec_name)
            self.check_ref(tensor)
        minimum = self.declared.attrs[name].minimum or 0
        if len(types) < minimum:
            raise bad_value(
                f"Attr '{name}' of '{self.op_type}' Op passed list of length {len(types)} less "
                f"than minimum {minimum}."
            )
        self.attrs[name] = types
        return tensors

    def _of_one_dtype(self, values: Any) -> list[Tensor]:
        arg, attrs = self.arg, self.attrs
        known = arg.dtype if arg.type_attr is None else attrs.get(arg.type_attr)
        wanted = known
        if wanted is None:
            known_types = (v.dtype.base_dtype.spec_name for v in values if hasattr(v, "graph"))
            wanted = next(known_types, None)
        tensors = self._all_converted(values, (wanted,) * len(values), known)
        types = [tensor.dtype.base_dtype.spec_name for tensor in tensors]
        wanted = wanted or (types[0] if types else None)
        if not {wanted}.issuperset(types):
            raise self._clash(values, types, known)
        assert arg.number_attr is not None
        self._check_length(arg.number_attr, len(tensors))
        attrs[arg.number_attr] = len(tensors)
        if arg.type_attr is not None:
            self._settle(arg.type_attr, wanted)
        if arg.is_ref:
            for tensor in tensors:
                self.check_ref(tensor)
        return tensors

    def _settle(self, name: str, wanted: str | None) -> None:
        """Note the dtype that a list gave; an empty one leaves it to others, or to the default."""
        if wanted is None:
            if not self.declared.attrs[name].has_default:
                raise bad_type(
                    "Don't know how to infer type variable from empty input list passed to input "
                    f"'{self.arg.name}' of '{self.op_type}' Op."
                )
            return
        self._allow(name, wanted)
        self.attrs[name] = wanted

    def _earlier(self, role: str) -> ArgDecl | None:
        """The input before this one that gives the same attribute as its `role`, or None."""
        value = getattr(self.arg, role)
        before = itertools.takewhile(lambda arg: arg is not self.arg, self.declared.inputs)
        return next((arg for arg in before if getattr(arg, role) == value), None)

    def _all_converted(
        self, values: Any, wanted: Sequence[str | None], known: str | None
    ) -> list[Tensor]:
        """The tensors of a list; an error names all values that cannot be converted.

        `known` is the dtype that they must have, from before the list was looked at.
        """
        if set(map(type, values)) == {Tensor}:
            return list(values)
        tensors: list[Tensor] = []
        for index, (value, dtype) in enumerate(zip(values, wanted, strict=True)):
            try:
                tensor = self.converted(value, dtype, f"{self.arg.name}_{index}")
            except (TypeError, ValueError) as error:
                types = [_type_of(other) for other in values]
                raise self._clash(values, types, known) from error
            tensors.append(tensor)
        return tensors

    def _clash(self, values: Tensor, types: Sequence[str], known: str | None) -> Exception:
        if self.arg.type_list_attr is not None:
            why = f"that are invalid. Tensors: {list(values)}"
        elif self.arg.type_attr is None:
            why = f"that do not match expected type {known}."
        elif known is not None:
            why = f"that do not match type {known} inferred from earlier arguments."
        else:
            why = "that don't all match."
        return bad_type(
            f"Tensors in list passed to '{self.arg.name}' of '{self.op_type}' Op have types "
            f"[{', '.join(types)}] {why}"
        )

    def converted(self, value: object, wanted: str | None, name: str | None = None) -> Tensor:
        """The value as a tensor of this dtype (None: of its own), perhaps of another one."""
        if isinstance(value, Tensor):
            return value
        dtype = None if wanted is None else dtypes.of_name(wanted)
        hint = None
        if dtype is None and self.arg.type_attr is not None:
            attr = self.declared.attrs[self.arg.type_attr]
            hint = None if attr.default is None else dtypes.of_name(attr.default)
            if hint is not None and attr.allowed and name is None:
                own = self._of_own_dtype(value)
                if own is not None and own.dtype.spec_name in attr.allowed:
                    return own
        return self._in_graph(value, dtype, hint, name)

    def _of_own_dtype(self, value: object) -> Tensor | None:
        """The value as a tensor of any dtype; None if it does not determine a dtype."""
        try:
            return self._in_graph(value, None, None, None)
        except TypeError:
            return None

    def _in_graph(
        self, value: object, dtype: DType | None, hint: DType | None, name: str | None
    ) -> Tensor:
        graph = self.graph
        # In a loop or a branch a constant brings other operations with it, in its scope.
        if is_constant(value) and graph.on_new_operation is None:
            try:
                array = to_array(value, dtype or hint)
            except (TypeError, ValueError):
                pass  # it is refused below, or has not the dtype of the hint
            else:
                full_name = graph.unique_full_name(f"{self.name}/{name or self.arg.name}")
                return apply_const(graph, array, full_name, self.frames)
        if get_default_graph() is not graph:
            with graph.as_default():
                return self._in_scope(value, dtype, hint, name)
        return self._in_scope(value, dtype, hint, name)

    def _in_scope(
        self, value: object, dtype: DType | None, hint: DType | None, name: str | None
    ) -> Tensor:
        scopes = self.graph.scopes
        before = scopes.name
        scopes.name = self.name + "/"
        try:
            return convert_to_tensor(
                value, dtype, name or self.arg.name, preferred_dtype=hint, as_ref=self.arg.is_ref
            )
        except TypeError as error:
            wanted = "" if dtype is None else f"Expected {dtype.name} passed to "
            raise bad_type(
                f"{wanted}parameter '{self.arg.name}' of op '{self.op_type}', got {value!r} of "
                f"type '{type(value).__name__}' instead. Error: {error}"
            ) from error
        except ValueError as error:
            raise self._not_converted(value, dtype, error) from error
        finally:
            scopes.name = before

    def _not_converted(self, value: object, dtype: DType | None, error: ValueError) -> Exception:
        """The error for a value that could not be converted: it may have another dtype."""
        try:
            has = convert_to_tensor(value, as_ref=self.arg.is_ref).dtype
        except ValueError:
            has = None
        if has is None or dtype is None or has.base_dtype == dtype.base_dtype:
            return bad_value(
                f"Tried to convert '{self.arg.name}' to a tensor and failed. Error: {error}"
            )
        return self.mismatch(has.name, dtype.name)

    def mismatch(self, has: str, wanted: str) -> Exception:
        """The error for a tensor of another dtype."""
        other = next(
            (
                f"type {wanted} of argument '{arg.name}'"
                for arg in self.declared.inputs
                if arg is not self.arg
                and arg.type_attr is not None
                and arg.type_attr == self.arg.type_attr
            ),
            f"expected type of {wanted}",
        )
        return bad_type(
            f"Input '{self.arg.name}' of '{self.op_type}' Op has type {has} that does not "
            f"match {other}."
        )

    def _allow(self, name: str, has: str) -> None:
        allowed = self.declared.attrs[name].allowed
        if allowed and has not in allowed:
            raise self.not_allowed(has)

    def not_allowed(self, has: str) -> Exception:
        """The error for a dtype that the input's attribute does not allow."""
        attr = self.arg.type_attr or self.arg.type_list_attr
        assert attr is not None
        return bad_type(
            f"Value passed to parameter '{self.arg.name}' has DataType {has} not in list "
            f"of allowed values: {', '.join(self.declared.attrs[attr].allowed)}"
        )

    def check_ref(self, tensor: Tensor) -> None:
        """Refuse what is no reference where the input is one."""
        if not self.arg.is_ref:
            return
        # A body captures the value of a variable, not the variable.
        is_captured = self.graph.building_function and tensor.graph is not self.graph
        if is_captured or not tensor.dtype._is_ref_dtype:  # noqa: SLF001 - DType's own notion
            raise bad_type(
                f"'{self.op_type}' Op requires that input '{self.arg.name}' be a mutable tensor "
                "(e.g.: a tf.Variable)"
            )

    def _check_length(self, name: str, length: int) -> None:
        expected = self.attrs.get(name)
        minimum = self.declared.attrs[name].minimum or 0
        if isinstance(expected, int) and expected != length:
            earlier = self._earlier("number_attr")
            source = f"attr '{name}'" if earlier is None else f"argument '{earlier.name}'"
            raise bad_value(
                f"List argument '{self.arg.name}' to '{self.op_type}' Op with length {length} "
                f"must match length {expected} of {source}."
            )
        if length < minimum:
            raise bad_value(
                f"List argument '{self.arg.name}' to '{self.op_type}' Op with length {length} "
                f"shorter than minimum length {minimum}."
            )


def _type_of(value: object) -> str:
    """The dtype that a value would be a tensor of, as errors about lists tell it."""
    if isinstance(value, Tensor):
        return value.dtype.base_dtype.name
    try:
        with Graph().as_default():
            return convert_to_tensor(value).dtype.base_dtype.name
    except (TypeError, ValueError):
        return "<NOT CONVERTIBLE TO TENSOR>"
