"""Faulty backends: each a conforming backend with exactly one behaviour changed.

`sessrun.conformance.faulty:backend#NAME` is the reference with the fault NAME, `#NAME@tensorflow`
the same fault over TensorFlow. The suite must catch each one by the clause it breaks, and by at
most three others.
"""

from sessrun.conformance.faulty.framework import FAULTS, Fault, backend, fault, override

__all__ = ["FAULTS", "Fault", "backend", "fault", "override"]
