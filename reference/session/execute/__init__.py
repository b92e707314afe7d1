"""Execute: what a plan is, and how its steps, loops and waiting operations run on registers.

It may import `resolve`. The previous stage of a run, `plan`, makes the objects defined here.
"""
