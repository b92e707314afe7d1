"""The wrappers that Python programs call, by subject, over the generated ones."""
