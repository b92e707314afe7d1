"""Recurrent networks: cells, and functions that unroll them over time. Source: TF 2.21."""
