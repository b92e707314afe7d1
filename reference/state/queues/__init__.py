"""What queues, barriers, staging areas and accumulators hold."""
