"""Log filters and the text formatter. Each line names its crawl, batch and page; text from crawled sites is escaped, so
that it cannot forge a line or control a terminal."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

from crawler.core.protocol.messages import PageResult, PageTask
from crawler.core.text.sanitize import one_line

NAMES = ("crawl", "batch", "page", "request_id")

_urls = logging.getLogger("crawler.urls")  # CRAWLER_LOG_URLS sets its level

_about: ContextVar[dict[str, str]] = ContextVar("about", default={})  # noqa: B039 (never changed, only replaced)


@contextmanager
def about(**ids: str) -> Iterator[None]:
    """Add these ids to the records logged within this context, in this thread."""
    token = _about.set({**_about.get(), **ids})
    try:
        yield
    finally:
        _about.reset(token)


def logs_urls() -> bool:
    """Whether each URL is logged (CRAWLER_LOG_URLS)."""
    return _urls.isEnabledFor(logging.INFO)


def log_url(task: PageTask, result: PageResult) -> None:
    """Log one attempt at a URL and its outcome. `started` is empty if no request was sent, the status if there was no
    response."""
    started = datetime.fromtimestamp(result.fetched_at, UTC).isoformat(timespec="milliseconds")
    _log(
        logging.INFO,
        task,
        outcome=result.outcome.value,
        status=result.http_status,
        bytes=result.bytes,
        ms=result.elapsed_ms,
        attempt=result.attempt,
        started=started if result.fetched_at else None,
    )


def logs_starts() -> bool:
    """Whether the start of each attempt is logged too (CRAWLER_LOG_LEVEL=DEBUG)."""
    return _urls.isEnabledFor(logging.DEBUG)


def log_start(task: PageTask) -> None:
    """Log the start of an attempt."""
    _log(logging.DEBUG, task, attempt=task.attempt, outcome="started")


def _log(level: int, task: PageTask, **fields: object) -> None:
    words = " ".join(f"{name}={'' if value is None else value}" for name, value in fields.items())
    _urls.log(level, "%s %s", task.url, words, extra={"url": task.url, "page": task.id, **fields})


def of(crawl: object) -> dict[str, str]:
    """The `extra` of a log line about this crawl."""
    return {"crawl": str(crawl)}


class Context(logging.Filter):
    """Adds ids to each record: from `extra`, else from `about`."""

    def filter(self, record: logging.LogRecord) -> bool:
        for name, value in _about.get().items():
            if not hasattr(record, name):
                setattr(record, name, value)
        return True


class NoLinks(logging.Filter):
    """Removes the token of a login link from Django's log of a failed request."""

    def filter(self, record: logging.LogRecord) -> bool:
        match = getattr(getattr(record, "request", None), "resolver_match", None)
        if match is not None and "token" in match.kwargs:
            record.msg, record.args = record.getMessage().replace(str(match.kwargs["token"]), "…"), ()
        return True


class TextFormatter(logging.Formatter):
    """`2026-11-21 21:00:00,000 WARNING crawler.fetcher.loop: what happened [crawl=... batch=...]`, one line each. The
    lines of a traceback are indented, so that they cannot pass for log lines."""

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name}: {message}", style="{")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (logging's name)
        ids = " ".join(f"{name}={getattr(record, name)}" for name in NAMES if hasattr(record, name))
        return one_line(super().formatMessage(record) + (f" [{ids}]" if ids else ""))

    def formatException(self, ei: object) -> str:  # noqa: N802 (the same)
        lines = super().formatException(ei).splitlines()  # type: ignore[arg-type]  # as logging gives it
        return "\n".join(f"    {one_line(line)}" for line in lines)


class EscapeRqErrors(logging.Filter):
    """Escapes and indents the traceback that RQ logs of a failed job: text of a crawled site in it cannot forge a
    line."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno >= logging.ERROR:
            first, *others = map(one_line, record.getMessage().split("\n"))
            record.msg, record.args = "\n".join([first, *(f"    {line}" for line in others)]), ()
        return True
