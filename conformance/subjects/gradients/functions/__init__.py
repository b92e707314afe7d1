"""Public functions of floating-point tensors that have gradients, called on drawn arguments."""

from __future__ import annotations

import importlib
import pkgutil

from sessrun.conformance.subjects.gradients.functions.inputs import FUNCTIONS, OF_DOUBLES, ONCE

__all__ = ["FUNCTIONS", "OF_DOUBLES", "ONCE"]

for _module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")
