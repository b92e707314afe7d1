"""Modules that are here in name only: what is TensorFlow's, what they offer, what they refuse."""

from __future__ import annotations

import importlib
import importlib.util

import pytest
from sessrun.reference.python.module_table import PLACES
from sessrun.reference.python.name_only_modules import ELSEWHERE

import sessrun.reference as tf

_HERE = "sessrun.reference.python"


@pytest.mark.parametrize("name", sorted(ELSEWHERE))
def test_a_module_can_be_imported_and_has_no_name_of_its_own(name: str) -> None:
    module = importlib.import_module(f"{_HERE}.{name}")
    with pytest.raises(AttributeError, match="nothing_of_this_name"):
        _ = module.nothing_of_this_name


def test_no_module_is_here_in_name_only_and_of_the_runtime() -> None:
    assert not ELSEWHERE & set(PLACES)


def test_it_has_what_is_public() -> None:
    assert importlib.import_module(f"{_HERE}.ops.standard_ops").matmul is tf.matmul


def test_version_2_is_off_and_stays_off() -> None:
    switches = importlib.import_module(f"{_HERE}.tf2")
    switches.disable()
    assert not switches.enabled()
    with pytest.raises(NotImplementedError, match="version 1"):
        switches.enable()


@pytest.mark.tensorflow
def test_each_is_a_module_of_tensorflow() -> None:
    pytest.importorskip("tensorflow")
    missing = [
        name
        for name in sorted(ELSEWHERE)
        if importlib.util.find_spec(f"tensorflow.python.{name}") is None
    ]
    assert not missing
