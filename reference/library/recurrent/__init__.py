"""Recurrent networks: cells, and what unrolls them over time. Source: TF 2.21."""
