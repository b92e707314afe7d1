"""The namespace: what importing it must not cost, and that its parts are one."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import sessrun.reference as tf


def test_the_import_brings_in_no_reader_of_files_and_no_engine() -> None:
    text = (
        "import sys, sessrun.reference; "
        "print([m for m in ('tomllib', 'jsonschema', 'tensorflow', 'cupy', 'pytest', "
        "'hypothesis', 'absl') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_import_brings_in_nothing_that_a_graph_is_built_without() -> None:
    """Sessions, imports of graphs, files, queues and functions come with the first use of one."""
    later = [
        *("state.files.files", "api.functions.func_graph", "build.importing.graph_defs"),
        *("api.queues.queues", "session.session", "session.execute", "session.flow_compile"),
        "api.type_specs",
    ]
    text = (
        "import sys, sessrun.reference\n"
        f"print([m for m in {later} if f'sessrun.reference.{{m}}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_articles_reach_it_by_either_name() -> None:
    assert tf.compat.v1.Session is tf.Session
    assert tf.compat.v1.compat.v1 is tf


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ("float", "float32"),
        (float, "float32"),
        (bool, "bool"),
        (np.int64, "int64"),
        (np.dtype("S3"), "string"),
        (101, "float32_ref"),
        (np.str_, "string"),
    ],
)
def test_a_dtype_has_many_names(value, dtype) -> None:
    assert tf.as_dtype(value).name == dtype
    assert tf.as_dtype(value) == dtype


@pytest.mark.parametrize("value", [int, str, None, "nope", 999, [1], np.longdouble])
def test_what_names_no_dtype_is_a_type_error(value) -> None:
    with pytest.raises(TypeError):
        tf.as_dtype(value)


def test_unknown_dimensions_compare_to_nothing() -> None:
    unknown, three = tf.TensorShape([None, 3])
    assert (unknown == 3) is None
    assert three == 3
    assert (unknown + three).value is None
    assert str(tf.TensorShape([None, 3])) == "(?, 3)"


def test_the_sixteen_codes_and_their_classes_belong_together() -> None:
    for code in range(1, 17):
        cls = tf.errors.exception_type_from_error_code(code)
        assert tf.errors.error_code_from_exception_type(cls) == code
        assert cls(None, None, "m").error_code == code


def test_seeds_depend_on_the_graph_and_the_operation() -> None:
    with tf.Graph().as_default():
        assert tf.get_seed(None) == (None, None)
        assert tf.get_seed(7) == (87654321, 7)
        tf.set_random_seed(5)
        tf.no_op()
        assert (tf.get_seed(None), tf.get_seed(None), tf.get_seed(3)) == ((5, 0), (5, 1), (5, 3))
        tf.set_random_seed(0)
        assert tf.get_seed(0) == (0, 2**31 - 1)


def test_programs_that_choose_by_version_find_one() -> None:
    assert tf.__version__ == tf.VERSION == tf.version.VERSION
    assert tf.Graph().graph_def_versions.producer == tf.version.GRAPH_DEF_VERSION
