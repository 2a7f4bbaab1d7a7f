"""The one reader of Django settings for the rest of the project."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

from django.conf import settings

from crawler import __version__
from crawler.core.access.client_address import Network
from crawler.core.installation.deployment import Setup
from crawler.core.urls.addresses import Proxy


def user_agent() -> str:
    """What sites see: the project, and where to reach whoever runs it (CRAWLER_CONTACT: a URL or an e-mail)."""
    contact = settings.CRAWLER_CONTACT
    return f"SiteCrawler/{__version__}" + (f" (+{contact})" if contact else " (self-hosted; contact not set)")


ROBOTS_TOKEN = "SiteCrawler"  # noqa: S105 (a product token, not a secret): the name robots.txt knows us by


def private_hosts() -> tuple[str, ...]:
    return tuple(settings.CRAWLER_PRIVATE_HOSTS)


def ports() -> Container[int]:
    """Those that may be asked at public addresses."""
    ports: Container[int] = settings.CRAWLER_PORTS
    return ports


def max_attempts() -> int:
    return int(settings.CRAWLER_MAX_ATTEMPTS)


def max_host_stop() -> float:
    """Seconds for which a host is not asked at most, whatever its Retry-After says."""
    return float(settings.CRAWLER_MAX_HOST_STOP)


def retry_after_wait() -> float:
    """Seconds for which a crawl waits when all that is left are pages whose servers asked for a later time."""
    return float(settings.CRAWLER_RETRY_AFTER_WAIT)


def startup_timeout() -> float:
    """Seconds for which a process that starts waits for Redis and the database; 0 = each is tried once."""
    return float(settings.CRAWLER_STARTUP_TIMEOUT)


def worker_jobs() -> int:
    """Jobs after which one of our workers begins anew."""
    return int(settings.CRAWLER_WORKER_JOBS)


def worker_mb() -> float:
    """The memory with which it does."""
    return float(settings.CRAWLER_WORKER_MB)


def dead_letter_seconds() -> float:
    """For how long Redis remembers dead letters once a crawl is over; the table keeps them for good."""
    return float(settings.CRAWLER_DEAD_LETTER_HOURS * 3600)


def answer_seconds() -> float:
    """For how long an answer is remembered after it was last known to be so."""
    return float(settings.CRAWLER_ANSWER_DAYS * 86400)


def active_crawls() -> int:
    """Crawls a person may have that are not over; 0 = no limit."""
    return int(settings.CRAWLER_ACTIVE_CRAWLS)


def pages_a_day() -> int:
    """Pages a person's crawls may ask for in a day, in UTC; 0 = no limit."""
    return int(settings.CRAWLER_PAGES_A_DAY)


def keep_days() -> float:
    """Days after its end when a crawl is deleted; 0 = it is kept for ever."""
    return float(settings.CRAWLER_KEEP_DAYS)


def metrics_token() -> str:
    """What a scraper of /metrics sends; "" = nobody gets in by a token."""
    return str(settings.CRAWLER_METRICS_TOKEN)


def api_per_minute() -> int:
    """Calls of the API that one person may make within a minute; 0 = as many as they like."""
    return int(settings.CRAWLER_API_PER_MINUTE)


def login_tries() -> int:
    """Failed logins that one name, or one browser, has within a quarter of an hour; 0 = as many as they like."""
    return int(settings.CRAWLER_LOGIN_TRIES)


def trusted_proxies() -> tuple[Network, ...]:
    """Whose X-Forwarded-For is believed."""
    proxies: tuple[Network, ...] = settings.CRAWLER_TRUSTED_PROXIES
    return proxies


def session_seconds() -> float:
    """After which a login ends, however busy its person is."""
    return float(settings.CRAWLER_SESSION_DAYS * 86400)


def cookie_prefix() -> str:
    """ "__Host-" where browsers are to take our cookies from this very host and by TLS alone; else nothing."""
    name = str(settings.SESSION_COOKIE_NAME)
    return "__Host-" if name.startswith("__Host-") else ""


def cookies_are_secure() -> bool:
    return bool(settings.SESSION_COOKIE_SECURE)


def audit_days() -> float:
    """Days for which the audit log is kept; 0 = for ever."""
    return float(settings.CRAWLER_AUDIT_DAYS)


def setup() -> Setup:
    """What `check --deploy` judges."""
    return Setup(
        redis_url=redis_url(),
        allowed_hosts=tuple(settings.ALLOWED_HOSTS),
        base_url=base_url(),
        webhook_secret=webhook_secret(),
        metrics_token=metrics_token(),
        private_hosts=private_hosts(),
        has_proxies=bool(trusted_proxies()),
        mails_are_files=settings.EMAIL_BACKEND == "django.core.mail.backends.filebased.EmailBackend",
        content_is_here=settings.STORAGES["content"]["BACKEND"] == "django.core.files.storage.FileSystemStorage",
        login_tries=login_tries(),
    )


def max_body_bytes() -> int:
    return int(settings.CRAWLER_MAX_BODY_MB * 1024 * 1024)


def page_seconds() -> float:
    """How long one request for a page may take; a job that asks for pages must end within minutes."""
    return float(settings.CRAWLER_PAGE_SECONDS)


def content_object_bytes() -> int:
    """Bytes of kept content, compressed, after which a fetch job begins another object."""
    return int(settings.CRAWLER_CONTENT_OBJECT_MB * 1024 * 1024)


def secret_key() -> str:
    return str(settings.SECRET_KEY)


def former_secret_keys() -> tuple[str, ...]:
    """Under which something may still be sealed or signed."""
    return tuple(settings.SECRET_KEY_FALLBACKS)


def proxy() -> Proxy | None:
    """The proxy that all crawls without one of their own go through."""
    proxy: Proxy | None = settings.CRAWLER_PROXY
    return proxy


def webhook_secret() -> str:
    return str(settings.CRAWLER_WEBHOOK_SECRET)


def base_url() -> str:
    """The address of the web page, for links in notices; without a slash at its end."""
    return str(settings.CRAWLER_BASE_URL).rstrip("/")


def data_dir() -> Path:
    return Path(settings.DATA_DIR)


def redis_url() -> str:
    return str(settings.REDIS_URL)
