"""Field types: lines, numbers, durations, times, sizes, checkboxes that are on by default, and credentials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, assert_never

from django import forms
from django.forms.boundfield import BoundField
from django.utils.datastructures import MultiValueDict

from crawler.core.access.credential_kinds import CredentialKind, Typed
from crawler.core.access.credentials import KINDS, Credentials, parse
from crawler.core.channels.catalogue import SEALED
from crawler.core.options.receivers import MAY_BE_SECRET
from crawler.core.text.quantities import bytes_of, exact_size, exact_span, seconds_of
from crawler.core.url_lists.values import moment_of
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
    """A file must be chosen again after an error, because browsers do not send it again."""

    @property
    def lost(self) -> str:
        """A hint to choose it again; "" when none was chosen."""
        chosen = self.form.is_bound and self.data
        return f"Choose {self.data.name} again: browsers do not send a file twice." if chosen else ""


class ListFileField(forms.FileField):
    """A file field with that hint."""

    def get_bound_field(self, form: forms.BaseForm, field_name: str) -> FileBoundField:
        return FileBoundField(form, self, field_name)


class NumberInput(forms.TextInput):
    """A number as text: invalid input is shown again with its error; a browser's number field would drop it."""

    def __init__(self, inputmode: str = "numeric", placeholder: str = "") -> None:
        super().__init__(attrs={"inputmode": inputmode, "placeholder": placeholder, "autocomplete": "off"})


class QuantityField(forms.CharField):
    """A quantity as a user types it; None when empty."""

    read: Callable[[str], float | None]
    usual_placeholder = "no limit"
    complaint: str

    def __init__(self, *, placeholder: str | None = None, **kwargs: Any) -> None:
        shown = self.usual_placeholder if placeholder is None else placeholder
        super().__init__(widget=NumberInput("text", placeholder=shown), **kwargs)

    def to_python(self, value: Any) -> float | None:  # type: ignore[override]  # a number in place of text
        typed = super().to_python(value)
        if not typed:
            return None
        quantity = self.read(typed)
        if quantity is None:
            raise forms.ValidationError(self.complaint.format(self.label))
        return quantity


class SpanField(QuantityField):
    """A duration, in seconds or with units."""

    read = staticmethod(seconds_of)
    complaint = "{} must be a time such as 2h, 30m or 90s; a bare number is seconds."

    def prepare_value(self, value: Any) -> Any:
        return exact_span(value) if isinstance(value, (int, float)) else value


class MomentField(QuantityField):
    """A date and time, in UTC unless it names a zone, as epoch seconds."""

    read = staticmethod(moment_of)
    usual_placeholder = "2026-12-01T08:00"
    complaint = "The time must be one such as 2026-12-01T08:00, or 2026-12-01T08:00+01:00."


class SizeField(QuantityField):
    """A number of bytes, with units or without."""

    read = staticmethod(bytes_of)
    complaint = "{} must be a size such as 500kB, 10MB or 2GB; a bare number is bytes."

    def prepare_value(self, value: Any) -> Any:
        return exact_size(value) if isinstance(value, int) else value


def select_of(choices: Sequence[tuple[str, Any]], asked: str) -> forms.Select:
    """A select; an unknown value in the query string is one more choice, so that the user sees it."""
    known = {value for group, shown in choices for value in (dict(shown) if isinstance(shown, list) else [group])}
    more = [] if asked in known else [(asked, asked)]
    return forms.Select(choices=[*choices, *more])


class DefaultOnCheckbox(forms.CheckboxInput):
    """A checkbox that is on by default: a request without its name leaves it on.

    The page sends a hidden "off" before the box, so a cleared box sends its name.
    """

    template_name = "crawler/widgets/default_on_checkbox.html"

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> bool:
        if name not in data:
            return True
        values = data.getlist(name) if isinstance(data, MultiValueDict) else [data[name]]
        return values[-1] not in ("off", "false", "0", "", False)


# Secret addresses of an earlier crawl on the form of a new one: each is represented by a placeholder.

StoredValues = dict[str, str]
"""Placeholder in the form -> encrypted address."""


def kept_of(crawl: Crawl | None) -> StoredValues:
    """Those of a crawl. A placeholder says nothing about its address, which viewers of the crawl may not see."""
    if crawl is None:
        return {}
    return {_line(number): address for number, address in enumerate(_addresses(crawl), start=1)}


def shown(kept: StoredValues, addresses: Sequence[str]) -> list[str]:
    """The addresses, with placeholders for secret ones."""
    lines = {address: line for line, address in kept.items()}
    return [lines.get(address, address) for address in addresses]


def unmasked(kept: StoredValues, typed: Sequence[str]) -> list[str]:
    """The input, with addresses in place of placeholders."""
    return [kept.get(line, line) for line in typed]


def _addresses(crawl: Crawl) -> list[str]:
    named = [address for field in MAY_BE_SECRET for address in getattr(crawl.chosen, field)]
    return [address for address in named if address.startswith(SEALED)]


def _line(number: int) -> str:
    return f"(the last address, {number})"


# Credentials, typed or copied from an earlier crawl. Input is literal: "@file" and "env:NAME" work only on the command
# line, whose users have access to the files and the environment of the server. It is never sent back to a page.

SECRETS = tuple(KINDS)
"""The fields that hold secrets."""

GONE = "The crawl with these credentials is gone, or is not yours. Untick this, and type them."
BOTH = "Untick this to send the values typed here, or leave the rest of this group empty."


class SecretBoundField(BoundField):
    @property
    def lost(self) -> str:
        """A hint to type it again; "" if nothing was typed."""
        typed = self.form.is_bound and (self.data or "").strip()
        return "Type this again: secrets are not sent to your browser." if typed else ""


class _Secret(forms.Field):
    """A field whose value is never sent back to the page."""

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
    """A value that is hidden while typing, and may begin and end with blanks."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(widget=forms.PasswordInput(), strip=False, **kwargs)

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        # Not "off", which browsers overrule to fill in the password that was saved for this very site.
        return {**super().widget_attrs(widget), "autocomplete": "new-password"}


def secret_field(kind: CredentialKind, help_text: str) -> forms.Field:
    """The field for a credential of this kind."""
    common: dict[str, Any] = {"label": kind.label, "required": False, "help_text": help_text}
    match kind.typed:
        case Typed.LINES:
            return SecretLinesField(placeholder=kind.placeholder, **common)
        case Typed.HIDDEN:
            return PasswordField(**common)
        case Typed.ADDRESSES:
            return SecretField(widget=NumberInput("url", placeholder=kind.placeholder), **common)
    assert_never(kind.typed)


if TYPE_CHECKING:
    SecretFields = forms.Form
else:
    SecretFields = type(
        "SecretFields", (forms.Form,), {name: secret_field(kind, kind.help) for name, kind in KINDS.items()}
    )


class SignInFields(SecretFields):
    """The credential fields; the first is shown only if there is a crawl to copy credentials from."""

    same_credentials = forms.BooleanField(label="The same credentials as last time", required=False)


def typed_in(typed: Mapping[str, Any]) -> Credentials:
    """The credentials of a valid form; BadInput when they cannot be sent."""
    return parse(**{name: typed[name] for name in SECRETS})
