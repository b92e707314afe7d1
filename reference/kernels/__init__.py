"""What operations compute, by subject, written once against the array module.

They may import `state` and the packages before it.
"""
