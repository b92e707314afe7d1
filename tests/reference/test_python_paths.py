"""Imports by TensorFlow's own paths: `sessrun.reference.python...`."""

import importlib

import pytest
from sessrun.reference.core.protobuf import config_pb2
from sessrun.reference.python.framework import dtypes, errors_impl, ops
from sessrun.reference.python.module_table import PLACES
from sessrun.reference.python.ops import gen_math_ops, math_ops, variables

import sessrun.reference as tf


@pytest.mark.parametrize("place", sorted(PLACES))
def test_every_module_of_the_table_is_imported(place: str) -> None:
    importlib.import_module(f"sessrun.reference.python.{place}")


@pytest.mark.parametrize("place", sorted(PLACES))
def test_the_table_names_modules_that_there_are(place: str) -> None:
    modules, _, _ = PLACES[place].partition("|")
    for name in modules.split():
        importlib.import_module(f"sessrun.reference.{name}")


def test_a_name_is_the_one_of_the_namespace() -> None:
    assert ops.Graph is tf.Graph
    assert ops.name_scope_v1 is tf.name_scope
    assert dtypes.float32 is tf.float32
    assert errors_impl.NotFoundError is tf.errors.NotFoundError
    assert math_ops.matmul is tf.matmul
    assert variables.VariableV1 is tf.Variable


def test_generated_wrappers_take_arguments_by_place_and_by_name() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        row = [[1.0, 2.0]]
        product = gen_math_ops.mat_mul(row, row, False, transpose_b=True, name="p")
        assert product.op.name == "p"
        assert session.run(product) == 5.0
        with pytest.raises(TypeError, match="takes 3 arguments"):
            gen_math_ops.maximum(1, 2, "m", 4)


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("framework.graph_pb2", "GraphDef"),
        ("framework.types_pb2", "DT_FLOAT DataType"),
        ("framework.attr_value_pb2", "AttrValue"),
        ("framework.summary_pb2", "Summary"),
        ("framework.step_stats_pb2", "StepStats"),
        ("framework.variable_pb2", "VariableDef"),
        ("protobuf.config_pb2", "ConfigProto RunOptions RunMetadata CallableOptions GPUOptions"),
        ("protobuf.error_codes_pb2", "OK UNAVAILABLE"),
        ("protobuf.saver_pb2", "SaverDef"),
        ("protobuf.meta_graph_pb2", "MetaGraphDef TensorInfo"),
        ("protobuf.tensorflow_server_pb2", "ServerDef"),
        ("protobuf.struct_pb2", "StructuredValue"),
        ("protobuf.cluster_pb2", "ClusterDef"),
        ("protobuf.queue_runner_pb2", "QueueRunnerDef"),
        ("util.event_pb2", "Event SessionLog"),
        ("example.example_pb2", "Example"),
        ("example.feature_pb2", "Feature Int64List"),
    ],
)
def test_messages_lie_where_tensorflow_has_them(path: str, names: str) -> None:
    module = importlib.import_module(f"sessrun.reference.core.{path}")
    for name in names.split():
        assert hasattr(module, name)


def test_a_message_is_that_of_the_namespace() -> None:
    assert config_pb2.ConfigProto is tf.ConfigProto
    with pytest.raises(AttributeError, match=r"config_pb2' has no attribute 'nothing'"):
        _ = config_pb2.nothing
    with pytest.raises(ImportError):
        importlib.import_module("sessrun.reference.core.protobuf.nothing_pb2")


def test_what_is_nowhere_is_an_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match=r"framework\.ops' has no attribute 'nothing'"):
        _ = ops.nothing
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = gen_math_ops.nothing
    with pytest.raises(ImportError):
        importlib.import_module("sessrun.reference.python.framework.nothing")
