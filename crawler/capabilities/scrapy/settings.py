"""The options of a crawl as settings of Scrapy."""

from __future__ import annotations

from typing import Any

from crawler.core.protocol.fetch_policy import FetchPolicy

HANDLER = "crawler.capabilities.scrapy.inside.handler.WorkerDownloadHandler"
SCHEDULER = "crawler.capabilities.scrapy.inside.handler.NoScheduler"
NO_LIMIT = 1_000_000

LEFT_OUT_MIDDLEWARES = (
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware",  # the crawl's scope decides
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware",
)

FIXED: dict[str, Any] = {
    # The manager decides which pages are requested, how often and when.
    "SCHEDULER": SCHEDULER,
    "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
    "JOBDIR": None,
    "DEPTH_LIMIT": 0,
    "URLLENGTH_LIMIT": 0,
    "RETRY_ENABLED": False,
    "REDIRECT_ENABLED": False,
    "METAREFRESH_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "DOWNLOAD_DELAY": 0,
    "DOWNLOAD_SLOTS": {},
    "CONCURRENT_REQUESTS": 0,
    "CONCURRENT_REQUESTS_PER_DOMAIN": NO_LIMIT,
    "CONCURRENT_REQUESTS_PER_IP": 0,
    "AUTOTHROTTLE_ENABLED": False,
    "CLOSESPIDER_TIMEOUT": 0,
    "CLOSESPIDER_TIMEOUT_NO_ITEM": 0,
    "CLOSESPIDER_ITEMCOUNT": 0,
    "CLOSESPIDER_PAGECOUNT": 0,
    "CLOSESPIDER_PAGECOUNT_NO_ITEM": 0,
    "CLOSESPIDER_ERRORCOUNT": 0,
    "MEMUSAGE_ENABLED": False,
    # The worker sends every request.
    "DOWNLOADER": "scrapy.core.downloader.Downloader",
    "DOWNLOAD_HANDLERS": {
        "http": HANDLER,
        "https": HANDLER,
        **dict.fromkeys(("data", "file", "ftp", "s3")),
    },
    "COMPRESSION_ENABLED": False,
    "HTTPPROXY_ENABLED": False,
    "HTTPCACHE_ENABLED": False,
    # What a page led to is stored with it; the process has no console and no files of its own.
    "FEEDS": {},
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "STATS_DUMP": False,
    "TWISTED_REACTOR_ENABLED": True,
    "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
}
"""Settings that neither the crawl's options nor a spider change."""

USUAL: dict[str, Any] = {
    "COOKIES_ENABLED": False,
    "DEFAULT_REQUEST_HEADERS": {},
    "REFERER_ENABLED": False,
    "LOG_LEVEL": "WARNING",
}
"""Settings that a project of Scrapy or a spider may change."""


def fixed_settings(policy: FetchPolicy, *, page_seconds: float) -> dict[str, Any]:
    """Those that the crawl decides. `page_seconds`: the limit of the installation for one request."""
    return {
        **FIXED,
        "USER_AGENT": policy.user_agent,
        "DOWNLOAD_TIMEOUT": policy.page_timeout or page_seconds,
        "DOWNLOAD_MAXSIZE": policy.max_body_bytes,
        "DOWNLOAD_WARNSIZE": 0,
        "DOWNLOAD_VERIFY_CERTIFICATES": not policy.ignore_tls_errors,
    }
