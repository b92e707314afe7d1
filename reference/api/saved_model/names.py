"""The constants of saved models: names of files and collections, tags, keys of signatures."""

from __future__ import annotations

from typing import Final

__all__ = [
    "ASSETS_DIRECTORY",
    "ASSETS_KEY",
    "CLASSIFY_INPUTS",
    "CLASSIFY_METHOD_NAME",
    "CLASSIFY_OUTPUT_CLASSES",
    "CLASSIFY_OUTPUT_SCORES",
    "DEBUG_DIRECTORY",
    "DEBUG_INFO_FILENAME_PB",
    "DEFAULT_SERVING_SIGNATURE_DEF_KEY",
    "GPU",
    "LEGACY_INIT_OP_KEY",
    "MAIN_OP_KEY",
    "PREDICT_INPUTS",
    "PREDICT_METHOD_NAME",
    "PREDICT_OUTPUTS",
    "REGRESS_INPUTS",
    "REGRESS_METHOD_NAME",
    "REGRESS_OUTPUTS",
    "SAVED_MODEL_FILENAME_PB",
    "SAVED_MODEL_FILENAME_PBTXT",
    "SAVED_MODEL_SCHEMA_VERSION",
    "SERVING",
    "TPU",
    "TRAINING",
    "VARIABLES_DIRECTORY",
    "VARIABLES_FILENAME",
]

SAVED_MODEL_SCHEMA_VERSION: Final = 1
SAVED_MODEL_FILENAME_PB: Final = "saved_model.pb"
SAVED_MODEL_FILENAME_PBTXT: Final = "saved_model.pbtxt"
#: The format for models of more than 2 GiB, which is recognized but not read.
SAVED_MODEL_FILENAME_CPB: Final = "saved_model.cpb"
ASSETS_DIRECTORY: Final = "assets"
DEBUG_DIRECTORY: Final = "debug"
DEBUG_INFO_FILENAME_PB: Final = "saved_model_debug_info.pb"
VARIABLES_DIRECTORY: Final = "variables"
VARIABLES_FILENAME: Final = "variables"

#: Collections: of assets, of the operation run after loading, and of the one that trains.
ASSETS_KEY: Final = "saved_model_assets"
MAIN_OP_KEY: Final = "saved_model_main_op"
LEGACY_INIT_OP_KEY: Final = "legacy_init_op"
TRAIN_OP_KEY: Final = "saved_model_train_op"
#: Signatures that name such operations.
INIT_OP_SIGNATURE_KEY: Final = "__saved_model_init_op"
TRAIN_OP_SIGNATURE_KEY: Final = "__saved_model_train_op"

SERVING: Final = "serve"
TRAINING: Final = "train"
EVAL: Final = "eval"
GPU: Final = "gpu"
TPU: Final = "tpu"

DEFAULT_SERVING_SIGNATURE_DEF_KEY: Final = "serving_default"
DEFAULT_TRAIN_SIGNATURE_DEF_KEY: Final = "train"
DEFAULT_EVAL_SIGNATURE_DEF_KEY: Final = "eval"
CLASSIFY_INPUTS: Final = "inputs"
CLASSIFY_METHOD_NAME: Final = "tensorflow/serving/classify"
CLASSIFY_OUTPUT_CLASSES: Final = "classes"
CLASSIFY_OUTPUT_SCORES: Final = "scores"
PREDICT_INPUTS: Final = "inputs"
PREDICT_METHOD_NAME: Final = "tensorflow/serving/predict"
PREDICT_OUTPUTS: Final = "outputs"
REGRESS_INPUTS: Final = "inputs"
REGRESS_METHOD_NAME: Final = "tensorflow/serving/regress"
REGRESS_OUTPUTS: Final = "outputs"
SUPERVISED_TRAIN_METHOD_NAME: Final = "tensorflow/supervised/training"
SUPERVISED_EVAL_METHOD_NAME: Final = "tensorflow/supervised/eval"
