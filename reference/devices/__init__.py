"""Local devices, their allocators, array modules and settings, and the memory of variables.

It may import `build` and the packages before it.
"""
