"""`tf.raw_ops`: keyword arguments alone, and signatures that say which."""

from __future__ import annotations

import inspect

import pytest

import sessrun.reference as tf


def test_a_wrapper_shows_inputs_attributes_and_name_with_defaults() -> None:
    shown = str(inspect.signature(tf.raw_ops.TopKV2))
    assert shown == "(input, k, sorted=True, index_type=tf.int32, name=None)"


def test_positional_arguments_are_refused_with_the_keywords_that_there_are() -> None:
    with pytest.raises(TypeError, match=r"only takes keyword args .*\['x', 'y', 'name'\]"):
        tf.raw_ops.Add(1.0, 2.0)


def test_names_of_arguments_are_checked() -> None:
    with pytest.raises(TypeError, match=r"missing \['y'\], unknown \['z'\]"):
        tf.raw_ops.Add(x=1.0, z=2.0)
