"""Public names of `tensorflow.compat.v1` that the runtime does not have, each with the reason."""

from __future__ import annotations

__all__ = ["ABSENT", "ABSENT_MODULES", "OTHER_ARGUMENTS"]

#: Modules that are absent as a whole.
ABSENT_MODULES = {
    "autograph": "source code that is translated",
    "data": "pipelines of datasets",
    "distribute": "strategies for several machines",
    "distributions": "built on these operations by a library of their own",
    "feature_column": "columns of features",
    "lite": "another runtime",
    "mixed_precision": "rewrites graphs for GPUs",
    "mlir": "a compiler",
    "profiler": "a tool that reads traces",
    "tpu": "another device",
    "types": "only for annotations",
    "user_ops": "an example of compiled code",
    "xla": "a compiler",
    "app.flags.tf_decorator": "a module that is there by mistake",
    "flags.tf_decorator": "a module that is there by mistake",
    "debugging.experimental": "a debugger",
    "experimental.extension_type": "types of programs",
    "keras.applications": "networks",
    "keras.callbacks": "of fit",
    "keras.datasets": "downloads",
    "keras.estimator": "of estimators",
    "keras.experimental": "of models",
    "keras.export": "of models",
    "keras.layers.experimental": "of preprocessing",
    "keras.losses": "objects of models",
    "keras.mixed_precision": "of models",
    "keras.models": "models",
    "keras.optimizers": "of models",
    "keras.preprocessing": "of preprocessing",
    "keras.saving": "of models",
    "keras.utils": "of models",
    "linalg.experimental": "linear operators",
    "quantization.experimental": "a compiler",
    "saved_model.experimental": "of version 2",
    "test.experimental": "of version 2",
    "train.experimental": "of version 2",
}
_BY_REASON = {
    "compiled code": (
        "CXX11_ABI_FLAG CXX_VERSION MONOLITHIC_BUILD load_file_system_library load_library "
        "load_op_library sysconfig.CXX11_ABI_FLAG sysconfig.CXX_VERSION "
        "sysconfig.MONOLITHIC_BUILD"
    ),
    "formats that need libraries": (
        "LMDBReader image.decode_jxl image.decode_webp io.decode_jxl io.decode_proto "
        "io.decode_webp io.encode_proto"
    ),
    "linear operators, and the class that they are of": (
        "Module linalg.LinearOperator linalg.LinearOperatorAdjoint linalg.LinearOperatorBlockDiag"
        " linalg.LinearOperatorBlockLowerTriangular linalg.LinearOperatorCirculant "
        "linalg.LinearOperatorCirculant2D linalg.LinearOperatorCirculant3D "
        "linalg.LinearOperatorComposition linalg.LinearOperatorDiag "
        "linalg.LinearOperatorFullMatrix linalg.LinearOperatorHouseholder "
        "linalg.LinearOperatorIdentity linalg.LinearOperatorInversion "
        "linalg.LinearOperatorKronecker linalg.LinearOperatorLowRankUpdate "
        "linalg.LinearOperatorLowerTriangular linalg.LinearOperatorPermutation "
        "linalg.LinearOperatorScaledIdentity linalg.LinearOperatorToeplitz "
        "linalg.LinearOperatorTridiag linalg.LinearOperatorZeros"
    ),
    "types of datasets and functions": ("NoneTensorSpec OptionalSpec TensorArraySpec"),
    "rows of different lengths": (
        "RaggedTensorSpec experimental.DynamicRaggedShape experimental.RowPartition "
        "experimental.StructuredTensor io.RaggedFeature ragged.boolean_mask ragged.cross "
        "ragged.cross_hashed ragged.map_flat_values ragged.placeholder ragged.range "
        "ragged.row_splits_to_segment_ids ragged.segment_ids_to_row_splits ragged.stack "
        "ragged.stack_dynamic_partitions ragged_fill_empty_rows ragged_fill_empty_rows_grad "
        "strings.ngrams strings.unicode_decode strings.unicode_decode_with_offsets "
        "strings.unicode_encode strings.unicode_split strings.unicode_split_with_offsets"
    ),
    "operations without a kernel on a CPU, or for other devices": (
        "approx_top_k check_pinned conv conv2d_backprop_filter_v2 conv2d_backprop_input_v2 fftnd "
        "ifftnd image.generate_bounding_box_proposals irfftnd math.approx_max_k math.approx_min_k"
        " nn.approx_max_k nn.approx_min_k nn.quantized_relu_x rfftnd signal.fftnd signal.ifftnd "
        "signal.irfftnd signal.rfftnd"
    ),
    "several machines": (
        "config.experimental.ClusterDeviceFilters config.experimental_connect_to_cluster "
        "config.experimental_connect_to_host test.create_local_cluster train.Server"
    ),
    "settings of eager execution, compilers and tracebacks": (
        "config.experimental.disable_mlir_bridge config.experimental.enable_mlir_bridge "
        "config.experimental.enable_tensor_float_32_execution "
        "config.experimental.get_device_policy config.experimental.get_synchronous_execution "
        "config.experimental.set_device_policy config.experimental.set_synchronous_execution "
        "config.experimental.tensor_float_32_execution_enabled "
        "config.experimental_functions_run_eagerly config.experimental_run_functions_eagerly "
        "config.functions_run_eagerly config.run_functions_eagerly "
        "debugging.disable_check_numerics debugging.disable_traceback_filtering "
        "debugging.enable_check_numerics debugging.enable_traceback_filtering "
        "debugging.get_log_device_placement debugging.is_traceback_filtering_enabled "
        "debugging.set_log_device_placement"
    ),
    "written on other operations, of version 2": (
        "debugging.assert_shapes linalg.eigh_tridiagonal"
    ),
    "types and dispatch of programs of version 2": (
        "experimental.BatchableExtensionType experimental.ExtensionType "
        "experimental.ExtensionTypeBatchEncoder experimental.ExtensionTypeSpec "
        "experimental.Optional experimental.async_clear_error experimental.async_scope "
        "experimental.dispatch_for_api experimental.dispatch_for_binary_elementwise_apis "
        "experimental.dispatch_for_binary_elementwise_assert_apis "
        "experimental.dispatch_for_unary_elementwise_apis experimental.enable_strict_mode "
        "experimental.function_executor_type experimental.register_filesystem_plugin "
        "experimental.unregister_dispatch_for"
    ),
    "dtypes of a few bits under another name": (
        "experimental.float4_e2m1fn experimental.float8_e4m3b11fnuz experimental.float8_e4m3fn "
        "experimental.float8_e4m3fnuz experimental.float8_e5m2 experimental.float8_e5m2fnuz "
        "experimental.int2 experimental.int4 experimental.uint2 experimental.uint4"
    ),
    "layers that TensorFlow 1 did not have": (
        "keras.layers.EinsumDense keras.layers.MultiHeadAttention"
    ),
    "models, and layers of preprocessing": (
        "keras.Input keras.Model keras.Sequential keras.layers.CategoryEncoding "
        "keras.layers.CenterCrop keras.layers.CuDNNGRU keras.layers.CuDNNLSTM "
        "keras.layers.DenseFeatures keras.layers.Discretization keras.layers.Hashing "
        "keras.layers.Input keras.layers.InputLayer keras.layers.Normalization "
        "keras.layers.Rescaling keras.layers.Resizing keras.layers.disable_v2_dtype_behavior "
        "keras.layers.enable_v2_dtype_behavior"
    ),
    "functions of Keras that nothing here needs": (
        "keras.backend.backend keras.backend.batch_normalization keras.backend.conv2d_transpose "
        "keras.backend.ctc_batch_cost keras.backend.ctc_decode "
        "keras.backend.ctc_label_dense_to_sparse keras.backend.depthwise_conv2d "
        "keras.backend.is_keras_tensor keras.backend.normalize_batch_in_training "
        "keras.backend.print_tensor keras.backend.random_binomial keras.backend.separable_conv2d "
        "keras.constraints.RadialConstraint keras.constraints.radial_constraint"
    ),
    "metrics and losses of models": (
        "keras.metrics.AUC keras.metrics.Accuracy keras.metrics.BinaryAccuracy "
        "keras.metrics.BinaryCrossentropy keras.metrics.BinaryIoU "
        "keras.metrics.CategoricalAccuracy keras.metrics.CategoricalCrossentropy "
        "keras.metrics.CategoricalHinge keras.metrics.CosineSimilarity keras.metrics.F1Score "
        "keras.metrics.FBetaScore keras.metrics.FalseNegatives keras.metrics.FalsePositives "
        "keras.metrics.Hinge keras.metrics.IoU keras.metrics.KLD keras.metrics.KLDivergence "
        "keras.metrics.LogCoshError keras.metrics.MAE keras.metrics.MAPE keras.metrics.MSE "
        "keras.metrics.MSLE keras.metrics.MeanAbsoluteError "
        "keras.metrics.MeanAbsolutePercentageError keras.metrics.MeanIoU "
        "keras.metrics.MeanMetricWrapper keras.metrics.MeanRelativeError "
        "keras.metrics.MeanSquaredError keras.metrics.MeanSquaredLogarithmicError "
        "keras.metrics.MeanTensor keras.metrics.OneHotIoU keras.metrics.OneHotMeanIoU "
        "keras.metrics.Poisson keras.metrics.Precision keras.metrics.PrecisionAtRecall "
        "keras.metrics.R2Score keras.metrics.Recall keras.metrics.RecallAtPrecision "
        "keras.metrics.RootMeanSquaredError keras.metrics.SensitivityAtSpecificity "
        "keras.metrics.SparseCategoricalAccuracy keras.metrics.SparseCategoricalCrossentropy "
        "keras.metrics.SparseTopKCategoricalAccuracy keras.metrics.SpecificityAtSensitivity "
        "keras.metrics.SquaredHinge keras.metrics.TopKCategoricalAccuracy "
        "keras.metrics.TrueNegatives keras.metrics.TruePositives keras.metrics.binary_accuracy "
        "keras.metrics.binary_crossentropy keras.metrics.binary_focal_crossentropy "
        "keras.metrics.categorical_accuracy keras.metrics.categorical_crossentropy "
        "keras.metrics.categorical_focal_crossentropy keras.metrics.cosine "
        "keras.metrics.cosine_proximity keras.metrics.deserialize keras.metrics.get "
        "keras.metrics.hinge keras.metrics.kl_divergence keras.metrics.kld "
        "keras.metrics.kullback_leibler_divergence keras.metrics.log_cosh keras.metrics.logcosh "
        "keras.metrics.mae keras.metrics.mape keras.metrics.mean_absolute_error "
        "keras.metrics.mean_absolute_percentage_error keras.metrics.mean_squared_error "
        "keras.metrics.mean_squared_logarithmic_error keras.metrics.mse keras.metrics.msle "
        "keras.metrics.poisson keras.metrics.serialize keras.metrics.sparse_categorical_accuracy "
        "keras.metrics.sparse_categorical_crossentropy "
        "keras.metrics.sparse_top_k_categorical_accuracy keras.metrics.squared_hinge "
        "keras.metrics.top_k_categorical_accuracy"
    ),
    "not built": ("math.sobol_sample train.do_quantize_training_on_graphdef"),
    "eager functions and batches of a server": (
        "nondifferentiable_batch_function vectorized_map wrap_function"
    ),
    "checkpoints and models of version 2": (
        "saved_model.Asset saved_model.SaveOptions saved_model.load_v2 saved_model.save "
        "train.Checkpoint train.CheckpointManager train.CheckpointOptions "
        "train.checkpoints_iterator"
    ),
    "linear models with a solver of their own": (
        "train.sdca_fprint train.sdca_optimizer train.sdca_shrink_l1"
    ),
}
#: Names that are absent from modules that are there.
ABSENT = {name: reason for reason, names in _BY_REASON.items() for name in names.split()}
#: Functions whose arguments are others.
OTHER_ARGUMENTS = {
    "convert_to_tensor": "takes one more, which only its own conversions give",
    "function": "has those that a graph knows",
}
