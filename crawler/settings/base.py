"""Settings common to every place the project runs."""

from __future__ import annotations

from typing import Any

from crawler.core.protocol.lanes import lanes
from crawler.redis_client import django_rq_connection
from crawler.registry import CAPABILITIES
from crawler.settings import environment, sign_in

environment.keep_files_private()  # before the data folder is made

from crawler.settings.app import *  # noqa: E402, F403
from crawler.settings.app import DATA_DIR, REDIS_URL  # noqa: E402

ROOT = environment.ROOT
CRAWLER_EMBEDDED = False

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
    "crawler.web.headers.RequestIds",
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
        "DIRS": [
            ROOT / "crawler" / "settings" / "templates",
            *(ROOT / "crawler" / "capabilities" / name / "templates" for name in CAPABILITIES),
        ],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "crawler.web.context.frame",
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
STATICFILES_DIRS = [environment.api_documentation()]

STORAGES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    "content": environment.content_storage(DATA_DIR / "content"),
}

SECRET_KEY_FALLBACKS = environment.texts("SECRET_KEY_FALLBACKS")
SESSION_ENGINE = "crawler.accounts.logins"
SESSION_COOKIE_AGE = int(3600 * environment.number("CRAWLER_SESSION_IDLE_HOURS", 168, least=0.1))
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "crawl-list"
LOGOUT_REDIRECT_URL = "login"

_SIGN_IN = sign_in.settings_of(INSTALLED_APPS, MIDDLEWARE)
globals().update(_SIGN_IN)
CRAWLER_ALLAUTH = _SIGN_IN["CRAWLER_ALLAUTH"]
CRAWLER_OIDC = _SIGN_IN["CRAWLER_OIDC"]
CRAWLER_OIDC_NAME = _SIGN_IN["CRAWLER_OIDC_NAME"]
CRAWLER_OIDC_SIGNUP = _SIGN_IN["CRAWLER_OIDC_SIGNUP"]

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
