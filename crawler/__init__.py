"""A self-hosted recursive site crawler on Django and RQ."""

__version__ = "0.1.0"
