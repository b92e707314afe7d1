"""Local devices, their allocators and array modules, and how they are configured.

It may import `build` and the packages before it.
"""
