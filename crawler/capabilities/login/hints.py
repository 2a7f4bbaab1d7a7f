"""That a site is behind a log-in, and the crawl has none."""

from __future__ import annotations

import re

from crawler.capabilities.login.options import LoginOptions
from crawler.core.text.controls import by_surface
from crawler.models import Crawl
from crawler.reports.hints import (
    Evidence,
    Hint,
    first_of,
    is_most,
    number_of_redirects,
    redirect_targets,
)
from crawler.storage.queries import site_pages, start_pages

_LOGIN_PATH = re.compile(
    r"/(?:log[-_]?in|sign[-_]?in|sign[-_]?on|sso|auth|authenticate|authorize|session/new)(?:[/.;]|$)", re.IGNORECASE
)
"""In the path of a URL to which sites send visitors who have not logged in."""


def _behind_login(crawl: Crawl) -> Evidence | None:
    """Responses with 401, and redirects to a log-in page; or the start page is redirected there."""
    if LoginOptions.of(crawl.chosen).login_url or crawl.source:
        return None
    responses, denied = sum(crawl.tallies.statuses.values()), crawl.tallies.statuses.get("401", 0)
    if is_most(denied, responses):
        return Evidence(denied, responses, first_of(site_pages(crawl).filter(http_status=401)))
    if not number_of_redirects(crawl):
        return None
    targets = {url: pages for url, pages in redirect_targets(crawl).items() if _LOGIN_PATH.search(url)}
    pages = sum(targets.values()) + denied
    if targets and (is_most(pages, responses) or _start_leads_to(crawl, targets)):
        return Evidence(pages, responses, max(targets, key=lambda url: targets[url]))
    return None


def _start_leads_to(crawl: Crawl, targets: dict[str, int]) -> bool:
    urls = start_pages(crawl).values_list("redirect_to", flat=True)
    return any(url.partition("?")[0] in targets for url in urls if url)


HINTS = (
    Hint(
        "login",
        "At least half of the responses (ten or more), or the start page, were 401 or led to a log-in page, in a "
        "crawl without a log-in.",
        "{pages} of {of} require a log-in.",
        "Let the crawl log in with "
        + by_surface(command="--login-url", page="“Log-in form”", api="`login_url` and `credentials`")
        + ".",
        _behind_login,
        "response",
    ),
)
