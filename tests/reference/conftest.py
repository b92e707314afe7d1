"""What tests of the reference share: TensorFlow, and the choice of the executor's tier."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

import sessrun.reference as tf
from sessrun.reference.session.execute import generated, source


@pytest.fixture(scope="module")
def theirs() -> Any:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    tensorflow = pytest.importorskip("tensorflow")
    tensorflow.compat.v1.disable_v2_behavior()
    tensorflow.get_logger().setLevel("ERROR")
    return tensorflow.compat.v1


@pytest.fixture
def chosen_tiers() -> Iterator[None]:
    """A new graph, and no tier chosen afterwards."""
    with tf.Graph().as_default():
        yield
    tf.experimental.set_execution_tier(None)


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources that are written."""
    written: list[str] = []

    def write(*args: Any, **options: Any) -> Any:
        result = source.write_source(*args, **options)
        written.append(result.text)
        return result

    monkeypatch.setattr(generated, "write_source", write)
    return written
