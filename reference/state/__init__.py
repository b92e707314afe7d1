"""What a session owns: resources, queues, tables, records, files, checkpoints.

It may import `devices` and the packages before it; kernels read and write it.
"""
