"""Proves with real processes that a crawl ends exactly, whatever is killed: `bin/chaos`, briefly in `bin/test --all`.

site           what is crawled, with a log of every request; and the receiver of notices
shop           what is crawled with --render: pages that only a browser can read
database       the SQLite file on a volume of its own, with triggers that record every change of a page
memory         the Redis server that is killed, rewound and emptied
processes      workers and the web process, and the supervisor that starts the dead ones again
scene          all of these together for one run, and the stopwatches
disturbances   the table of what can be done to a scene
targets        which process is struck
user           who adds pages, requests some again and changes options, in a process of their own
hooked         the hook that is called meanwhile
queue_*        what users do
browser_*      the processes of a browser worker, and what can be done to them
schedule       which of them happen in a run, and when: a seed decides
evidence       what a run left behind
expected       what a crawl of the site must come to
verdict        what the evidence says: lost, twice, early, stuck, left over
run            one run from the first process to the verdict
report         the table over all runs
"""
