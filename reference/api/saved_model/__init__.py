"""`tf.saved_model`: graphs with variables, assets and signatures as folders. Source: TF 2.21."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final

from sessrun.reference.api.saved_model import names as _names
from sessrun.reference.api.saved_model.building import SavedModelBuilder
from sessrun.reference.api.saved_model.building import SavedModelBuilder as Builder
from sessrun.reference.api.saved_model.loading import load, maybe_saved_model_directory
from sessrun.reference.api.saved_model.names import *  # noqa: F403 - all of them are public
from sessrun.reference.api.saved_model.signatures import (
    MethodNameUpdater,
    build_signature_def,
    classification_signature_def,
    is_valid_signature,
    predict_signature_def,
    regression_signature_def,
)
from sessrun.reference.api.saved_model.simple import main_op as _main_op
from sessrun.reference.api.saved_model.simple import main_op_with_restore, simple_save
from sessrun.reference.api.saved_model.tensor_infos import (
    build_tensor_info,
    get_tensor_from_tensor_info,
)

contains_saved_model = maybe_saved_model_directory


def _group(name: str, *values: Any, **named: Any) -> ModuleType:
    module = ModuleType(f"{__name__}.{name}", f"The names of `saved_model.{name}`.")
    vars(module).update({value.__name__: value for value in values}, **named)
    return module


def _constants(*names: str) -> dict[str, str]:
    return {name: getattr(_names, name) for name in names}


builder: Final = _group("builder", SavedModelBuilder)
constants: Final = _group(
    "constants",
    **_constants(
        "ASSETS_DIRECTORY",
        "ASSETS_KEY",
        "DEBUG_DIRECTORY",
        "DEBUG_INFO_FILENAME_PB",
        "LEGACY_INIT_OP_KEY",
        "MAIN_OP_KEY",
        "SAVED_MODEL_FILENAME_PB",
        "SAVED_MODEL_FILENAME_PBTXT",
        "SAVED_MODEL_SCHEMA_VERSION",
        "VARIABLES_DIRECTORY",
        "VARIABLES_FILENAME",
    ),
)
loader: Final = _group("loader", load, maybe_saved_model_directory)
main_op: Final = _group("main_op", _main_op, main_op_with_restore)
signature_constants: Final = _group(
    "signature_constants",
    **_constants(
        "CLASSIFY_INPUTS",
        "CLASSIFY_METHOD_NAME",
        "CLASSIFY_OUTPUT_CLASSES",
        "CLASSIFY_OUTPUT_SCORES",
        "DEFAULT_SERVING_SIGNATURE_DEF_KEY",
        "PREDICT_INPUTS",
        "PREDICT_METHOD_NAME",
        "PREDICT_OUTPUTS",
        "REGRESS_INPUTS",
        "REGRESS_METHOD_NAME",
        "REGRESS_OUTPUTS",
    ),
)
signature_def_utils: Final = _group(
    "signature_def_utils",
    MethodNameUpdater,
    build_signature_def,
    classification_signature_def,
    is_valid_signature,
    predict_signature_def,
    regression_signature_def,
)
tag_constants: Final = _group("tag_constants", **_constants("GPU", "SERVING", "TPU", "TRAINING"))
utils: Final = _group("utils", build_tensor_info, get_tensor_from_tensor_info)

__all__ = [
    "Builder",
    "build_signature_def",
    "build_tensor_info",
    "builder",
    "classification_signature_def",
    "constants",
    "contains_saved_model",
    "get_tensor_from_tensor_info",
    "is_valid_signature",
    "load",
    "loader",
    "main_op",
    "main_op_with_restore",
    "maybe_saved_model_directory",
    "predict_signature_def",
    "regression_signature_def",
    "signature_constants",
    "signature_def_utils",
    "simple_save",
    "tag_constants",
    "utils",
]
__all__ += _names.__all__
