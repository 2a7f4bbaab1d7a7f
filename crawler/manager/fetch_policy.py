"""What a batch tells its fetch job about the crawl: its options, and those of the installation that hold for them."""

from __future__ import annotations

from crawler import conf
from crawler.accounts.permissions import private_hosts_of
from crawler.core.options.catalogue import NEVER, CrawlOptions
from crawler.core.pages.rendering import RENDER_SECONDS
from crawler.core.protocol.fetch_policy import FetchPolicy
from crawler.core.protocol.messages import LOGIN_VERSION, RENDERING_VERSION, USUAL_VERSION
from crawler.crawls.credentials import own_hosts_of
from crawler.manager.context import TickContext


def fetch_policy(context: TickContext, *, public_only: bool = False) -> FetchPolicy:
    """`public_only`: for pages that may request none of the private addresses that the crawl may."""
    options = context.options
    return FetchPolicy(
        user_agent=options.user_agent or conf.user_agent(),
        obey_robots=options.obey_robots,
        delay=options.delay,
        concurrency=options.concurrency,
        private_hosts=private_hosts_of(context.crawl, public_only=public_only),
        max_body_bytes=conf.max_body_bytes(),
        per_minute=options.per_minute,
        throttle=options.throttle,
        sitemaps=options.sitemaps,
        own_hosts=own_hosts_of(context.crawl),
        sealed=context.crawl.sealed,
        sketches=options.near_duplicates,
        fields=options.fields,
        keep=options.keep,
        page_timeout=options.page_timeout,
        render=options.render,
        wait_for=options.wait_for,
        render_seconds=options.render_timeout or RENDER_SECONDS,
        scroll=options.scroll,
        blocked_hosts=options.blocked_hosts,
        screenshot=options.screenshot,
        screenshot_format=options.screenshot_format,
        ignore_tls_errors=options.ignore_tls_errors,
        engine=options.engine,
        spider=options.spider,
        login_url=options.login_url,
        login_check=options.login_check,
    )


def batch_version(options: CrawlOptions) -> int:
    """Of the batches of a crawl: workers of an earlier version hand back what they cannot do."""
    if options.login_url:
        return LOGIN_VERSION
    return RENDERING_VERSION if options.render != NEVER else USUAL_VERSION
