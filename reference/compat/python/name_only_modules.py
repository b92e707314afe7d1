"""Modules of TensorFlow that can be imported but have only public names.

A program, or one of TensorFlow's own unit tests, imports at its head all that some part of it uses.
These can be imported, so that what does not use them runs; what asks one of them for a name that
the public namespace has not gets AttributeError, there and then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["ELSEWHERE"]

_FOLDERS: Final[Mapping[str, str]] = {
    "autograph.core": "converter converter_testing",
    "autograph.impl": "api conversion",
    "autograph.lang": "directives special_functions",
    "autograph.utils": "ag_logging context_managers misc tensor_list tensors testing type_registry",
    "checkpoint": "async_checkpoint_helper checkpoint checkpoint_adapter checkpoint_context "
    "checkpoint_options checkpoint_view functional_saver graph_view restore save_util "
    "save_util_v1 saveable_compat tensor_callable trackable_view util",
    "checkpoint.sharding": "sharding_policies sharding_util",
    "client": "client_lib",
    "compat": "v2_compat",
    "compiler.xla": "xla",
    "data.experimental.ops": (
        "batching cardinality compression_ops counter data_service_ops distribute "
        "distributed_save_op enumerate_ops error_ops from_list get_single_element "
        "global_shuffle_op grouping interleave_ops io iterator_model_ops iterator_ops lookup_ops "
        "map_defun matching_files pad_to_cardinality parsing_ops prefetching_ops random_access "
        "random_ops readers resampling scan_ops shuffle_ops snapshot take_while_ops testing "
        "unique writers"
    ),
    "data.experimental.service": "server_lib",
    "data.kernel_tests": "test_base",
    "data.ops": "batch_op cache_op choose_from_datasets_op concatenate_op counter_op "
    "dataset_autograph "
    "dataset_ops debug_mode directed_interleave_op filter_op flat_map_op from_generator_op "
    "from_sparse_tensor_slices_op from_tensor_slices_op from_tensors_op group_by_window_op "
    "ignore_errors_op interleave_op iterator_autograph iterator_ops load_op map_op "
    "multi_device_iterator_ops optional_ops options padded_batch_op prefetch_op "
    "ragged_batch_op random_op range_op readers rebatch_op repeat_op "
    "sample_from_datasets_op save_op scan_op shard_op shuffle_op skip_op snapshot_op "
    "sparse_batch_op structured_function take_op take_while_op test_mode unbatch_op "
    "unique_op window_op zip_op",
    "data.util": "convert options random_seed sparse structure traverse",
    "debug.lib": "check_numerics_callback",
    "distribute": "collective_all_reduce_strategy combinations distribute_lib mirrored_strategy "
    "multi_process_runner one_device_strategy parameter_server_strategy reduce_util "
    "strategy_combinations values",
    "eager": "backprop_util cancellation core execute executor forwardprop forwardprop_util "
    "function "
    "graph_only_ops imperative_grad lift_to_graph monitoring record remote tape "
    "wrap_function",
    "eager.polymorphic_function": (
        "atomic_function attributes autograph_util compiler_ir composite_tensor_utils "
        "concrete_function eager_function_run function_context function_type_utils "
        "saved_model_exported_concrete saved_model_utils tf_method_target tracing_compilation "
        "transform"
    ),
    "feature_column": "feature_column feature_column_lib feature_column_v2 sequence_feature_column",
    "framework": (
        "auto_control_deps auto_control_deps_utils byte_swap_tensor c_api_util combinations "
        "composite_tensor_gradient convert_to_constants error_interpolation extension_type "
        "extension_type_field flexible_dtypes framework_lib function_def_to_graph gpu_util "
        "graph_to_function_def immutable_dict kernels load_library memory_checker none_tensor "
        "op_callbacks op_def_library_pybind op_def_registry override_binary_operator "
        "python_memory_checker strict_mode test_combinations tfrt_utils traceable_stack "
        "type_spec_registry type_utils weak_tensor"
    ),
    "grappler": "cluster item tf_optimizer",
    "layers": "utils",
    "module": "module",
    "ops": "autograph_ops batch_ops boosted_trees_ops clustering_ops collective_ops "
    "composite_tensor_ops control_flow_state control_flow_util_v2 "
    "control_flow_v2_func_graphs cudnn_rnn_grad default_gradient filesystem_ops "
    "handle_data_util init_ops_v2 initializers_ns lookup_grad manip_grad map_ops nccl_ops "
    "nn_fused_batch_norm_grad nn_impl_distribute op_selector optional_grad parsing_grad "
    "proto_ops random_ops_util rnn_grad sdca_ops standard_ops weak_tensor_ops "
    "while_v2_indexed_slices_rewriter",
    "ops.distributions": (
        "bernoulli beta bijector bijector_impl categorical dirichlet dirichlet_multinomial "
        "distribution distributions exponential gamma identity_bijector kullback_leibler laplace "
        "multinomial normal special_math student_t uniform util"
    ),
    "ops.linalg": "linear_operator linear_operator_addition linear_operator_adjoint "
    "linear_operator_block_diag linear_operator_block_lower_triangular "
    "linear_operator_circulant linear_operator_composition linear_operator_diag "
    "linear_operator_full_matrix linear_operator_householder linear_operator_identity "
    "linear_operator_inversion linear_operator_kronecker linear_operator_low_rank_update "
    "linear_operator_lower_triangular linear_operator_permutation linear_operator_test_util "
    "linear_operator_toeplitz linear_operator_tridiag linear_operator_util "
    "linear_operator_zeros property_hint_util slicing",
    "ops.linalg.sparse": (
        "conjugate_gradient gen_sparse_csr_matrix_ops sparse sparse_csr_matrix_grad "
        "sparse_csr_matrix_ops"
    ),
    "ops.numpy_ops": "np_array_ops np_arrays np_config np_dtypes np_math_ops np_random np_utils",
    "ops.parallel_for": "control_flow_ops gradients pfor",
    "ops.ragged": "dynamic_ragged_shape ragged_array_ops ragged_autograph ragged_batch_gather_ops "
    "ragged_batch_gather_with_default_op ragged_bincount_ops ragged_check_ops "
    "ragged_concat_ops ragged_config ragged_conversion_ops ragged_dispatch "
    "ragged_embedding_ops ragged_functional_ops ragged_gather_ops "
    "ragged_getitem ragged_image_ops ragged_map_ops ragged_math_ops ragged_ops "
    "ragged_squeeze_op ragged_tensor_shape "
    "ragged_util ragged_where_op row_partition segment_id_ops",
    "ops.structured": (
        "structured_array_ops structured_ops structured_tensor structured_tensor_dynamic"
    ),
    "platform": "analytics build_info device_context remote_utils self_check",
    "profiler": "model_analyzer option_builder",
    "saved_model": (
        "fingerprinting fingerprinting_utils function_deserialization function_serialization load"
        " load_options load_v1_in_v2 nested_structure_coder revived_types save save_context "
        "save_options signature_serialization tracing_utils"
    ),
    "saved_model.model_utils": "export_output export_utils mode_keys",
    "saved_model.registration": "registration",
    "summary": "tb_summary",
    "tpu": "tpu tpu_function",
    "trackable": "asset autotrackable base base_delegate constants converter data_structures "
    "layer_utils "
    "python_state resource trackable_utils",
    "training": "quantize_training",
    "training.experimental": (
        "loss_scale loss_scale_optimizer mixed_precision mixed_precision_global_state"
    ),
    "training.saving": "saveable_object_util trace_saveable_util",
    "types": "core data distribute doc_typealias internal trace",
    "user_ops": "user_ops",
    "user_ops.ops": "gen_user_ops",
    "util": "all_util custom_nest_protocol decorator_utils deprecated_module deprecated_module_new "
    "deprecation dispatch function_utils is_in_graph_mode keras_deps keyword_args "
    "lazy_loader lock_util module_wrapper nest_util numpy_compat object_identity "
    "serialization tf_contextlib tf_decorator tf_decorator_export tf_export tf_should_use "
    "tf_stack traceback_utils type_annotations variable_utils",
    "util.protobuf": "compare",
}

#: Their full names, without that of the package.
ELSEWHERE: Final = frozenset(
    f"{folder}.{name}" for folder, names in _FOLDERS.items() for name in names.split()
)
