"""The operation that tries extraction rules on one page, before a crawl."""

from __future__ import annotations

from typing import Any

from ninja import Schema
from pydantic import Field

from crawler.accounts.slow_calls import slow_call
from crawler.api.callers import ApiRequest
from crawler.api.openapi import Operations
from crawler.api.routes.crawls import sealed_for
from crawler.api.schemas.fields import fields_of
from crawler.api.schemas.start import PreviewRequest
from crawler.core.access.permissions import Scope
from crawler.core.errors import BadInput
from crawler.core.urls.normalise import parse_user_url
from crawler.fetcher.preview import preview

router = Operations("extraction")


class ExtractedField(Schema):
    """The result of one rule."""

    name: str
    value: Any = Field(None, description="Null: nothing.")
    note: str = Field(description='The error in it; "" without one.')


class PreviewResult(Schema):
    url: str = Field(description="The final URL after redirects.")
    trouble: str = Field(description='Why the page could not be fetched; "" when there is.')
    fields: list[ExtractedField]


SENDS = {"try_url": "https://example.com/kettle", "fields": [{"name": "price", "selector": ".price", "type": "number"}]}
EXAMPLE = {"url": "https://example.com/kettle", "trouble": "", "fields": [{"name": "price", "value": 12.5, "note": ""}]}


@router.on("POST /preview", "Try extraction rules", Scope.CRAWLS_WRITE, PreviewResult, EXAMPLE, sends=SENDS)
def try_rules(request: ApiRequest, body: PreviewRequest) -> dict[str, Any]:
    """The page is requested once, as a crawl with these options would request it; nothing is stored. One test or
    preview at a time."""
    options, start_urls = body.options(), [parse_user_url(url) for url in body.start_urls]
    with slow_call(request.user.pk):
        tried = preview(
            _page(body.try_url),
            options,
            start_urls=start_urls,
            allow_private=body.private_allowed(request.user),
            sealed=sealed_for(request, body, options, start_urls),
        )
    return fields_of(PreviewResult, tried, fields=[fields_of(ExtractedField, row) for row in tried.rows])


def _page(typed: str) -> str:
    try:
        return parse_user_url(typed)
    except BadInput as error:
        raise BadInput("try_url", error.raw) from None
