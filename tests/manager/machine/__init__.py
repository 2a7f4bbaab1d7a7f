"""What the stories of the state machine test are made of.

story      from its beginning to its end: what happens, and what must hold after it
varieties  mixtures of what may happen, and how often
happenings what workers, people, Redis and time may do next, in the middle of each other
people     begin, pause, resume, cancel, send again, add, change, delete
hooked     a hook that notes what it was called with, and may kill its worker
door       what keeps others than members out of some pages: a form, a password, sessions that end
machine    the crawler set up on a stage, and watched from within
ledger     what must hold of one crawl, whatever happened to it
workers    stands in for RQ's workers, by hand
browser    shows the pages of that site as a browser would
memory     Redis losing, forgetting and regaining what it knew
stage      the processes at work, and what happens in their middle: a death, or something else
clock      one clock for everything, which moves only when told to
world      the site that is crawled: two hosts whose pages link, redirect, fail for a while or for good
"""
