"""Trace: what RunOptions ask of a run beside its values, and what RunMetadata says of it.

It may import `resolve`, `execute` and `plan`.
"""
