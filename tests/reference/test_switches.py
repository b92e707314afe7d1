"""What asks for another behaviour than version 1's, and messages written now and then."""

from __future__ import annotations

import logging
from typing import Any

import pytest

import sessrun.reference as tf


@pytest.mark.parametrize(
    "ask", [tf.enable_eager_execution, tf.enable_v2_behavior, tf.enable_v2_tensorshape]
)
def test_what_is_not_here_is_refused(ask: Any) -> None:
    tf.reset_default_graph()
    with pytest.raises(NotImplementedError):
        ask()


def test_eager_execution_is_asked_for_before_graphs_are_built() -> None:
    tf.reset_default_graph()
    tf.constant(1)
    with pytest.raises(ValueError, match="at program startup"):
        tf.enable_eager_execution()
    tf.reset_default_graph()


def test_eager_execution_is_asked_for_with_arguments_that_exist() -> None:
    with pytest.raises(TypeError):
        tf.enable_eager_execution(config=3)
    with pytest.raises(ValueError, match="device_policy"):
        tf.enable_eager_execution(device_policy=7)
    with pytest.raises(ValueError, match="execution_mode"):
        tf.enable_eager_execution(execution_mode=7)


def test_a_compiler_is_told_that_there_is_nothing_to_compile_against() -> None:
    for ask in (
        tf.sysconfig.get_include,
        tf.sysconfig.get_lib,
        tf.sysconfig.get_compile_flags,
        tf.sysconfig.get_link_flags,
    ):
        with pytest.raises(NotImplementedError):
            ask()


def test_messages_are_counted_by_the_calling_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="sessrun"):
        for number in range(5):
            tf.logging.log_first_n(tf.logging.INFO, "first %s", 2, number)
            tf.logging.log_every_n(tf.logging.INFO, "every %s", 3, number)
    assert caplog.messages == ["first 0", "every 1", "every 4"]
    assert {record.filename for record in caplog.records} == {"test_switches.py"}
