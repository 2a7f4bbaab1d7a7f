"""A fuzzer over every parser: whatever it is given, it raises nothing but its documented error, gives the documented
shape, and takes a time that grows with the length of what it is given and not with its square.

`parsers` is the table of what is attacked, `seeds` what the attack begins with, `mutation` how it goes on, `growth`
looks for time that grows too fast, `session` runs it all, and `python -m tests.fuzz` prints what came of it. `guided`
is libFuzzer over the page scanner.
"""
