"""Faults of OPTIMIZERS: operations that update variables and slots by another formula.

Most of them load a GraphDef with the nodes of some op types changed: another input or attribute,
or the op type of another rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Element, Value
from sessrun.spec.proto.graph_pb2 import DT_FLOAT, DT_INT32, DataType, GraphDef, NodeDef

#: What changes a node, in the GraphDef that it may add nodes to.
Change = Callable[[NodeDef, GraphDef], None]


def _stepping(tf: Namespace, rule: str, change: Change) -> Namespace:
    """The namespace that loads GraphDefs with the steps of a rule changed.

    Args:
      tf: the namespace.
      rule: what follows `Apply` in their op types; `Sparse` before it for steps by rows.
      change: changes the node, in the GraphDef that it may add nodes to.

    """
    forms = (f"Apply{rule}", f"ResourceApply{rule}")
    if rule.startswith("Sparse"):
        rest = rule.removeprefix("Sparse")
        forms = (f"SparseApply{rest}", f"ResourceSparseApply{rest}")

    def import_graph_def(
        graph_def: GraphDef, *args: Argument, **kwargs: Argument
    ) -> Sequence[Element] | None:
        changed = type(graph_def)()
        changed.CopyFrom(graph_def)
        for node in graph_def.node:
            if node.op in forms:
                change(next(n for n in changed.node if n.name == node.name), changed)
        return tf.import_graph_def(changed, *args, **kwargs)

    return override(tf, import_graph_def=import_graph_def)


def _flag(name: str, value: bool) -> Change:
    """Set a bool attribute."""

    def change(node: NodeDef, _: GraphDef) -> None:
        node.attr[name].b = value

    return change


def _added(graph: GraphDef, op: str, name: str, inputs: list[str], **types: DataType) -> str:
    node = graph.node.add(op=op, name=name)
    node.input.extend(inputs)
    for key, value in types.items():
        node.attr[key].type = value
    return name


def _scaled(index: int, factor: float) -> Change:
    """Multiply an input by a number."""

    def change(node: NodeDef, graph: GraphDef) -> None:
        kind = node.attr["T"].type
        number = graph.node.add(op="Const", name=f"{node.name}/factor{index}")
        number.attr["dtype"].type = DT_FLOAT
        number.attr["value"].tensor.dtype = DT_FLOAT
        number.attr["value"].tensor.tensor_shape.SetInParent()
        number.attr["value"].tensor.float_val.append(factor)
        like = _added(
            graph, "Cast", f"{node.name}/cast{index}", [number.name], SrcT=DT_FLOAT, DstT=kind
        )
        both = [node.input[index], like]
        node.input[index] = _added(graph, "Mul", f"{node.name}/scaled{index}", both, T=kind)

    return change


def _swapped(one: int, other: int) -> Change:
    """Exchange two inputs."""

    def change(node: NodeDef, _: GraphDef) -> None:
        node.input[one], node.input[other] = node.input[other], node.input[one]

    return change


def _other(rule: str, *indices: int, without: tuple[str, ...] = ()) -> Change:
    """Change a node to the step of another rule, with some of its inputs and attributes."""

    def change(node: NodeDef, _: GraphDef) -> None:
        node.op = f"{node.op.partition('Apply')[0]}Apply{rule}"
        kept = [node.input[index] for index in indices]
        kept += [name for name in node.input if name.startswith("^")]
        del node.input[:]
        node.input.extend(kept)
        for name in without:
            node.attr.pop(name, None)

    return change


# --- formulas -----------------------------------------------------------------------------


@fault("OPTIMIZERS-001", "Keras' momentum keeps twice as much of its slot.")
def keras_momentum_is_doubled(tf: Namespace) -> Namespace:
    """Double the number."""
    return _stepping(tf, "KerasMomentum", _scaled(4, 2.0))


@fault("OPTIMIZERS-002", "Momentum's slot holds steps, not gradients.")
def momentum_slots_hold_steps(tf: Namespace) -> Namespace:
    """Step by Keras' rule."""
    return _stepping(tf, "Momentum", _plain_as_keras)


def _plain_as_keras(node: NodeDef, graph: GraphDef) -> None:
    if node.op.startswith("Resource") and not node.attr["use_nesterov"].b:
        _other("KerasMomentum", 0, 1, 2, 3, 4)(node, graph)


@fault("OPTIMIZERS-003", "Nesterov's momentum is the ordinary one.")
def momentum_does_not_look_ahead(tf: Namespace) -> Namespace:
    """Forget the attribute."""
    return _stepping(tf, "Momentum", _flag("use_nesterov", value=False))


@fault("OPTIMIZERS-004", "Adam takes its powers for each other.")
def powers_are_swapped(tf: Namespace) -> Namespace:
    """Swap the inputs `beta1_power` and `beta2_power`."""
    return _stepping(tf, "Adam", _swapped(3, 4))


@fault("OPTIMIZERS-005", "Adam leaves epsilon out.")
def adam_has_no_epsilon(tf: Namespace) -> Namespace:
    """Multiply epsilon by zero."""
    return _stepping(tf, "Adam", _scaled(8, 0.0))


@fault("OPTIMIZERS-006", "Adam never looks ahead.")
def adam_does_not_look_ahead(tf: Namespace) -> Namespace:
    """Forget the attribute."""
    return _stepping(tf, "Adam", _flag("use_nesterov", value=False))


@fault("OPTIMIZERS-007", "RMSProp leaves epsilon out.")
def rms_prop_has_no_epsilon(tf: Namespace) -> Namespace:
    """Multiply epsilon by zero."""
    return _stepping(tf, "RMSProp", _scaled(6, 0.0))


@fault("OPTIMIZERS-008", "RMSProp's momentum is forgotten.")
def rms_prop_has_no_momentum(tf: Namespace) -> Namespace:
    """Multiply momentum by zero."""
    return _stepping(tf, "RMSProp", _scaled(5, 0.0))


@fault("OPTIMIZERS-009", "Centered RMSProp is not centered.")
def centered_is_not_centered(tf: Namespace) -> Namespace:
    """Step by the plain rule."""
    return _stepping(tf, "CenteredRMSProp", _other("RMSProp", 0, 2, 3, 4, 5, 6, 7, 8))


@fault("OPTIMIZERS-010", "Adagrad's sum of squares never grows.")
def squares_are_not_summed(tf: Namespace) -> Namespace:
    """Leave the slots alone."""
    return _stepping(tf, "Adagrad", _flag("update_slots", value=False))


@fault("OPTIMIZERS-011", "Adagrad always changes its sum of squares.")
def squares_are_always_summed(tf: Namespace) -> Namespace:
    """Forget the attribute."""
    return _stepping(tf, "Adagrad", _flag("update_slots", value=True))


@fault("OPTIMIZERS-012", "Adagrad's second form leaves epsilon out.")
def adagrad_has_no_epsilon(tf: Namespace) -> Namespace:
    """Step by the first form."""
    return _stepping(tf, "AdagradV2", _other("Adagrad", 0, 1, 2, 4))


@fault("OPTIMIZERS-013", "Dual averaging steps from the variable as it is.")
def dual_averaging_remembers(tf: Namespace) -> Namespace:
    """Step by Adagrad's rule."""
    return _stepping(tf, "AdagradDA", _other("Adagrad", 0, 2, 4, 3))


@fault("OPTIMIZERS-014", "Adadelta takes its slots for each other.")
def adadelta_slots_are_swapped(tf: Namespace) -> Namespace:
    """Swap the inputs `accum` and `accum_update`."""
    return _stepping(tf, "Adadelta", _swapped(1, 2))


@fault("OPTIMIZERS-015", "FTRL leaves the first norm out.")
def ftrl_has_no_first_norm(tf: Namespace) -> Namespace:
    """Multiply `l1` by zero."""
    return _stepping(tf, "Ftrl", _scaled(5, 0.0))


@fault("OPTIMIZERS-016", "FTRL's second norm counts once.")
def ftrl_norm_counts_once(tf: Namespace) -> Namespace:
    """Multiply `l2` by 1/2."""
    return _stepping(tf, "Ftrl", _scaled(6, 0.5))


@fault("OPTIMIZERS-017", "FTRL leaves shrinkage out.")
def ftrl_has_no_shrinkage(tf: Namespace) -> Namespace:
    """Step by the form without."""
    return _stepping(tf, "FtrlV2", _other("Ftrl", 0, 1, 2, 3, 4, 5, 6, 8))


@fault("OPTIMIZERS-018", "Proximal steps leave the first norm out.")
def proximal_steps_do_not_shrink(tf: Namespace) -> Namespace:
    """Multiply `l1` by zero."""
    return _stepping(tf, "ProximalGradientDescent", _scaled(2, 0.0))


@fault("OPTIMIZERS-019", "AdaMax takes the gradient's size alone.")
def adamax_forgets_its_maximum(tf: Namespace) -> Namespace:
    """Keep nothing of the slot."""
    return _stepping(tf, "AdaMax", _scaled(6, 0.0))


@fault("OPTIMIZERS-020", "AMSGrad divides by this step's second moment.")
def amsgrad_forgets_its_maximum(tf: Namespace) -> Namespace:
    """Step by Adam's rule."""
    return _stepping(tf, "AdamWithAmsgrad", _other("Adam", 0, 1, 2, 4, 5, 6, 7, 8, 9, 10))


@fault("OPTIMIZERS-059", "AddSign's steps shrink where the signs agree.")
def agreement_of_signs_subtracts(tf: Namespace) -> Namespace:
    """Turn the sign."""
    return _stepping(tf, "AddSign", _scaled(4, -1.0))


@fault("OPTIMIZERS-060", "PowerSign's steps shrink where the signs agree.")
def agreement_of_signs_divides(tf: Namespace) -> Namespace:
    """Turn the sign of the exponent."""
    return _stepping(tf, "PowerSign", _scaled(4, -1.0))


# --- rows, refusals, order ----------------------------------------------------------------


@fault("OPTIMIZERS-022", "RMSProp by rows changes the first row, whatever the indices.")
def the_first_row_is_changed(tf: Namespace) -> Namespace:
    """Replace the indices by zeros."""

    def change(node: NodeDef, graph: GraphDef) -> None:
        kind = node.attr["Tindices"].type
        zeros = _added(graph, "Sub", f"{node.name}/zeros", [node.input[8]] * 2, T=kind)
        node.input[8] = zeros

    return _stepping(tf, "SparseRMSProp", change)


@fault("OPTIMIZERS-023", "Adagrad by rows adds up rows of one index first.")
def equal_rows_are_added_up(tf: Namespace) -> Namespace:
    """Sum the gradients of equal indices before the step."""

    def change(node: NodeDef, graph: GraphDef) -> None:
        kind, name = node.attr["Tindices"].type, node.name
        unique = _added(
            graph, "Unique", f"{name}/unique", [node.input[4]], T=kind, out_idx=DT_INT32
        )
        count = _added(graph, "Size", f"{name}/count", [unique], T=kind, out_type=DT_INT32)
        node.input[3] = _added(
            graph,
            "UnsortedSegmentSum",
            f"{name}/sums",
            [node.input[3], f"{unique}:1", count],
            T=node.attr["T"].type,
            Tindices=DT_INT32,
            Tnumsegments=DT_INT32,
        )
        node.input[4] = unique

    return _stepping(tf, "SparseAdagrad", change)


@fault("OPTIMIZERS-024", "Momentum by rows takes negative indices for positive ones.")
def negative_rows_are_taken(tf: Namespace) -> Namespace:
    """Take them without their sign."""

    def change(node: NodeDef, graph: GraphDef) -> None:
        kind = node.attr["Tindices"].type
        node.input[4] = _added(graph, "Abs", f"{node.name}/size", [node.input[4]], T=kind)

    return _stepping(tf, "SparseMomentum", change)


@fault("OPTIMIZERS-025", "Momentum takes gradients of any shape with as many elements.")
def gradients_are_reshaped(tf: Namespace) -> Namespace:
    """Reshape the gradient to the variable's shape."""

    def change(node: NodeDef, graph: GraphDef) -> None:
        if node.op.startswith("Resource"):
            shape = _added(
                graph, "VariableShape", f"{node.name}/shape", [node.input[0]], out_type=DT_INT32
            )
            node.input[3] = _added(
                graph,
                "Reshape",
                f"{node.name}/reshaped",
                [node.input[3], shape],
                T=node.attr["T"].type,
                Tshape=DT_INT32,
            )

    return _stepping(tf, "Momentum", change)


@fault("OPTIMIZERS-026", "Momentum's learning rate may be a vector, of which the last counts.")
def rates_may_be_vectors(tf: Namespace) -> Namespace:
    """Take its sum along the first axis."""

    def change(node: NodeDef, graph: GraphDef) -> None:
        rank = _added(graph, "Rank", f"{node.name}/rank", [node.input[2]], T=node.attr["T"].type)
        axes = graph.node.add(op="Range", name=f"{node.name}/axes")
        for name, value in (("zero", 0), ("one", 1)):
            number = graph.node.add(op="Const", name=f"{node.name}/{name}")
            number.attr["dtype"].type = DT_INT32
            number.attr["value"].tensor.dtype = DT_INT32
            number.attr["value"].tensor.tensor_shape.SetInParent()
            number.attr["value"].tensor.int_val.append(value)
        axes.input.extend([f"{node.name}/zero", rank, f"{node.name}/one"])
        axes.attr["Tidx"].type = DT_INT32
        node.input[2] = _added(
            graph,
            "Max",
            f"{node.name}/last",
            [node.input[2], axes.name],
            T=node.attr["T"].type,
            Tidx=DT_INT32,
        )

    return _stepping(tf, "Momentum", change)


@fault("OPTIMIZERS-027", "A step on a reference variable without a value is an internal error.")
def lacking_values_are_internal(tf: Namespace) -> Namespace:
    """Raise InternalError instead of FailedPreconditionError."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, *args: Argument, **kwargs: Argument) -> Value:
            try:
                return super().run(*args, **kwargs)
            except tf.errors.FailedPreconditionError as error:
                if error.op is None or not error.op.type.startswith("Apply"):
                    raise
                raise tf.errors.InternalError(error.node_def, error.op, error.message) from None

    return override(tf, Session=Session)


@fault("OPTIMIZERS-028", "What was read of a resource variable changes with a step after it.")
def reads_change_with_steps(tf: Namespace) -> Namespace:
    """Let operations that wait for a step read the variables again."""

    def change(node: NodeDef, graph: GraphDef) -> None:
        if not node.op.startswith("Resource"):
            return
        again = graph.node.add(op="ReadVariableOp", name=f"{node.name}/again")
        again.input.extend([node.input[0], f"^{node.name}"])
        again.attr["dtype"].type = node.attr["T"].type
        for reader in graph.node:
            if f"^{node.name}" in reader.input and reader.op == "Abs":
                reader.input[0] = again.name

    return _stepping(tf, "GradientDescent", change)


@fault("OPTIMIZERS-029", "An operation does not wait for a step that it comes after.")
def steps_are_not_waited_for(tf: Namespace) -> Namespace:
    """Let the step wait for it."""

    def change(node: NodeDef, graph: GraphDef) -> None:
        if node.op != "ApplyGradientDescent":
            return
        for reader in graph.node:
            if f"^{node.name}" in reader.input and reader.op != "NoOp":
                kept = [name for name in reader.input if name != f"^{node.name}"]
                del reader.input[:]
                reader.input.extend(kept)
                node.input.append(f"^{reader.name}")

    return _stepping(tf, "GradientDescent", change)
