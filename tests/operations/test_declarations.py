"""What follows from the declarations is there, is current and agrees with the kernels."""

import ast
import dataclasses
import random
from pathlib import Path

import numpy as np
import pytest
from kernel_calls import computed
from operation_oracle import as_array

import sessrun.reference
from sessrun.conformance.generators.single import unknown_shape
from sessrun.reference.base.kernel_errors import KernelError
from sessrun.reference.kernels.registry import lookup
from sessrun.spec.loader import load_operations
from sessrun.spec.rules import domains, faults, shapes
from sessrun.spec.rules.numeric import difference
from sessrun.spec.rules.shapes import ShapeError, infer, merge
from sessrun.spec.tables import generate, ops
from sessrun.spec.tables.ops import OPERATIONS

KERNELS = Path(sessrun.reference.__file__).parent / "kernels"
DRAWN = [name for name, operation in OPERATIONS.items() if operation.domain]


def test_generated_files_are_what_the_declarations_say():
    assert generate.main(["--check"]) == 0


def test_the_generated_table_is_the_declarations():
    assert dict(OPERATIONS) == dict(load_operations())


def test_the_generated_table_is_quick_to_import():
    """What is compiled of it grows with its text: 400 kB in lines of 100 characters at most."""
    lines = Path(ops.__file__).read_text(encoding="utf-8").splitlines(keepends=True)
    assert sum(map(len, lines)) <= 400_000
    assert max(map(len, lines)) <= 101


def test_at_least_a_hundred_operations_are_declared():
    assert len(OPERATIONS) >= 100


def test_every_rule_of_a_declaration_exists():
    for name, operation in OPERATIONS.items():
        assert operation.shape.name in shapes.RULES, name
        assert operation.domain is None or operation.domain.name in domains.DOMAINS, name
        assert {call.name for call in operation.errors} <= set(faults.FAULTS), name
        for text in (operation.numeric or {}).values():
            assert difference(text, np.float32([1]), np.float32([1])) is None, name


def test_every_rule_is_used():
    used = {
        call.name
        for operation in OPERATIONS.values()
        for call in (operation.shape, operation.domain, *operation.errors)
        if call is not None
    }
    assert {*shapes.RULES, *domains.DOMAINS, *faults.FAULTS} == used


def test_a_kernel_exists_on_exactly_the_declared_devices():
    kernels = {
        name: tuple(kind for kind in ("CPU", "GPU") if lookup(name, kind) is not None)
        for name in OPERATIONS
    }
    assert kernels == {name: operation.devices for name, operation in OPERATIONS.items()}


def test_kernels_import_no_array_module():
    for path in KERNELS.glob("*.py"):
        names = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names |= {alias.name for alias in node.names}
            if isinstance(node, ast.ImportFrom):
                names.add(node.module)
        assert path.name == "host.py" or not {"numpy", "cupy"} & names, path.name


def _known_shapes(case, unknown_of=None):
    def shape(array):
        return array.shape if unknown_of is None else unknown_shape(unknown_of, array)

    return {
        name: [shape(item) for item in value] if isinstance(value, list) else shape(value)
        for name, value in case.inputs.items()
    }


@pytest.mark.parametrize("name", DRAWN)
def test_the_shape_rule_says_what_the_kernel_gives(name):
    operation = OPERATIONS[name]
    for i in range(20):
        case = domains.arguments(operation, random.Random(f"{name}:shape:{i}"))
        got = [as_array(value).shape for value in computed(operation, case)]
        known = _known_shapes(case)
        exact = infer(operation, known, case.attrs, value=case.inputs.__getitem__)
        without_values = infer(operation, known, case.attrs)
        without_shapes = infer(operation, _known_shapes(case, unknown_of=operation), case.attrs)
        for inferred in (exact, without_values, without_shapes):
            assert len(inferred) == len(got)
            assert [merge(a, b) for a, b in zip(inferred, got, strict=True)] == got


@pytest.mark.parametrize("name", [n for n, op in OPERATIONS.items() if op.errors])
def test_a_fault_that_shapes_or_values_show_is_refused_by_the_shape_rule(name):
    operation = OPERATIONS[name]
    for i in range(10):
        drawn = faults.faulty_arguments(operation, random.Random(f"{name}:fault:{i}"))
        assert len(drawn) == len(operation.errors), "a fault is declared twice"
        for faulty in drawn.values():
            case = faulty.arguments
            known = _known_shapes(case)
            if faulty.seen == "run":
                infer(operation, known, case.attrs, value=case.inputs.__getitem__)
                continue
            with pytest.raises(ShapeError):
                infer(operation, known, case.attrs, value=case.inputs.__getitem__)
            if faulty.seen == "shapes":
                with pytest.raises(ShapeError):
                    infer(operation, known, case.attrs)


@pytest.mark.parametrize("name", [n for n, op in OPERATIONS.items() if op.errors])
def test_a_kernel_reports_a_fault_by_a_code(name):
    operation = OPERATIONS[name]
    drawn = faults.faulty_arguments(operation, random.Random(f"{name}:code"))
    for faulty in drawn.values():
        with pytest.raises((KernelError, ValueError)) as caught:
            computed(operation, faulty.arguments)
        assert getattr(caught.value, "code", 3) in faulty.codes


@pytest.mark.parametrize("name", DRAWN)
def test_a_kernel_refuses_the_forms_that_the_shape_rule_refuses(name):
    operation = OPERATIONS[name]
    for said, faulty in faults.malformed_arguments(operation, random.Random(f"{name}:form")):
        with pytest.raises((KernelError, ValueError)) as caught:
            computed(operation, faulty.arguments)
        assert getattr(caught.value, "code", 3) == 3, said


@pytest.mark.parametrize("name", [n for n, op in OPERATIONS.items() if op.unchecked])
def test_what_goes_unchecked_is_what_the_shape_rule_refuses(name):
    operation = OPERATIONS[name]
    checked = dataclasses.replace(operation, unchecked=())
    missing = set(operation.unchecked)
    for i in range(40):
        drawn = faults.malformed_arguments(checked, random.Random(f"{name}:{i}"))
        refused = {said for said, _ in drawn}
        missing = {call for call in missing if not any(_is_form(call, said) for said in refused)}
        if not missing:
            return
    raise AssertionError(f"refused by no rule: {missing}")


def _is_form(call, said):
    """Whether a refused form, such as `no_rows(x)`, is the one that goes unchecked."""
    form, _, argument = said.rstrip(")").partition("(")
    return call.name in {"any_form", form} and call.args[0].text == argument


def test_arguments_are_a_function_of_the_seed():
    for name in DRAWN:
        one, two = (
            domains.arguments(OPERATIONS[name], random.Random(f"{name}:again")) for _ in range(2)
        )
        assert one.attrs == two.attrs
        for key, value in one.inputs.items():
            other = two.inputs[key]
            for a, b in zip(
                *(x if isinstance(x, list) else [x] for x in (value, other)), strict=True
            ):
                assert a.dtype == b.dtype
                assert a.dtype == object or a.tobytes() == b.tobytes()
