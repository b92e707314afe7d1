"""Ordering: a control edge from any kind of operation to any kind of operation is kept."""
