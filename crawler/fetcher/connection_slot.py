"""A slice's slot at a host: the right to one of its connections, which expires unless it is renewed."""

from __future__ import annotations

import threading

from redis import Redis

from crawler.clock import Clock
from crawler.frontier.host_limiter import HostLimiter, HostPolicy, SlotResult

END_MARGIN_S = 2.0
"""A request under way is ended once the slot is not valid for longer than this. It covers the interval of `SlotWatch`,
the way to the host, and the error of the clock of the worker that takes the slot next."""


class ConnectionSlot:
    """How long the slot is valid counts from when Redis was asked, not from its answer, which may come late.

    `now` is the shared clock, by which Redis lets the slot expire; `monotonic` never asks Redis.
    """

    def __init__(
        self, limiter: HostLimiter, host: str, holder: str, policy: HostPolicy, now: Clock, monotonic: Clock
    ) -> None:
        self._limiter, self._host = limiter, host
        self._own_holder = self.holder = holder
        self.policy = policy
        self._now, self._monotonic = now, monotonic
        self.is_held = False
        self._valid_until = 0.0  # monotonic seconds; what other threads may read
        self._lock = threading.Lock()  # the heartbeat renews from a thread of its own

    def begin(self, holder: str | None) -> SlotResult:
        """Take one of the host's slots, or continue with that of this `holder`."""
        with self._lock:
            self.holder = holder or self._own_holder
            entry = self._take()
            self.is_held = entry is not SlotResult.NONE_FREE
        return entry

    def detach(self) -> tuple[HostLimiter, str] | None:
        """End without releasing the slot: its limiter and holder, for the slice that reuses the connection. None if it
        is not valid any more."""
        with self._lock:
            if not self.is_held or not self.is_valid_for(END_MARGIN_S):
                return None
            self.is_held = False
        return self._limiter, self.holder

    def is_valid_for(self, seconds: float) -> bool:
        """Called by any thread. True, too, if there is no slot."""
        return not self.is_held or self._valid_until - self._monotonic() > seconds

    def renew(self, pipe: Redis) -> float | None:
        """Renew the slot, if there is one: a slice that has ended must not take it again. Returns when, in monotonic
        seconds, for `note_renewed`; None if there is no slot."""
        with self._lock:
            if not self.is_held:
                return None
            asked_at = self._monotonic()
            self._limiter.renew_slot(self._host, self.holder, self.policy, self._now(), pipe)
        return asked_at

    def note_renewed(self, asked_at: float, answer: int) -> None:
        """What Redis answered to `renew`."""
        with self._lock:
            self._note_answer(asked_at, SlotResult(answer))

    def take_again(self) -> None:
        """Take the slot once more, if one is free: it was not renewed for a while, or another slice has got it."""
        with self._lock:
            self._take()

    def release(self) -> None:
        with self._lock:
            was_held, self.is_held = self.is_held, False
            if was_held:
                self._limiter.release_slot(self._host, self.holder)

    def _take(self) -> SlotResult:
        asked_at = self._monotonic()
        entry = self._limiter.take_slot(self._host, self.holder, self.policy, self._now())
        self._note_answer(asked_at, entry)
        return entry

    def _note_answer(self, asked_at: float, entry: SlotResult) -> None:
        """Other slices have all of the host's slots: then this one is lost, unless a later call has got it again."""
        until = asked_at + self._limiter.slot_seconds
        if entry is not SlotResult.NONE_FREE:
            self._valid_until = max(self._valid_until, until)
        elif until > self._valid_until:
            self._valid_until = 0.0
