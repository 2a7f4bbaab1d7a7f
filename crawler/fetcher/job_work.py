"""What a fetch job does at the moment, as its batches see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.core.politeness import handover
from crawler.fetcher.host_slot import SharedGrants
from crawler.fetcher.schedule import SliceSchedule

if TYPE_CHECKING:
    from crawler.fetcher.session import FetchSession


@dataclass
class RecentWork:
    """Of one worker: a batch is taken for one like those before it until it has responses."""

    seconds: float = 0.0  # response time
    idle: float = 1.0  # part of the time in which it did nothing


class JobWork:
    """The batches of a job and their slices, which wait in the schedule or are worked on."""

    def __init__(self, recent: RecentWork) -> None:
        self.recent = recent
        self.sessions: list[FetchSession] = []  # those at work; a job may last for minutes
        self.schedule = SliceSchedule()
        self.grants = SharedGrants()
        self.running = 0  # slices worked on

    def is_working_on(self, host: str) -> bool:
        """Whether a slice of it has a connection to this host."""
        return any(part.host == host and part.slot.is_held for session in self.sessions for part in session.slices)

    def is_slow(self, seconds: float) -> bool:
        """Whether it waits for hosts with this response time, see `core.politeness.handover`."""
        return handover.is_slow(seconds, self.recent.idle)

    def is_hungry(self, seconds: float) -> bool:
        """Whether it is about to have idle connections to such hosts, as above."""
        if not handover.may_be_hungry(seconds, self.recent.idle, self.running):
            return False
        pages = handover.last_pages(seconds)
        return handover.is_hungry(sum(session.ending(pages) for session in self.sessions), len(self.schedule))
