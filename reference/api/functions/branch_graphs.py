"""BranchGraph: the graph in which a branch or the body of a loop becomes a function.

Its operations have the devices that are open where the operation that calls it is built; that
operation waits for what they wait for outside. Source: TF 2.21, `func_graph_from_py_func`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise
from typing import Any, Final

from sessrun.reference.api import nest
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.flow_values import flow_of, with_flow
from sessrun.reference.api.control_flow.functional_mode import says_lowering
from sessrun.reference.api.functions.func_graph import FuncGraph
from sessrun.reference.api.functions.function_defs import function_def
from sessrun.reference.api.variables.opened_variable_scopes import variable_scope
from sessrun.reference.base.dtypes import resource
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity, placeholder
from sessrun.reference.build.get_static_value import seen_shape
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import AttrValue, FunctionDefLibrary, NameAttrList

__all__ = ["BranchGraph", "add_function", "function_name", "note_functions", "note_reads"]

#: Names of functions are distinguished by numbers; no two of a process have the same.
_NUMBERS: Final = itertools.count()
#: The attributes that TensorFlow sets on such a function.
_CONSTRUCTION_ATTRS: Final = {"_construction_context": AttrValue(s=b"kEagerRuntime")}
#: Op types that take a resource and do not change it.
_READING: Final = frozenset(
    {
        "ReadVariableOp",
        "ResourceGather",
        "ResourceGatherNd",
        "VarIsInitializedOp",
        "VariableShape",
    }
)
#: What counts as stateful and need not follow others.
_FREE: Final = frozenset({"VarHandleOp", "Placeholder", "PlaceholderWithDefault"})
_READ_ONLY: Final = "_read_only_resource_inputs"
#: Which input of an operation says the shape of what it gives.
_SHAPED_BY: Final = {
    **dict.fromkeys(
        (
            "Fill",
            "ParameterizedTruncatedNormal",
            "RandomStandardNormal",
            "RandomUniform",
            "RandomUniformInt",
            "StatelessParameterizedTruncatedNormal",
            "StatelessRandomBinomial",
            "StatelessRandomGammaV2",
            "StatelessRandomGammaV3",
            "StatelessRandomNormal",
            "StatelessRandomNormalV2",
            "StatelessRandomPoisson",
            "StatelessRandomUniform",
            "StatelessRandomUniformFullInt",
            "StatelessRandomUniformFullIntV2",
            "StatelessRandomUniformInt",
            "StatelessRandomUniformIntV2",
            "StatelessRandomUniformV2",
            "StatelessTruncatedNormal",
            "StatelessTruncatedNormalV2",
            "TruncatedNormal",
        ),
        0,
    ),
    "Reshape": 1,
}
#: Op types that draw an array of numbers for each element of their second input.
_SHAPED_BY_PARAMETERS: Final = frozenset({"RandomGamma", "RandomPoissonV2"})


def function_name(scope: str, word: str) -> str:
    """A new name for a function of an operation in a name scope."""
    return f"{scope}{word}_{next(_NUMBERS)}".replace("/", "_")


def add_function(graph: Graph, body: FuncGraph) -> NameAttrList:
    """Put a body into the library of a graph as a function of its name; what calls it."""
    waited = body.must_run if isinstance(body, BranchGraph) else ()
    definition = function_def(
        body, body.name, is_exact=True, attrs=_CONSTRUCTION_ATTRS, must_run=waited
    )
    graph.add_functions(FunctionDefLibrary(function=[definition]))
    return NameAttrList(name=body.name)


class BranchGraph(FuncGraph):
    """A branch, a loop's condition or its body, while it is built and after.

    Args:
      name: what the function is called.

    Attributes:
      structure: what the Python function returned, of tensors of this graph.
      waits_for: operations of outside that it waits for.
      must_run: operations that every call executes, whether or not a result depends on them.
      orders_effects: whether they are those with effects, in the order of their creation.
      is_loop_body: whether it is the body of a loop, or of a loop's gradient.

    """

    makes_functions = True
    is_loop_body = False

    def __init__(self, name: str) -> None:
        super().__init__(name, reads_variables=False)
        self.on_new_operation = _see_shape
        self.seed = self.outer_graph.seed
        self.share_all_collections(self.outer_graph)
        self.structure: Any = None
        self.waits_for: dict[Operation, None] = {}
        self.must_run: list[Operation] = []
        self.orders_effects = getattr(self.outer_graph, "orders_effects", False)
        self.scripts = self.outer_graph.scripts  # Python functions live as long as that graph
        outside = self.outer_graph.scopes
        self.scopes.device, self.scopes.device_text = outside.device, outside.device_text
        self.scopes.colocation = outside.colocation

    def colocate_with(
        self, op: object, ignore_existing: bool = False
    ) -> AbstractContextManager[None]:
        """As `Graph.colocate_with`; outer operations are given by name, handles captured."""
        handle = getattr(op, "handle", None)
        if isinstance(handle, Tensor):
            op = self.capture(handle)
        return super().colocate_with(op.op if isinstance(op, Tensor) else op, ignore_existing)

    @contextmanager
    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> Iterator[None]:
        """As `Graph.control_dependencies`; the call waits for operations of other graphs."""
        own_elements = []
        for item in control_inputs or ():
            # A variable that was changed is not read to be waited for.
            as_element = (
                None if hasattr(item, "_handle") else getattr(item, "_as_graph_element", None)
            )
            element = item if as_element is None else as_element()
            element = item.op if hasattr(item, "_handle") else element
            graph = getattr(element, "graph", self)
            if graph is self or graph is None:
                own_elements.append(element)
            else:
                self.waits_for[element if isinstance(element, Operation) else element.op] = None
        with super().control_dependencies(None if control_inputs is None else own_elements):
            yield

    def build(
        self,
        function: Callable[..., object],
        args: Sequence[object] = (),
        operation_result: object = None,
    ) -> None:
        """Build the body by calling a Python function.

        Args:
          function: the function.
          args: its arguments.
          operation_result: the tensor whose identity, after the operation, is the result where the
            function returns an Operation.

        Raises:
          TypeError: the function returns a value that cannot be converted to a tensor.

        """

        def returned(value: TensorLike) -> TensorLike:
            if value is None or flow_of(value) is not value:
                return value
            if isinstance(value, Operation) and operation_result is not None:
                with self.control_dependencies([value]):
                    return identity(operation_result)
            try:
                return convert_to_tensor(value)
            except (ValueError, TypeError):
                raise TypeError(self.refusal(function, value)) from None

        with self.as_default():
            with variable_scope(
                "",
                reuse=self.outer_scope.reuse or None,
                custom_getter=self.variable,
                use_resource=True,
            ):
                result = function(*args)
            self.structure = nest.map_structure(returned, result, expand_composites=True)
            leaves = nest.flatten(self.structure, expand_composites=True)
            self.outputs = [self.capture(flow_of(leaf)) for leaf in leaves if leaf is not None]
            if self.orders_effects:
                self._order_effects(leaves)

    def _order_effects(self, leaves: Sequence[object]) -> None:
        """Let a stateful operation wait for the previous one, and the results for all of them."""
        effects = [
            op for op in self.get_operations() if op.declaration.stateful and op.type not in _FREE
        ]
        for before, op in pairwise(effects):
            if before not in op.control_inputs:
                op._add_control_input(before)  # noqa: SLF001 - rewriting a graph is our trade here
        self.must_run = effects[-1:]
        self.outputs = [identity(tensor) for tensor in self.outputs]
        outputs = iter(self.outputs)
        values = [None if leaf is None else with_flow(leaf, next(outputs)) for leaf in leaves]
        self.structure = nest.pack_sequence_as(self.structure, values, expand_composites=True)

    def refusal(self, function: Callable[..., object], value: TensorLike) -> str:
        """The message for a value that the Python function may not return."""
        return (
            "A branch or body must return zero or more Tensors, or None values; of "
            f"{function} one of type {type(value).__name__} was returned, which is none."
        )

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """The tensor of this graph for a tensor of another one, under the same name."""
        return super().capture(tensor, tensor.op.name if name is None else name)

    def take(
        self, taken: Sequence[Tensor], given: Sequence[Tensor] | None = None, word: str = ""
    ) -> None:
        """Make exactly these outer tensors the captured ones, as arguments after the declared ones.

        Args:
          taken: the tensors, in the order of the arguments.
          given: the outer tensor that is passed for each captured one; by default itself.
          word: the beginning of the names of new arguments, before a number.

        """
        passed = self.extra_inputs if given is None else given
        of = dict(zip(passed, self.extra_args, strict=True))
        declared = [item for item in self.inputs if item not in self.extra_args]
        new = [tensor for tensor in taken if tensor not in of]
        with self.as_default():
            for number, tensor in enumerate(new):
                name = f"{word}{number}" if word else None
                of[tensor] = placeholder(tensor.dtype.base_dtype, tensor.shape, name)
                self._captured[tensor] = of[tensor]
        self.extra_inputs, self.extra_args = list(taken), [of[tensor] for tensor in taken]
        self.inputs = [*declared, *self.extra_args]

    def stands_for(self, taken: Sequence[Tensor]) -> None:
        """Take these tensors as the captured ones that its arguments replace, one for each."""
        self.extra_inputs, self.extra_args = list(taken), list(self.inputs)
        self._captured.update(zip(taken, self.inputs, strict=True))

    def rewritten(self) -> None:
        """Give it the name of the function that it is now that it returns more."""
        self.name += "_rewritten"
        while self.name in self.functions:  # by another call of the same function
            self.name += f"_{next(_NUMBERS)}"

    def reads_only(self) -> set[int]:
        """The numbers of the arguments that are resources which the body only reads."""
        return {
            number
            for number, tensor in enumerate(self.inputs)
            if tensor.dtype == resource and all(_leaves(op, tensor) for op in tensor.consumers())
        }


def _see_shape(op: Operation) -> None:
    """Set the static shape of an output that constants of the outer graph determine."""
    is_by_parameters = op.type in _SHAPED_BY_PARAMETERS
    if (not is_by_parameters and op.type not in _SHAPED_BY) or op.outputs[
        0
    ].shape.is_fully_defined():
        return
    shape = seen_shape(op.inputs[_SHAPED_BY.get(op.type, 0)])
    op.outputs[0].set_shape(shape.concatenate(op.inputs[1].shape) if is_by_parameters else shape)


def _leaves(op: Operation, tensor: Tensor) -> bool:
    """Whether an operation does not change the resources that it takes."""
    if op.type in _READING:
        return True
    known = op.extra.get(_READ_ONLY)
    return known is not None and all(
        number in known.list.i for number, source in enumerate(op.inputs) if source is tensor
    )


def note_functions(op: Operation, bodies: Sequence[BranchGraph], first: int) -> None:
    """Set the attributes that TensorFlow sets on an operation that calls such functions.

    Args:
      op: the operation.
      bodies: the functions.
      first: the number of its input that is their first argument.

    """
    if says_lowering():
        op._set_attr("_lower_using_switch_merge", AttrValue(b=True))  # noqa: SLF001 - TensorFlow's own name
    note_reads(op, bodies, first)


def note_reads(op: Operation, bodies: Sequence[BranchGraph], first: int) -> None:
    """Set the attribute that lists the resources that the called functions do not change.

    Args:
      op: the operation.
      bodies: the functions.
      first: the number of its input that is their first argument.

    """
    numbers = set.intersection(*(body.reads_only() for body in bodies))
    attr = AttrValue()
    attr.list.i.extend(sorted(number + first for number in numbers))
    op._set_attr(_READ_ONLY, attr)  # noqa: SLF001 - as above
