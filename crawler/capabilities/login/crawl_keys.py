"""The keys of the log-in of a crawl in Redis."""

SESSION = "login"
"""hash: session, revision, jar (its cookies, encrypted), ended (the last session in which a page has shown the form),
failed (why the crawl cannot go on), "shown:page" -> how often a page showed the form, and "outdated:digest" for
credentials that a user has changed"""

LOCK = "login-lock"
"""string with a short TTL: a worker is logging in"""

COUNT = "login-count"
"""string with a TTL of an hour: how often workers have logged in"""

CRAWL_KEYS = (SESSION, LOCK, COUNT)
