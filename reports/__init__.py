"""Reports: views of a run record, certification packages, their verifier, and comparisons.

Everything here is computed from the run record (`sessrun.spec.records`), the plan as data and
the spec; nothing here runs a case.
"""
