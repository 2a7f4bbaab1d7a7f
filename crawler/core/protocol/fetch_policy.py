"""What a fetch job has to know of its crawl."""

from __future__ import annotations

import msgspec

from crawler.core.extraction.rules import FieldRule


class FetchPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The crawl options a fetch job needs; part of the batch, so that the job needs no database."""

    user_agent: str
    obey_robots: bool
    delay: float  # seconds between two requests to one host, at least
    concurrency: int  # connections to one host at a time, over all workers
    private_hosts: tuple[str, ...]  # host, host:port or CIDR that may be requested although not public; "*" = all
    max_body_bytes: int
    per_minute: float | None = None  # requests a minute to one host, at most
    throttle: bool = True  # send a host fewer requests while it is slow or fails
    sitemaps: bool = False  # report the sitemaps that robots.txt names
    own_hosts: tuple[str, ...] = ()  # hosts credentials may be sent to, see `core.urls.crawl_scope`
    sealed: str = ""  # the crawl's credentials and proxy, encrypted; "" = none
    sketches: bool = False  # compute one for each page's text, see `core.html.simhash`
    fields: tuple[FieldRule, ...] = ()  # what is read from each page
    keep: tuple[str, ...] = ()  # content formats, of `core.options.catalogue`
    page_timeout: float | None = None  # seconds one request for a page may take; None = as the installation allows
    render: str = "never"  # whether a browser renders pages, of `core.options.catalogue`
    wait_for: tuple[str, ...] = ()  # CSS: a rendered page is complete when one of them matches
    blocked_hosts: tuple[str, ...] = ()  # a rendered page requests nothing from them, see `RenderChoices`
    render_seconds: float = 15.0  # that a page may spend in the browser
    scroll: bool = False  # to the end of rendered pages
    screenshot: str = "viewport"  # what screenshots show, of `core.pages.rendering`
    screenshot_format: str = "webp"
    ignore_tls_errors: bool = False  # accept any certificate
    engine: str = "builtin"  # what pages are run through, of `core.options.catalogue`
    spider: str = ""  # the dotted name of the user's spider; "" = none
    login_url: str = ""  # the page with the log-in form, whose values are in `sealed`; "" = the crawl does not log in
    login_check: str = ""  # CSS: what only a page for those who are logged in has; "" = it is enough if no form is left
