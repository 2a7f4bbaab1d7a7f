"""What the start of a crawl takes from elsewhere: the credentials of an earlier one."""

from __future__ import annotations

from collections.abc import Sequence

from crawler.accounts import may, visible_crawls
from crawler.api.callers import ApiRequest
from crawler.api.shapes.options import Base
from crawler.core.belonging import own_hosts
from crawler.core.errors import BadInput
from crawler.core.options import CrawlOptions, check_options
from crawler.core.rights import Right
from crawler.core.urls import from_person
from crawler.engine.equip import taken_over

BOTH = "Give either an earlier crawl whose credentials are sent, or what is to be sent; not both."
NOT_YOURS = "You have no crawl with this id that sends anything; give what is to be sent."


def sealed_for(
    request: ApiRequest, body: Base, options: CrawlOptions, start_urls: Sequence[str], *, listed: bool = False
) -> str:
    """What is sent beside the URLs, encrypted. What an earlier crawl sends is for its owner alone to send again, and to
    its hosts alone. BadInput when it cannot be sent."""
    given = body.sealed()
    if body.same_credentials is None:
        return given
    if given:
        raise BadInput("same_credentials", BOTH)
    earlier = visible_crawls(request.user).filter(pk=body.same_credentials).first()
    if earlier is None or not earlier.sealed or not may(request.user, Right.OWN, earlier):
        raise BadInput("same_credentials", NOT_YOURS)
    checked, urls = check_options(options), [from_person(url) for url in start_urls]
    return taken_over(earlier, own_hosts(urls, checked.hosts, subdomains=checked.subdomains, listed=listed))
