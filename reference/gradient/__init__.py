"""From targets to sources: `gradients`, and a function for each op type, which builds with `api`.

It may import `api` and the packages before it.
"""
