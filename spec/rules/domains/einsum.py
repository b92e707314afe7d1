"""Value domains of sums of products over named dimensions."""

from __future__ import annotations

from sessrun.spec.rules.domains.base import Arguments, Draw, domain

__all__: list[str] = []

#: The dtypes that TensorFlow has kernels for on a CPU.
_DTYPES = ("float32", "float64", "complex64", "complex128", "int32", "int64")


@domain
def einsum(draw: Draw, inputs: str, equation: str) -> Arguments:
    """One or two tensors and an equation; names may repeat, and an ellipsis stand among them.

    Left out: dimensions of size 0, for which TensorFlow refuses some equations.
    """
    draw.draw_dtype("T", _DTYPES)
    sizes = {name: draw.dim(1, 4) for name in "abcde"}
    hidden = [draw.dim(1, 3) for _ in range(draw.random.randint(0, 2))]
    has_dots = draw.chance(0.4)
    terms, shapes = [], []
    for _ in range(draw.random.randint(1, 2)):
        names = draw.random.sample("abcde", draw.random.randint(1, 3))
        if draw.chance(0.2):
            names.append(names[0])
        term, shape = "".join(names), [sizes[name] for name in names]
        if has_dots:
            position = draw.random.randint(0, len(names))
            own = [1 if draw.chance(0.3) else size for size in hidden]
            own = own[draw.random.randint(0, len(own)) :]
            term = f"{term[:position]}...{term[position:]}"
            shape = [*shape[:position], *own, *shape[position:]]
        terms.append(term)
        shapes.append(tuple(shape))
    known = sorted(set("".join(terms)) - {"."})
    result = draw.random.sample(known, draw.random.randint(0, len(known)))
    end = "".join(result)
    if has_dots:
        position = draw.random.randint(0, len(end))
        end = f"{end[:position]}...{end[position:]}"
    draw.attrs[equation] = f"{','.join(terms)}->{end}"
    return draw.arguments(**{inputs: [draw.tensor(inputs, shape, "small") for shape in shapes]})
