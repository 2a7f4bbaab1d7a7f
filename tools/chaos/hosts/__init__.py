"""`bin/hosts`: crawls over several hosts on one machine, and faults between them.

command      its options and its runs
network      namespaces joined by a bridge; cut off, unplugged
units        what a systemd unit file says
containers   what Containerfile and compose file say; a root folder like the image's
deployed     the units or containers of a host, and their settings
supervisor   process 1 of a host: runs services as their units say
host         one host: its life, its processes, its clock (injected/)
services     PostgreSQL and Redis on hosts of their own
site         the crawled sites, with the moment each request came in
begin        starts crawls on the host of the web pages
scene        all of these together for one run
workers      how many workers run and are wanted, over time
faults       what can be done to hosts and between them
scenarios    the table of scenarios (setting, faults, promises), and the mixtures that a seed draws
evidence, report   what this scene adds to the shared ones
"""
