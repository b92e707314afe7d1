"""The case language: what a case is, how each surface interprets it, how an answer is judged."""
