"""How often a site is requested, and whose turn it is.

host_rules  how often a host may be requested: delay, Retry-After; slices of its pages; why it waits
throttle    how many connections a host gets, by its response times and failures
handover    how soon results of slow hosts go to the manager
priorities  priorities by rules of the user
shares      how running crawls share the workers
scaling     how many workers would be useful
"""
