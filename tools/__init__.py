"""Programs for those who work on this project.

bench     benchmarks, alone and against other crawlers
chaos     a crawl while its processes are killed
hosts     several hosts on one machine that fail
sim       a simulated web of many hosts
pictures  the pictures of the documentation
subreaper has a program see the processes whose parent exited
"""
