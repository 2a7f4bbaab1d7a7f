"""A simulated web: many hosts on loopback, and the truth about what a polite crawler may ask them, and when.

world     what there is: hosts, their pages, their robots.txt, their troubles; all of it from a seed
answers   what a host answers to a request (pure)
server    the process that is this web, and writes down who asked what when
log       what it writes down
serving   starts and ends that process, and reads its log
truth     which pages a crawl must find, and how each must close
manners   what in a log a polite crawler would not have done
bound     the seconds below which no polite schedule can stay
crawl     a crawl of it by real workers, and what came of it
"""
