"""Second factor, passkeys, single sign-on and password reset by django-allauth, where CRAWLER_ALLAUTH is on.

The package is an extra: without the setting nothing of it is loaded, and no table of it exists.
"""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ImproperlyConfigured

from crawler.extras import AUTH
from crawler.settings.environment import switch, text

PROVIDER_ID = "sso"  # in the address that the identity provider sends users back to


def settings_of(apps: list[str], middleware: list[str]) -> dict[str, Any]:
    """The settings that it adds and changes, beside its own."""
    provider = {
        "URL": text("CRAWLER_OIDC_URL", "").strip(),
        "CLIENT_ID": text("CRAWLER_OIDC_CLIENT_ID", "").strip(),
        "CLIENT_SECRET": text("CRAWLER_OIDC_CLIENT_SECRET", "").strip(),
    }
    shown = {
        "CRAWLER_ALLAUTH": switch("CRAWLER_ALLAUTH", False),
        "CRAWLER_OIDC_NAME": text("CRAWLER_OIDC_NAME", "single sign-on"),
        "CRAWLER_OIDC_SIGNUP": switch("CRAWLER_OIDC_SIGNUP", False),
        "CRAWLER_OIDC": bool(provider["URL"]),
    }
    if not shown["CRAWLER_ALLAUTH"]:
        if any(provider.values()):
            raise ImproperlyConfigured(
                "CRAWLER_OIDC_... is set, but CRAWLER_ALLAUTH is not on. Set CRAWLER_ALLAUTH=on."
            )
        return shown
    if AUTH.missing:
        raise ImproperlyConfigured(AUTH.missing)
    if any(provider.values()) and not all(provider.values()):
        missing = ", ".join(f"CRAWLER_OIDC_{name}" for name, value in provider.items() if not value)
        raise ImproperlyConfigured(f"Single sign-on is configured in part; set {missing} too.")
    return {
        **shown,
        "INSTALLED_APPS": [
            *apps,
            "allauth",
            "allauth.account",
            "allauth.mfa",
            "allauth.socialaccount",
            "allauth.socialaccount.providers.openid_connect",
        ],
        "MIDDLEWARE": [*middleware, "allauth.account.middleware.AccountMiddleware"],
        "AUTHENTICATION_BACKENDS": [
            "django.contrib.auth.backends.ModelBackend",
            "allauth.account.auth_backends.AuthenticationBackend",
        ],
        "ACCOUNT_ADAPTER": "crawler.web.account.sign_in.AccountAdapter",
        "ACCOUNT_EMAIL_VERIFICATION": "none",  # accounts are made by invitation
        "ACCOUNT_FORMS": {"reauthenticate": "crawler.web.account.sign_in.PasswordAgainForm"},
        "ACCOUNT_LOGIN_METHODS": {"username", "email"},
        "ACCOUNT_SIGNUP_FIELDS": ["username*", "email"],
        "MFA_SUPPORTED_TYPES": ["totp", "webauthn", "recovery_codes"],
        "MFA_PASSKEY_LOGIN_ENABLED": True,
        "MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN": True,  # passkeys on http://localhost; production says no
        "MFA_TOTP_TOLERANCE": 1,  # steps of 30 s that the clock of a phone may be off (RFC 6238, 5.2)
        "MFA_TOTP_ISSUER": "Site Crawler",
        "MFA_FORMS": {
            "authenticate": "crawler.web.account.sign_in.CodeForm",
            "reauthenticate": "crawler.web.account.sign_in.CodeAgainForm",
        },
        "SOCIALACCOUNT_ADAPTER": "crawler.web.account.sign_in.ProviderAdapter",
        # A form may lead to this site alone (Content-Security-Policy), so the way to the provider is a link.
        "SOCIALACCOUNT_LOGIN_ON_GET": True,
        "SOCIALACCOUNT_STORE_TOKENS": False,
        "SOCIALACCOUNT_PROVIDERS": {"openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": _apps(provider, shown)}},
    }


def _apps(provider: dict[str, str], shown: dict[str, Any]) -> list[dict[str, Any]]:
    if not provider["URL"]:
        return []
    return [
        {
            "provider_id": PROVIDER_ID,
            "name": shown["CRAWLER_OIDC_NAME"],
            "client_id": provider["CLIENT_ID"],
            "secret": provider["CLIENT_SECRET"],
            "settings": {"server_url": provider["URL"]},
        }
    ]
