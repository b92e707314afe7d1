"""The adapter of TensorFlow itself, with behaviour v2 disabled; `#oracle` is its oracle setting."""

from __future__ import annotations

import importlib
import os
import platform
import sys
from types import ModuleType
from typing import Final

import numpy as np

from sessrun.adapters.errors import AdapterError
from sessrun.adapters.namespace import NamespaceBackend
from sessrun.spec.forms import JsonObject

__all__ = ["ORACLE", "ORACLE_CONFIG", "backend"]

#: The argument that asks for the oracle's configuration.
ORACLE: Final = "oracle"

#: One thread of each kind, no meta-optimizer, no graph optimizer (`L0` is optimizer level -1).
ORACLE_CONFIG: Final[JsonObject] = {
    "intraOpParallelismThreads": 1,
    "interOpParallelismThreads": 1,
    "graphOptions": {
        "optimizerOptions": {"optLevel": "L0"},
        "rewriteOptions": {"disableMetaOptimizer": True},
    },
}

_ONEDNN: Final = "TF_ENABLE_ONEDNN_OPTS"


def backend(argument: str | None = None) -> NamespaceBackend:
    """TensorFlow in this process: as it comes, or (`oracle`) as the spec's oracle.

    The oracle's ConfigProto underlies every engine-surface session. API-surface cases open their
    sessions themselves; the thread pools, which TensorFlow sizes once in a process, are the
    oracle's for them too.

    Raises:
      AdapterError: unknown argument, TensorFlow missing, or already imported with other
        settings than the oracle's.

    """
    if argument not in {None, ORACLE}:
        raise AdapterError(
            f"the adapter 'tensorflow' knows the argument 'oracle', not {argument!r}"
        )
    oracle = argument == ORACLE
    _set_environment(oracle=oracle)
    try:
        tensorflow = importlib.import_module("tensorflow")
    except ImportError as error:
        raise AdapterError(
            f"TensorFlow is not installed: pip install 'sessrun[tensorflow]' ({error})"
        ) from error
    namespace = tensorflow.compat.v1
    namespace.logging.set_verbosity(namespace.logging.ERROR)  # it warns of the next line, too
    namespace.disable_v2_behavior()
    result = NamespaceBackend(
        namespace,
        "tensorflow",
        tensorflow.__version__,
        config=ORACLE_CONFIG if oracle else None,
        details=_details(tensorflow, oracle=oracle),
    )
    result.describe()  # the first session sizes the process's thread pools
    return result


def _set_environment(*, oracle: bool) -> None:
    """Set what TensorFlow reads from the environment when it is imported."""
    if oracle:
        if "tensorflow" in sys.modules and os.environ.get(_ONEDNN) != "0":
            raise AdapterError(
                "TensorFlow is already imported here with oneDNN on: the oracle needs a process "
                f"of its own, or {_ONEDNN}=0 from its start"
            )
        os.environ[_ONEDNN] = "0"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # restores tf.layers


def _details(tensorflow: ModuleType, *, oracle: bool) -> dict[str, str]:
    build = tensorflow.sysconfig.get_build_info()
    return {
        "configuration": "oracle" if oracle else "default",
        "git": str(tensorflow.version.GIT_VERSION),
        "compiler": str(tensorflow.version.COMPILER_VERSION),
        "numpy": np.__version__,
        "onednn": os.environ.get(_ONEDNN, "default"),
        "producer": str(tensorflow.version.GRAPH_DEF_VERSION),
        "python": platform.python_version(),
        "build": ", ".join(f"{key}={build[key]}" for key in sorted(build)),
    }
