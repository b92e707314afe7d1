"""The modules below `python` that have no file: made when imported, from a table of places.

TensorFlow's own unit tests, and many programs, import from `tensorflow.python...`. What such a
module offers here is looked up, name by name, where `_PLACES` says: in modules of the runtime,
then in groups of the public namespace. A module of generated wrappers (`gen_math_ops`,
`test_ops`) has every declared operation under its name in lower case. A name that is nowhere
raises AttributeError.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, Final

__all__ = ["Mirror", "install", "of_places"]

_PREFIX: Final = "sessrun.reference.python."
_RUNTIME: Final = "sessrun.reference"

#: For each module: modules of the runtime to look in, then after `|` groups of the namespace;
#: the namespace itself is looked in last.
_PLACES: Final[Mapping[str, str]] = {
    "client._pywrap_events_writer": "summaries.event_files",
    "client.pywrap_tf_session": "",
    "data.util.nest": "|nest",
    "eager.context": "default_graph",
    "framework.common_shapes": "ops.numerics",
    "framework.composite_tensor": "",
    "framework.config": "physical optimizer_options|config config.experimental",
    "framework.constant_tensor_conversion": "constant_op",
    "framework.device": "device_spec",
    "framework.device_spec": "device_spec",
    "framework.errors": "errors|errors",
    "framework.errors_impl": "errors|errors",
    "framework.graph_io": "saving.graph_files|io",
    "framework.graph_util": "saving.graph_pruning saving.freezing|graph_util",
    "framework.graph_util_impl": "saving.graph_pruning saving.freezing|graph_util",
    "framework.importer": "importing.importer",
    "framework.indexed_slices": "indexed_slices",
    "framework.meta_graph": "saving.meta_graph saving.scoped_meta_graphs|train",
    "framework.ops":
        "graph operation tensor stacks default_graph name_scopes conversion "
        "differentiation.registry indexed_slices build session.expansions graph_keys errors "
        "op_statistics",
    "framework.random_seed": "random_seed|random",
    "framework.registry": "registry",
    "framework.sparse_tensor": "sparse_tensor",
    "framework.tensor": "tensor",
    "framework.tensor_conversion": "conversion",
    "framework.tensor_conversion_registry": "conversion",
    "framework.tensor_shape": "tensor_shape",
    "framework.tensor_spec": "type_specs",
    "framework.tensor_util": "constant_op seen_values conversion tensor_proto",
    "framework.type_spec": "type_specs",
    "framework.versions": "version|version",
    "keras.activations": "keras.activations",
    "keras.backend": "keras.backend",
    "keras.constraints": "keras.constraints",
    "keras.engine.base_layer": "keras.engine.base_layer",
    "keras.engine.input_spec": "keras.engine.input_spec",
    "keras.layers": "keras.layers",
    "keras.regularizers": "keras.regularizers",
    "layers.base": "layers.base|layers",
    "layers.convolutional": "layers.convolutional|layers",
    "layers.core": "layers.core|layers",
    "layers.layers": "|layers",
    "layers.normalization": "layers.normalization|layers",
    "layers.pooling": "layers.pooling|layers",
    "lib.io.file_io": "files.file_io|gfile io.gfile",
    "lib.io.python_io": "|python_io",
    "lib.io.tf_record": "|python_io io",
    "ops.array_ops": "ops.array_ops ops.shape_ops ops.fill_ops",
    "ops.array_ops_stack": "ops.array_ops",
    "ops.bitwise_ops": "|bitwise",
    "ops.candidate_sampling_ops": "ops.candidate_ops|nn",
    "ops.check_ops": "ops.assertions|debugging",
    "ops.clip_ops": "",
    "ops.cond": "",
    "ops.confusion_matrix": "ops.confusion",
    "ops.control_flow_assert": "ops.assertions|debugging",
    "ops.control_flow_ops": "framework_ops",
    "ops.ctc_ops": "ops.ctc_ops|nn",
    "ops.custom_gradient": "",
    "ops.data_flow_ops": "queues.queues queues.accumulators queues.barriers queues.staging|queue",
    "ops.embedding_ops": "|nn",
    "ops.functional_ops": "",
    "ops.gradients": "",
    "ops.gradients_impl": "",
    "ops.init_ops": "variables.init_ops variables.orthogonal_initializers|initializers",
    "ops.io_ops": "input.readers|io",
    "ops.critical_section_ops": "variables.critical_sections",
    "ops.linalg_ops":
        "ops.bands ops.solving_ops ops.tridiagonal_ops ops.decomposition_ops|linalg",
    "ops.linalg.linalg": "|linalg",
    "ops.linalg.linalg_impl": "ops.matrix_exponentials|linalg",
    "ops.linalg_ops_impl": "ops.bands|linalg",
    "ops.logging_ops": "ops.printing",
    "ops.lookup_ops":
        "tables.tables tables.table_initializers tables.vocabulary_tables"
        "|lookup lookup.experimental",
    "ops.losses.losses": "losses|losses",
    "ops.losses.losses_impl": "losses.weighted|losses",
    "ops.losses.util": "losses.collected|losses",
    "ops.manip_ops": "|manip",
    "ops.map_fn": "",
    "ops.math_ops": "ops.math_ops ops.reduce_ops|math",
    "ops.metrics": "metrics|metrics",
    "ops.metrics_impl": "metrics.streams|metrics",
    "ops.nn": "|nn math",
    "ops.nn_impl": "nn.sampled_losses|nn math",
    "ops.nn_ops": "nn.general nn.windows|nn math",
    "ops.numerics": "|debugging",
    "ops.parsing_config": "input.parsing_features|io",
    "ops.parsing_ops": "input.parsing_ops|io",
    "ops.partitioned_variables": "variables.partitioners",
    "ops.random_crop_ops": "ops.distribution_ops",
    "ops.random_ops": "ops.random_ops ops.distribution_ops|random",
    "ops.ref_variable": "variables.ref_variables",
    "ops.resource_variable_ops": "variables.resource_variables variables.variables",
    "ops.resource_variables_toggle": "variables.variables",
    "ops.rnn": "recurrent.steps|nn",
    "ops.rnn_cell": "recurrent.steps|nn.rnn_cell",
    "ops.rnn_cell_impl": "recurrent.steps|nn.rnn_cell",
    "ops.script_ops": "ops.script_ops",
    "ops.shape_util": "ops.shape_ops",
    "ops.session_ops": "session_handles session_tensors",
    "ops.sets": "|sets",
    "ops.sets_impl": "|sets",
    "ops.sort_ops": "",
    "ops.sparse_ops":
        "sparse_tensor sparse_ops ops.sparse_math_ops ops.sparse_array_ops ops.sparse_order|sparse",
    "ops.special_math_ops": "ops.special_ops|math math.special linalg",
    "ops.state_ops": "variables.state_ops variables.batch_updates",
    "ops.stateless_random_ops": "ops.stateless_ops|random",
    "ops.string_ops": "ops.string_ops|strings",
    "ops.template": "",
    "ops.tensor_array_ops": "tensor_arrays",
    "ops.variable_scope":
        "variables.variable_scopes variables.opened_variable_scopes variables.variable_store "
        "variables.variable_partitions variables.variables variables.variable_traits "
        "variables.kept_stores",
    "ops.variable_v1": "variables.variables",
    "ops.variables":
        "variables.variables variables.variable_base variables.variable_traits "
        "variables.variable_lists "
        "variables.variable_parts|initializers",
    "ops.weights_broadcast_ops": "ops.weight_shapes",
    "ops.while_loop": "",
    "platform.app": "|app",
    "platform.benchmark": "|test",
    "platform.flags": "|flags",
    "platform.gfile": "|gfile",
    "platform.googletest": "|test",
    "platform.resource_loader": "|resource_loader",
    "platform.sysconfig": "|sysconfig",
    "platform.test": "|test",
    "saved_model.builder": "saved_model.building|saved_model",
    "saved_model.builder_impl": "saved_model.building saved_model.assets|saved_model",
    "saved_model.constants": "saved_model.names",
    "saved_model.loader": "saved_model.loading",
    "saved_model.loader_impl": "saved_model.loading saved_model.model_files",
    "saved_model.main_op": "saved_model.initializing",
    "saved_model.main_op_impl": "saved_model.initializing",
    "saved_model.method_name_updater": "saved_model.method_names",
    "saved_model.path_helpers": "saved_model.model_files",
    "saved_model.saved_model": "|saved_model",
    "saved_model.signature_constants": "saved_model.names",
    "saved_model.signature_def_utils": "saved_model.signatures saved_model.method_names",
    "saved_model.signature_def_utils_impl": "saved_model.signatures",
    "saved_model.simple_save": "saved_model.simple",
    "saved_model.tag_constants": "saved_model.names",
    "saved_model.utils": "saved_model.tensor_infos",
    "saved_model.utils_impl": "saved_model.tensor_infos",
    "ops.summary_ops_v2": "summaries.graph_writers|summary",
    "summary.writer.event_file_writer_v2": "summaries.graph_writers",
    "ops.summary_op_util": "summaries.recording",
    "summary.plugin_asset": "summaries.plugin_assets",
    "summary.summary": "summaries.recording|summary",
    "summary.summary_iterator": "|train",
    "summary.writer.event_file_writer": "summaries.event_file_writer",
    "summary.writer.writer": "summaries.file_writer|summary",
    "summary.writer.writer_cache": "|summary",
    "checkpoint.checkpoint_management": "saving.checkpoint_state|train",
    "training.checkpoint_management": "saving.checkpoint_state|train",
    "training.checkpoint_utils": "saving.checkpoint_reader saving.checkpoint_initializers|train",
    "training.coordinator": "queues.coordinator",
    "training.input": "input.input_producers input.batching|train",
    "training.adadelta": "optimizers.rms_prop",
    "training.adagrad": "optimizers.adagrad",
    "training.adagrad_da": "optimizers.adagrad",
    "training.adam": "optimizers.adam",
    "training.basic_loops": "managed.basic_loops",
    "training.basic_session_run_hooks":
        "managed.timers managed.stopping_hooks managed.checkpoint_hook managed.summary_hooks "
        "managed.logging_hook managed.evaluation|train",
    "training.device_setter": "managed.replica_devices",
    "training.evaluation": "managed.evaluation",
    "training.ftrl": "optimizers.ftrl",
    "training.gradient_descent": "optimizers.descent",
    "training.learning_rate_decay": "optimizers.decays optimizers.bounded_decays|train",
    "training.momentum": "optimizers.descent",
    "training.monitored_session":
        "managed.monitored_session managed.wrapped_sessions managed.session_creators "
        "managed.scaffold managed.training_session|train",
    "training.moving_averages": "optimizers.averages|train",
    "training.optimizer": "optimizers.optimizer",
    "training.proximal_adagrad": "optimizers.proximal",
    "training.proximal_gradient_descent": "optimizers.proximal",
    "training.py_checkpoint_reader": "saving.checkpoint_reader|train",
    "training.queue_runner": "queues.queue_runner",
    "training.queue_runner_impl": "queues.queue_runner",
    "training.rmsprop": "optimizers.rms_prop",
    "training.saver":
        "saving.saver saving.saver_graph saving.saveables saving.checkpoint_state "
        "saving.meta_graph|train",
    "training.saving.saveable_object": "saving.saveables",
    "training.slot_creator": "optimizers.slots",
    "training.summary_io": "summaries.file_writer|summary train",
    "training.server_lib": "managed.clusters",
    "training.session_manager": "managed.session_manager",
    "training.session_run_hook": "managed.run_hooks",
    "training.supervisor": "managed.supervisor managed.supervisor_threads",
    "training.training": "|train",
    "training.training_util": "variables.global_step|train",
    "training.sync_replicas_optimizer": "optimizers.sync_replicas",
    "training.training_ops": "",
    "training.warm_starting_util": "saving.warm_starting|train",
    "util.compat": "|compat",
    "util.nest": "nest nest_up_to",
}
#: What a module of TensorFlow calls otherwise than the runtime does.
_OTHER_NAMES: Final[Mapping[str, str]] = {
    "MakeNdarray": "make_ndarray",
    "NotDifferentiable": "no_gradient",
    "ShapeEquals": "shape_equals",
    "_get_sequence": "each",
    "convert_padding": "padding_of",
    "squeeze_batch_dims": "one_batch",
    "_CoordinatedSession": "CoordinatedSession",
    "_HookedSession": "HookedSession",
    "_MultiStepStopAfterNEvalsHook": "MultiStepStopAfterNEvalsHook",
    "_RecoverableSession": "RecoverableSession",
    "_StopAfterNEvalsHook": "StopAfterNEvalsHook",
    "_WrappedSession": "WrappedSession",
    "_evaluate_once": "evaluate_once",
    "_get_latest_eval_step_value": "get_latest_eval_step_value",
    "_get_or_create_eval_step": "get_or_create_eval_step",
    "_get_or_create_global_step_read": "get_or_create_global_step_read",
    "_increment_global_step": "increment_global_step",
    "_make_specific_exception": "of_code",
    "StaticHashTableV1": "StaticHashTable",
    "StaticVocabularyTableV1": "StaticVocabularyTable",
    "BaseResourceVariable": "ResourceVariable",
    "VariableV1": "Variable",
    "_SavedModelBuilder": "SignatureBuilder",
    "build_tensor_info_from_op": "of_operation",
    "meta_graph_filename": "meta_graph_path",
    "op_list_to_dict": "variables_by_name",
    "_PartitionInfo": "PartitionInfo",
    "_VariableStore": "VariableStore",
    "_compute_fans": "fans",
    "convolutional_delta_orthogonal": "ConvolutionDeltaOrthogonal",
    "convolutional_orthogonal_1d": "ConvolutionOrthogonal1D",
    "convolutional_orthogonal_2d": "ConvolutionOrthogonal2D",
    "convolutional_orthogonal_3d": "ConvolutionOrthogonal3D",
    "identity_initializer": "Identity",
    "_get_default_variable_store": "default_store",
    "_get_partitioned_variable": "get_partitioned_variable",
    "get_gradient_function": "gradient_function",
    "get_optimizer_experimental_options": "get_experimental_options",
    "get_optimizer_jit": "get_jit",
    "set_optimizer_experimental_options": "set_experimental_options",
    "set_optimizer_jit": "set_jit",
    "broadcast_shape": "broadcast_static_shape",
    "constant_value": "get_static_value",
    "constant_value_as_shape": "seen_shape",
    "device_v2": "device",
    "is_tf_type": "is_tensor",
    "mul": "multiply",
    "name_scope_v1": "name_scope",
    "neg": "negative",
    "string_format": "format",
    "sub": "subtract",
}
#: Modules that offer the generated wrappers of their operations, too.
_WITH_WRAPPERS: Final = frozenset(
    f"ops.{subject}_ops"
    for subject in (
        "array", "bitwise", "control_flow", "data_flow", "io", "linalg", "logging", "lookup",
        "math", "nn", "parsing", "random", "resource_variable", "sparse", "state", "string",
    )
) | {"training.training_ops"}  # fmt: skip
_GENERATED: Final = re.compile(r"ops\.gen_\w+_ops|framework\.test_ops")


class Mirror(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and makes the modules of the table."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of a module of the table, or of a folder of one."""
        del path, target
        if not fullname.startswith(_PREFIX):
            return None
        inner = fullname.removeprefix(_PREFIX)
        is_folder = any(place.startswith(inner + ".") for place in _PLACES)
        if not is_folder and inner not in _PLACES and not _GENERATED.fullmatch(inner):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=is_folder)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """A module that looks its names up when asked."""
        inner = spec.name.removeprefix(_PREFIX)
        module = ModuleType(spec.name, f"What `tensorflow.python.{inner}` offers.")
        if inner in _PLACES:
            module.__getattr__ = of_places(inner)  # type: ignore[method-assign]  # PEP 562
        elif _GENERATED.fullmatch(inner):
            module.__getattr__ = _of_wrappers(inner)  # type: ignore[method-assign]  # the same
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is left to do."""


def install() -> None:
    """Let `import` find the modules of the table, after every other."""
    if not any(isinstance(finder, Mirror) for finder in sys.meta_path):
        sys.meta_path.append(Mirror())


def of_places(inner: str) -> Callable[[str], Any]:
    """What looks up the names of a module of the table."""
    modules, _, groups = _PLACES[inner].partition("|")
    places = [f"{_RUNTIME}.{name}" for name in modules.split()]

    def find(name: str) -> Any:
        if name.startswith("__"):
            raise _absent(inner, name)
        public = importlib.import_module(_RUNTIME)
        sources = [_module(place) for place in places]
        sources += [_group(public, dotted) for dotted in groups.split()]
        wanted = (name, _OTHER_NAMES.get(name, name), name.removesuffix("_v1"))
        for source in (*sources, public):
            for spelled in wanted:
                if source is not None and hasattr(source, spelled):
                    return getattr(source, spelled)
        if _GENERATED.fullmatch(f"ops.{name}") and inner == f"ops.{name.removeprefix('gen_')}":
            return importlib.import_module(f"{_PREFIX}ops.{name}")
        if inner in _WITH_WRAPPERS:
            return _of_wrappers(inner)(name)
        raise _absent(inner, name)

    return find


def _of_wrappers(inner: str) -> Callable[[str], Any]:
    def find(name: str) -> Any:
        from sessrun.reference.raw_wrappers import named  # noqa: PLC0415 - needed by few programs

        found = None if name.startswith("__") else named(name)
        if found is None:
            raise _absent(inner, name)
        return found

    return find


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None


def _group(public: ModuleType, dotted: str) -> Any:
    found: Any = public
    for part in dotted.split("."):
        found = getattr(found, part, None)
    return found


def _absent(inner: str, name: str) -> AttributeError:
    return AttributeError(f"module {_PREFIX + inner!r} has no attribute {name!r}", name=name)
