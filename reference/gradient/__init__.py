"""Differentiation: `gradients`, `GradientTape`, and the gradient functions of op types.

It may import `api` and the packages before it.
"""
