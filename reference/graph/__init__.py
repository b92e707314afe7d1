"""Graph, Operation and Tensor, and what a graph keeps: scopes, names, collections, stacks.

It may import `base`.
"""
