"""An event loop by a given clock, which stands still while tasks work or wait for a site, and else jumps."""

from collections.abc import Callable

from crawler.http.event_loop import EventLoop

A_SITE_ANSWERS_S = 60.0  # at the latest, in seconds of this machine
ANOTHER_THREAD_COMES_S = 0.05  # the same, for what it may have to say


class TimelessLoop(EventLoop):
    """`pass_by` lets the given clock pass so many seconds."""

    def __init__(self, clock: Callable[[], float], pass_by: Callable[[float], None]) -> None:
        super().__init__(clock)
        self._pass_by = pass_by
        self._was_woken = False

    def wake(self) -> None:
        self._was_woken = True
        super().wake()

    def run(self, seconds: float) -> None:
        if self._ready:
            self._run_for(0.0)
        elif self._by_fd:
            self._run_for(A_SITE_ANSWERS_S)
        else:
            self._was_woken = False
            self._run_for(ANOTHER_THREAD_COMES_S)
            if not self._was_woken:
                self._pass_by(max(0.0, min(seconds, self._next_deadline - self.now())))
                self._run_for(0.0)

    def _run_for(self, seconds: float) -> None:
        self._expire(self.now())
        self._collect(seconds)
        while self._ready:
            self._resume(self._ready.popleft())
