"""What the tests of gradients share."""

from typing import Any

import pytest

from sessrun.adapters.registry import load


@pytest.fixture(scope="module")
def theirs() -> Any:
    """TensorFlow's namespace; the test is skipped without it."""
    pytest.importorskip("tensorflow")
    adapter: Any = load("tensorflow")
    return adapter.namespace
