"""How often a site is requested, and whose turn it is.

host_rules  how often a host may be requested: delay, throttle, Retry-After; why it waits
priorities  priorities by rules of the user
shares      how running crawls share the workers
scaling     how many workers would be useful
"""
