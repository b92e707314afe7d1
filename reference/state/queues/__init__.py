"""The queues, barriers, staging areas and accumulators of a session."""
