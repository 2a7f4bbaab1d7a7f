"""`bin/chaos`: one crawl on this machine, whose processes are killed, stopped, emptied and filled.

command        its options and its session
run            one run from the first process to the evidence
scene          everything a run needs, and the stopwatches
crew           workers and the web process, and the supervisor that starts the dead ones again
database       the SQLite file on a volume of its own, with triggers that record every change of a page
disturbances   the table of disturbances, and the drawing of a schedule
lane_disturbances   disturbances of browser workers and of Scrapy
sites          the sites of --render (pages that only a browser can read) and --login
user           with --queue, who adds pages, requests some again and changes options, in a process of their own
queue_use      what users do
hooked         the hook that is called meanwhile
evidence, verdict, report   what this scene adds to the shared ones
"""
