"""An event loop: many transfers in one thread.

A task is a greenlet: code that reads as if it blocked, and gives up control only in the waiting functions of this file.
Called outside a task, they block the thread, so a client built on them works in both places.
"""

from __future__ import annotations

import math
import select
import socket
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from typing import TypeVar

from greenlet import GreenletExit, getcurrent, greenlet

from crawler.closing import Closing

T = TypeVar("T")

STALL_S = 0.2  # a longer step of one task is not counted against the time limits of the others
POLL_AGAIN_S = 0.02  # after this the loop sees what has arrived, though tasks wait for their turn
READABLE, WRITABLE = select.POLLIN, select.POLLOUT


class Task(greenlet):
    """Work of a loop. It is in one place: ready, waiting, or running."""

    def __init__(self, work: Callable[[], None], loop: EventLoop) -> None:
        super().__init__(work, loop.main)
        self.gr_context = copy_context()
        self.loop = loop
        self.deadline = math.inf  # when its wait times out; seconds of the loop's clock
        self.fd: int | None = None  # that it waits for
        self.waits = 0  # how often it has waited
        self.ready_at: float | None = None  # seconds of the loop's clock, while it waits for its turn
        self.hindered = 0.0  # seconds for which it waited for its turn, in all


class EventLoop(Closing):
    """Runs its tasks in the thread that created it. Only `wake` may be called by another thread.

    `now` is its clock: monotonic seconds, which stand still while a task takes longer than STALL_S for one step.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.main = getcurrent()
        self._clock, self._stalled, self.step_began = clock, 0.0, 0.0
        self._polled_at = 0.0
        self.waited = 0.0  # seconds without a task that could go on, in all
        self._poller = _Epoll() if hasattr(select, "epoll") else _Poll()
        self._ready: deque[Task] = deque()
        self._waiting: dict[Task, None] = {}  # in the order in which they began to wait
        self._by_fd: dict[int, Task] = {}
        self._next_deadline = math.inf  # no task has an earlier one
        self._called: deque[tuple[Task, int]] = deque()  # whose wait, and which of them, another thread has ended
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._wake_reader.setblocking(False)
        self._wake_writer.setblocking(False)
        self._poller.watch(self._wake_reader.fileno(), READABLE)

    def now(self) -> float:
        return self._clock() - self._stalled

    def spawn(self, work: Callable[[], None]) -> Task:
        """A task that begins in the next `run`. What it raises is raised there."""
        task = Task(work, self)
        self._ready.append(task)
        return task

    def run(self, seconds: float) -> None:
        """Resume every task that can go on; if there is none, wait for one for at most so many seconds."""
        began = self.now()
        timeout = 0.0 if self._ready else max(0.0, min(seconds, self._next_deadline - began))
        self._collect(timeout)
        self.waited += self.now() - began if timeout else 0.0
        self._expire(began)
        for _ in range(len(self._ready)):
            if self.now() - self._polled_at > POLL_AGAIN_S:
                self._collect(0.0)
            self._resume(self._ready.popleft())

    def throw(self, error: type[BaseException]) -> None:
        """Raise the error in every task that waits."""
        for task in tuple(self._waiting):
            self._end_wait(task)
            task.throw(error)

    def wake(self) -> None:
        """End the wait of `run`; called by other threads."""
        with suppress(BlockingIOError):  # it has been woken often enough
            self._wake_writer.send(b"\0")

    def close(self) -> None:
        """End every task that waits, by GreenletExit: its connections are closed."""
        self.throw(GreenletExit)
        self._poller.close()
        self._wake_reader.close()
        self._wake_writer.close()

    # Called by the waiting functions, in the task

    def wait(self, task: Task, seconds: float, fd: int | None = None, events: int = 0) -> None:
        """Let other tasks run until the file descriptor is ready or another thread has called `call`. Raises
        TimeoutError."""
        task.deadline, task.fd, task.waits = self.now() + seconds, fd, task.waits + 1
        self._next_deadline = min(self._next_deadline, task.deadline)
        self._waiting[task] = None
        if fd is not None:
            self._by_fd[fd] = task
            self._poller.watch_once(fd, events)
        if self.main.switch():
            raise TimeoutError

    def call(self, task: Task, wait: int) -> None:
        """End this wait of the task, unless it is over; called by any thread."""
        self._called.append((task, wait))
        self.wake()

    def _collect(self, timeout: float) -> None:
        found = self._poller.poll(timeout)
        self._polled_at = self.now()
        for fd in found:
            task = self._by_fd.get(fd)
            if task is not None:
                self._set_ready(task)
            elif fd == self._wake_reader.fileno():
                self._wake_reader.recv(4096)
        while self._called:
            task, wait = self._called.popleft()
            if task in self._waiting and task.waits == wait:
                self._set_ready(task)

    def _expire(self, moment: float) -> None:
        """Resume the tasks whose deadline had passed at a moment before the poll: nothing had arrived for them then."""
        if moment < self._next_deadline:
            return
        for task in tuple(self._waiting):
            if task.deadline <= moment:
                self._end_wait(task)
                self._resume(task, is_late=True)
        self._next_deadline = min((task.deadline for task in self._waiting), default=math.inf)

    def _set_ready(self, task: Task) -> None:
        self._end_wait(task)
        task.ready_at = self._polled_at
        self._ready.append(task)

    def _end_wait(self, task: Task) -> None:
        del self._waiting[task]
        if task.fd is not None:
            del self._by_fd[task.fd]
            task.fd = None

    def _resume(self, task: Task, *, is_late: bool = False) -> None:
        began, self.step_began = self._clock(), self.now()
        if task.ready_at is not None:
            task.hindered += max(0.0, self.step_began - task.ready_at)
            task.ready_at = None
        task.switch(is_late) if task else task.switch()  # it is true once it has begun
        took = self._clock() - began
        if took > STALL_S:
            self._stalled += took


class _Epoll:
    """One system call a wait: a file descriptor stays registered until it is closed."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self.close = self._epoll.close

    def watch(self, fd: int, events: int) -> None:
        self._epoll.register(fd, events)

    def watch_once(self, fd: int, events: int) -> None:
        try:
            self._epoll.modify(fd, events | select.EPOLLONESHOT)
        except FileNotFoundError:
            self._epoll.register(fd, events | select.EPOLLONESHOT)

    def poll(self, timeout: float) -> list[int]:
        return [fd for fd, _ in self._epoll.poll(timeout)]


class _Poll:
    """For systems without epoll."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._once: set[int] = set()

    def watch(self, fd: int, events: int) -> None:
        self._poll.register(fd, events)

    def watch_once(self, fd: int, events: int) -> None:
        self._poll.register(fd, events)
        self._once.add(fd)

    def poll(self, timeout: float) -> list[int]:
        ready = [fd for fd, _ in self._poll.poll(math.ceil(timeout * 1000))]
        for fd in self._once.intersection(ready):
            self._poll.unregister(fd)
            self._once.remove(fd)
        return ready

    def close(self) -> None:
        pass


# The waiting functions


def now() -> float:
    """Monotonic seconds, by which waits are limited and responses are timed. They stand still while a task could go on
    and others run: what a busy worker takes for itself does not make a host slow."""
    task = getcurrent()
    return task.loop.now() - task.hindered if isinstance(task, Task) else time.monotonic()


def wait_for_socket(sock: socket.socket, events: int, seconds: float) -> None:
    """Until the socket is READABLE or WRITABLE, or has failed. Raises TimeoutError."""
    task = getcurrent()
    if isinstance(task, Task):
        task.loop.wait(task, seconds, sock.fileno(), events)
        return
    poll = select.poll()
    poll.register(sock, events)
    if not poll.poll(math.ceil(max(0.0, seconds) * 1000)):
        raise TimeoutError


def sleep(seconds: float) -> None:
    task = getcurrent()
    if not isinstance(task, Task):
        time.sleep(seconds)
        return
    with suppress(TimeoutError):
        task.loop.wait(task, seconds)


def wait_for(future: Future[T], seconds: float) -> T:
    """The result that another thread, or another task, gives the future. Raises TimeoutError."""
    task = getcurrent()
    if isinstance(task, Task) and not future.done():
        wait = task.waits + 1
        future.add_done_callback(lambda _: task.loop.call(task, wait))
        task.loop.wait(task, seconds)
        return future.result()
    return future.result(timeout=seconds)
