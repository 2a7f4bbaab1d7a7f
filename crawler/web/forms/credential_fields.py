"""Signing in, on the form: what a crawl sends beside its URLs, typed or taken over from an earlier crawl.

What is typed is taken as it stands: "@file" and "env:NAME" are for those who have the command line, and with it the
files and the environment of the server. Nothing of it is ever sent back into a page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.forms.boundfield import BoundField

from crawler.core.access.credentials import Credentials, parse
from crawler.web.forms.fields import LinesField, NumberInput

SECRETS = ("headers", "cookies", "auth", "bearer", "proxy")
"""The fields that hold secrets, named as in `core.access.credentials.parse`."""

GONE = "The crawl whose credentials were to be sent is gone, or is not yours. Untick this, and type them."
BOTH = "Untick this to send what is typed here, or leave the rest of this group empty."


class SecretBoundField(BoundField):
    @property
    def lost(self) -> str:
        """What to do where it was typed and stands on the page no more; "" where it was not."""
        typed = self.form.is_bound and (self.data or "").strip()
        return "Type this again: secrets are not sent back." if typed else ""


class _Secret(forms.Field):
    """What a field needs for its value never to be sent back, nor be summed up."""

    def prepare_value(self, value: Any) -> None:
        return None

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        return {"autocomplete": "off", **super().widget_attrs(widget), "data-secret": "on"}

    def get_bound_field(self, form: forms.BaseForm, field_name: str) -> SecretBoundField:
        return SecretBoundField(form, self, field_name)


class SecretLinesField(_Secret, LinesField):
    """Several, one a line."""


class SecretField(_Secret, forms.CharField):
    """One."""


class PasswordField(SecretField):
    """One that is not even shown while it is typed, and may begin and end with blanks."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(widget=forms.PasswordInput(), strip=False, **kwargs)

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        # Not "off", which browsers overrule to fill in the password that was saved for this very site.
        return {**super().widget_attrs(widget), "autocomplete": "new-password"}


class SignInFields(forms.Form):
    """The group of fields; the first of them stands there only when there is a crawl to take credentials over from."""

    same_credentials = forms.BooleanField(label="The same credentials as last time", required=False)
    headers = SecretLinesField(
        label="Headers",
        required=False,
        placeholder="X-Api-Key: abc",
        help_text="One a line. Sent to the crawl's own hosts and to nobody else, as is all of this but the proxy.",
    )
    cookies = SecretLinesField(
        label="Cookies",
        required=False,
        placeholder="session=abc",
        help_text="One a line, or as a browser sends them: a=1; b=2.",
    )
    auth = PasswordField(label="User and password", required=False, help_text="With a colon between: user:password.")
    bearer = PasswordField(label="Bearer token", required=False, help_text="The token alone, without the word Bearer.")
    proxy = SecretField(
        label="Proxy",
        required=False,
        widget=NumberInput("url", placeholder="http://proxy.example.com:3128"),
        help_text="An HTTP proxy to go through, also as http://user:password@host:port.",
    )


def typed_in(typed: Mapping[str, Any]) -> Credentials:
    """What a valid form has in these fields; BadInput when it cannot be sent."""
    return parse(**{name: typed[name] for name in SECRETS})
