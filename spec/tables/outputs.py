"""The table of dtypes and of operations' outputs, for clients in other languages: JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping

from sessrun.spec.dtypes import DTYPES
from sessrun.spec.operations import ArgDecl, Operation

__all__ = ["outputs"]


def outputs(operations: Mapping[str, Operation]) -> str:
    """JSON of the dtypes (name, number, GraphDef's name, kind, bytes), and of each op's outputs.

    An output is written `=float32` for a fixed dtype, `T` for an attribute's, `T=float32` with
    the attribute's default, `[Tout]` for a list of them; `*N` after it for N tensors, `&` for a
    reference.
    """
    rows = [
        [row.name, row.enum, f"DT_{row.opdef.upper()}", row.kind, row.itemsize] for row in DTYPES
    ]
    declared = {
        name: [_output(output, operation) for output in operation.outputs]
        for name, operation in sorted(operations.items())
    }
    lines = [f"{json.dumps(name)}: {json.dumps(texts)}" for name, texts in declared.items()]
    dtypes = ",\n".join(json.dumps(row) for row in rows)
    return f'{{"dtypes": [\n{dtypes}\n],\n"outputs": {{\n' + ",\n".join(lines) + "\n}}\n"


def _output(output: ArgDecl, operation: Operation) -> str:
    if output.type_list_attr is not None:
        text = f"[{output.type_list_attr}]"
    elif output.type_attr is not None:
        attr = operation.attr(output.type_attr)
        default = f"={attr.default}" if attr is not None and attr.has_default else ""
        text = output.type_attr + default
    else:
        text = f"={output.dtype}"
    number = "" if output.number_attr is None else f"*{output.number_attr}"
    return text + number + ("&" if output.is_ref else "")
