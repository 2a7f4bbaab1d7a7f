"""The kinds of fields our forms have: lines, numbers, spans of time, sizes, and boxes that are ticked by default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.forms.boundfield import BoundField
from django.utils.datastructures import MultiValueDict

from crawler.core.crawl.notices import SEALED
from crawler.core.crawl.options import MAY_BE_SECRET
from crawler.core.text.quantities import bytes_of, exact_size, exact_span, seconds_of
from crawler.models import Crawl


class LinesField(forms.CharField):
    """Several values, one a line; blank lines are dropped."""

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
