"""The fault table of docs/protocol.md, row by row: a real process is stopped at each moment, and the repair is timed.

table    the table as the document has it
scenes   how each of its moments is reached
theatre  one row's Redis, database, site and processes, as a test sees them
stage    the process that has everything loaded and forks the ones that die
actor    what such a process does, and where it is struck
given    the clock all of them go by: it stands still until somebody waits
left     what is left behind, in the words of the table

A new crash point needs a scene in `scenes` and a row in the document; the test of the row shows what is left there.
"""
