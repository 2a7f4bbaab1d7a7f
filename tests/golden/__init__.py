"""What users and other programs see, as it is today: the files in `__snapshots__`.

A change that is wanted is taken over by `bin/test tests/golden --snapshot-update`, and read in the diff like any other.
"""
