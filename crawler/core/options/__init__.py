"""What a user can choose of a crawl.

catalogue  the struct of all options, from whose entries all surfaces are derived
limits     entries: when a crawl stops
scope      entries: hosts, paths, patterns
links      entries: links and sitemaps
politeness entries: how hosts are treated
queue      entries: order, shares, acknowledgement
receivers  entries: receivers of notices
conflicts  choices that exclude each other
kinds      the parts of an option: its kind, which checks values, and its group
presets    whole site, section, list, sitemaps
schedule   when a schedule fires, how long crawls are kept
of_capabilities  values of capabilities' options that kernel code still reads
events     the events of a crawl that users are notified of
"""
