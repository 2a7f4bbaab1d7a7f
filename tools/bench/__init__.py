"""How fast it is, beside its peers and by itself: what `bin/bench` runs.

compare     rounds of this project, Scrapy, Crawlee, spider-rs, `wget -r` and `wget2 -r` over the same sites
against     this version of the project and another one in turn (`--against REF`)
profile     the CPU time of a page by stage (`--profile`)
latency     a site that takes its time for each answer, and how near to the best possible a crawl comes
million     one crawl over a list of a million URLs on ten thousand hosts
render      a single-page application in a browser, beside Crawlee and scrapy-playwright
flat        a generated site at two sizes: what stays as it was when a crawl grows
reports     every page, report and export of two large crawls, each against its limit
arguments   what may be typed behind `bin/bench`

rounds      the order in which crawls are measured
versions    another version of the project: its files and its packages
tools       what can be measured on this machine, and how each is run once
ours        this project's own stack, with its workers up, and one measured crawl
driver      the process that starts our crawl and waits until "finished" is committed
peers/      the scripts that run one crawl of a peer each, and their environment
watching    one crawl of ours looked at every few seconds while it runs

sites       the real sites and the generated one, served on loopback
generated   the generated site (pure)
made_up     finished crawls made up from a seed, straight into the database
doors       the addresses under which a crawl is looked at, and the time each may take
crowd       the many hosts of the list (pure)
serving     the process that serves the two, far faster than anybody asks
nginx       serves folders, where nginx is there
services    Redis and PostgreSQL for the duration of a measurement

usage       what a crawl with browsers uses
processes   what processes use: CPU time and memory
figures     medians, spreads, ratios, targets (pure)
report      the tables and the JSON (pure)
chart       bars, and lines over time, as SVG (pure)

frontier, sim, short   measurements of their own, started as files
"""
