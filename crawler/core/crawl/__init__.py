"""The rules of a crawl.

options       what a user can choose: one entry for each option, from which all surfaces are derived
option_kinds  the kinds of options: whole numbers, times, switches ..., with their limits
presets       the usual ways to begin a crawl
outcomes      how a page can close
retries       which pages are tried again, when, and until when; pages that killed a worker
messages      the messages between manager and fetch jobs
discovery     which pages a result adds
completion    states of a crawl, when it is finished, and why it ended
counters      counts of pages, and the receipt made from them
progress      speed, time left, its chart and event stream
holds         why a paused crawl is paused
politeness    how often a host may be requested: delay, throttle, Retry-After; why it waits
diagnosis     why a crawl is not finished
traps         endless series of URLs
cache_policy  which responses may be used again (RFC 9111)
page_query    filters, sorting and keyset cursors of the page table
graph         pages and links as a graph, redirect chains
schedule      when a schedule fires, how long crawls are kept
notices       the events of a crawl that users are notified of
"""
