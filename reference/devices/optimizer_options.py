"""`tf.config.optimizer`: options of graph optimizers for sessions without a configuration.

Nothing here optimizes graphs; the options are kept and written into the configuration, as for an
engine that does. Source: TF 2.21, `tf.config.optimizer`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sessrun.reference.public import public
from sessrun.spec.proto import ConfigProto, OptimizerOptions, RewriterConfig

__all__ = ["write_into"]

#: A switch, or `min_graph_nodes`.
Option = bool | int

#: Options that are switches of RewriterConfig, ON or OFF, of the same names.
_SWITCHES: Final = (
    "layout_optimizer",
    "constant_folding",
    "shape_optimization",
    "remapping",
    "arithmetic_optimization",
    "dependency_optimization",
    "loop_optimization",
    "function_optimization",
    "debug_stripper",
    "scoped_allocator_optimization",
    "pin_to_host_optimization",
    "implementation_selector",
    "auto_mixed_precision",
    "auto_mixed_precision_mkl",
    "auto_mixed_precision_onednn_bfloat16",
    "use_plugin_optimizers",
)
#: Options that are plain fields of RewriterConfig, with their defaults.
_PLAIN: Final[Mapping[str, Option | None]] = {
    "disable_model_pruning": False,
    "disable_meta_optimizer": False,
    "min_graph_nodes": None,
}
_JIT: Final = "autoclustering"

_OPTIONS: Final[dict[str, Option]] = {}
_CHOSEN: Final[dict[str, bool]] = {}


@public("config.optimizer.get_experimental_options")
def get_experimental_options() -> dict[str, Option]:
    """The options that were set, by name, and those that have a default."""
    options = {name: value for name, value in _PLAIN.items() if value is not None} | _OPTIONS
    return {name: value for name, value in options.items() if name != "min_graph_nodes" or value}


@public("config.optimizer.set_experimental_options")
def set_experimental_options(options: Mapping[str, Option]) -> None:
    """Set options by name; those that are not named stay, unknown ones change nothing.

    Raises:
      TypeError: the options are no mapping, or `min_graph_nodes` is not an integer.

    """
    given = dict(options)
    ConfigProto().graph_options.rewrite_options.min_graph_nodes = given.get("min_graph_nodes", 0)
    _OPTIONS.update({key: given[key] for key in (*_SWITCHES, *_PLAIN) if key in given})


@public("config.optimizer.get_jit")
def get_jit() -> str:
    """The setting for compilation: "autoclustering", or "" for none."""
    return _JIT if _CHOSEN.get("jit") else ""


@public("config.optimizer.set_jit")
def set_jit(enabled: bool | str | int) -> None:
    """Set whether operations are compiled together: with True, 1 or "autoclustering".

    The runtime keeps the setting and compiles nothing.
    """
    _CHOSEN["jit"] = enabled in {True, _JIT}


def write_into(config: ConfigProto) -> None:
    """Write the options into a configuration."""
    if "jit" in _CHOSEN:
        level = OptimizerOptions.ON_1 if _CHOSEN["jit"] else OptimizerOptions.OFF
        config.graph_options.optimizer_options.global_jit_level = level
    rewrite = config.graph_options.rewrite_options
    for name, value in _OPTIONS.items():
        if name in _PLAIN:
            setattr(rewrite, name, value)
        else:
            setattr(rewrite, name, RewriterConfig.ON if value else RewriterConfig.OFF)
