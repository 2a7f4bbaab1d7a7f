"""How a line of the log looks: with the crawl, batch and page it is about, and nothing in it that could pass for
another line or move a terminal's cursor, whatever a site has sent."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

from crawler.core.crawl.messages import PageResult, PageTask
from crawler.core.text.sanitize import one_line

NAMES = ("crawl", "batch", "page")

_urls = logging.getLogger("crawler.urls")  # its level is what CRAWLER_LOG_URLS sets

_about: ContextVar[dict[str, str]] = ContextVar("about", default={})  # noqa: B039 (never changed, only replaced)


@contextmanager
def about(**ids: str) -> Iterator[None]:
    """What is logged in here is about this crawl, batch or page. It counts in this thread."""
    token = _about.set({**_about.get(), **ids})
    try:
        yield
    finally:
        _about.reset(token)


def tells_urls() -> bool:
    """Whether each URL is to have its line (CRAWLER_LOG_URLS)."""
    return _urls.isEnabledFor(logging.INFO)


def tell_url(task: PageTask, result: PageResult) -> None:
    """One line for one attempt at a URL, once its outcome is known. `started` is empty where nothing was asked for, the
    status where there was no response."""
    started = datetime.fromtimestamp(result.fetched_at, UTC).isoformat(timespec="milliseconds")
    _tell(
        logging.INFO,
        task,
        outcome=result.outcome.value,
        status=result.http_status,
        bytes=result.bytes,
        ms=result.elapsed_ms,
        attempt=result.attempt,
        started=started if result.fetched_at else None,
    )


def tells_starts() -> bool:
    """Whether each is to have another when it is begun (with CRAWLER_LOG_LEVEL=DEBUG)."""
    return _urls.isEnabledFor(logging.DEBUG)


def tell_start(task: PageTask) -> None:
    """It is asked for now."""
    _tell(logging.DEBUG, task, attempt=task.attempt, outcome="started")


def _tell(level: int, task: PageTask, **fields: object) -> None:
    words = " ".join(f"{name}={'' if value is None else value}" for name, value in fields.items())
    _urls.log(level, "%s %s", task.url, words, extra={"url": task.url, "page": task.id, **fields})


def of(crawl: object) -> dict[str, str]:
    """The `extra` of one line about a crawl, by its id."""
    return {"crawl": str(crawl)}


class Context(logging.Filter):
    """Gives each record the ids it is about: those it was given itself (`extra`), else those of `about`."""

    def filter(self, record: logging.LogRecord) -> bool:
        for name, value in _about.get().items():
            if not hasattr(record, name):
                setattr(record, name, value)
        return True


class NoLinks(logging.Filter):
    """Where Django tells which address has failed, a link that lets somebody in is not spelled out."""

    def filter(self, record: logging.LogRecord) -> bool:
        match = getattr(getattr(record, "request", None), "resolver_match", None)
        if match is not None and "token" in match.kwargs:
            record.msg, record.args = record.getMessage().replace(str(match.kwargs["token"]), "…"), ()
        return True


class Text(logging.Formatter):
    """`2026-11-21 21:00:00,000 WARNING crawler.fetcher.loop: what happened [crawl=... batch=...]`, one line each. The
    lines of a traceback are indented, so that none can pass for a line of the log."""

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name}: {message}", style="{")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (logging's name)
        ids = " ".join(f"{name}={getattr(record, name)}" for name in NAMES if hasattr(record, name))
        return one_line(super().formatMessage(record) + (f" [{ids}]" if ids else ""))

    def formatException(self, ei: object) -> str:  # noqa: N802 (the same)
        lines = super().formatException(ei).splitlines()  # type: ignore[arg-type]  # as logging gives it
        return "\n".join(f"    {one_line(line)}" for line in lines)


class OfOthers(logging.Filter):
    """What RQ logs of a job that failed holds its traceback, in which a site may have written. So that it cannot forge
    a line there either, the lines are set in and harmless; how they look besides is RQ's matter."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno >= logging.ERROR:
            first, *others = map(one_line, record.getMessage().split("\n"))
            record.msg, record.args = "\n".join([first, *(f"    {line}" for line in others)]), ()
        return True
