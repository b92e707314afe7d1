"""What the tests of operations against TensorFlow share."""

from typing import Any

import pytest

from sessrun.adapters.registry import load


@pytest.fixture(scope="module")
def namespaces() -> tuple[Any, Any]:
    """The namespaces of the reference and of TensorFlow; the test is skipped without the latter."""
    pytest.importorskip("tensorflow")
    ours: Any = load("reference")
    theirs: Any = load("tensorflow")
    return ours.namespace, theirs.namespace
