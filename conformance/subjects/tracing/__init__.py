"""Tracing: traces of whole graphs are compared with what ran by the graphs' models."""
