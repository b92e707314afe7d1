"""Trace: the parts of RunOptions beside the timeout, and the RunMetadata that they fill.

It may import `resolve`, `execute` and `plan`.
"""
