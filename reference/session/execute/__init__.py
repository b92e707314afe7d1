"""Execute: what a plan is, and how its steps, loops and waiting operations run on registers.

It may import `resolve`. The stage before it in a run, `plan`, makes what is defined here.
"""
