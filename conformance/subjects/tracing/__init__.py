"""Tracing: what a trace tells of whole graphs is held against what their models say that ran."""
