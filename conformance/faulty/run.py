"""Faults of RUN: what executes, in which order, how often."""

from __future__ import annotations

from typing import Any

from sessrun.conformance.faulty.framework import fault, override


@fault("RUN-001", "A run also executes every resource update of the graph.")
def executes_every_update(tf: Any) -> Any:
    """Runs unneeded AssignAddVariableOp nodes beside what was fetched."""

    class Session(tf.Session):  # type: ignore[misc]
        def run(self, fetches: Any, *args: Any, **kwargs: Any) -> Any:
            updates = [op for op in self.graph.get_operations() if op.type == "AssignAddVariableOp"]
            # Beside, not instead: an update that was fetched runs once all the same.
            return super().run([fetches, updates], *args, **kwargs)[0]

    return override(tf, Session=Session)
