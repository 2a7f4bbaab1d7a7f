"""The ground floor: decisions as functions of values. No Django, Redis, HTTP or clock is known here.

urls, scope, discovery    which URL is meant, whether it belongs to the crawl, which pages a result leads to
links, directives, charsets what a page says
robots, robots_rule, addresses   what we may ask for
politeness, retries       how much of a host at a time, and whether and when to try again
outcomes, tallies         how a page closed, and the receipt they add up to
work                      the messages between manager and fetch jobs
lifecycle, completion     what may follow what, and when a crawl is finished
waits                     why a host is not asked now
diagnosis                 why a crawl is not finished, in plain sentences
progress, recent          how fast, and for how long still; the pages closed last
presets                   the usual ways to begin a crawl, and the options each stands for
chart                     where a line goes and how long a bar is
figures                   numbers as people read them
suspects   pages that may have killed their worker
deadlines  until when a page may be asked for
rights, quotas, retention  who may do what, how much of it, and how long it is kept
options, errors           what a person chose, and how they are told that it cannot be
"""
