"""What a person can ask for on the command line; `commands/` holds one door for each.

door      what all doors share: one line in place of a traceback, and the exit codes
numbers   what a person typed, turned into numbers
stopping  Ctrl-C and SIGTERM, taken at a moment that suits
waiting   waiting for a crawl to end, and for the first try of its notices
display   how a waiting person sees what goes on
wording   what only a terminal shows: the line beside the bar, the table of crawls
"""
