"""Settings common to every place the project runs."""

from __future__ import annotations

from typing import Any

from crawler.core.protocol.collectors import MAX_COLLECTORS
from crawler.core.protocol.lanes import lanes
from crawler.redis_client import django_rq_connection
from crawler.registry import CAPABILITIES
from crawler.settings import environment, sign_in

ROOT = environment.ROOT
environment.keep_files_private()
DATA_DIR = environment.data_dir()

INSTALLED_APPS = [
    "django.contrib.admin.apps.SimpleAdminConfig",  # without autodiscover, see crawler/settings/urls.py
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "crawler",  # before django_rq, whose command `rqworker` it replaces
    "django_rq",
]

MIDDLEWARE = [
    "crawler.web.forwarded.ForwardedHeaders",  # first: the others ask whether a request is secure
    "crawler.web.headers.SecurityHeaders",  # it sees the responses of all below
    "crawler.web.headers.HeadRequests",
    "crawler.api.problems.Problems",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "crawler.web.uploads.LimitBodies",  # before the next one, which reads forms
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "crawler.web.middleware.RecordActor",
    "crawler.web.rq_permissions.RqPermissions",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "crawler.settings.urls"
WSGI_APPLICATION = "crawler.settings.wsgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "crawler" / "capabilities" / name / "templates" for name in CAPABILITIES],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATABASES = {"default": environment.database(DATA_DIR / "db.sqlite3")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "static/"
WHITENOISE_USE_FINDERS = True
# Swagger UI. django-ninja is not an installed app: every worker would load it and pydantic.
STATICFILES_DIRS = [("ninja", environment.folder_of("ninja") / "static" / "ninja")]

STORAGES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    "content": environment.content_storage(DATA_DIR / "content"),
}

SECRET_KEY_FALLBACKS = environment.texts("SECRET_KEY_FALLBACKS")
SESSION_ENGINE = "crawler.accounts.logins"
SESSION_COOKIE_AGE = int(3600 * environment.number("CRAWLER_SESSION_IDLE_HOURS", 168, least=0.1))
CRAWLER_SESSION_DAYS = environment.number("CRAWLER_SESSION_DAYS", 30, least=0.01)
CRAWLER_LOGIN_TRIES = int(environment.number("CRAWLER_LOGIN_TRIES", 10, least=0))
CRAWLER_TRUSTED_PROXIES = environment.networks("CRAWLER_TRUSTED_PROXIES")
CRAWLER_AUDIT_DAYS = environment.number("CRAWLER_AUDIT_DAYS", 365, least=0)
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "crawl-list"
LOGOUT_REDIRECT_URL = "login"

_SIGN_IN = sign_in.settings_of(INSTALLED_APPS, MIDDLEWARE)
globals().update(_SIGN_IN)
CRAWLER_ALLAUTH: bool = _SIGN_IN["CRAWLER_ALLAUTH"]
CRAWLER_OIDC: bool = _SIGN_IN["CRAWLER_OIDC"]
CRAWLER_OIDC_NAME: str = _SIGN_IN["CRAWLER_OIDC_NAME"]
CRAWLER_OIDC_SIGNUP: bool = _SIGN_IN["CRAWLER_OIDC_SIGNUP"]

REDIS_URL = environment.redis_url()
RQ_QUEUES = {
    name: {**django_rq_connection(REDIS_URL), "DEFAULT_TIMEOUT": 180}
    for name in ("crawl", *(lane.queue for lane in lanes()))
}
RQ_SHOW_ADMIN_LINK = True

EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
EMAIL_FILE_PATH = DATA_DIR / "mail"
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = environment.text("CRAWLER_FROM_EMAIL", "crawler@localhost")
globals().update(environment.email())

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

LOG_LEVEL = environment.text("CRAWLER_LOG_LEVEL", "INFO")
LOG_URLS = environment.switch("CRAWLER_LOG_URLS", False)
LOG_FORMATS = {"text": "crawler.logs.TextFormatter", "json": "crawler.json_log.Json"}
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"context": {"()": "crawler.logs.Context"}, "links": {"()": "crawler.logs.NoLinks"}},
    "formatters": {"line": {"()": LOG_FORMATS[environment.choice("CRAWLER_LOG_FORMAT", "text", LOG_FORMATS)]}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["context", "links"]}},
    "loggers": {
        "crawler": {"handlers": ["console"], "level": LOG_LEVEL},
        # One line per URL, independent of the level; with DEBUG also one at its start.
        "crawler.urls": {"level": "WARNING" if not LOG_URLS else "DEBUG" if LOG_LEVEL == "DEBUG" else "INFO"},
        # Django's default logs nothing without DEBUG, not even why a view failed.
        "django": {"handlers": ["console"], "level": "WARNING"},
        "django.request": {"level": "ERROR"},  # not every 404
    },
}
