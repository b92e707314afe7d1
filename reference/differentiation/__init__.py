"""Differentiation: `gradients`, how gradients are summed, and a function for each op type."""
