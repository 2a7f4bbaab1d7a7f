"""Proves with real processes that a crawl ends exactly, whatever fails: `bin/chaos` kills processes of one machine,
`bin/hosts` cuts off and powers off hosts. Briefly in `bin/test --all`.

session        the runs of a command, from the first to the report
scene          how the time of a run passes, and its schedule
evidence       what a crawl left behind in the database and in Redis
verdict        what a crawl must come to, and what the evidence says: lost, twice, early, stuck, left over
processes      finding, stopping and killing processes
redis_server   the Redis server that is killed, rewound and emptied
site           the crawled site, with a log of every request; and the receiver of notices
one_machine/   the scene of `bin/chaos`
hosts/         the scene of `bin/hosts`
"""
