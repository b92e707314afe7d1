"""Benchmarks: small jobs through the adapters, correctness checked in the same run."""
