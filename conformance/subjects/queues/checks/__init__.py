"""Named checks of queues."""
