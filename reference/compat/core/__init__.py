"""TensorFlow's own paths of messages: `sessrun.reference.core.framework.graph_pb2` and its like.

Each is made when imported, and offers what the spec's module of that subject does.
"""

import importlib as _importlib
from collections.abc import Callable as _Callable
from collections.abc import Mapping as _Mapping
from typing import Any as _Any
from typing import Final as _Final

from sessrun.reference.compat.python.module_finder import Mirror as _Mirror

#: For each module of the spec: TensorFlow's modules, whose messages it has.
_SUBJECTS: _Final[_Mapping[str, str]] = {
    "graph": "framework.attr_value framework.full_type framework.function framework.graph "
    "framework.node_def framework.op_def framework.resource_handle framework.tensor "
    "framework.tensor_shape framework.types framework.versions",
    "metadata": "framework.allocation_description framework.cost_graph framework.device_attributes "
    "framework.step_stats framework.tensor_description",
    "debug_info": "framework.graph_debug_info",
    "checkpoint": "framework.tensor_slice protobuf.tensor_bundle util.saved_tensor_slice",
    "config": "protobuf.cluster protobuf.config protobuf.debug protobuf.rewriter_config "
    "protobuf.verifier_config",
    "server": "protobuf.device_filters protobuf.tensorflow_server",
    "state": "framework.variable protobuf.control_flow protobuf.error_codes protobuf.meta_graph "
    "protobuf.queue_runner protobuf.saved_model protobuf.saved_object_graph protobuf.saver "
    "protobuf.struct protobuf.trackable_object_graph",
    "input": "example.example example.feature framework.reader_base",
    "summary": "framework.summary util.event",
}
#: What a module of TensorFlow offers beside, of another module of the spec.
_BESIDE: _Final[_Mapping[str, str]] = {"protobuf.config": "metadata"}
#: The module of the spec for each of TensorFlow.
_SUBJECT_OF: _Final = {
    f"{name}_pb2": subject for subject, names in _SUBJECTS.items() for name in names.split()
}


def _messages(inner: str) -> _Callable[[str], _Any] | None:
    subject = _SUBJECT_OF.get(inner)
    if subject is None:
        return None
    subjects = (subject, _BESIDE.get(inner.removesuffix("_pb2"), subject))

    def find(name: str) -> _Any:
        for candidate in subjects:
            module = _importlib.import_module(f"sessrun.spec.proto.{candidate}_pb2")
            if not name.startswith("__") and hasattr(module, name):
                return getattr(module, name)
        raise AttributeError(
            f"module {__name__ + '.' + inner!r} has no attribute {name!r}", name=name
        )

    return find


_Mirror(__name__, _SUBJECT_OF, _messages).install()
