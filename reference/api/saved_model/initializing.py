"""`tf.saved_model.main_op`: operations that prepare a model once it is loaded."""

from __future__ import annotations

from sessrun.reference.api.tables.table_initializers import tables_initializer
from sessrun.reference.api.variables.variable_lists import (
    global_variables_initializer,
    local_variables_initializer,
)
from sessrun.reference.build.framework_ops import group
from sessrun.reference.graph import stacks
from sessrun.reference.graph.operation import Operation

__all__ = ["main_op", "main_op_with_restore"]


def main_op() -> Operation:
    """The operation that initializes all variables, local ones and tables too."""
    return group(
        global_variables_initializer(), local_variables_initializer(), tables_initializer()
    )


def main_op_with_restore(restore_op_name: str) -> Operation:
    """The operation that does the same and then what restores the variables.

    Args:
      restore_op_name: the restoring operation.

    """
    with stacks.get_default_graph().control_dependencies([main_op()]):
        return group(restore_op_name)
