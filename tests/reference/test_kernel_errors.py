"""The errors of kernels are the codes of the spec's table, one class for each."""

from __future__ import annotations

import pytest

from sessrun.reference import errors
from sessrun.reference.base import kernel_errors
from sessrun.spec.errors import CODES, ErrorCode


def test_every_code_has_one_class() -> None:
    codes = sorted(kind.code for kind in kernel_errors.KernelError.__subclasses__())
    assert codes == [row.code for row in CODES]


@pytest.mark.parametrize("row", CODES, ids=lambda row: row.name)
def test_a_class_has_the_name_and_the_meaning_of_its_code(row: ErrorCode) -> None:
    error = kernel_errors.of_code(row.code, "why")
    assert (type(error).__name__ + "Error", type(error).__doc__) == (row.cls, row.meaning)
    assert (error.code, error.message, str(error)) == (row.code, "why", "why")


@pytest.mark.parametrize("row", CODES, ids=lambda row: row.name)
def test_the_namespace_has_the_code_under_its_name(row: ErrorCode) -> None:
    assert getattr(errors, row.name) == row.code
    assert errors.exception_type_from_error_code(row.code) is getattr(errors, row.cls)
