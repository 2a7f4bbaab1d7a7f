"""The rules of a crawl.

options       what a user can choose: one entry for each option, from which all surfaces are derived
option_kinds  the parts of an option: its kind, which checks values, and its group
presets       whole site, section, list, sitemaps
outcomes      how a page can close: one entry for each outcome
retries       which pages are retried, when, and until when; pages that crashed a worker
fetch_policy  what a fetch job has to know of its crawl
messages      the messages between manager and fetch jobs
discovery     which pages a result adds
completion    states of a crawl, when it is finished, and why it ended
counters      counts of pages by outcome
progress      speed, time left, its chart and event stream
holds         why a paused crawl is paused
politeness    how often a host may be requested: delay, throttle, Retry-After; why it waits
scaling       how many workers would be useful
diagnosis     why a crawl is not finished
traps         endless series of URLs
cache_policy  which responses may be used again (RFC 9111)
rendering     pages that a browser renders: requests, pictures, when the browser is replaced
page_load     how a page loaded in a browser: its requests, console errors, Web Vitals
page_query    filters, sorting and keyset cursors of the page table
page_fields   the fields of a page: one entry each, for exports, API, table and docs
graph         pages and links as a graph, redirect chains
schedule      when a schedule fires, how long crawls are kept
notices       the events of a crawl that users are notified of
collectors    which collector stores the results of a batch
flow          pages a minute into the queue and out of it
hook_calls    calls of hooks, as results and tables have them
placement     priority and time of pages that users add
priorities    priorities by rules of the user
shares        how running crawls share the workers
"""
