"""What the tests of the reference against TensorFlow share."""

import os
from typing import Any

import pytest


@pytest.fixture(scope="module")
def theirs() -> Any:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    tensorflow = pytest.importorskip("tensorflow")
    tensorflow.compat.v1.disable_v2_behavior()
    tensorflow.get_logger().setLevel("ERROR")
    return tensorflow.compat.v1
