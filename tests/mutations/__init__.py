"""Faults that a careless change would bring in, and the tests that must notice them. `python -m tests.mutations` tries
them; the table is in `catalogue`."""
