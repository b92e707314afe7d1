"""The public names of the namespace, and how they are put together.

A module takes part by a table `EXPORTS` from dotted public names (`add`, `math.add`,
`nn.relu`) to objects, and by being listed in `_MODULES`; one without a table takes part by its
`__all__`. A group (`math`) is the submodule of that name where there is one (`nn`, `errors`),
else a module made here. A public name may not be that of another kind of submodule: importing
the submodule would replace it.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any, Final

from sessrun.reference import errors
from sessrun.reference.api.numeric_names import NUMERIC_NAMES
from sessrun.reference.api.pictures import LATER as LATER_PICTURES
from sessrun.reference.api.queues import LATER as LATER_QUEUES
from sessrun.reference.base import device_spec, dtypes, graph_keys, tensor_shape
from sessrun.reference.build import constant_op, conversion, expansions, framework_ops
from sessrun.reference.graph import (
    default_graph,
    default_session,
    graph,
    name_scopes,
    operation,
    random_seed,
    stacks,
    tensor,
)
from sessrun.reference.state.files import LATER as LATER_FILES
from sessrun.spec import proto

__all__ = ["assemble"]

PACKAGE: Final = "sessrun.reference"

#: Modules whose names are public, in this order: a later one may replace a name.
_MODULES: Final = (
    "devices.physical",
    "devices.optimizer_options",
    "graph.version",
    "build.generated",
    "api.ops.choosing",
    "api.ops.array_ops",
    "api.ops.gathering",
    "api.ops.cast_ops",
    "api.ops.scattering",
    "api.ops.fill_ops",
    "api.ops.math_ops",
    "api.ops.reduce_ops",
    "api.ops.random_ops",
    "api.ops.string_ops",
    "api.nn.activations",
    "api.nn.cross_entropies",
    "api.nn.rankings",
    "api.variables.state_ops",
    "api.variables.init_ops",
    "api.variables.variables",
    "api.variables.variable_scopes",
    "api.variables.opened_variable_scopes",
    "build.indexed_slices",
    "api.sparse_tensor",
    "api.ragged_tensor",
    "api.ops.structures",
    "state.session_handles",
    "build.gradient_registry",
    "build.seen_values",
    "api.ops.script_ops",
    "api.tensor_arrays",
    "api.control_flow.conditional",
    "api.control_flow.asserting",
    "api.ops.assertions",
    "api.variables.global_step",
    "api.behaviour",
    "api.control_flow.functional_mode",
    "api.compatibility",
    "base.log_messages",
    "gradient.choices",
    "api.ops.sparse_values",
    "api.ops.printing",
    "api.ops.splitting_ops",
    "api.templates",
)
#: Under what a group keeps the names that it promises.
PROMISED: Final = "_promised"
#: Enumerations of Python in the namespace, not those of the protobufs.
_NOT_MESSAGES: Final = frozenset({"VariableAggregation", "VariableSynchronization"})
#: Groups that are imported when first asked for.
LAZY: Final = frozenset(
    {
        "app",
        "estimator",
        "flags",
        "keras",
        "layers",
        "losses",
        "metrics",
        "nest",
        "resource_loader",
        "saved_model",
        "summary",
        "sysconfig",
        "test",
        "train",
        "version",
    }
)

#: Modules that are imported when one of these names is first asked for; each has the name in its
#: `EXPORTS` or `__all__`, as those of `_MODULES` do.
_LATER: Final[Mapping[str, str]] = {
    "build.importing.graph_defs": "import_graph_def",
    "api.saving.freezing": "graph_util.convert_variables_to_constants",
    "api.saving.graph_files": "io.write_graph train.write_graph",
    "api.saving.graph_pruning": (
        "graph_util.extract_sub_graph graph_util.import_graph_def graph_util.must_run_on_cpu "
        "graph_util.remove_training_nodes graph_util.tensor_shape_from_node_def_name"
    ),
    "session.interactive": "InteractiveSession",
    "session.session": "Session",
    "api.type_specs": "IndexedSlicesSpec SparseTensorSpec TensorSpec TypeSpec type_spec_from_value",
    "api.ops.bands": (
        "eye linalg.diag linalg.diag_part linalg.eye linalg.set_diag linalg.trace matrix_diag "
        "matrix_diag_part matrix_set_diag trace"
    ),
    "api.ops.confusion": "confusion_matrix math.confusion_matrix",
    "api.ops.norms": "linalg.norm norm",
    "api.ops.rows": "batch_gather debugging.is_non_decreasing debugging.is_strictly_increasing "
    "is_non_decreasing is_strictly_increasing math.is_non_decreasing "
    "math.is_strictly_increasing parallel_stack repeat searchsorted",
    "api.ops.candidate_ops": "nn.all_candidate_sampler nn.compute_accidental_hits "
    "nn.fixed_unigram_candidate_sampler "
    "nn.learned_unigram_candidate_sampler nn.log_uniform_candidate_sampler "
    "nn.uniform_candidate_sampler random.all_candidate_sampler "
    "random.fixed_unigram_candidate_sampler random.learned_unigram_candidate_sampler "
    "random.log_uniform_candidate_sampler random.uniform_candidate_sampler",
    "api.ops.set_ops": (
        "sets.difference sets.intersection sets.set_difference sets.set_intersection "
        "sets.set_size sets.set_union sets.size sets.union"
    ),
    "api.ops.sparse_order": (
        "sparse.merge sparse.reorder sparse.to_indicator sparse.transpose sparse_merge "
        "sparse_reorder sparse_to_indicator sparse_transpose"
    ),
    "api.ops.sparse_array_ops": (
        "sparse.concat sparse.expand_dims sparse.eye sparse.fill_empty_rows sparse.from_dense "
        "sparse.mask sparse.reset_shape sparse.reshape sparse.slice sparse.split sparse_concat "
        "sparse_fill_empty_rows sparse_mask sparse_reset_shape sparse_reshape sparse_slice "
        "sparse_split"
    ),
    "api.ops.sparse_crosses": "sparse.bincount sparse.cross sparse.cross_hashed",
    "api.ops.sparse_math_ops": (
        "sparse.add sparse.matmul sparse.maximum sparse.minimum sparse.reduce_max "
        "sparse.reduce_max_sparse sparse.reduce_sum sparse.reduce_sum_sparse sparse.segment_mean "
        "sparse.segment_sqrt_n sparse.segment_sum sparse.softmax sparse.sparse_dense_matmul "
        "sparse_add sparse_matmul sparse_maximum sparse_minimum sparse_reduce_max "
        "sparse_reduce_max_sparse sparse_reduce_sum sparse_reduce_sum_sparse sparse_segment_mean "
        "sparse_segment_sqrt_n sparse_segment_sum sparse_softmax sparse_tensor_dense_matmul"
    ),
    "api.ops.stateless_ops": (
        "random.Algorithm random.experimental.Algorithm random.experimental.stateless_fold_in "
        "random.experimental.stateless_split random.fold_in random.split "
        "random.stateless_binomial random.stateless_categorical random.stateless_gamma "
        "random.stateless_multinomial random.stateless_normal "
        "random.stateless_parameterized_truncated_normal random.stateless_poisson "
        "random.stateless_truncated_normal random.stateless_uniform"
    ),
    "api.ops.stateless_shuffles": (
        "random.experimental.index_shuffle random.experimental.stateless_shuffle"
    ),
    "api.ops.generators": "random.Generator random.create_rng_state random.experimental.Generator "
    "random.experimental.create_rng_state random.experimental.get_global_generator "
    "random.experimental.set_global_generator random.get_global_generator "
    "random.set_global_generator",
    "api.ops.distribution_ops": (
        "image.random_crop random.gamma random.poisson random_crop random_gamma random_poisson"
    ),
    "api.ops.ctc_ops": (
        "nn.ctc_beam_search_decoder nn.ctc_beam_search_decoder_v2 nn.ctc_greedy_decoder nn.ctc_loss"
    ),
    "api.saving.checkpoint_initializers": "train.init_from_checkpoint",
    "api.saving.vocabularies": "train.VocabInfo",
    "api.saving.warm_starting": "train.warm_start",
    "api.saving.checkpoint_reader": (
        "train.NewCheckpointReader train.list_variables train.load_checkpoint train.load_variable"
    ),
    "api.saving.checkpoint_state": "train.checkpoint_exists train.generate_checkpoint_state_proto "
    "train.get_checkpoint_mtimes train.get_checkpoint_state train.latest_checkpoint "
    "train.remove_checkpoint train.update_checkpoint_state",
    "api.saving.meta_graph": "train.export_meta_graph",
    "api.saving.meta_graph_import": "train.import_meta_graph",
    "api.saving.saver": "train.Saver train.SaverDef",
    "api.control_flow.branches": "case",
    "api.control_flow.functional": "foldl foldr scan",
    "api.control_flow.mapped": "map_fn",
    "api.control_flow.switch_case": "switch_case",
    "api.control_flow.while_loops": "while_loop",
    "gradient.backprop": "gradients",
    "gradient.custom": "custom_gradient grad_pass_through recompute_grad",
    "gradient.hessian": "hessians",
    "gradient.tape": "GradientTape",
    "api.ragged_constants": "ragged.constant ragged.constant_value",
    "api.ops.ragged_strings": "strings.bytes_split strings.split",
    "api.functions.traced": "function",
    "api.input.example_messages": (
        "train.BytesList train.Example train.Feature train.FeatureList train.FeatureLists "
        "train.Features train.FloatList train.Int64List train.SequenceExample"
    ),
    "api.input.batching": "train.batch train.batch_join train.maybe_batch train.maybe_batch_join "
    "train.maybe_shuffle_batch train.maybe_shuffle_batch_join train.shuffle_batch "
    "train.shuffle_batch_join",
    "api.input.input_producers": "io.match_filenames_once train.input_producer train.limit_epochs "
    "train.match_filenames_once train.range_input_producer train.slice_input_producer "
    "train.string_input_producer",
    "scalar_summaries": "summary.scalar",
    "api.variables.batch_updates": "batch_scatter_update",
    "api.variables.critical_sections": "CriticalSection",
    "api.variables.orthogonal_initializers": (
        "initializers.identity initializers.orthogonal orthogonal_initializer"
    ),
    "api.variables.partitioners": (
        "create_partitioned_variables fixed_size_partitioner min_max_variable_partitioner "
        "variable_axis_size_partitioner"
    ),
    "state.input.event_files": "train.summary_iterator",
    "library.summaries.file_writer": "summary.FileWriter summary.FileWriterCache",
    "library.summaries.graph_writers": "summary.all_v2_summary_ops summary.initialize",
    "library.summaries.messages": (
        "Event HistogramProto LogMessage SessionLog Summary SummaryMetadata summary.Event "
        "summary.SessionLog summary.Summary summary.SummaryDescription summary.TaggedRunMetadata"
    ),
    "api.ops.summary_ops": (
        "summary.audio summary.get_summary_description summary.histogram summary.image "
        "summary.merge summary.merge_all summary.scalar summary.tensor_summary summary.text"
    ),
    "api.input.parsing_ops": (
        "FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature decode_csv "
        "io.FixedLenFeature io.FixedLenSequenceFeature io.SparseFeature io.VarLenFeature "
        "io.decode_csv io.parse_example io.parse_single_example parse_example "
        "parse_single_example"
    ),
    "api.input.sequence_parsing": (
        "io.parse_sequence_example io.parse_single_sequence_example parse_single_sequence_example"
    ),
    "api.input.readers": (
        "FixedLengthRecordReader IdentityReader ReaderBase TFRecordReader TextLineReader "
        "WholeFileReader"
    ),
    "state.input.records": "io.TFRecordCompressionType io.TFRecordOptions io.TFRecordWriter "
    "io.tf_record_iterator "
    "python_io.TFRecordCompressionType python_io.TFRecordOptions python_io.TFRecordWriter "
    "python_io.tf_record_iterator",
    "library.managed.basic_loops": "train.basic_train_loop",
    "library.managed.checkpoint_hook": "train.CheckpointSaverHook train.CheckpointSaverListener",
    "library.managed.clusters": "train.ClusterDef train.ClusterSpec train.JobDef train.ServerDef",
    "library.managed.logging_hook": "train.LoggingTensorHook",
    "library.managed.monitored_session": "train.MonitoredSession train.SingularMonitoredSession",
    "library.managed.replica_devices": "train.replica_device_setter",
    "library.managed.run_hooks": (
        "train.SessionRunArgs train.SessionRunContext train.SessionRunHook train.SessionRunValues"
    ),
    "library.managed.scaffold": "train.Scaffold",
    "library.managed.session_creators": (
        "train.ChiefSessionCreator train.SessionCreator train.WorkerSessionCreator"
    ),
    "library.managed.session_manager": "train.SessionManager",
    "library.managed.stopping_hooks": (
        "train.FeedFnHook train.FinalOpsHook train.GlobalStepWaiterHook "
        "train.NanLossDuringTrainingError train.NanTensorHook train.StopAtStepHook"
    ),
    "library.managed.summary_hooks": (
        "train.ProfilerHook train.StepCounterHook train.SummarySaverHook"
    ),
    "library.managed.supervisor": "train.Supervisor",
    "library.managed.timers": "train.SecondOrStepTimer",
    "library.managed.training_session": "train.MonitoredTrainingSession",
    "api.nn.atrous": "nn.atrous_conv2d_transpose",
    "api.nn.averages": "nn.compute_average_loss nn.scale_regularization_loss",
    "api.nn.batch_norms": "nn.fused_batch_norm",
    "api.nn.convolutions": "nn.conv1d nn.conv1d_transpose nn.conv2d nn.conv2d_backprop_filter "
    "nn.conv2d_backprop_input nn.conv2d_transpose nn.conv3d nn.conv3d_transpose "
    "nn.conv_transpose",
    "api.nn.ctc_labels": "nn.collapse_repeated nn.ctc_unique_labels",
    "api.nn.ctc_losses": "nn.ctc_loss_v2",
    "api.nn.depthwise": "nn.depthwise_conv2d nn.depthwise_conv2d_backprop_filter "
    "nn.depthwise_conv2d_backprop_input nn.depthwise_conv2d_native "
    "nn.depthwise_conv2d_native_backprop_filter nn.depthwise_conv2d_native_backprop_input "
    "nn.separable_conv2d",
    "api.nn.dilated": "nn.with_space_to_batch",
    "api.nn.dropouts": (
        "nn.dropout nn.experimental.general_dropout nn.experimental.stateless_dropout"
    ),
    "api.nn.general": "nn.atrous_conv2d nn.convolution nn.pool",
    "api.nn.morphology": "nn.dilation2d nn.erosion2d",
    "api.nn.odd_poolings": "nn.fractional_avg_pool nn.fractional_max_pool nn.max_pool_with_argmax",
    "api.nn.poolings": (
        "nn.avg_pool nn.avg_pool1d nn.avg_pool2d nn.avg_pool3d nn.avg_pool_v2 nn.max_pool "
        "nn.max_pool1d nn.max_pool2d nn.max_pool3d nn.max_pool_v2"
    ),
    "api.nn.space": (
        "batch_to_space depth_to_space extract_image_patches image.extract_image_patches "
        "image.extract_patches nn.depth_to_space nn.space_to_batch nn.space_to_depth "
        "required_space_to_batch_paddings space_to_batch space_to_depth"
    ),
    "api.nn.swishes": "nn.silu nn.swish",
    "api.nn.statistics": (
        "math.zero_fraction nn.batch_norm_with_global_normalization nn.batch_normalization "
        "nn.moments nn.normalize_moments nn.sufficient_statistics nn.weighted_moments "
        "nn.zero_fraction"
    ),
    "library.recurrent.cells": "nn.rnn_cell.BasicRNNCell nn.rnn_cell.GRUCell nn.rnn_cell.RNNCell",
    "library.recurrent.lstm": (
        "nn.rnn_cell.BasicLSTMCell nn.rnn_cell.LSTMCell nn.rnn_cell.LSTMStateTuple"
    ),
    "library.recurrent.wrappers": (
        "nn.rnn_cell.DeviceWrapper nn.rnn_cell.DropoutWrapper nn.rnn_cell.MultiRNNCell "
        "nn.rnn_cell.ResidualWrapper"
    ),
    "library.recurrent.dynamic": "nn.bidirectional_dynamic_rnn nn.dynamic_rnn",
    "library.recurrent.raw": "nn.raw_rnn",
    "library.recurrent.static": (
        "nn.static_bidirectional_rnn nn.static_rnn nn.static_state_saving_rnn"
    ),
    "library.optimizers.adagrad": "train.AdagradDAOptimizer train.AdagradOptimizer",
    "library.optimizers.adam": "train.AdamOptimizer",
    "library.optimizers.averages": "train.ExponentialMovingAverage",
    "library.optimizers.bounded_decays": (
        "train.cosine_decay train.cosine_decay_restarts train.linear_cosine_decay "
        "train.noisy_linear_cosine_decay train.polynomial_decay"
    ),
    "library.optimizers.decays": (
        "train.exponential_decay train.inverse_time_decay train.natural_exp_decay "
        "train.piecewise_constant train.piecewise_constant_decay"
    ),
    "library.optimizers.descent": "train.GradientDescentOptimizer train.MomentumOptimizer",
    "library.optimizers.ftrl": "train.FtrlOptimizer",
    "library.optimizers.optimizer": "train.Optimizer",
    "library.optimizers.proximal": (
        "train.ProximalAdagradOptimizer train.ProximalGradientDescentOptimizer"
    ),
    "library.optimizers.rms_prop": "train.AdadeltaOptimizer train.RMSPropOptimizer",
    "library.optimizers.sync_replicas": "train.SyncReplicasOptimizer",
    "api.nn.embeddings": "nn.embedding_lookup nn.embedding_lookup_sparse",
    "api.nn.safe_embeddings": "nn.safe_embedding_lookup_sparse",
    "api.nn.sampled_losses": "nn.nce_loss nn.sampled_softmax_loss",
    **LATER_FILES,
    **LATER_PICTURES,
    **LATER_QUEUES,
    "api.ops.quantizing": "dequantize quantization.dequantize quantization.quantize "
    "quantization.quantize_and_dequantize quantization.quantize_and_dequantize_v2 quantize "
    "quantize_v2",
    "api.ops.spreads": "math.reduce_std math.reduce_variance",
    "api.queues.accumulators": (
        "ConditionalAccumulator ConditionalAccumulatorBase SparseConditionalAccumulator "
        "sparse.SparseConditionalAccumulator"
    ),
    "api.sparse_ops": (
        "deserialize_many_sparse io.deserialize_many_sparse io.serialize_many_sparse "
        "io.serialize_sparse serialize_many_sparse serialize_sparse sparse.placeholder "
        "sparse.retain sparse.to_dense sparse_placeholder sparse_retain sparse_tensor_to_dense"
    ),
    "api.tables.table_initializers": (
        "lookup.KeyValueTensorInitializer lookup.TextFileIndex lookup.TextFileInitializer "
        "initialize_all_tables initializers.tables_initializer tables_initializer"
    ),
    "api.tables.tables": "lookup.StaticHashTable lookup.experimental.DenseHashTable "
    "lookup.experimental.MutableHashTable",
    "api.tables.vocabulary_tables": "lookup.StaticVocabularyTable",
    **NUMERIC_NAMES,
}


def _core() -> dict[str, Any]:
    names: dict[str, Any] = {
        "DType": dtypes.DType,
        "dtypes.DType": dtypes.DType,
        "Dimension": tensor_shape.Dimension,
        "DeviceSpec": device_spec.DeviceSpecV1,
        "Graph": graph.Graph,
        "GraphKeys": graph_keys.GraphKeys,
        "OpError": errors.OpError,
        "Operation": operation.Operation,
        "Tensor": tensor.Tensor,
        "TensorShape": tensor_shape.TensorShape,
        "as_dtype": dtypes.as_dtype,
        "dtypes.as_dtype": dtypes.as_dtype,
        "constant": constant_op.constant,
        "convert_to_tensor": conversion.convert_to_tensor,
        "dimension_at_index": tensor_shape.dimension_at_index,
        "dimension_value": tensor_shape.dimension_value,
        "get_default_graph": stacks.get_default_graph,
        "get_default_session": default_session.get_default_session,
        "get_seed": random_seed.get_seed,
        "group": framework_ops.group,
        "identity": framework_ops.identity,
        "is_tensor": conversion.is_tensor,
        "make_ndarray": constant_op.make_ndarray,
        "make_tensor_proto": constant_op.make_tensor_proto,
        "init_scope": name_scopes.init_scope,
        "name_scope": name_scopes.name_scope,
        "newaxis": None,
        "no_op": framework_ops.no_op,
        "op_scope": name_scopes.op_scope,
        "placeholder": framework_ops.placeholder,
        "placeholder_with_default": framework_ops.placeholder_with_default,
        "random.get_seed": random_seed.get_seed,
        "random.set_random_seed": random_seed.set_random_seed,
        "register_tensor_conversion_function": conversion.register_tensor_conversion_function,
        "register_session_run_conversion_functions": (
            expansions.register_session_run_conversion_functions
        ),
        "reset_default_graph": stacks.reset_default_graph,
        "set_random_seed": random_seed.set_random_seed,
        "tuple": framework_ops.tuple_,
    }
    kinds: dict[str, Any] = {d.name: d for d in dtypes.ALL if d not in dtypes.NARROW}
    kinds.update({"half": dtypes.float16, "double": dtypes.float64})
    kinds["QUANTIZED_DTYPES"] = dtypes.QUANTIZED
    names.update(kinds)
    names.update({f"dtypes.{name}": kind for name, kind in kinds.items()})
    names.update({f"dtypes.experimental.{dtype.name}": dtype for dtype in dtypes.NARROW})
    names.update({name: getattr(default_graph, name) for name in default_graph.__all__})
    names.update(
        {name: getattr(proto, name) for name in proto.__all__ if name not in _NOT_MESSAGES}
    )
    return names


def assemble(package: ModuleType) -> None:
    """Put every public name into the package and its groups."""
    tables: list[Mapping[str, Any]] = [_exports(name) for name in _MODULES]
    for table in (*tables, _core()):
        for dotted, value in table.items():
            *groups, name = dotted.split(".")
            target = package
            for group in groups:
                target = _group(target, group)
            setattr(target, name, value)
    for module, dotted in _LATER.items():
        _promise(package, module, dotted.split())
    _group(package, "compat").v1 = package  # type: ignore[attr-defined]  # a module made here
    package.raw_ops = _RawOps()  # type: ignore[attr-defined]  # as TensorFlow has it


def _exports(name: str) -> Mapping[str, Any]:
    try:
        module = importlib.import_module(f"{PACKAGE}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{PACKAGE}.{name}":
            raise
        return {}
    table: Mapping[str, Any] | None = getattr(module, "EXPORTS", None)
    if table is not None:
        return table
    return {public: getattr(module, public) for public in module.__all__}


def _promise(package: ModuleType, module: str, names: Iterable[str]) -> None:
    """Let these public names be found by importing a module of the runtime."""
    for dotted in names:
        *groups, name = dotted.split(".")
        target = package
        for group in groups:
            target = _group(target, group)
        promised: dict[str, tuple[str, str]] = vars(target).setdefault(PROMISED, {})
        if not promised and target is not package:
            target.__getattr__ = functools.partial(kept, target)  # type: ignore[method-assign]  # PEP 562
            target.__dir__ = functools.partial(_all_names, target)  # type: ignore[method-assign]  # the same
        promised[name] = (module, dotted)


def kept(module: ModuleType, name: str) -> Any:
    """A promised name of a group, from now on in it.

    Raises:
      AttributeError: it was not promised.

    """
    try:
        source, dotted = vars(module)[PROMISED][name]
    except KeyError:
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}") from None
    value = _exports(source)[dotted]
    setattr(module, name, value)
    return value


def promised(module: ModuleType) -> set[str]:
    """The names that a module promises, and groups of the namespace that are imported later."""
    found = set(vars(module).get(PROMISED, ()))
    if module.__name__ == PACKAGE:
        found.update(name for name in LAZY if importlib.util.find_spec(f"{PACKAGE}.{name}"))
    return found


def _all_names(module: ModuleType) -> list[str]:
    return sorted({*vars(module), *promised(module)})


def _group(parent: ModuleType, name: str) -> ModuleType:
    full = f"{parent.__name__}.{name}"
    found = sys.modules.get(full)
    if found is None:
        found = vars(parent).get(name)
    if not isinstance(found, ModuleType):
        found = ModuleType(full, f"The names of `{name}`.")
        sys.modules[full] = found  # a program may import it as it does a module of TensorFlow
    setattr(parent, name, found)
    return found


class _RawOps:
    """Every declared operation by its op type: `raw_ops.AddV2(x=..., y=...)`."""

    def __getattr__(self, op_type: str) -> Any:
        from sessrun.reference.build.raw_wrappers import wrapper  # noqa: PLC0415 - needed by few programs

        return wrapper(op_type)
