"""Plan: prune a signature's operations, place them on devices, and compile them, once.

It may import `resolve` and `execute`: a plan is made of the parts that `execute` defines.
"""
