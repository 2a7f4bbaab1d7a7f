"""What a batch tells its fetch job about the crawl: its options, and the installation's settings for them."""

from __future__ import annotations

from crawler import conf
from crawler.accounts.permissions import private_hosts_of
from crawler.core.protocol.fetch_policy import FetchPolicy, sent_values
from crawler.crawls.credentials import own_hosts_of
from crawler.manager.context import TickContext


def fetch_policy(context: TickContext, *, public_only: bool = False) -> FetchPolicy:
    """`public_only`: for pages that may request none of the private addresses that the crawl may."""
    return FetchPolicy(
        **sent_values(context.options) | {"user_agent": context.options.user_agent or conf.user_agent()},
        private_hosts=private_hosts_of(context.crawl, public_only=public_only),
        max_body_bytes=conf.max_body_bytes(),
        own_hosts=own_hosts_of(context.crawl),
        sealed=context.crawl.sealed,
    )
