"""Hosts that asked to wait."""

from redis import Redis

from crawler.core.politeness.host_rules import Refusal
from crawler.frontier.host_limiter import HostLimiter


def stop_host(redis: Redis, host: str, seconds: float, now: float, status: int = 429) -> None:
    """Several pages of this host were answered with this status and a Retry-After of so many seconds."""
    for page in ("/a", "/b", "/c"):
        HostLimiter(redis, 10).note_refusal(host, Refusal(page, status, seconds), now, longest=seconds)
