"""The keys of what pages of a crawl say, in Redis."""

SAID = "said"
"""string: bits for what the crawl's pages said"""

SAID_LOG = "said-log"
"""list: a random stamp, then hashes that are not among these bits yet, see `memory`"""

LISTENING = "listening"
"""string with a TTL of an hour: fetch jobs are to tell what pages say"""

CRAWL_KEYS = (SAID, SAID_LOG, LISTENING)
