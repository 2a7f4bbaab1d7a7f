"""The installation.

deployment    required settings, clock skew, how a worker stops
backpressure  low disk or memory
redis_url     REDIS_URL, and which servers can be used
"""
