"""The installation.

deployment    required settings, clock skew
backpressure  low disk or memory
shutdown      how long a worker takes to end
"""
