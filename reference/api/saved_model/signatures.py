"""SignatureDef messages: what a model computes, from which inputs. Source: TF 2.21."""

from __future__ import annotations

import os
from collections.abc import Mapping
from os import PathLike
from typing import Any, Final

from sessrun.reference import errors
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.saved_model import names
from sessrun.reference.api.saved_model.model_files import read_model, text_path, write_model
from sessrun.reference.api.saved_model.tensor_infos import (
    build_tensor_info,
    get_element_from_tensor_info,
    of_operation,
)
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.state.files import files
from sessrun.spec.proto import DataType, SignatureDef, TensorInfo, TensorProto
from sessrun.spec.proto.foreign import adopt

__all__ = [
    "MethodNameUpdater",
    "build_signature_def",
    "classification_signature_def",
    "is_valid_signature",
    "load_op_from_signature_def",
    "op_signature_def",
    "predict_signature_def",
    "regression_signature_def",
    "supervised_eval_signature_def",
    "supervised_train_signature_def",
]

_STRING: Final = DataType.Value("DT_STRING")
_FLOAT: Final = DataType.Value("DT_FLOAT")


def build_signature_def(
    inputs: Mapping[str, object] | None = None,
    outputs: Mapping[str, object] | None = None,
    method_name: str | None = None,
    defaults: Mapping[str, Tensor] | None = None,
) -> SignatureDef:
    """A signature.

    Args:
      inputs: the TensorInfo of each input.
      outputs: the TensorInfo of each output.
      method_name: what kind of service it is for.
      defaults: constants of the graph that stand for inputs that are not given.

    Raises:
      ValueError: a default is not a constant.

    """
    signature = SignatureDef()
    for name, info in (inputs or {}).items():
        signature.inputs[name].CopyFrom(adopt(info, TensorInfo))
    for name, info in (outputs or {}).items():
        signature.outputs[name].CopyFrom(adopt(info, TensorInfo))
    if method_name is not None:
        signature.method_name = method_name
    for name, value in (defaults or {}).items():
        if value.op.type != "Const":
            raise ValueError(
                f"Unable to convert object {value} of type {type(value)} to TensorProto."
            )
        signature.defaults[name].CopyFrom(adopt(value.op.get_attr("value"), TensorProto))
    return signature


def _infos(tensors: Mapping[str, object]) -> dict[str, TensorInfo]:
    return {key: build_tensor_info(tensor) for key, tensor in tensors.items()}


def _info(kind: str, tensor: TensorLike, dtype: int) -> TensorInfo:
    """The message about a tensor that must be of a dtype."""
    tensor_info = build_tensor_info(tensor)
    if tensor_info.dtype != dtype:
        raise ValueError(
            f"{kind} must be of type {DataType.Name(dtype)}. Found tensors of type "
            f"{DataType.Name(tensor_info.dtype)}."
        )
    return tensor_info


def _check_examples(kind: str, examples: TensorLike) -> None:
    if examples is None:
        raise ValueError(f"{kind} `examples` cannot be None.")
    if not isinstance(examples, Tensor):
        raise ValueError(  # noqa: TRY004 - as TensorFlow
            f"Expected {kind} `examples` to be of type Tensor. Found `examples` of type "
            f"{type(examples)}."
        )


def regression_signature_def(examples: TensorLike, predictions: TensorLike) -> SignatureDef:
    """A signature from serialized examples to numbers.

    Args:
      examples: a string tensor.
      predictions: a float32 tensor.

    Raises:
      ValueError: an argument is None or has another dtype, or `examples` is not a tensor.

    """
    _check_examples("Regression", examples)
    if predictions is None:
        raise ValueError("Regression `predictions` cannot be None.")
    inputs = {names.REGRESS_INPUTS: _info("Regression input tensors", examples, _STRING)}
    outputs = {names.REGRESS_OUTPUTS: _info("Regression output tensors", predictions, _FLOAT)}
    return build_signature_def(inputs, outputs, names.REGRESS_METHOD_NAME)


def classification_signature_def(
    examples: TensorLike, classes: TensorLike | None, scores: TensorLike
) -> SignatureDef:
    """A signature from serialized examples to classes, their scores, or both.

    Args:
      examples: a string tensor.
      classes: a string tensor, or None.
      scores: a float32 tensor, or None.

    Raises:
      ValueError: `examples` is None or no tensor, there are neither classes nor scores, or one is
        of another dtype.

    """
    _check_examples("Classification", examples)
    if classes is None and scores is None:
        raise ValueError("Classification `classes` and `scores` cannot both be None.")
    inputs = {names.CLASSIFY_INPUTS: _info("Classification input tensors", examples, _STRING)}
    outputs = {}
    if classes is not None:
        outputs[names.CLASSIFY_OUTPUT_CLASSES] = _info("Classification classes", classes, _STRING)
    if scores is not None:
        outputs[names.CLASSIFY_OUTPUT_SCORES] = _info("Classification scores", scores, _FLOAT)
    return build_signature_def(inputs, outputs, names.CLASSIFY_METHOD_NAME)


def predict_signature_def(
    inputs: Mapping[str, object], outputs: Mapping[str, object]
) -> SignatureDef:
    """A signature from any tensors to any.

    Args:
      inputs: tensors by name.
      outputs: tensors by name.

    Raises:
      ValueError: there are no inputs, or no outputs.

    """
    if not inputs:
        raise ValueError("Prediction `inputs` cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction `outputs` cannot be None or empty.")
    return build_signature_def(_infos(inputs), _infos(outputs), names.PREDICT_METHOD_NAME)


def supervised_train_signature_def(
    inputs: Mapping[str, object],
    loss: Mapping[str, object] | None,
    predictions: Mapping[str, object] | None = None,
    metrics: Mapping[str, object] | None = None,
) -> SignatureDef:
    """A signature of training.

    Args:
      inputs: tensors by name.
      loss: the loss that is minimized.
      predictions: the tensors of the predictions.
      metrics: the metrics' values and updates.

    Raises:
      ValueError: there are no inputs.

    """
    return _supervised(names.SUPERVISED_TRAIN_METHOD_NAME, inputs, loss, predictions, metrics)


def supervised_eval_signature_def(
    inputs: Mapping[str, object],
    loss: Mapping[str, object] | None,
    predictions: Mapping[str, object] | None = None,
    metrics: Mapping[str, object] | None = None,
) -> SignatureDef:
    """A signature of evaluation; arguments and errors as `supervised_train_signature_def`."""
    return _supervised(names.SUPERVISED_EVAL_METHOD_NAME, inputs, loss, predictions, metrics)


def _supervised(
    method: str, inputs: Mapping[str, object], *outputs: Mapping[str, object] | None
) -> SignatureDef:
    if not inputs:
        raise ValueError(f"{method} `inputs` cannot be None or empty.")
    infos_of_outputs: dict[str, TensorInfo] = {}
    for tensors in outputs:
        infos_of_outputs.update(_infos(tensors or {}))
    return build_signature_def(_infos(inputs), infos_of_outputs, method)


def is_valid_signature(signature_def: SignatureDef) -> bool:
    """Whether a signature is one that services know: to classify, to regress or to predict."""
    return signature_def is not None and any(
        is_valid(signature_def) for is_valid in (is_classification, is_regression, is_prediction)
    )


def _known(
    signature_def: SignatureDef, method: str
) -> tuple[dict[str, int], dict[str, int]] | None:
    """The dtypes of inputs and of outputs of a signature of that method that has both, or None."""
    signature = adopt(signature_def, SignatureDef)
    if signature.method_name != method or not signature.inputs or not signature.outputs:
        return None
    inputs: dict[str, int] = {name: info.dtype for name, info in signature.inputs.items()}
    return inputs, {name: info.dtype for name, info in signature.outputs.items()}


def is_prediction(signature_def: SignatureDef) -> bool:
    """Whether a signature is one to predict: it has some input and some output."""
    return _known(signature_def, names.PREDICT_METHOD_NAME) is not None


def is_regression(signature_def: SignatureDef) -> bool:
    """Whether a signature is one to regress: a string, and a number of float32."""
    return _known(signature_def, names.REGRESS_METHOD_NAME) == (
        {names.REGRESS_INPUTS: _STRING},
        {names.REGRESS_OUTPUTS: _FLOAT},
    )


def is_classification(signature_def: SignatureDef) -> bool:
    """Whether a signature is one to classify: a string, and classes, scores or both."""
    known = _known(signature_def, names.CLASSIFY_METHOD_NAME)
    if known is None:
        return False
    allowed = {
        (names.CLASSIFY_OUTPUT_CLASSES, _STRING),
        (names.CLASSIFY_OUTPUT_SCORES, _FLOAT),
    }
    return known[0] == {names.CLASSIFY_INPUTS: _STRING} and set(known[1].items()) <= allowed


def op_signature_def(operation: Any, key: str) -> SignatureDef:
    """A signature whose one output, of the name `key`, is an operation."""
    return build_signature_def(outputs={key: of_operation(operation)})


def load_op_from_signature_def(
    signature_def: Any, key: str, import_scope: str | None = None
) -> Tensor | Operation:
    """The operation, or tensor, of the default graph that such a signature names.

    Args:
      signature_def: the signature.
      key: the name of its output.
      import_scope: a name scope that is put before the operation's name.

    Raises:
      NotFoundError: the graph does not have it.

    """
    try:
        return get_element_from_tensor_info(signature_def.outputs[key], import_scope=import_scope)
    except KeyError:
        raise errors.NotFoundError(
            None,
            None,
            f'The key "{key}" could not be found in the graph. The SavedModel has a '
            "signature of that key that names something else.",
        ) from None


class MethodNameUpdater:
    """Changes the method names of the signatures of a saved model.

    Args:
      export_dir: its folder.

    Raises:
      OSError: there is no model in it.

    """

    def __init__(self, export_dir: str | bytes | PathLike[str]) -> None:
        self._export_dir = export_dir
        self._saved_model = read_model(export_dir)

    def replace_method_name(
        self, signature_key: str, method_name: str, tags: object = None
    ) -> None:
        """Set the method name of a signature.

        Args:
          signature_key: the signature's key.
          method_name: the method name.
          tags: one tag, or the list of all, of the graph; all graphs if None.

        Raises:
          ValueError: a name is empty, or there is no such graph, or it has no such signature.

        """
        if not signature_key:
            raise ValueError("`signature_key` must be defined.")
        if not method_name:
            raise ValueError("`method_name` must be defined.")
        if tags is not None and not isinstance(tags, list):
            tags = [tags]
        is_known = False
        for graph in self._saved_model.meta_graphs:
            if tags is not None and set(tags) != set(graph.meta_info_def.tags):
                continue
            if signature_key not in graph.signature_def:
                raise ValueError(
                    f"MetaGraphDef associated with tags {tags} does not have a signature_def with "
                    f"key: '{signature_key}'."
                )
            graph.signature_def[signature_key].method_name = method_name
            is_known = True
        if not is_known:
            raise ValueError(
                f"MetaGraphDef associated with tags {tags} could not be found in SavedModel."
            )

    def save(self, new_export_dir: str | None = None) -> None:
        """Write the model, as text if it was read from one.

        Args:
          new_export_dir: the folder; that of the model by default.

        Raises:
          OpError: the file cannot be written.

        """
        is_text = files.exists(text_path(self._export_dir))
        target = os.fspath(new_export_dir or self._export_dir)
        write_model(self._saved_model, target, as_text=is_text)
