"""Typed access to the Django settings. No other module reads them, but the `conf` of a capability its own."""

from __future__ import annotations

from collections.abc import Container, Mapping
from pathlib import Path

from django.conf import settings

from crawler import __version__
from crawler.core.access.client_address import Network
from crawler.core.installation.deployment import Setup
from crawler.core.urls.addresses import Proxy
from crawler.running import running


def user_agent() -> str:
    """The User-Agent header, unless a crawl has its own: the project, and the contact of its operator (CRAWLER_CONTACT:
    a URL or an e-mail)."""
    contact = settings.CRAWLER_CONTACT
    return f"SiteCrawler/{__version__}" + (f" (+{contact})" if contact else " (self-hosted; contact not set)")


CURL, REQUESTS = "curl", "requests"


def http_client() -> str:
    """What sends HTTP requests: "builtin", CURL for libcurl, or REQUESTS."""
    return str(settings.CRAWLER_HTTP_CLIENT)


def speedups() -> bool:
    """Whether pages are read by the compiled reader, where it was built."""
    return bool(settings.CRAWLER_SPEEDUPS)


def client_certificates() -> Mapping[str, str]:
    """Host to the PEM file with the certificate and key that it is shown."""
    certificates: Mapping[str, str] = settings.CRAWLER_CLIENT_CERTIFICATES
    return certificates


def private_hosts() -> tuple[str, ...]:
    return tuple(settings.CRAWLER_PRIVATE_HOSTS)


def ports() -> Container[int]:
    """The allowed ports of public addresses."""
    ports: Container[int] = settings.CRAWLER_PORTS
    return ports


def max_attempts() -> int:
    return int(settings.CRAWLER_MAX_ATTEMPTS)


def max_host_stop() -> float:
    """The longest wait for a host in seconds, whatever its Retry-After says."""
    return float(settings.CRAWLER_MAX_HOST_STOP)


def retry_after_wait() -> float:
    """Seconds for which a crawl waits if only pages with a Retry-After are left."""
    return float(settings.CRAWLER_RETRY_AFTER_WAIT)


def startup_timeout() -> float:
    """Seconds for which a starting process waits for Redis and the database; 0 = one attempt."""
    return float(settings.CRAWLER_STARTUP_TIMEOUT)


def worker_jobs() -> int:
    """Jobs after which a worker restarts."""
    return int(settings.CRAWLER_WORKER_JOBS)


def worker_mb() -> float:
    """Memory above which a worker restarts."""
    return float(settings.CRAWLER_WORKER_MB)


def page_grace_seconds() -> float:
    """Seconds that pages under way have to finish when their worker is asked to end."""
    return float(settings.CRAWLER_GRACE_SECONDS)


def worker_idle_seconds() -> float:
    """How long fewer workers must be useful before the figure falls."""
    return float(settings.CRAWLER_WORKER_IDLE_SECONDS)


def dead_letter_seconds() -> float:
    """How long Redis keeps the dead letters of a crawl that is over; the table keeps them permanently."""
    return float(settings.CRAWLER_DEAD_LETTER_HOURS * 3600)


def answer_seconds() -> float:
    """How long a response is cached after it was last validated."""
    return float(settings.CRAWLER_ANSWER_DAYS * 86400)


def cache_bytes() -> int:
    """What all cached responses may take; 0 = none are stored."""
    return int(settings.CRAWLER_CACHE_MB * 1024 * 1024)


def active_crawls() -> int:
    """Active crawls a user may have; 0 = no limit."""
    return int(settings.CRAWLER_ACTIVE_CRAWLS)


def stored_pages() -> int:
    """Pages that a user's crawls may store; 0 = no limit."""
    return int(settings.CRAWLER_STORED_PAGES)


def stored_mb() -> int:
    """Megabytes of content that a user's crawls may keep; 0 = no limit."""
    return int(settings.CRAWLER_STORED_MB)


def max_list_bytes() -> int | None:
    """Bytes of a list once it is unpacked; None = no limit."""
    megabytes = float(settings.CRAWLER_LIST_MB)
    return int(megabytes * 1_000_000) if megabytes else None


def pages_a_day() -> int:
    """Pages a user's crawls may request per day (UTC); 0 = no limit."""
    return int(settings.CRAWLER_PAGES_A_DAY)


def keep_days() -> float:
    """Days after its end when a crawl is deleted; 0 = never."""
    return float(settings.CRAWLER_KEEP_DAYS)


def metrics_token() -> str:
    """The token for /metrics; "" = none."""
    return str(settings.CRAWLER_METRICS_TOKEN)


def upload_bytes() -> int:
    """The largest request with a file, in bytes."""
    return int(settings.CRAWLER_UPLOAD_MB * 1_000_000)


def api_per_minute() -> int:
    """API requests a user may send per minute; 0 = no limit."""
    return int(settings.CRAWLER_API_PER_MINUTE)


def login_tries() -> int:
    """Failed logins per name, or per browser, within 15 minutes; 0 = no limit."""
    return int(settings.CRAWLER_LOGIN_TRIES)


def uses_allauth() -> bool:
    """Whether second factor, passkeys, single sign-on and password reset are switched on."""
    return bool(settings.CRAWLER_ALLAUTH)


def sso_name() -> str:
    """What the identity provider is called on the login page; "" = there is none."""
    return str(settings.CRAWLER_OIDC_NAME) if settings.CRAWLER_OIDC else ""


def sso_makes_accounts() -> bool:
    """Whether a user of the identity provider who has no account gets one."""
    return bool(settings.CRAWLER_OIDC_SIGNUP)


def trusted_proxies() -> tuple[Network, ...]:
    """The proxies whose X-Forwarded-For is trusted."""
    proxies: tuple[Network, ...] = settings.CRAWLER_TRUSTED_PROXIES
    return proxies


def session_seconds() -> float:
    """The longest duration of a session, even if it is in use."""
    return float(settings.CRAWLER_SESSION_DAYS * 86400)


def cookie_prefix() -> str:
    """ "__Host-" if browsers accept our cookies only from this host over TLS; else ""."""
    name = str(settings.SESSION_COOKIE_NAME)
    return "__Host-" if name.startswith("__Host-") else ""


def cookies_are_secure() -> bool:
    return bool(settings.SESSION_COOKIE_SECURE)


def audit_days() -> float:
    """Days after which audit entries are deleted; 0 = never."""
    return float(settings.CRAWLER_AUDIT_DAYS)


def setup(unnamed_proxy: str = "") -> Setup:
    """The settings that `check --deploy` examines."""
    return Setup(
        redis_url=redis_url(),
        allowed_hosts=tuple(settings.ALLOWED_HOSTS),
        base_url=base_url(),
        webhook_secret=webhook_secret(),
        metrics_token=metrics_token(),
        private_hosts=private_hosts(),
        has_proxies=bool(trusted_proxies()),
        unnamed_proxy=unnamed_proxy,
        redirects_to_https=settings.SECURE_SSL_REDIRECT,
        mails_are_files=settings.EMAIL_BACKEND == "django.core.mail.backends.filebased.EmailBackend",
        content_is_here=settings.STORAGES["content"]["BACKEND"] == "django.core.files.storage.FileSystemStorage",
        login_tries=login_tries(),
    )


def max_body_bytes() -> int:
    return int(settings.CRAWLER_MAX_BODY_MB * 1024 * 1024)


def worker_connections() -> int:
    """How many requests a worker has under way."""
    return int(settings.CRAWLER_WORKER_CONNECTIONS)


def worker_batches() -> int:
    """How many batches a worker has at a time; 0 = as many as its connections allow."""
    return int(settings.CRAWLER_WORKER_BATCHES)


def max_batches() -> int:
    """How many batches of a crawl are handed out and not complete."""
    return int(settings.CRAWLER_MAX_BATCHES)


def max_ready_pages() -> int:
    """How many pages of a crawl the ready queue holds."""
    return int(settings.CRAWLER_MAX_READY_PAGES)


def collectors() -> int:
    """How many collectors a crawl has."""
    return int(settings.CRAWLER_COLLECTORS)


def page_seconds() -> float:
    """The time limit of one request for a page, which a crawl may shorten; a fetch job must end within minutes."""
    return float(settings.CRAWLER_PAGE_SECONDS)


def content_object_bytes() -> int:
    """Bytes of stored content, compressed, after which a fetch job begins another object."""
    return int(settings.CRAWLER_CONTENT_OBJECT_MB * 1024 * 1024)


def secret_key() -> str:
    return str(settings.SECRET_KEY)


def former_secret_keys() -> tuple[str, ...]:
    """Earlier keys with which data may still be encrypted or signed."""
    return tuple(settings.SECRET_KEY_FALLBACKS)


def proxy() -> Proxy | None:
    """The proxy of all crawls without one of their own."""
    proxy: Proxy | None = settings.CRAWLER_PROXY
    return proxy


def webhook_secret() -> str:
    return str(settings.CRAWLER_WEBHOOK_SECRET)


def is_embedded() -> bool:
    """Whether the app runs in another Django project, with other users, pages and jobs beside its own."""
    return bool(settings.CRAWLER_EMBEDDED)


def base_template() -> str:
    """The template that the pages extend: it has the blocks `title`, `head` and `content`."""
    return str(settings.CRAWLER_BASE_TEMPLATE)


DEFAULT_BASE_URL = "http://127.0.0.1:8000"


def base_url() -> str:
    """The address of the web server for links in notices, without a trailing slash: the setting, else that of the
    `bin/up` that runs."""
    chosen = str(settings.CRAWLER_BASE_URL).rstrip("/")
    if chosen:
        return chosen
    note = running(data_dir())
    return DEFAULT_BASE_URL if note is None else note.address


def data_dir() -> Path:
    return Path(settings.DATA_DIR)


def redis_url() -> str:
    return str(settings.REDIS_URL)
