"""A span for each tick, batch, and repeated extraction."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from crawler.capabilities.telemetry import conf, tracing
from crawler.queueing.processes import JobContext

OF_CRAWLS = ("manage", "extract_kept")
"""The jobs whose first argument is a crawl."""


def _around(job: str, arguments: Sequence[Any]) -> AbstractContextManager[object]:
    if not conf.sends_traces():
        return nullcontext()
    match job, arguments:
        case "fetch", [{"crawl": str(crawl), "id": str(batch), "site": str(site)}, *_]:
            return tracing.spanning("batch", crawl, batch, **{"batch.id": batch, "crawl.site": site})
        case name, [str(crawl), *_] if name in OF_CRAWLS:
            return tracing.spanning(name, crawl)
        case _:
            return nullcontext()


JOB_CONTEXTS = (JobContext(_around),)
