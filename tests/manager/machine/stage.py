"""The processes at work, and what happens in the middle of one: it dies, or something else happens meanwhile.

A moment is the name of a crash point, or a number n: just before the n-th of its steps that anybody else can see, which
are its Redis commands (a transaction is one) and its SQL statements. So a process can be stopped between any two of
them, whether or not somebody thought of that place.
"""

import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from redis import Redis
from redis.client import Pipeline

import crawler
from crawler import crashpoints

Moment = int | str


@cache
def crash_points() -> tuple[str, ...]:
    """The name of every crash point in the source."""
    sources = sorted(Path(crawler.__file__).parent.rglob("*.py"))
    found = [name for source in sources for name in re.findall(r'crash_point\("([^"]+)"\)', source.read_text())]
    return tuple(dict.fromkeys(found))


class Killed(BaseException):
    """Stands for kill -9: nothing catches it, and what is in `finally` does nothing, because the dead do not speak."""


@dataclass
class Process:
    """One at work. Without `meanwhile` it dies at its moment."""

    moment: Moment | None = None
    meanwhile: Callable[[], None] | None = None
    steps: int = 0
    has_happened: bool = False
    is_dead: bool = False


class Stage:
    """The innermost process is the one at work; what the machine itself does meanwhile belongs to none."""

    def __init__(self) -> None:
        self._processes: list[Process | None] = []
        self._thread = threading.get_ident()

    @contextmanager
    def set_up(self, patches: pytest.MonkeyPatch) -> Iterator[None]:
        for owner, name in (
            (Redis, "execute_command"),
            (Pipeline, "execute"),
            (Pipeline, "immediate_execute_command"),
        ):
            patches.setattr(owner, name, self._after_a_step(getattr(owner, name)))
        with ExitStack() as stack:
            crashpoints.arm(self._name)
            stack.callback(crashpoints.arm, None)
            stack.enter_context(connection.execute_wrapper(self._sql))
            yield

    @contextmanager
    def process(self, process: Process) -> Iterator[None]:
        """Run as this process; whether it died can be read from it."""
        self._processes.append(process)
        try:
            yield
        except Killed:
            if not process.is_dead:
                raise
        finally:
            self._processes.pop()

    @contextmanager
    def nobody(self) -> Iterator[None]:
        """What is done now is no process's doing."""
        self._processes.append(None)
        try:
            yield
        finally:
            self._processes.pop()

    @property
    def is_empty(self) -> bool:
        return not self.is_at_work

    @property
    def is_at_work(self) -> bool:
        """Whether this happens in the middle of a process."""
        return any(self._processes)

    def _at_work(self) -> Process | None:
        if threading.get_ident() != self._thread or not self._processes:
            return None
        return self._processes[-1]

    def _step(self) -> None:
        process = self._at_work()
        if process is None:
            return
        if process.is_dead:
            raise Killed
        process.steps += 1
        if isinstance(process.moment, int) and process.steps >= process.moment:
            self._happen(process)

    def _name(self, name: str) -> None:
        process = self._at_work()
        if process is None:
            return
        if process.is_dead:
            raise Killed
        if process.moment == name:
            self._happen(process)

    def reach_in_thread(self, name: str) -> None:
        """Another thread of the process at work, which waits for it, is at this moment. A death is noticed at the
        process's next step, and there happens what is to happen meanwhile: only the first thread may do that."""
        process = self._processes[-1] if self._processes else None
        if process is None or process.moment != name or process.has_happened:
            return
        if process.meanwhile is None:
            process.has_happened = process.is_dead = True
        else:
            process.moment = process.steps

    def _happen(self, process: Process) -> None:
        if process.has_happened:
            return
        if process.meanwhile is None:
            process.has_happened = process.is_dead = True
            raise Killed
        if connection.in_atomic_block:
            process.moment = process.steps  # others cannot write now: as soon as they can
            return
        process.has_happened = True
        with self.nobody():
            process.meanwhile()

    def _after_a_step(self, act: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*args: Any, **kwargs: Any) -> Any:
            self._step()
            return act(*args, **kwargs)

        return stepped

    def _sql(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if not sql.startswith(("ROLLBACK", "SAVEPOINT", "RELEASE")):  # what the database does for a dead client too
            self._step()
        return execute(sql, params, many, context)


class AtOnce(Executor):
    """A pool whose tasks run when they are given."""

    def __init__(self, max_workers: int, thread_name_prefix: str = "") -> None:
        self._workers = max_workers

    def submit(self, task: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(task(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001 (a pool's thread hands on whatever happened in it)
            future.set_exception(error)
        return future
