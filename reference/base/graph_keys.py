"""GraphKeys: the names of the collections that the library itself keeps in a graph."""

from __future__ import annotations

from typing import Final

from sessrun.reference.public import public

__all__ = ["GraphKeys"]


@public("GraphKeys")
class GraphKeys:
    """Standard collection names; the values are TensorFlow's, since saved graphs contain them."""

    GLOBAL_VARIABLES: Final = "variables"
    LOCAL_VARIABLES: Final = "local_variables"
    METRIC_VARIABLES: Final = "metric_variables"
    MODEL_VARIABLES: Final = "model_variables"
    TRAINABLE_VARIABLES: Final = "trainable_variables"
    TRAINABLE_RESOURCE_VARIABLES: Final = "trainable_resource_variables"
    CONCATENATED_VARIABLES: Final = "concatenated_variables"
    MOVING_AVERAGE_VARIABLES: Final = "moving_average_variables"
    VARIABLES: Final = "variables"
    SUMMARIES: Final = "summaries"
    SUMMARY_OP: Final = "summary_op"
    QUEUE_RUNNERS: Final = "queue_runners"
    TABLE_INITIALIZERS: Final = "table_initializer"
    ASSET_FILEPATHS: Final = "asset_filepaths"
    REGULARIZATION_LOSSES: Final = "regularization_losses"
    LOSSES: Final = "losses"
    WEIGHTS: Final = "weights"
    BIASES: Final = "biases"
    ACTIVATIONS: Final = "activations"
    UPDATE_OPS: Final = "update_ops"
    SAVERS: Final = "savers"
    SAVEABLE_OBJECTS: Final = "saveable_objects"
    RESOURCES: Final = "resources"
    LOCAL_RESOURCES: Final = "local_resources"
    INIT_OP: Final = "init_op"
    LOCAL_INIT_OP: Final = "local_init_op"
    READY_OP: Final = "ready_op"
    READY_FOR_LOCAL_INIT_OP: Final = "ready_for_local_init_op"
    GLOBAL_STEP: Final = "global_step"
    TRAIN_OP: Final = "train_op"
    EVAL_STEP: Final = "eval_step"
    COND_CONTEXT: Final = "cond_context"
    WHILE_CONTEXT: Final = "while_context"
