"""What capabilities do in the processes of the crawler: at their start, and around each job."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import msgspec

from crawler import registry


class StartUp(msgspec.Struct, frozen=True):
    """One capability's, in every process that loads Django's apps."""

    begin: Callable[[], None]
    """Raises ImproperlyConfigured with one line that says what to do."""


class JobContext(msgspec.Struct, frozen=True):
    """One capability's."""

    around: Callable[[str, Sequence[Any]], AbstractContextManager[object]]
    """The name of a function in `crawler.jobs` and its arguments -> what is open while it runs."""


def begin() -> None:
    for start in registry.entries("start_up", StartUp):
        start.begin()


@contextmanager
def job(name: str, arguments: Sequence[Any]) -> Iterator[None]:
    with ExitStack() as contexts:
        for context in registry.entries("job_contexts", JobContext):
            contexts.enter_context(context.around(name, arguments))
        yield
