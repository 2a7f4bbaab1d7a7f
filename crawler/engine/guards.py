"""The guard every request of this installation goes by."""

from __future__ import annotations

from collections.abc import Iterable

from crawler import conf
from crawler.fetching.guard import Guard


def guard_of(private_hosts: Iterable[str]) -> Guard:
    """Public addresses on the ports that are set, and these others."""
    return Guard(tuple(private_hosts), conf.ports())
