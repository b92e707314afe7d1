"""Named checks: what the case language cannot say, as functions `check(tf, **args) -> data`.

A check runs where the namespace lives, calls only public names of it, and returns plain data
that the case's expectation judges; it never judges itself.
"""
