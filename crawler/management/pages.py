"""Pages of a crawl as they are named on the command line."""

from __future__ import annotations

from crawler.core.errors import BadInput
from crawler.core.urls.normalise import key_of, parse_user_url
from crawler.models import Crawl, Page

MAX_ID_DIGITS = 18  # of a primary key


def page_of(crawl: Crawl, typed: str, listed_by: str = "export") -> Page:
    """The page of this crawl with this URL or number. BadInput if there is none; `listed_by` is the command that lists
    pages."""
    pages = Page.objects.filter(crawl=crawl)
    if typed.isdecimal() and len(typed) <= MAX_ID_DIGITS:
        found = pages.filter(pk=int(typed)).first()
    else:
        found = pages.filter(key=key_of(parse_user_url(typed))).first()
    if found is None:
        raise BadInput("page", f"This crawl has no page {typed!r}; `manage.py {listed_by} {crawl.id}` lists them.")
    return found
