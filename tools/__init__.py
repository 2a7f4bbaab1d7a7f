"""Programs for those who work on this project.

bench       benchmarks, alone and against other crawlers
chaos       a crawl while its processes are killed, on one machine or on several hosts
sim         a simulated web of many hosts
containers  the container image and its services, built and tried
pictures    the pictures of the documentation
release     whether a tag may be released, and what the changelog says of it
subreaper   has a program see the processes whose parent exited
"""
