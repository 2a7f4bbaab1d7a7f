"""The form's own field types: lines, numbers, durations, sizes, checkboxes on by default, and credentials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.forms.boundfield import BoundField
from django.utils.datastructures import MultiValueDict

from crawler.core.access.credentials import Credentials, parse
from crawler.core.channels.catalogue import SEALED
from crawler.core.crawl.options import MAY_BE_SECRET
from crawler.core.text.quantities import bytes_of, exact_size, exact_span, seconds_of
from crawler.models import Crawl


class LinesField(forms.CharField):
    """Several values, one per line; blank lines are dropped."""

    def __init__(self, *, rows: int = 2, placeholder: str = "", **kwargs: Any) -> None:
        attributes = {"rows": rows, "placeholder": placeholder, "spellcheck": "false", "autocapitalize": "off"}
        super().__init__(widget=forms.Textarea(attrs=attributes), **kwargs)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, (list, tuple)) else value

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]  # lines in place of one text
        lines = (super().to_python(value) or "").splitlines()
        return [line.strip() for line in lines if line.strip()]


class FileBoundField(BoundField):
    """On a page that shows what is wrong, no browser names the file again that was chosen."""

    @property
    def lost(self) -> str:
        """What to do about it; "" when none was chosen."""
        chosen = self.form.is_bound and self.data
        return f"Choose {self.data.name} again: a browser does not send a file twice by itself." if chosen else ""


class ListFileField(forms.FileField):
    """A file that says when it must be chosen again."""

    def get_bound_field(self, form: forms.BaseForm, field_name: str) -> FileBoundField:
        return FileBoundField(form, self, field_name)


class NumberInput(forms.TextInput):
    """A number as text: what was typed comes back with its error, where a browser's number field would drop it."""

    def __init__(self, inputmode: str = "numeric", placeholder: str = "") -> None:
        super().__init__(attrs={"inputmode": inputmode, "placeholder": placeholder, "autocomplete": "off"})


class SpanField(forms.CharField):
    """A span of time, in seconds or with units; None when left empty."""

    def __init__(self, *, placeholder: str = "no limit", **kwargs: Any) -> None:
        super().__init__(widget=NumberInput("text", placeholder=placeholder), **kwargs)

    def prepare_value(self, value: Any) -> Any:
        return exact_span(value) if isinstance(value, (int, float)) else value

    def to_python(self, value: Any) -> float | None:  # type: ignore[override]  # seconds in place of text
        typed = super().to_python(value)
        if not typed:
            return None
        seconds = seconds_of(typed)
        if seconds is None:
            raise forms.ValidationError(
                f"{self.label} must be a time such as 2h, 30m or 90s; a bare number is seconds."
            )
        return seconds


class SizeField(forms.CharField):
    """A number of bytes, with units or without; None when left empty."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(widget=NumberInput("text", placeholder="no limit"), **kwargs)

    def prepare_value(self, value: Any) -> Any:
        return exact_size(value) if isinstance(value, int) else value

    def to_python(self, value: Any) -> int | None:  # type: ignore[override]  # bytes in place of text
        typed = super().to_python(value)
        if not typed:
            return None
        size = bytes_of(typed)
        if size is None:
            raise forms.ValidationError(
                f"{self.label} must be a size such as 500kB, 10MB or 2GB; a bare number is bytes."
            )
        return size


class TickedUnlessSaid(forms.CheckboxInput):
    """A box that is ticked by default: a request that does not name it at all leaves it ticked.

    The page sends a hidden "off" before the box, so unticking it does name it.
    """

    template_name = "crawler/widgets/ticked_unless_said.html"

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> bool:
        if name not in data:
            return True
        values = data.getlist(name) if isinstance(data, MultiValueDict) else [data[name]]
        return values[-1] not in ("off", "false", "0", "", False)


# Secret addresses of an earlier crawl on the form of a new one: a line stands for each, and is taken for it.

Kept = dict[str, str]
"""What stands in the form -> the encrypted address it stands for."""


def kept_of(crawl: Crawl | None) -> Kept:
    """Those of a crawl. The lines tell nothing of the addresses: whoever may see a crawl may not see those."""
    if crawl is None:
        return {}
    return {_line(number): address for number, address in enumerate(_addresses(crawl), start=1)}


def shown(kept: Kept, addresses: Sequence[str]) -> list[str]:
    """The lines that stand for these addresses."""
    lines = {address: line for line, address in kept.items()}
    return [lines.get(address, address) for address in addresses]


def meant(kept: Kept, typed: Sequence[str]) -> list[str]:
    """What was typed, with the addresses in place of the lines that stand for them."""
    return [kept.get(line, line) for line in typed]


def _addresses(crawl: Crawl) -> list[str]:
    named = [address for field in MAY_BE_SECRET for address in getattr(crawl.chosen, field)]
    return [address for address in named if address.startswith(SEALED)]


def _line(number: int) -> str:
    return f"(the address of last time, {number})"


# Signing in, on the form: what a crawl sends beside its URLs, typed or taken over from an earlier crawl.
#
# What is typed is taken as it stands: "@file" and "env:NAME" are for those who have the command line, and with it the
# files and the environment of the server. Nothing of it is ever sent back into a page.

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
    """Several, one per line."""


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
        help_text="One per line. Sent to the crawl's own hosts and to nobody else, as is all of this but the proxy.",
    )
    cookies = SecretLinesField(
        label="Cookies",
        required=False,
        placeholder="session=abc",
        help_text="One per line, or as a browser sends them: a=1; b=2.",
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
