"""Queues and their kin: runners and coordinators, barriers, staging areas, accumulators."""
