"""`control_flow_util_v2`: predicates of branches and loops that are functions.

Two names are switches that a program sets: whether operations give what their functions compute on
the way, and whether they say that they are to be lowered to switches.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from sessrun.reference.api.argument_types import Structure
from sessrun.reference.api.control_flow import functional_mode
from sessrun.reference.api.control_flow.functional_mode import output_all_intermediates

__all__ = ["set_output_all_intermediates"]

set_output_all_intermediates = output_all_intermediates


class _Switches(ModuleType):
    """The module, whose switches are those of the runtime."""

    @property
    def _EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE(self) -> bool:  # noqa: N802 - TensorFlow's name
        return functional_mode.outputs_intermediates()

    @_EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE.setter
    def _EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE(self, state: Any) -> None:  # noqa: N802 - as above
        output_all_intermediates(state)

    @property
    def _DISABLE_LOWER_USING_SWITCH_MERGE(self) -> bool:  # noqa: N802 - as above
        return not functional_mode.says_lowering()

    @_DISABLE_LOWER_USING_SWITCH_MERGE.setter
    def _DISABLE_LOWER_USING_SWITCH_MERGE(self, state: Structure) -> None:  # noqa: N802 - as above
        functional_mode.say_lowering(not state)


sys.modules[__name__].__class__ = _Switches
