"""Operations that extract the fields of a crawl's pages again from kept HTML."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any
from uuid import UUID

from ninja import Schema
from pydantic import ConfigDict, Field
from redis.exceptions import RedisError

from crawler.api.callers import ApiRequest
from crawler.api.lookups import crawl_named
from crawler.api.openapi import A_CRAWL, Operations
from crawler.core.access.permissions import Right, Scope
from crawler.core.errors import ServiceDown
from crawler.core.extraction.rules import FieldRule, rules_of
from crawler.crawls import kept_extraction
from crawler.models import KeptExtraction
from crawler.reports import text

router = Operations("extraction", below=A_CRAWL)


class ExtractionRules(Schema):
    model_config = ConfigDict(extra="forbid")

    fields: list[dict[str, Any]] = Field(
        [], description="New rules, which replace the crawl's; leave out to use the crawl's."
    )


class ExtractionProgress(Schema):
    """How far an extraction is."""

    seen: int = Field(description="Pages processed.")
    read: int = Field(description="Pages whose fields were replaced.")
    missing: int = Field(description="HTML pages without readable stored HTML; their fields are unchanged.")
    failed: int = Field(description="Pages skipped, because workers crashed on them.")
    done: bool
    message: str = Field(description='The same in words; "" if fields were never extracted again.')


EXAMPLE = {
    "seen": 120,
    "read": 117,
    "missing": 3,
    "failed": 0,
    "done": True,
    "message": "Done: fields extracted again from 117 pages of kept HTML; "
    "3 HTML pages without kept HTML that can be read.",
}


@router.on(
    "POST /extract",
    "Extract fields again",
    Scope.CRAWLS_WRITE,
    ExtractionProgress,
    EXAMPLE,
    sends={"fields": [{"name": "price", "selector": ".price", "type": "number"}]},
    name="read_kept",
)
def begin(request: ApiRequest, crawl_id: UUID, body: ExtractionRules | None = None) -> dict[str, Any]:
    """A job reads the kept HTML of all pages, without asking the site; GET says how far it is. An extraction by the
    same rules that is not done goes on."""
    crawl = crawl_named(request, crawl_id, Right.CONTROL)
    begun = kept_extraction.start(crawl, _rules(body))
    with suppress(ServiceDown, RedisError):  # then `reconcile` sends the job
        kept_extraction.send(crawl.id)
    return _shown(begun)


@router.on(
    "GET /extract", "Get the progress of an extraction", Scope.CRAWLS_READ, ExtractionProgress, EXAMPLE, name="get_kept"
)
def progress(request: ApiRequest, crawl_id: UUID) -> dict[str, Any]:
    """Of the last extraction from kept HTML; zeros if there was none."""
    crawl = crawl_named(request, crawl_id)
    return _shown(KeptExtraction.objects.filter(crawl=crawl).first())


def _rules(body: ExtractionRules | None) -> tuple[FieldRule, ...]:
    """BadInput if they cannot be used."""
    return rules_of("fields", json.dumps(body.fields)) if body is not None and body.fields else ()


def _shown(row: KeptExtraction | None) -> dict[str, Any]:
    if row is None:
        return {**KeptExtraction().counts, "done": False, "message": ""}
    return {**row.counts, "done": row.done_at is not None, "message": text.kept_extraction(row)}
