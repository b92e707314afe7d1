"""Authored cases: short Python that is recorded as JSON cases and frozen as vectors.

A module per subject; `sessrun freeze SUBJECT` records its functions, has the oracle agree in
both configurations and writes `spec/vectors/SUBJECT/`. Only freezing needs TensorFlow.
"""
