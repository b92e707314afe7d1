"""Mutants: the reference with one small change in its source, each to be caught by some case.

A mutant lives in a process of its own, where one module of the reference is imported with changed
source (`changed_source.py`); the oracle's answers are those of the unchanged reference, recorded
beforehand together with the functions that each case enters (`entries.py`). `sites.py` lists what
can be changed, `campaign.py` draws mutants and counts who survives.
"""
