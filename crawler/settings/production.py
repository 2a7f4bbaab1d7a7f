"""Settings for production: no defaults for secrets and hosts, cookies only over HTTPS."""

from __future__ import annotations

from crawler.settings import environment
from crawler.settings.base import *  # noqa: F403

DEBUG = False
SECRET_KEY = environment.secret_key(None)
ALLOWED_HOSTS = environment.allowed_hosts([])

# Quotas: for an installation of several users. 0 switches one off.
CRAWLER_ACTIVE_CRAWLS = int(environment.number("CRAWLER_ACTIVE_CRAWLS", 20, least=0))
CRAWLER_PAGES_A_DAY = int(environment.number("CRAWLER_PAGES_A_DAY", 1_000_000, least=0))
CRAWLER_STORED_PAGES = int(environment.number("CRAWLER_STORED_PAGES", 5_000_000, least=0))
CRAWLER_STORED_MB = int(environment.number("CRAWLER_STORED_MB", 50_000, least=0))
CRAWLER_LIST_MB = environment.number("CRAWLER_LIST_MB", 1000, least=0)

STATIC_ROOT = environment.HOME / "staticfiles"  # (filled by `manage.py collectstatic`)
environment.require_redis_password(REDIS_URL)  # noqa: F405
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = False
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
SESSION_COOKIE_NAME = "__Host-sessionid"  # other hosts of the domain cannot set it
CSRF_COOKIE_NAME = "__Host-csrftoken"
SECURE_SSL_REDIRECT = environment.switch("SECURE_SSL_REDIRECT", True)
SECURE_REDIRECT_EXEMPT = ["^healthz$", "^readyz$"]  # probes ask the process itself, without the proxy
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_HSTS_SECONDS = 31_536_000
SECURE_HSTS_INCLUDE_SUBDOMAINS = environment.switch("SECURE_HSTS_INCLUDE_SUBDOMAINS", False)
SECURE_HSTS_PRELOAD = environment.switch("SECURE_HSTS_PRELOAD", False)
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]  # these two concern other hosts: they are the operator's
STORAGES = {
    **STORAGES,  # noqa: F405
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
