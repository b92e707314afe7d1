"""What a declaration says, for people: the rows of an operation in the documentation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sessrun.spec.operations import AttrDecl, Name, Operation, RuleArg, RuleCall

__all__ = ["CONVENTIONS", "operation_rows", "rule_text"]

#: What definitions of operations leave unsaid.
CONVENTIONS: Final = (
    "A definition fixes the value within the numeric contract on arguments of the value domain. "
    "Where it says nothing else, floats are the exact result rounded to the nearest number of the "
    "dtype, of two the even one, to an infinity beyond the range; NaN gives NaN; integers wrap "
    "modulo 2**n; tensors without elements give tensors without elements; elementwise operations "
    "broadcast their inputs; zeros of both signs are equal; and what is refused fails with code 3."
)


def operation_rows(operation: Operation) -> Iterator[tuple[str, list[str]]]:
    """What there is to say of an operation beside its signature: titles, each with its items."""
    numeric = operation.numeric or {}
    flags = {
        "stateful": operation.stateful,
        "differentiable": operation.differentiable,
        "commutative": operation.commutative,
        "CPU only": operation.devices == ("CPU",),
    }
    rows = {
        "attributes": [_attr_text(attr) for attr in operation.attrs],
        "shape": [rule_text(operation.shape)],
        "arguments": [rule_text(operation.domain)] if operation.domain else [],
        "errors": [rule_text(rule) for rule in operation.errors],
        "unchecked": [rule_text(rule) for rule in operation.unchecked],
        "numeric": [f"{kind}: {contract}" for kind, contract in numeric.items()],
        "Python": [f"tf.{name}" for name in operation.python],
        "is": [name for name, holds in flags.items() if holds],
    }
    return ((title, items) for title, items in rows.items() if items)


def _attr_text(attr: AttrDecl) -> str:
    allowed = f" in {{{', '.join(map(str, attr.allowed))}}}" if attr.allowed else ""
    least = f" >= {attr.minimum}" if attr.minimum is not None else ""
    default = f" = {attr.default!r}" if attr.has_default else ""
    return f"{attr.name}: {attr.type}{allowed}{least}{default}"


def rule_text(rule: RuleArg) -> str:
    """A rule as it is written in the declaration."""
    if isinstance(rule, RuleCall):
        return f"{rule.name}({', '.join(map(rule_text, rule.args))})"
    if isinstance(rule, Name):
        return rule.text
    return str(rule).lower() if isinstance(rule, bool) else repr(rule)
