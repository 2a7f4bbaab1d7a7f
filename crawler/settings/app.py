"""The settings of the app `crawler`: each from the environment or `.env`, with its default.

In an installation of its own, `crawler.settings.base` takes them over. In another Django project the app adds to the
project's settings those that it does not set: see `crawler.embedding`.
"""

from __future__ import annotations

from crawler.core.protocol.collectors import MAX_COLLECTORS
from crawler.settings import environment

DATA_DIR = environment.data_dir()
REDIS_URL = environment.redis_url()

CRAWLER_ALLAUTH = CRAWLER_OIDC = CRAWLER_OIDC_SIGNUP = False
CRAWLER_OIDC_NAME = ""
SENTRY_DSN = environment.text("SENTRY_DSN", "")
CRAWLER_TRACES = bool(environment.text("OTEL_EXPORTER_OTLP_ENDPOINT", ""))
CRAWLER_BASE_TEMPLATE = environment.text("CRAWLER_BASE_TEMPLATE", "crawler/site.html")
CRAWLER_CONTACT = environment.header_text("CRAWLER_CONTACT")
CRAWLER_PRIVATE_HOSTS = environment.texts("CRAWLER_PRIVATE_HOSTS")
CRAWLER_PORTS = environment.ports("CRAWLER_PORTS")
CRAWLER_HTTP_CLIENT = environment.http_client("CRAWLER_HTTP_CLIENT")
CRAWLER_SPEEDUPS = environment.switch("CRAWLER_SPEEDUPS", True)
CRAWLER_CHROMIUM = environment.program("CRAWLER_CHROMIUM")
CRAWLER_CLIENT_CERTIFICATES = environment.client_certificates("CRAWLER_CLIENT_CERTIFICATES")
CRAWLER_PROXY = environment.proxy("CRAWLER_PROXY")
CRAWLER_WEBHOOK_SECRET = environment.text("CRAWLER_WEBHOOK_SECRET", "")
CRAWLER_MAX_BODY_MB = environment.number("CRAWLER_MAX_BODY_MB", 10, least=0.001)
CRAWLER_PAGE_SECONDS = environment.number("CRAWLER_PAGE_SECONDS", 30, least=0.1, most=60)
CRAWLER_HOOKS = environment.texts("CRAWLER_HOOKS")
IMPORTED_AT_START = CRAWLER_HOOKS  # a worker says in one line what cannot be imported, before RQ starts
CRAWLER_SPIDERS = environment.texts("CRAWLER_SPIDERS")
CRAWLER_HOOK_SECONDS = environment.number("CRAWLER_HOOK_SECONDS", 5, least=0.1, most=20)
CRAWLER_MAX_ATTEMPTS = int(environment.number("CRAWLER_MAX_ATTEMPTS", 3, least=1))
CRAWLER_MAX_HOST_STOP = environment.number("CRAWLER_MAX_HOST_STOP", 300, least=0.1)
CRAWLER_RETRY_AFTER_WAIT = environment.number("CRAWLER_RETRY_AFTER_WAIT", 15, least=0)
CRAWLER_MAX_BATCHES = int(environment.number("CRAWLER_MAX_BATCHES", 128, least=1, most=10_000))
CRAWLER_MAX_READY_PAGES = int(environment.number("CRAWLER_MAX_READY_PAGES", 50_000, least=1_000, most=1_000_000))
CRAWLER_STARTUP_TIMEOUT = environment.number("CRAWLER_STARTUP_TIMEOUT", 60, least=0)
CRAWLER_WORKER_CONNECTIONS = int(environment.number("CRAWLER_WORKER_CONNECTIONS", 256, least=1, most=900))
CRAWLER_WORKER_BATCHES = int(environment.number("CRAWLER_WORKER_BATCHES", 0, least=0, most=10_000))
CRAWLER_BROWSER_PLACES = int(environment.number("CRAWLER_BROWSER_PLACES", 6, least=1, most=64))
CRAWLER_BROWSER_CONTEXT = environment.choice("CRAWLER_BROWSER_CONTEXT", "page", ("page", "site"))
CRAWLER_BROWSER_CLOCK = environment.choice("CRAWLER_BROWSER_CLOCK", "wall", ("wall", "virtual"))
CRAWLER_CHROMIUM_PAGES = int(environment.number("CRAWLER_CHROMIUM_PAGES", 20, least=1))
CRAWLER_CHROMIUM_MB = environment.number("CRAWLER_CHROMIUM_MB", 2000, least=1)
CRAWLER_BROWSER_PAGES = int(environment.number("CRAWLER_BROWSER_PAGES", 80, least=1))
CRAWLER_RENDER_MB = environment.number("CRAWLER_RENDER_MB", 50, least=1, most=10_000)
CRAWLER_COLLECTORS = int(environment.number("CRAWLER_COLLECTORS", 1, least=1, most=MAX_COLLECTORS))
CRAWLER_WORKER_JOBS = int(environment.number("CRAWLER_WORKER_JOBS", 5000, least=2))
CRAWLER_WORKER_MB = environment.number("CRAWLER_WORKER_MB", 350, least=1)
CRAWLER_WORKER_IDLE_SECONDS = environment.number("CRAWLER_WORKER_IDLE_SECONDS", 120, least=1, most=3600)
CRAWLER_GRACE_SECONDS = environment.number("CRAWLER_GRACE_SECONDS", 7, least=0, most=7)
CRAWLER_DEAD_LETTER_HOURS = environment.number("CRAWLER_DEAD_LETTER_HOURS", 24, least=0.001)
CRAWLER_ANSWER_DAYS = environment.number("CRAWLER_ANSWER_DAYS", 30, least=0.001)
CRAWLER_CACHE_MB = environment.number("CRAWLER_CACHE_MB", 2000, least=0)
CRAWLER_ACTIVE_CRAWLS = int(environment.number("CRAWLER_ACTIVE_CRAWLS", 0, least=0))
CRAWLER_PAGES_A_DAY = int(environment.number("CRAWLER_PAGES_A_DAY", 0, least=0))
CRAWLER_STORED_PAGES = int(environment.number("CRAWLER_STORED_PAGES", 0, least=0))
CRAWLER_STORED_MB = int(environment.number("CRAWLER_STORED_MB", 0, least=0))
CRAWLER_LIST_MB = environment.number("CRAWLER_LIST_MB", 4000, least=0)
CRAWLER_KEEP_DAYS = environment.number("CRAWLER_KEEP_DAYS", 0, least=0)
CRAWLER_METRICS_TOKEN = environment.text("CRAWLER_METRICS_TOKEN", "")
CRAWLER_API_PER_MINUTE = int(environment.number("CRAWLER_API_PER_MINUTE", 600, least=0))
CRAWLER_UPLOAD_MB = environment.number("CRAWLER_UPLOAD_MB", 1000, least=0.1)
CRAWLER_CONTENT_OBJECT_MB = environment.number("CRAWLER_CONTENT_OBJECT_MB", 32, least=0.001)
CRAWLER_BASE_URL = environment.text("CRAWLER_BASE_URL", "")  # empty: that of bin/up
CRAWLER_SESSION_DAYS = environment.number("CRAWLER_SESSION_DAYS", 30, least=0.01)
CRAWLER_LOGIN_TRIES = int(environment.number("CRAWLER_LOGIN_TRIES", 10, least=0))
CRAWLER_TRUSTED_PROXIES = environment.networks("CRAWLER_TRUSTED_PROXIES")
CRAWLER_AUDIT_DAYS = environment.number("CRAWLER_AUDIT_DAYS", 365, least=0)
