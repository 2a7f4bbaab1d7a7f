"""The installation.

deployment    required settings, clock skew, how a worker stops
backpressure  low disk or memory
"""
