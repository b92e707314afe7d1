"""The adapter of XLA: TensorFlow compiles the whole of what a run needs for the CPU."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np

from sessrun.adapters.client_layer import ClientLayer, EngineError, NotOfferedError
from sessrun.adapters.client_layer.compiled import Program
from sessrun.adapters.client_layer.converting import TableEngine, cause_line
from sessrun.adapters.client_layer.graph import Part
from sessrun.adapters.extras import import_engine
from sessrun.spec.dtypes import BY_NAME

__all__ = ["backend"]

#: The dtypes of tensors that XLA has.
_DTYPES: Final = frozenset(BY_NAME) - {"string", "resource", "variant"}
#: The first operation that XLA has no kernel for, or none of its dtype.
_UNCOMPILED: Final = re.compile(r"Detected unsupported operations .*?: (\w+) \(")


def backend(argument: str | None = None) -> ClientLayer:
    """TensorFlow's XLA under our client.

    Raises:
      AdapterError: TensorFlow is not installed; an argument is given.

    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    modules = import_engine("tensorflow-xla", argument, "TensorFlow", "tensorflow", "tensorflow")
    return ClientLayer(_Engine(*modules))


class _Engine(TableEngine):
    """A function of the part with `jit_compile=True`: XLA compiles the whole of it, or refuses.

    TensorFlow's own optimizers are off, so that nothing is computed before XLA sees it.
    """

    def __init__(self, tensorflow: ModuleType) -> None:
        self._tf = tensorflow
        self._config = tensorflow.compat.v1.ConfigProto()
        self._config.graph_options.rewrite_options.disable_meta_optimizer = True
        self._config.graph_options.optimizer_options.opt_level = -1
        table = Path(__file__).with_suffix(".toml")
        version = str(tensorflow.__version__)
        super().__init__("tensorflow-xla", version, table, _DTYPES, capabilities=["fed_structure"])

    def convert(self, part: Part, shapes: Sequence[Sequence[int]]) -> Program:
        """The program of a part: a session whose graph is a single call of a compiled function."""
        v1 = self._tf.compat.v1
        definition = v1.GraphDef.FromString(part.definition(shapes).SerializeToString())
        feeds = [node for node in definition.node if node.op == "Placeholder"]
        for node in feeds:
            definition.node.remove(node)  # XLA has no placeholders: arguments come instead
        try:
            with self._tf.Graph().as_default() as graph:
                placeholders = [
                    v1.placeholder(node.attr["dtype"].type, node.attr["shape"].shape)
                    for node in feeds
                ]
                fetches = self._function(definition, len(part.fetches))(*placeholders)
        except (ValueError, self._tf.errors.OpError) as error:  # its shape functions refuse it
            raise EngineError(3, cause_line(error)) from error
        session = v1.Session(graph=graph, config=self._config)
        return self._program(session.make_callable(fetches, placeholders))

    def _function(self, definition: Any, fetches: int) -> Any:
        """The function from `feed_N` to `fetch_N`, which is compiled as a whole."""
        used = {source for node in definition.node for source in node.input}

        def function(*feeds: Any) -> Any:
            names = [f"feed_{number}:0" for number in range(len(feeds))]
            given = {name: feed for name, feed in zip(names, feeds, strict=True) if name in used}
            return self._tf.compat.v1.import_graph_def(
                definition,
                input_map=given,
                return_elements=[f"fetch_{number}:0" for number in range(fetches)],
                name="",
            )

        return self._tf.function(function, jit_compile=True, autograph=False)

    def _program(self, compiled: Any) -> Program:
        def run(values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
            try:
                return [np.asarray(value) for value in compiled(*values)]
            except self._tf.errors.OpError as error:
                missing = _UNCOMPILED.search(error.message)
                if missing:
                    raise NotOfferedError("op", missing[1]) from error
                raise EngineError(error.error_code, cause_line(error)) from error

        return run
